"""When a request is sent again, and after which pause."""

from __future__ import annotations

import random
from dataclasses import dataclass

import httpx

# The server refused before any work, or something between did not reach it. Every write has a key, so it takes effect once.
STATUSES = {429, 502, 503, 504}
# Timeouts of reading are no such error: the caller has waited long enough. Connecting has a short one of its own.
ERRORS = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
# More would exceed what a float holds.
DOUBLINGS_MAX = 60


@dataclass(frozen=True)
class Retry:
    """Pauses are random, up to a limit that doubles: clients that failed together do not return together."""

    attempts: int = 4
    """Number of times that a request is sent at most."""
    first_pause_s: float = 0.25
    """Limit of the first pause."""
    pause_max_s: float = 10.0
    """Limit of any pause. If the server asks for a longer one, its refusal is raised at once."""

    def pause_s(self, attempt: int, outcome: httpx.Response | httpx.RequestError) -> float | None:
        """The pause after an attempt, the first being 1; None if the outcome is final."""
        asked = 0.0
        if isinstance(outcome, httpx.Response):
            if outcome.status_code not in STATUSES:
                return None
            asked = retry_after_s(outcome) or 0.0
        elif not isinstance(outcome, ERRORS):
            return None
        if attempt >= self.attempts or asked > self.pause_max_s:
            return None
        limit: float = min(self.first_pause_s * 2 ** min(attempt - 1, DOUBLINGS_MAX), self.pause_max_s)
        return min(asked + random.uniform(0, limit), max(asked, self.pause_max_s))


def retry_after_s(response: httpx.Response) -> float | None:
    """Seconds of `Retry-After`, which Ebb sends as a number."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None
