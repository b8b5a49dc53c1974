"""The operations, with a scope, by name, in pages and batches, with and without async."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime, timezone
from typing import Any

import httpx
import pytest

from ebb_memory import AsyncEbb, Ebb, NotFound, operations
from ebb_memory.models import Access, GivenSeed, Memory, NewMemory, Observation, SweepAnswer
from ebb_memory.request import Sync, operation


def test_a_memory_from_its_creation_to_its_deletion(ebb: Ebb, scope: str) -> None:
    added = ebb.memories.add("prefers tabs", id="a/b c?", tags=["style"], session="s1")
    assert (added.did, added.scope, added.tier, added.pinned, added.tags) == ("created", scope, "working", False, ["style"])
    assert added.change
    assert added.created is not None
    assert abs(datetime.now(timezone.utc) - added.created).total_seconds() < 600
    assert ebb.memories.get("a/b c?").content == "prefers tabs"
    assert ebb.memories.access("a/b c?").access_count == 2
    assert ebb.memories.pin("a/b c?").pinned
    assert not ebb.memories.unpin("a/b c?").pinned
    assert ebb.memories.explain("a/b c?").because
    assert ebb.memories.delete("a/b c?").forgotten == ["a/b c?"]
    with pytest.raises(NotFound):
        ebb.memories.get("a/b c?")


@pytest.mark.parametrize("id", [".", ".."])
def test_an_id_of_dots_names_no_other_memory(ebb: Ebb, id: str) -> None:
    # Only databases of earlier versions have such memories.
    ebb.memories.add("stays", id="pin")
    for name in ("get", "pin", "unpin", "delete"):
        with pytest.raises(NotFound, match=rf"there is no memory {re.escape(id)}( |$)"):
            getattr(ebb.memories, name)(id)
    assert ebb.memories.get("pin").content == "stays"


def test_a_memory_is_changed_found_and_deleted_by_its_fields(ebb: Ebb) -> None:
    ebb.memories.add("flies on Friday", id="trip", metadata={"topic": "travel", "year": 2026})
    ebb.memories.add("likes tea", id="tea", metadata={"topic": "food"})
    changed = ebb.memories.update("trip", content="flies on Saturday", metadata={"topic": None, "seat": {"row": 12}})
    assert (changed.content, changed.metadata) == ("flies on Saturday", {"year": 2026, "seat": {"row": 12}})
    assert changed.change
    assert changed.updated is not None
    assert [version.content for version in ebb.memories.list_versions("trip").versions] == ["flies on Friday"]
    assert [memory.id for memory in ebb.memories.search(filter={"metadata": {"year": {"$gte": 2025}}}).memories] == ["trip"]
    assert [memory.id for memory in ebb.memories.search(filter={"metadata": {"topic": None}}).memories] == ["trip"]
    page = ebb.memories.search(limit=1)
    assert [memory.id for memory in ebb.memories.search(limit=1, cursor=page.cursor).memories] == ["trip"]
    assert ebb.memories.delete_where({"metadata": {"topic": "food"}}, dry_run=True).memories == 1
    assert ebb.memories.delete_where({"metadata": {"topic": "food"}}).memories == 1
    assert [memory.id for memory in ebb.memories.list().memories] == ["trip"]


def test_a_scope_is_that_of_the_client_unless_a_call_names_one(ebb: Ebb, scope: str) -> None:
    other = f"{scope}-other"
    ebb.memories.add("here", id="m")
    ebb.memories.add("there", id="m", scope=other)
    ebb.memories.add_batch([NewMemory(content="here too", id="n"), NewMemory(content="there too", id="n", scope=other)])
    ebb.memories.access_batch([Access(id="n"), Access(id="n", scope=other)])
    contents = [[memory.content for memory in ebb.memories.list(scope=one).memories] for one in (None, other)]
    assert contents == [["here", "here too"], ["there", "there too"]]
    assert [ebb.memories.get("n", scope=one).access_count for one in (scope, other)] == [2, 2]


def test_a_list_in_pages(ebb: Ebb) -> None:
    names = [f"m{number}" for number in range(5)]
    ebb.memories.add_batch([NewMemory(content=name, id=name) for name in names])
    pages, cursor = [], ""
    while True:
        page = ebb.memories.list(limit=2, cursor=cursor or None)
        pages.append([memory.id for memory in page.memories])
        if not page.cursor:
            break
        cursor = page.cursor
    assert pages == [["m0", "m1"], ["m2", "m3"], ["m4"]]


def test_relations_facts_and_trails(ebb: Ebb) -> None:
    assert ebb.relations.observe(from_="Ann", to="Atlas", type="works_on").change
    ebb.relations.observe_batch([Observation(from_="Bob", to="Atlas", type="works_on")])
    page = ebb.relations.list(limit=1)
    assert [edge.to for edge in page.relations] == ["Atlas"]
    assert page.cursor
    assert len(ebb.relations.list().relations) == 2
    assert [edge.to for edge in ebb.relations.fade(dry_run=True, list=True).edges or []] == ["Atlas", "Atlas"]
    ebb.facts.add(entity="Atlas", relation="roadmap:status", value=True, source="test", scope="team")
    assert [fact.value for fact in ebb.facts.list(entity="Atlas", scope="team").facts] == [True]
    assert isinstance(ebb.sweeps.run("team", mode="dry_run"), SweepAnswer)
    ebb.trails.add_node(label="Room", id="r1")
    ebb.trails.add_node(label="Drawer", id="d1")
    ebb.trails.add_edge(from_="r1", to={"label": "Drawer", "id": "d1"}, type="HAS_DRAWER")
    ebb.trails.reward(["r1", "d1"], reward=0.5)
    assert ebb.trails.find_path(from_="r1", to="d1").model_dump()


def test_what_a_process_says_of_itself(ebb: Ebb, scope: str) -> None:
    assert ebb.status.get().model_dump()
    assert ebb.health.get().tiers is not None
    assert {job.job for job in ebb.jobs.list().jobs} >= {"decay", "learn"}
    assert ebb.jobs.run("decay", dry_run=True).dry_run
    assert ebb.attempts.list(limit=1).attempts == []
    assert ebb.policies.list().model_dump()
    assert ebb.mirrors.refresh().scope == scope


def test_the_engine(ebb: Ebb) -> None:
    ebb.memories.add("Ann works at Acme", id="m", mentions=["Ann", "Acme"])
    # However busy the machine is, what follows reads a mirror that has the memory.
    ebb.mirrors.refresh()
    ebb.recall.run(text="Ann")
    seeds = [GivenSeed(id="Ann", score=1.0)]
    assert "m" in [hit.id for hit in ebb.engine.activate(seeds).hits]
    assert ebb.engine.rank(top_k=2).hits
    assert ebb.engine.find_communities().model_dump()
    assert [query.text for query in ebb.engine.list_queries().queries] == ["Ann"]


# Characters at which texts have lines, but JSON has none.
TEXT = "one\u2028two\x85three\nfour"


def is_export(rows: list[dict[str, Any]], scope: str) -> bool:
    contents = [row["node"]["values"]["content"] for row in rows if "Memory" in row.get("node", {}).get("labels", [])]
    return rows[0]["backup"]["scope"] == scope and sorted(contents) == [TEXT, "x" * 60_000] and "end" in rows[-1]


def test_a_scope_is_exported_row_by_row(ebb: Ebb, scope: str) -> None:
    ebb.memories.add(TEXT)
    ebb.memories.add("x" * 60_000)
    rows = ebb.scopes.export(scope)
    assert next(rows)["backup"]["scope"] == scope
    assert is_export(list(ebb.scopes.export(scope)), scope)
    with pytest.raises(NotFound):
        next(ebb.scopes.export(f"{scope}-none"))


def test_a_scope_is_exported_by_the_async_client(async_ebb: AsyncEbb, scope: str) -> None:
    async def main() -> None:
        async with async_ebb as ebb:
            await asyncio.gather(ebb.memories.add(TEXT), ebb.memories.add("x" * 60_000))
            assert is_export([row async for row in ebb.scopes.export(scope)], scope)
            with pytest.raises(NotFound):
                await anext(ebb.scopes.export(f"{scope}-none"))

    asyncio.run(main())


def test_an_answer_of_a_newer_server_is_read(ebb: Ebb) -> None:
    job = ebb.jobs.list().jobs[0].model_dump(mode="json", by_alias=True)
    read = type(ebb.jobs.list().jobs[0]).model_validate(job | {"job": "later", "more": 1})
    assert (read.job, read.model_extra) == ("later", {"more": 1})
    memory = ebb.memories.add("x").model_dump(mode="json", by_alias=True)
    assert Memory.model_validate(memory | {"tier": "later"}).tier == "later"


def test_every_operation_of_the_server_is_a_method_and_no_other(url: str) -> None:
    paths = httpx.get(f"{url}/openapi.json").json()["paths"].values()
    there = {one["operationId"] for item in paths for one in item.values() if one["tags"] != ["process"]}
    nouns = vars(operations.Nouns[Sync](lambda request: request)).items()
    assert {f"{noun}.{verb}" for noun, one in nouns for verb, found in vars(type(one)).items() if isinstance(found, operation)} == there


def test_async_is_the_same(async_ebb: AsyncEbb, scope: str) -> None:
    async def main() -> None:
        async with async_ebb as ebb:
            added = await asyncio.gather(*(ebb.memories.add(f"tea number {number}", id=f"m{number}") for number in range(5)))
            assert [memory.did for memory in added] == ["created"] * 5
            assert {memory.scope for memory in added} == {scope}
            page = await ebb.memories.list(limit=3)
            assert ([memory.id for memory in page.memories], page.cursor) == (["m0", "m1", "m2"], "m2")
            assert "tea number 4" in (await ebb.context.compose(text="tea")).text
            with pytest.raises(NotFound):
                await ebb.memories.get("none")

    asyncio.run(main())
