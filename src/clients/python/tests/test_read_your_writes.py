"""A recall after a write of the same client finds it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from network import network

from ebb_memory import AsyncEbb, Ebb
from ebb_memory.changes import Changes, Written
from ebb_memory.operations import Recall
from ebb_memory.protocol import Protocol
from ebb_memory.request import Request, Sync


def test_a_recall_finds_what_was_just_written(ebb: Ebb) -> None:
    for number in range(10):
        word = f"word{number}"
        ebb.memories.add(f"{word} is new", id=word)
        assert [hit.id for hit in ebb.recall.run(text=word).hits][:1] == [word]
        assert word in ebb.context.compose(text=word).text


def test_an_async_recall_finds_what_was_just_written(async_ebb: AsyncEbb) -> None:
    async def main() -> None:
        async with async_ebb as ebb:
            await asyncio.gather(*(ebb.memories.add(f"word{number} is new", id=f"m{number}") for number in range(5)))
            found = await ebb.recall.run(text="new", kinds=["Memory"])
            assert {hit.id for hit in found.hits} == {f"m{number}" for number in range(5)}

    asyncio.run(main())


def test_a_recall_names_the_last_write_of_its_scope(url: str, scope: str) -> None:
    other = f"{scope}-other"
    with network(url) as between, Ebb(between.url, scope=scope) as ebb:
        ebb.recall.run(text="x")
        here = ebb.memories.add("x").change
        there = ebb.memories.add("x", scope=other).change
        ebb.recall.run(text="x")
        ebb.context.compose(text="x")
        ebb.recall.run(text="x", at_least=there)
    assert [body.get("at_least") for body in between.bodies] == [None, None, None, here, here, there]
    with network(url) as between, Ebb(between.url, scope=scope, read_your_writes=False) as ebb:
        assert ebb.memories.add("x").change
        ebb.recall.run(text="x")
    assert "at_least" not in between.bodies[1]


def test_a_recall_after_writes_that_overlapped_includes_all_of_them(url: str, scope: str) -> None:
    async def main() -> list[str | None]:
        async with AsyncEbb(between.url, scope=scope) as ebb:
            # Both are sent before one of them is answered.
            both = await asyncio.gather(ebb.memories.add("new one", id="one"), ebb.memories.add("new two", id="two"))
            found = await ebb.recall.run(text="new", kinds=["Memory"])
            assert ({hit.id for hit in found.hits}, found.flags) == ({"one", "two"}, [])
            return [memory.change for memory in both]

    with network(url) as between:
        changes = asyncio.run(main())
    record, _, instant = between.bodies[2]["at_least"].partition("@")
    assert record == ""
    assert all(int((change or "").partition("@")[2]) < int(instant) for change in changes)


def shown(changes: Changes, scope: str | None) -> tuple[str, float] | None:
    """The change that a recall names, and the second from which it is sent."""
    wanted = changes.wanted(scope)
    return (wanted.change, round(wanted.from_s, 3)) if wanted else None


def test_a_later_write_includes_those_that_were_answered_before_it() -> None:
    changes = Changes()
    changes.note("a", Written("first@1000", 0.0, 1.0))
    changes.note("a", Written("second@2000", 1.5, 2.0))
    assert shown(changes, "a") == ("second@2000", 0.0)
    # Noted late by its thread.
    changes.note("a", Written("early@500", 0.0, 1.2))
    assert shown(changes, "a") == ("second@2000", 0.0)
    # It overlapped with the second one.
    changes.note("a", Written("slow@900", 0.5, 2.5))
    assert shown(changes, "a") == ("@2901", 4.501)
    changes.note("a", Written("third@3000", 3.0, 3.1))
    assert shown(changes, "a") == ("third@3000", 0.0)


def test_writes_that_overlapped_are_included_from_the_instant_of_the_last() -> None:
    changes = Changes()
    changes.note("a", Written("one@1000", 0.0, 0.25))
    changes.note("a", Written("two@1010", 0.1, 0.35))
    changes.note("a", Written("repeated, without a record@1005", 0.2, 0.3))
    assert shown(changes, "a") == ("@1261", 0.601)
    assert changes.wanted("b") is None


def test_the_server_may_choose_any_scope_for_a_request_without_one() -> None:
    changes = Changes()
    changes.note("a", Written("one@1000", 0.0, 0.5))
    changes.note("b", Written("two@2000", 1.0, 1.5))
    assert [shown(changes, scope) for scope in ("a", "b")] == [("one@1000", 0.0), ("two@2000", 0.0)]
    assert shown(changes, None) == ("@2501", 2.001)
    changes.note(None, Written("three@3000", 2.0, 2.5))
    assert shown(changes, "c") == ("three@3000", 0.0)
    assert shown(changes, "a") == ("@3501", 3.001)


def test_a_client_of_many_scopes_forgets_those_that_are_not_written_any_more() -> None:
    changes = Changes()
    for number in range(1_000):
        changes.note(f"user-{number}", Written(f"c@{number}", float(number), number + 0.5))
    assert changes.wanted("user-300") is None
    assert shown(changes, "user-500") == ("c@500", 0.0)
    changes.note("user-400", Written("again@2000", 1_000.0, 1_000.1))
    changes.note("user-999", Written("late@3000", 1_600.0, 1_600.05))
    assert shown(changes, "user-400") == ("again@2000", 0.0)
    assert changes.wanted("user-500") is None


@pytest.mark.parametrize(("timeout_s", "wait_ms"), [(60.0, 5_000), (4.0, 2_000), (0.5, 250)])
def test_a_recall_waits_for_less_than_its_timeout(timeout_s: float, wait_ms: int) -> None:
    requests: list[Request[Any]] = []
    describe = Recall[Sync](requests.append)
    protocol = Protocol("http://127.0.0.1:1", None, "a", timeout_s, read_your_writes=True)
    assert protocol.changes
    describe.run(text="x")
    first, _ = protocol.complete(requests[0])
    assert isinstance(first.body, dict)
    assert (first.body["scope"], first.body["at_least"], first.body["wait_ms"]) == ("a", None, None)
    protocol.changes.note("a", Written("one@1000", 0.0, 0.5))
    request, pause_s = protocol.complete(requests[0])
    assert isinstance(request.body, dict)
    assert (request.body["at_least"], request.body["wait_ms"], pause_s) == ("one@1000", wait_ms, 0.0)
    describe.run(text="x", at_least="other@1")
    describe.run(text="x", at_least="other@1", wait_ms=0)
    for given, waited in zip(requests[1:], (wait_ms, 0), strict=True):
        request, pause_s = protocol.complete(given)
        assert isinstance(request.body, dict)
        assert (request.body["at_least"], request.body["wait_ms"], pause_s) == ("other@1", waited, 0.0)
