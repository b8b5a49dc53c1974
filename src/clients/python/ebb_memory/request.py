"""A request as a value: what an operation returns before a client sends it.

An operation is written once and describes its request. On a noun of `Ebb` it then returns the answer, on one of `AsyncEbb` a
coroutine of it.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")


class Sync:
    """Operations return answers."""


class Async:
    """Operations return coroutines of answers."""


Call = TypeVar("Call", Sync, Async)


def new_key() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True)
class Request(Generic[Answer]):
    """A request, and the type of its answer. Fields that are None are not sent."""

    method: str
    path: str
    answer: Any
    path_parts: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | list[Any] | None = None
    # Where the scope is, if the request has one.
    scope: Literal["query", "body", "items"] | None = None
    idempotency_key: str | None = None
    # Whether the answer has a document in each line.
    is_lines: bool = False


class Noun(Generic[Call]):
    """The operations on a noun, and what sends their requests."""

    def __init__(self, send: Callable[[Request[Any]], Any]) -> None:
        self._send = send


class operation(Generic[Arguments, Answer]):  # noqa: N801 - a decorator
    """An operation, by the function that describes its request."""

    def __init__(self, describe: Callable[Concatenate[Any, Arguments], Request[Answer]]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, noun: None, kind: type) -> operation[Arguments, Answer]: ...
    @overload
    def __get__(self, noun: Noun[Sync], kind: type) -> Callable[Arguments, Answer]: ...
    @overload
    def __get__(self, noun: Noun[Async], kind: type) -> Callable[Arguments, Coroutine[Any, Any, Answer]]: ...
    def __get__(self, noun: Noun[Any] | None, kind: type) -> Any:
        if noun is None:
            return self
        describe, send = self.describe, noun._send

        @functools.wraps(describe)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
            return send(describe(noun, *args, **kwargs))

        return call


class lines(operation[Arguments, Answer]):  # noqa: N801 - a decorator
    """An operation whose answer has a document in each line, which are read one by one. The request is sent for the first of them."""

    @overload  # type: ignore[override]
    def __get__(self, noun: None, kind: type) -> lines[Arguments, Answer]: ...
    @overload
    def __get__(self, noun: Noun[Sync], kind: type) -> Callable[Arguments, Iterator[Answer]]: ...
    @overload
    def __get__(self, noun: Noun[Async], kind: type) -> Callable[Arguments, AsyncIterator[Answer]]: ...
    def __get__(self, noun: Noun[Any] | None, kind: type) -> Any:
        return super().__get__(noun, kind)
