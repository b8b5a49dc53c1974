"""A real server for the tests: a managed Neo4j in a folder of its own, and `ebb serve`. EBB names the program."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from ebb_memory import AsyncEbb, Ebb, Retry

SCOPES = [f"scope-{number}" for number in range(60)]
# Tests do not wait for the schedule, but for what they start.
SETTINGS = f"""\
[http]
listen = "127.0.0.1:0"
[mirror]
scopes = ["local", {", ".join(f'"{scope}"' for scope in SCOPES)}]
"""
# On a busy machine.
START_S = 300


@dataclass
class Server:
    """`ebb serve` at an address, and the command line at the same database."""

    url: str
    run: Callable[..., str]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    program = os.environ.get("EBB") or pytest.exit("EBB must name the program ebb, such as target/debug/ebb", 2)
    folder = tmp_path_factory.mktemp("ebb")
    (folder / "ebb.toml").write_text(SETTINGS)
    # The tests' server, whatever others the environment names.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "EBB__", "EBB_URL", "EBB_API_KEY"))}

    def run(*words: str) -> str:
        done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=START_S)
        assert done.returncode == 0, f"ebb {' '.join(words)}: {done.stderr}"
        return done.stdout

    run("neo4j", "start")
    try:
        run("init", "--yes")
        with (folder / "serve.log").open("w") as log:
            process = subprocess.Popen([program, "serve"], cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield Server(_address(process, folder / "serve.log"), run)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=START_S) == 0, (folder / "serve.log").read_text()[-1500:]
    finally:
        run("neo4j", "stop", "--force")


def _address(process: subprocess.Popen[bytes], log: pathlib.Path) -> str:
    for _ in range(START_S * 10):
        named = re.search(r"API at (http://[\d.:]+)", log.read_text())
        if named:
            return named[1]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(f"ebb serve does not listen: {log.read_text()}")


@pytest.fixture
def url(server: Server) -> str:
    return server.url


_unused = iter(SCOPES)


@pytest.fixture
def scope() -> str:
    """A scope that no other test uses."""
    return next(_unused)


@pytest.fixture
def ebb(url: str, scope: str) -> Iterator[Ebb]:
    with Ebb(url, scope=scope, retry=Retry(attempts=10)) as client:
        yield client


@pytest.fixture
def async_ebb(url: str, scope: str) -> AsyncEbb:
    """Closed by the test, in its loop."""
    return AsyncEbb(url, scope=scope, retry=Retry(attempts=10))
