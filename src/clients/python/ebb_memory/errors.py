"""Errors of calls. Branch on the class, or on `code`; `detail` is for people."""

from __future__ import annotations

from typing import Any


class EbbError(Exception):
    """Any error of a call."""


class NotReached(EbbError):
    """The server did not answer, also after retries. A write may have taken effect: repeat it with the same `idempotency_key`."""


class TimedOut(NotReached):
    """The answer did not come within the timeout."""


class NotUnderstood(EbbError):
    """The answer is not what the API describes: the address is not that of Ebb, or its version is another."""


class Problem(EbbError):
    """The server refused the request (RFC 9457)."""

    def __init__(self, status: int, body: dict[str, Any], retry_after_s: float | None = None) -> None:
        self.status = status
        self.code = str(body.get("code", "unknown"))
        self.type = str(body.get("type", "about:blank"))
        self.title = str(body.get("title", ""))
        self.detail = str(body.get("detail", ""))
        self.request_id = str(body.get("request_id", ""))
        """Id of the request in the log of the server."""
        self.retry_after_s = retry_after_s
        # The arguments, from which a copy in another process is made.
        super().__init__(status, body, retry_after_s)

    def __str__(self) -> str:
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status} {self.code}: {self.detail}{request}"


class InvalidRequest(Problem):
    """The request is invalid."""


class NotAuthorized(Problem):
    """The key is missing, unknown, or lacks the right."""


class NotFound(Problem):
    """The resource does not exist, or not in this scope."""


class Conflict(Problem):
    """The request conflicts with the stored state."""


class TooLarge(Problem):
    """The request is too large."""


class RateLimited(Problem):
    """The key exceeds its rate, also after retries."""


class Unavailable(Problem):
    """The service is temporarily unavailable, also after retries."""


_CLASSES: dict[str, type[Problem]] = {
    "validation": InvalidRequest,
    "authorization": NotAuthorized,
    "not_found": NotFound,
    "conflict": Conflict,
    "too_large": TooLarge,
    "rate_limited": RateLimited,
    "unavailable": Unavailable,
}


def problem(status: int, body: Any, text: str, retry_after_s: float | None) -> Problem:
    """The error of an answer. One without a problem as its body is of something between the client and Ebb."""
    if not isinstance(body, dict) or "code" not in body:
        code = "unavailable" if status >= 500 else "rate_limited" if status == 429 else "unknown"
        body = {"code": code, "detail": text[:500] or "no text"}
    return _CLASSES.get(str(body["code"]), Problem)(status, body, retry_after_s)
