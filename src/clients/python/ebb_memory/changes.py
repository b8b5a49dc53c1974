"""The changes that a client wrote, from which its recalls know which write they must include.

A recall names one change. The change of a write that was sent after the answer of another includes that one, since it was committed
later. Writes that overlapped may have been committed in any order, so for them a recall names an instant, which includes everything
that was committed before it. The instant of a change is shortly before its commit, and the commit is before the answer: so the time
that the write took is added to it, and the recall is sent when that instant has passed.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

# How much later than its instant a change is committed at most; the server reads changes by the same limit.
COMMIT_S = 2.0
# How long a scope in which nothing is written any more is kept. Every answer includes a write that is older, unless a mirror is that
# far behind, which the answer says.
KEPT_S = 600.0


@dataclass(frozen=True)
class Written:
    """An answered write: its change, and when it was sent and answered, in seconds of the monotonic clock."""

    change: str
    sent_s: float
    answered_s: float

    @property
    def _margin_ms(self) -> int:
        """Milliseconds between the instant of the change and its commit, or more. Instants are whole milliseconds."""
        return math.ceil(min(self.answered_s - self.sent_s, COMMIT_S) * 1_000) + 1

    @property
    def committed(self) -> int:
        """An instant of the server not before the commit."""
        instant = self.change.rpartition("@")[2]
        return (int(instant) if instant.isdecimal() else 0) + self._margin_ms

    @property
    def is_past_s(self) -> float:
        """When that instant has certainly passed."""
        return self.answered_s + self._margin_ms / 1_000


@dataclass(frozen=True)
class Wanted:
    """What a recall must include: a change, or an instant that has passed at `from_s`."""

    change: str
    from_s: float = 0.0


class Changes:
    """The changes of each scope that no later one includes. Writes may be sent and answered in any order, from any thread. A client with a
    scope for each of many users keeps those of the last minutes alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The scope that was written last is last.
        self._of: dict[str | None, list[Written]] = {}

    def note(self, scope: str | None, write: Written) -> None:
        with self._lock:
            others = [one for one in self._of.pop(scope, []) if one.answered_s > write.sent_s]
            # A write that was sent after this answer may have been noted first.
            if all(write.answered_s > one.sent_s for one in others):
                others.append(write)
            self._of[scope] = others
            while (oldest := next(iter(self._of))) != scope and self._is_old(oldest, write):
                del self._of[oldest]

    def _is_old(self, scope: str | None, write: Written) -> bool:
        return all(one.answered_s + KEPT_S < write.answered_s for one in self._of[scope])

    def wanted(self, scope: str | None) -> Wanted | None:
        """What concerns a scope. Without one, the server chooses it, so that any may."""
        with self._lock:
            scopes = self._of if scope is None else {scope, None} & self._of.keys()
            found = [write for one in scopes for write in self._of[one]]
        if len(found) == 1:
            return Wanted(found[0].change)
        last = max(found, key=lambda write: write.committed, default=None)
        return None if last is None else Wanted(f"@{last.committed}", last.is_past_s)
