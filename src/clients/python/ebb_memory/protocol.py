"""What both clients share: a request becomes a message, a response an answer or an error; the changes of writes are noted."""

from __future__ import annotations

import functools
import json
import os
import time
import urllib.parse
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from . import errors
from .changes import Changes, Wanted, Written
from .request import Request
from .retry import retry_after_s

Answer = TypeVar("Answer")
# Errors of the transport, and of a body that is not of its encoding.
Outcome = httpx.Response | httpx.RequestError

URL = "http://127.0.0.1:8322"
# How long a recall waits for writes, unless it says: as long as the server allows, since a late answer is better than
# one that lacks what was just written. Half of the timeout at most: the rest is for the answer.
WAIT_MS_MAX = 5_000
# A server that is there accepts a connection at once.
CONNECT_S_MAX = 5.0


@functools.cache
def _adapter(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)


def _package() -> str:
    try:
        return f"ebb-memory/{version('ebb-memory')}"
    except PackageNotFoundError:
        return "ebb-memory"


class Lines:
    """The lines of a body, chunk by chunk. Not those of httpx, which also ends a line at characters that texts contain."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def add(self, chunk: bytes) -> list[bytes]:
        """The lines that end in the next chunk."""
        head, end, rest = chunk.rpartition(b"\n")
        if not end:
            self._begun.append(chunk)
            return []
        found = b"".join([*self._begun, head]).split(b"\n")
        self._begun = [rest]
        return found


class Protocol:
    def __init__(self, url: str | None, api_key: str | None, scope: str | None, timeout_s: float, read_your_writes: bool) -> None:
        self.url = (url or os.environ.get("EBB_URL") or URL).rstrip("/")
        api_key = api_key or os.environ.get("EBB_API_KEY")
        self.headers = {"User-Agent": _package()} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
        # To this machine nothing goes through a proxy, which would see the key and the texts.
        self.may_use_proxy = urllib.parse.urlsplit(self.url).hostname not in {"localhost", "127.0.0.1", "::1"}
        self.scope = scope
        self.timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S_MAX))
        self.wait_ms = min(WAIT_MS_MAX, int(timeout_s * 500))
        self.changes = Changes() if read_your_writes else None

    def message(self, request: Request[Any]) -> dict[str, Any]:
        """The arguments of httpx for a request."""
        path = request.path.format_map({name: _quote(part) for name, part in request.path_parts.items()})
        query = {name: value for name, value in _json(request.query).items() if value is not None}
        headers = {"Idempotency-Key": request.idempotency_key} if request.idempotency_key else {}
        message = {"method": request.method, "url": self.url + path, "params": query, "headers": headers}
        if request.body is not None:
            # By hand, since a number that JSON lacks is an error here and not null.
            message["content"] = json.dumps(self._body(request), allow_nan=False, ensure_ascii=False).encode()
            headers["Content-Type"] = "application/json"
        return message

    def _body(self, request: Request[Any]) -> Any:
        if isinstance(request.body, list):
            return [_json(one) for one in request.body]
        return {name: value for name, value in _json(request.body).items() if value is not None}

    def complete(self, request: Request[Answer]) -> tuple[Request[Answer], float]:
        """The request with the scope of the client and, in a recall, with what it wrote there; and seconds to wait before it is sent."""
        request = self._with_scope(request)
        body = request.body
        if not isinstance(body, dict) or "at_least" not in body:
            return request, 0.0
        given = body["at_least"]
        wanted = Wanted(given) if given is not None else self.changes.wanted(body["scope"]) if self.changes else None
        if wanted is None:
            return request, 0.0
        wait_ms = self.wait_ms if body["wait_ms"] is None else body["wait_ms"]
        pause_s = min(wanted.from_s - time.monotonic(), wait_ms / 1_000)
        return replace(request, body={**body, "at_least": wanted.change, "wait_ms": wait_ms}), max(pause_s, 0.0)

    def _with_scope(self, request: Request[Answer]) -> Request[Answer]:
        if self.scope is not None:
            if request.scope == "query" and request.query["scope"] is None:
                request = replace(request, query={**request.query, "scope": self.scope})
            if request.scope == "body" and isinstance(request.body, dict) and request.body["scope"] is None:
                request = replace(request, body={**request.body, "scope": self.scope})
            if request.scope == "items" and isinstance(request.body, list):
                items = [one if one.scope is not None else one.model_copy(update={"scope": self.scope}) for one in request.body]
                request = replace(request, body=items)
        return request

    def answer(self, request: Request[Answer], outcome: Outcome, sent_s: float) -> Answer:
        """The answer of a response to a message that was sent at `sent_s`. Any other outcome is raised as an error."""
        answered_s = time.monotonic()
        if isinstance(outcome, httpx.RequestError):
            raise self.failure(request, outcome) from outcome
        try:
            body = outcome.json()
        except ValueError:
            body = None
        if not outcome.is_success:
            raise errors.problem(outcome.status_code, body, outcome.text, retry_after_s(outcome))
        change, page = outcome.headers.get("Ebb-Change"), _next_cursor(outcome)
        if change and self.changes:
            for scope in _scopes(request):
                self.changes.note(scope, Written(change, sent_s, answered_s))
        try:
            found: Answer = _adapter(request.answer).validate_python(_with_headers(request.answer, body, change, page))
        except ValidationError as why:
            raise errors.NotUnderstood(f"{self._where(request)}: the answer is not a {request.answer}: {why}") from why
        return found

    def line(self, request: Request[Answer], line: bytes) -> Answer:
        """The document of a line of an answer."""
        try:
            found: Answer = _adapter(request.answer).validate_json(line)
        except ValidationError as why:
            raise errors.NotUnderstood(f"{self._where(request)}: a line of the answer is not a {request.answer}: {why}") from why
        return found

    def failure(self, request: Request[Any], why: httpx.RequestError) -> errors.NotReached | errors.NotUnderstood:
        where = self._where(request)
        if isinstance(why, httpx.DecodingError):
            return errors.NotUnderstood(f"{where}: the answer cannot be decoded: {why}")
        if isinstance(why, httpx.TimeoutException) and not isinstance(why, httpx.ConnectTimeout):
            return errors.TimedOut(f"{where}: no answer within the timeout; a longer one is an argument of the client")
        return errors.NotReached(f"{where}: {why or type(why).__name__}. Is `ebb serve` running at this address?")

    def _where(self, request: Request[Any]) -> str:
        return f"{request.method} {self.url}{request.path}"


def _quote(part: str) -> str:
    # These two are segments that httpx removes from a path: the request would be another one.
    return part.replace(".", "%2E") if part in {".", ".."} else urllib.parse.quote(part, safe="")


def _json(value: Any) -> Any:
    # Defaults of models are the server's to know.
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return to_jsonable_python(value, by_alias=True, exclude_none=True)


def _scopes(request: Request[Any]) -> set[str | None]:
    """The scopes that a request names; None if it names none, as for facts."""
    if isinstance(request.body, list):
        return {getattr(item, "scope", None) if request.scope else None for item in request.body}
    parts = request.body if request.scope == "body" else request.query
    return {parts["scope"] if request.scope and isinstance(parts, dict) else None}


def _next_cursor(response: httpx.Response) -> str | None:
    target = response.links.get("next", {}).get("url")
    return httpx.URL(target).params.get("cursor") if target else None


def _with_headers(answer: Any, body: Any, change: str | None, cursor: str | None) -> Any:
    """The body with what headers say, in the fields that the answer has for it, unless it names a cursor itself. A page of a bare list
    gets a field for the list."""
    fields = getattr(answer, "model_fields", {})
    if isinstance(body, list):
        body = {name: body for name in fields if name != "cursor"}
    if not isinstance(body, dict):
        return body
    if "change" in fields:
        body = {**body, "change": change}
    return {"cursor": cursor, **body} if "cursor" in fields else body
