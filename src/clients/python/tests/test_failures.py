"""Retries, idempotency and errors."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator

import pytest
from conftest import Server
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


@pytest.fixture
def key(server: Server, scope: str) -> Iterator[str]:
    made = json.loads(server.run("key", "create", "--name", "reader", "--right", "read", "--scope", scope, "-o", "json"))
    yield made["secret"]
    server.run("key", "revoke", made["id"])
    server.run("key", "prune")
    server.run("key", "open", "--yes")
    # The process that serves follows within two seconds; a test waits as long as it takes.
    with Ebb(server.url) as ebb:
        while is_refused(ebb.memories.list):
            pass


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except NotAuthorized:
        return True
    return False


def test_a_key_comes_from_the_environment(server: Server, key: str, scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ebb(server.url) as nobody:
        while not is_refused(nobody.memories.list):
            pass
        with pytest.raises(NotAuthorized) as raised:
            nobody.memories.list(scope=scope)
        assert raised.value.status == 401
    monkeypatch.setenv("EBB_API_KEY", key)
    monkeypatch.setenv("EBB_URL", server.url)
    with Ebb() as reader:
        assert reader.memories.list().memories == []
        with pytest.raises(NotAuthorized, match="no right to write") as raised:
            reader.memories.add("x")
        assert raised.value.status == 403
