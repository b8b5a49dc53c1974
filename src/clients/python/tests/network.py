"""A network between client and server that fails as a test says: the answers are those of the real server, or get lost."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

# Before the server hears of a request, or after it has answered.
LOST_REQUEST, LOST_ANSWER = "lost request", "lost answer"


@dataclass
class Network:
    """Each request takes the next fault: one of the constants, or a refusal as status and seconds of Retry-After. Then there are none."""

    url: str = ""
    faults: list[str | tuple[int, int | None]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)


@contextmanager
def network(url: str, *faults: str | tuple[int, int | None]) -> Iterator[Network]:
    between = Network(faults=list(faults))

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            between.keys.append(self.headers.get("Idempotency-Key"))
            between.bodies.append(json.loads(body) if body else None)
            fault = between.faults.pop(0) if between.faults else None
            if isinstance(fault, tuple):
                status, retry_after = fault
                self.answer(status, {"Retry-After": str(retry_after)} if retry_after is not None else {}, b"refused by the network")
                return
            if fault != LOST_REQUEST:
                passed = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "content-length")}
                answer = httpx.request(self.command, url + self.path, headers=passed, content=body, timeout=60)
                kept = {name: value for name, value in answer.headers.items() if name in ("content-type", "ebb-change", "link")}
            if fault is None:
                self.answer(answer.status_code, kept, answer.content)
            else:
                self.close_connection = True

        do_GET = do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815 - names of http.server

        def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        between.url = f"http://127.0.0.1:{listener.server_port}"
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        try:
            yield between
        finally:
            listener.shutdown()
            thread.join()
