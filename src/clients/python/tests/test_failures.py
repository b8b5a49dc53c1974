"""Retries, idempotency and errors."""

from __future__ import annotations

import asyncio
import pickle
import socket
from collections.abc import Callable

import httpx
import pytest
from network import LOST_ANSWER, LOST_REQUEST, network

from ebb_memory import (
    AsyncEbb,
    Conflict,
    Ebb,
    InvalidRequest,
    NotAuthorized,
    NotFound,
    NotReached,
    NotUnderstood,
    Problem,
    RateLimited,
    Retry,
    TimedOut,
    TooLarge,
    Unavailable,
)
from ebb_memory.models import NewMemory

QUICK = Retry(attempts=4, first_pause_s=0.01)


@pytest.mark.parametrize("faults", [[LOST_REQUEST] * 3, [LOST_ANSWER] * 3, [(503, 0), (502, None), (429, 0)], [(504, 0), LOST_ANSWER]])
def test_a_write_is_sent_again_with_its_key_and_takes_effect_once(url: str, scope: str, faults: list[str | tuple[int, int | None]]) -> None:
    with network(url, *faults) as between, Ebb(between.url, scope=scope, retry=QUICK) as ebb:
        assert ebb.memories.add("once", id="m").did == "created"
        assert ebb.memories.get("m").access_count == 1
    keys = between.keys[:-1]
    assert len(keys) == len(faults) + 1
    assert len(set(keys)) == 1
    assert keys[0]


def test_a_write_is_sent_again_by_the_async_client(url: str, scope: str) -> None:
    async def main() -> None:
        with network(url, LOST_ANSWER, (503, 0)) as between:
            async with AsyncEbb(between.url, scope=scope, retry=QUICK) as ebb:
                assert (await ebb.memories.add("once", id="m")).did == "created"
                assert (await ebb.memories.get("m")).access_count == 1

    asyncio.run(main())


def test_lines_are_asked_for_again_until_they_come(url: str, scope: str) -> None:
    with network(url) as between, Ebb(between.url, retry=QUICK) as ebb:
        ebb.memories.add("once", id="m", scope=scope)
        between.faults = [(503, 0), LOST_ANSWER]
        assert "end" in list(ebb.scopes.export(scope))[-1]
        between.faults = [(503, 0)] * 4
        with pytest.raises(Unavailable):
            next(ebb.scopes.export(scope))


def test_each_write_has_a_key_of_its_own_unless_it_is_given_one(url: str, scope: str) -> None:
    with network(url) as between, Ebb(between.url, scope=scope) as ebb:
        ebb.memories.add("first", id="m")
        assert ebb.memories.access("m").access_count == 2
        assert ebb.memories.access("m", idempotency_key=f"turn-{scope}").access_count == 3
        assert ebb.memories.access("m", idempotency_key=f"turn-{scope}").access_count == 3
        assert ebb.memories.access("m").access_count == 4
    assert between.keys[2:4] == [f"turn-{scope}"] * 2
    assert len(set(between.keys)) == 4


@pytest.mark.parametrize(
    ("faults", "kind", "sent"),
    [
        ([(503, 0)] * 9, Unavailable, 4),
        ([(429, None)] * 9, RateLimited, 4),
        ([(503, 60)], Unavailable, 1),
        ([(500, None)], Unavailable, 1),
        ([(418, None)], Problem, 1),
        ([(200, None)], NotUnderstood, 1),
        ([LOST_REQUEST] * 9, NotReached, 4),
    ],
)
def test_a_failure_that_stays_is_raised(
    url: str, scope: str, faults: list[str | tuple[int, int | None]], kind: type[Exception], sent: int
) -> None:
    with network(url, *faults) as between, Ebb(between.url, scope=scope, retry=QUICK) as ebb:
        with pytest.raises(kind) as raised:
            ebb.memories.add("x")
        assert type(raised.value) is kind
    assert len(between.keys) == sent


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
        with Ebb(address, retry=QUICK) as ebb, pytest.raises(NotReached, match="ebb serve"):
            ebb.memories.list()


