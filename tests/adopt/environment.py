"""What the drivers share: the environments of the libraries, and the server."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def installed(library, state):
    """The Python of the library's environment, made unless it is there with these very versions."""
    library = library.split()[0]
    pins = HERE / "requirements" / f"{library}.txt"
    stamp = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    folder = state / "adopt" / library
    python = folder / "bin" / "python"
    if not (folder / stamp).exists():
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{library}: installing {pins.name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", pins], check=True)
        (folder / stamp).touch()
    return python


def server(ebb, state):
    """The environment that names the server, and what stops it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EBB__")}
    environment |= {"HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "false", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(HERE)}
    if "NEO4J_URI" in environment:
        return environment, lambda: None
    home = {"EBB__NEO4J__HOME": str(state / "adopt" / "neo4j")}
    run = lambda *words: subprocess.run([ebb, "neo4j", *words], env=environment | home, check=True, capture_output=True, text=True).stdout
    run("start")
    told = json.loads(run("status", "-o", "json"))
    password = (state / "adopt" / "neo4j" / "password").read_text().strip()
    named = {"NEO4J_URI": told["server"]["uri"], "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": password}
    return environment | named, lambda: run("stop", "--force")
