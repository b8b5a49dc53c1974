"""The two clients: they send what operations describe, again if that is safe, and differ in how they wait."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, TypeVar

import httpx

from .operations import Nouns
from .protocol import Lines, Outcome, Protocol
from .request import Async, Request, Sync
from .retry import Retry

Answer = TypeVar("Answer")


class Ebb(Nouns[Sync]):
    """A client of `ebb serve`. It may be used from several threads.

    Args:
        url: Address; default `EBB_URL`, otherwise http://127.0.0.1:8322.
        api_key: Key; default `EBB_API_KEY`, otherwise none.
        scope: Scope of requests that name none, but for those about facts; default that of the key, otherwise local.
        timeout_s: Seconds without a byte of the answer, after which a call fails. A connection has five seconds at most.
        retry: When a request is sent again.
        read_your_writes: Whether recalls and contexts wait for the writes of this client in their scope.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        scope: str | None = None,
        timeout_s: float = 60.0,
        retry: Retry | None = None,
        read_your_writes: bool = True,
    ) -> None:
        super().__init__(self._send)
        self._protocol = Protocol(url, api_key, scope, timeout_s, read_your_writes)
        self._retry = retry or Retry()
        self._http = httpx.Client(headers=self._protocol.headers, timeout=self._protocol.timeout, trust_env=self._protocol.may_use_proxy)

    def _send(self, request: Request[Any]) -> Any:
        return self._lines(request) if request.is_lines else self._answer(request)

    def _answer(self, request: Request[Answer]) -> Answer:
        request, pause_s = self._protocol.complete(request)
        time.sleep(pause_s)
        outcome, sent_s = self._outcome(request)
        return self._protocol.answer(request, outcome, sent_s)

    def _lines(self, request: Request[Answer]) -> Iterator[Answer]:
        outcome, sent_s = self._outcome(request)
        if isinstance(outcome, httpx.RequestError):
            raise self._protocol.failure(request, outcome) from outcome
        lines = Lines()
        with contextlib.closing(outcome):
            try:
                if not outcome.is_success:
                    outcome.read()
                    self._protocol.answer(request, outcome, sent_s)
                for chunk in outcome.iter_bytes():
                    for line in lines.add(chunk):
                        yield self._protocol.line(request, line)
            except httpx.RequestError as why:
                raise self._protocol.failure(request, why) from why

    def _outcome(self, request: Request[Any]) -> tuple[Outcome, float]:
        """The final outcome of a request, and when it was sent. Lines are not read yet."""
        message = self._protocol.message(request)
        attempt = 1
        while True:
            outcome: Outcome
            sent_s = time.monotonic()
            try:
                outcome = self._http.send(self._http.build_request(**message), stream=request.is_lines)
            except httpx.RequestError as why:
                outcome = why
            again_s = self._retry.pause_s(attempt, outcome)
            if again_s is None:
                return outcome, sent_s
            if isinstance(outcome, httpx.Response):
                outcome.close()
            time.sleep(again_s)
            attempt += 1

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Ebb:
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncEbb(Nouns[Async]):
    """A client of `ebb serve` for asyncio. Arguments: those of `Ebb`."""

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        scope: str | None = None,
        timeout_s: float = 60.0,
        retry: Retry | None = None,
        read_your_writes: bool = True,
    ) -> None:
        super().__init__(self._send)
        self._protocol = Protocol(url, api_key, scope, timeout_s, read_your_writes)
        self._retry = retry or Retry()
        self._http = httpx.AsyncClient(
            headers=self._protocol.headers, timeout=self._protocol.timeout, trust_env=self._protocol.may_use_proxy
        )

    def _send(self, request: Request[Any]) -> Any:
        return self._lines(request) if request.is_lines else self._answer(request)

    async def _answer(self, request: Request[Answer]) -> Answer:
        request, pause_s = self._protocol.complete(request)
        await asyncio.sleep(pause_s)
        outcome, sent_s = await self._outcome(request)
        return self._protocol.answer(request, outcome, sent_s)

    async def _lines(self, request: Request[Answer]) -> AsyncIterator[Answer]:
        outcome, sent_s = await self._outcome(request)
        if isinstance(outcome, httpx.RequestError):
            raise self._protocol.failure(request, outcome) from outcome
        lines = Lines()
        async with contextlib.aclosing(outcome):
            try:
                if not outcome.is_success:
                    await outcome.aread()
                    self._protocol.answer(request, outcome, sent_s)
                async for chunk in outcome.aiter_bytes():
                    for line in lines.add(chunk):
                        yield self._protocol.line(request, line)
            except httpx.RequestError as why:
                raise self._protocol.failure(request, why) from why

    async def _outcome(self, request: Request[Any]) -> tuple[Outcome, float]:
        """The final outcome of a request, and when it was sent. Lines are not read yet."""
        message = self._protocol.message(request)
        attempt = 1
        while True:
            outcome: Outcome
            sent_s = time.monotonic()
            try:
                outcome = await self._http.send(self._http.build_request(**message), stream=request.is_lines)
            except httpx.RequestError as why:
                outcome = why
            again_s = self._retry.pause_s(attempt, outcome)
            if again_s is None:
                return outcome, sent_s
            if isinstance(outcome, httpx.Response):
                await outcome.aclose()
            await asyncio.sleep(again_s)
            attempt += 1

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncEbb:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()
