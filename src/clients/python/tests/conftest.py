"""A real server for the tests: a managed Neo4j in a folder of its own, and `ebb serve`. EBB names the program."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import pytest

from ebb_memory import AsyncEbb, Ebb, NotAuthorized, Retry

# Tests do not wait for the schedule, but for what they start.
SETTINGS = """\
[http]
listen = "127.0.0.1:0"
"""
# On a busy machine.
START_S = 300

Found = TypeVar("Found")


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
    def named() -> re.Match[str] | None:
        assert process.poll() is None, log.read_text()
        return re.search(r"API at (http://[\d.:]+)", log.read_text())

    return until(named, f"ebb serve does not listen: {log}")[1]


def until(found: Callable[[], Found | None], otherwise: str) -> Found:
    """What a call finds, as soon as it finds something."""
    end_s = time.monotonic() + START_S
    while not (some := found()):
        assert time.monotonic() < end_s, otherwise
        time.sleep(0.1)
    return some


@pytest.fixture
def url(server: Server) -> str:
    return server.url


_numbers = itertools.count()


@pytest.fixture
def scope() -> str:
    """A scope that no other test uses."""
    return f"scope-{next(_numbers)}"


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except NotAuthorized:
        return True
    return False


@pytest.fixture
def new_key(server: Server, scope: str) -> Iterator[Callable[[str], str]]:
    """Creates a key with a right in the scope. From then on until the end of the test, every request needs a key."""
    ids = []
    # The process that serves follows within seconds.
    late = "the server does not follow a change of its keys"

    def new(right: str) -> str:
        made = json.loads(server.run("key", "create", "--name", right, "--right", right, "--scope", scope, "-o", "json"))
        ids.append(made["id"])
        with Ebb(server.url) as nobody, Ebb(server.url, made["secret"]) as owner:
            until(lambda: is_refused(nobody.memories.list) and not is_refused(owner.memories.list), late)
        return str(made["secret"])

    yield new
    for made in ids:
        server.run("key", "revoke", made)
    server.run("key", "prune")
    server.run("key", "open", "--yes")
    with Ebb(server.url) as nobody:
        until(lambda: not is_refused(nobody.memories.list), late)


@pytest.fixture
def ebb(url: str, scope: str) -> Iterator[Ebb]:
    with Ebb(url, scope=scope, retry=Retry(attempts=10)) as client:
        yield client


@pytest.fixture
def async_ebb(url: str, scope: str) -> AsyncEbb:
    """Closed by the test, in its loop."""
    return AsyncEbb(url, scope=scope, retry=Retry(attempts=10))
