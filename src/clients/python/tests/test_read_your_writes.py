"""A recall after a write of the same client finds it."""

from __future__ import annotations

import asyncio

from network import network

from ebb_memory import AsyncEbb, Ebb
from ebb_memory.protocol import Changes


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


def test_the_newest_change_counts_whichever_is_answered_last() -> None:
    changes = Changes()
    changes.note("a", "second@2")
    changes.note("a", "first@1")
    changes.note("b", "third@3")
    assert [changes.newest(scope) for scope in ("a", "b", "c")] == ["second@2", "third@3", None]
    # The server chooses the scope of a request without one.
    assert changes.newest(None) == "third@3"
    changes.note(None, "fourth@4")
    assert [changes.newest(scope) for scope in ("a", "c")] == ["fourth@4", "fourth@4"]