def test_an_answer_that_does_not_come_is_a_timeout_and_not_waited_for_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with Ebb(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2, retry=QUICK) as ebb, pytest.raises(TimedOut):
            ebb.memories.list()
        silent.accept()[0].close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_an_answer_that_cannot_be_decoded_is_not_understood() -> None:
    def garbled(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"no gzip"))

    async def main() -> None:
        async with AsyncEbb(retry=QUICK) as ebb:
            ebb._http = httpx.AsyncClient(transport=httpx.MockTransport(garbled))
            with pytest.raises(NotUnderstood, match="decoded"):
                await ebb.memories.list()
            with pytest.raises(NotUnderstood, match="decoded"):
                [line async for line in ebb.scopes.export("local")]

    asyncio.run(main())
    with Ebb(retry=QUICK) as ebb:
        ebb._http = httpx.Client(transport=httpx.MockTransport(garbled))
        with pytest.raises(NotUnderstood, match="decoded"):
            ebb.memories.list()
        with pytest.raises(NotUnderstood, match="decoded"):
            list(ebb.scopes.export("local"))


def test_connecting_has_a_timeout_of_its_own_and_is_tried_again(url: str) -> None:
    timeouts: list[object] = []

    def connect(request: httpx.Request) -> None:
        timeouts.append(request.extensions["timeout"]["connect"])
        raise httpx.ConnectTimeout("no connection", request=request)

    for timeout_s in (60.0, 1.0):
        with Ebb(url, timeout_s=timeout_s, retry=QUICK) as ebb:
            ebb._http.event_hooks["request"].append(connect)
            with pytest.raises(NotReached, match="ebb serve") as raised:
                ebb.memories.list()
        assert type(raised.value) is NotReached
    assert timeouts == [5.0] * 4 + [1.0] * 4


def test_a_pause_has_a_limit_after_any_number_of_attempts() -> None:
    retry = Retry(attempts=10_000, first_pause_s=0.25, pause_max_s=2.0)
    refused = httpx.Response(503)
    for attempt in (1, 2, 70, 2_000, 9_999):
        assert 0.0 <= (retry.pause_s(attempt, refused) or 0.0) <= min(0.25 * 2 ** min(attempt - 1, 9), 2.0)
    assert retry.pause_s(10_000, refused) is None


def test_an_error_is_the_same_in_another_process(ebb: Ebb) -> None:
    with pytest.raises(NotFound) as raised:
        ebb.memories.get("none")
    for why in (raised.value, RateLimited(429, {"code": "rate_limited"}, 1.5), TimedOut("late")):
        copy = pickle.loads(pickle.dumps(why))
        assert (type(copy), str(copy), vars(copy)) == (type(why), str(why), vars(why))


@pytest.mark.parametrize(
    ("call", "kind", "status"),
    [
        (lambda ebb: ebb.memories.add(" "), InvalidRequest, 400),
        (lambda ebb: ebb.memories.list(limit=0), InvalidRequest, 400),
        (lambda ebb: ebb.memories.get("none"), NotFound, 404),
        (lambda ebb: ebb.memories.add("another", id="m"), Conflict, 409),
        (lambda ebb: ebb.memories.add_batch([NewMemory(content="x" * 65_000)] * 1_000), TooLarge, 413),
    ],
)
def test_a_refusal_carries_the_problem(ebb: Ebb, call: Callable[[Ebb], object], kind: type[Problem], status: int) -> None:
    ebb.memories.add("one", id="m")
    with pytest.raises(kind) as raised:
        call(ebb)
    why = raised.value
    assert (type(why), why.status, why.type) == (kind, status, f"urn:ebb:problem:{why.code}")
    assert why.detail
    assert why.request_id
    assert why.detail in str(why)


def test_a_number_that_json_lacks_is_not_sent_as_null(ebb: Ebb) -> None:
    with pytest.raises(ValueError, match="JSON"):
        ebb.relations.observe(from_="a", to="b", type="c", weight=float("nan"))


def test_another_server_is_not_understood(url: str) -> None:
    with Ebb(f"{url}/openapi.json?") as ebb, pytest.raises(NotUnderstood, match="Memories"):
        ebb.memories.list()


def test_a_key_comes_from_the_environment(url: str, scope: str, new_key: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    secret = new_key("read")
    with Ebb(url) as nobody, pytest.raises(NotAuthorized) as raised:
        nobody.memories.list(scope=scope)
    assert raised.value.status == 401
    monkeypatch.setenv("EBB_API_KEY", secret)
    monkeypatch.setenv("EBB_URL", url)
    with Ebb() as reader:
        assert reader.memories.list().memories == []
        with pytest.raises(NotAuthorized, match="no right to write") as raised:
            reader.memories.add("x")
        assert raised.value.status == 403
