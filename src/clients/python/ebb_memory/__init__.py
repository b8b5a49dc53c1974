"""Client of Ebb, the maintenance layer for agent memory in Neo4j.

    from ebb_memory import Ebb

    with Ebb() as ebb:
        ebb.memories.add("Ann moved to Lisbon", mentions=["Ann"])
        print(ebb.recall.run(text="where is Ann").hits[0].content)

`AsyncEbb` has the same operations as coroutines; `ebb_memory.langgraph` has a store for LangGraph.
"""

from . import models
from .client import AsyncEbb, Ebb
from .errors import (
    Conflict,
    EbbError,
    InvalidRequest,
    NotAuthorized,
    NotFound,
    NotReached,
    NotUnderstood,
    Problem,
    RateLimited,
    TimedOut,
    TooLarge,
    Unavailable,
)
from .retry import Retry

__all__ = [
    "AsyncEbb",
    "Conflict",
    "Ebb",
    "EbbError",
    "InvalidRequest",
    "NotAuthorized",
    "NotFound",
    "NotReached",
    "NotUnderstood",
    "Problem",
    "RateLimited",
    "Retry",
    "TimedOut",
    "TooLarge",
    "Unavailable",
    "models",
]
