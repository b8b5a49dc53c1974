"""The store for LangGraph beside the one in memory that LangGraph ships: the same items give the same answers, but for the order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import GetOp, Item, ListNamespacesOp, Op, PutOp, SearchItem, SearchOp
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from ebb_memory import Ebb, InvalidRequest, NotAuthorized, NotFound
from ebb_memory.langgraph import EbbStore

VALUES: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {
    (("users", "ann"), "food"): {"text": 'likes pizza with "olives" ✓', "n": 1.5, "tags": ["a", None]},
    (("users", "ann"), "a/b?c=d#e, é"): {"text": "drinks tea", "n": 3},
    (("users", "ann", "work"), "food"): {"text": "sells pizza", "of": {"kind": "shop"}},
    (("users", "bob"), "food"): {"text": "avoids pizza"},
    (("users2",), "food"): {"text": "another pizza"},
    (("u", "x", "v1"), "k"): {},
}


@pytest.fixture
def store(ebb: Ebb) -> EbbStore:
    return EbbStore(ebb)


@pytest.fixture
def filled(store: EbbStore) -> tuple[EbbStore, InMemoryStore]:
    """Both stores with the same items."""
    like = InMemoryStore()
    for (namespace, key), value in VALUES.items():
        store.put(namespace, key, value)
        like.put(namespace, key, value)
    return store, like


def energies(ebb: Ebb) -> dict[str, float]:
    """The energy of each memory by the key of its item."""
    return {json.loads(memory.id)[1]: memory.energy or 0.0 for memory in ebb.memories.list().memories}


def sorted_items(items: list[SearchItem]) -> list[tuple[tuple[str, ...], str, str]]:
    return sorted((item.namespace, item.key, json.dumps(item.value)) for item in items)


def test_a_get_returns_what_was_put(filled: tuple[EbbStore, InMemoryStore]) -> None:
    store, _ = filled
    for (namespace, key), value in VALUES.items():
        item = store.get(namespace, key)
        assert item is not None
        assert (item.value, item.key, item.namespace) == (value, key, namespace)
        assert abs(datetime.now(timezone.utc) - item.updated_at).total_seconds() < 600
    assert store.get(("users", "ann"), "none") is None
    assert store.get(("users",), "ann") is None


@pytest.mark.parametrize("prefix", [(), ("users",), ("users", "ann"), ("users2",), ("user",)])
def test_a_search_is_that_of_the_store_in_memory(filled: tuple[EbbStore, InMemoryStore], prefix: tuple[str, ...]) -> None:
    store, like = filled
    assert sorted_items(store.search(prefix)) == sorted_items(like.search(prefix))
    every: list[dict[str, Any]] = [{"text": "drinks tea"}, {"n": {"$ne": 3}}, {"of": {"kind": "shop"}}, {"tags": ["a", None]}, {"none": 1}]
    for wanted in every:
        assert sorted_items(store.search(prefix, filter=wanted)) == sorted_items(like.search(prefix, filter=wanted)), wanted
    # The store in memory raises an error where an item has no such field.
    assert {item.key for item in store.search(prefix, filter={"n": {"$gt": 2}})} <= {"a/b?c=d#e, é"}
    assert [item.key for item in store.search((), filter={"n": {"$gte": 1.5, "$lt": 3}})] == ["food"]
    with pytest.raises(ValueError, match=r"\$in"):
        store.search(("users",), filter={"n": {"$in": [1]}})


def test_namespaces_are_those_of_the_store_in_memory(filled: tuple[EbbStore, InMemoryStore]) -> None:
    store, like = filled
    every: list[dict[str, Any]] = [
        {},
        {"prefix": ("users",)},
        {"prefix": ("users", "*", "work")},
        {"suffix": ("v1",)},
        {"suffix": ("x", "*")},
        {"max_depth": 2},
        {"prefix": ("users",), "suffix": ("work",)},
        {"max_depth": 1, "limit": 2},
        {"limit": 2, "offset": 1},
        {"prefix": ("none",)},
    ]
    for options in every:
        assert store.list_namespaces(**options) == like.list_namespaces(**options), options


def test_pages_of_a_search(filled: tuple[EbbStore, InMemoryStore]) -> None:
    store, _ = filled
    pages = [store.search((), limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [len(page) for page in pages] == [2, 2, 2, 0]


def test_a_query_finds_items_below_a_namespace_at_once(filled: tuple[EbbStore, InMemoryStore]) -> None:
    store, _ = filled
    found = store.search(("users", "ann"), query="Who likes pizza?")
    assert {(item.namespace, item.key) for item in found} == {(("users", "ann"), "food"), (("users", "ann", "work"), "food")}
    assert found[0].value["text"].startswith("likes pizza")
    assert (found[0].score or 0) >= (found[1].score or 0) > 0
    assert len(store.search((), query="pizza")) == 4
    first, second = (store.search((), query="pizza", limit=1, offset=offset)[0] for offset in (0, 1))
    assert (first.namespace, first.key) != (second.namespace, second.key)
    assert [item.namespace for item in store.search((), query="pizza", filter={"of": {"kind": "shop"}})] == [("users", "ann", "work")]


def test_a_query_looks_at_as_many_hits_as_the_store_is_told(filled: tuple[EbbStore, InMemoryStore], ebb: Ebb) -> None:
    def keys(store: EbbStore) -> list[tuple[tuple[str, ...], str]]:
        return [(item.namespace, item.key) for item in store.search((), query="pizza", refresh_ttl=False)]

    best = keys(filled[0])
    assert len(best) == 4
    assert keys(EbbStore(ebb, top_k=2)) == best[:2]
    # The server refuses more than its engine.top_k_max, which is 1,000 here.
    with pytest.raises(InvalidRequest, match="top_k"):
        EbbStore(ebb, top_k=1_001).search((), query="pizza")


def test_a_read_is_an_access_unless_it_says_otherwise(store: EbbStore, ebb: Ebb) -> None:
    store.put(("n",), "k", {"text": "x"})
    before = energies(ebb)["k"]
    store.get(("n",), "k", refresh_ttl=False)
    store.search(("n",), refresh_ttl=False)
    assert energies(ebb)["k"] <= before
    store.get(("n",), "k")
    assert energies(ebb)["k"] > before + 0.9
    store.search(("n",))
    assert energies(ebb)["k"] > before + 1.8


def test_an_item_is_replaced_and_deleted(store: EbbStore, ebb: Ebb) -> None:
    def found() -> Item | None:
        return store.get(("n",), "k")

    store.put(("n",), "k", {"text": "first"})
    store.pin(("n",), "k")
    assert (first := found())
    store.put(("n",), "k", {"text": "second"})
    assert (item := found())
    assert (item.value, item.created_at) == ({"text": "second"}, first.created_at)
    assert item.updated_at > first.updated_at == first.created_at
    for searched in (store.search(("n",)), store.search(("n",), query="first or second")):
        assert [item.value for item in searched] == [{"text": "second"}]
    assert [memory.pinned for memory in ebb.memories.list().memories] == [True]
    store.pin(("n",), "k", False)
    assert [memory.pinned for memory in ebb.memories.list().memories] == [False]
    for text in ("third", "fourth"):
        store.delete(("n",), "k")
        assert found() is None
        assert ebb.memories.list().memories == []
        store.delete(("n",), "k")
        for _ in range(2):
            store.put(("n",), "k", {"text": text})
        store.put(("n",), "k", {"text": f"{text}, changed"})
        assert (item := found())
        assert item.value == {"text": f"{text}, changed"}
        assert len(ebb.memories.list().memories) == 1
        assert store.list_namespaces() == [("n",)]
    store.delete(("n",), "k")
    with pytest.raises(NotFound):
        store.pin(("n",), "k")


def test_a_put_is_an_access_and_revives(store: EbbStore, ebb: Ebb) -> None:
    ebb.memories.add('{"text": "old"}', id='[["n"], "k"]', at=datetime.now(timezone.utc) - timedelta(days=2))
    ebb.jobs.run("decay")
    assert store.search(("n",)) == []
    store.put(("n",), "k", {"text": "new"})
    assert [item.value for item in store.search(("n",), refresh_ttl=False)] == [{"text": "new"}]
    before = energies(ebb)["k"]
    store.put(("n",), "k", {"text": "new"})
    assert energies(ebb)["k"] > before + 0.9


def test_puts_of_an_item_at_once_leave_one_memory(store: EbbStore, ebb: Ebb) -> None:
    async def main() -> None:
        await asyncio.gather(*(store.aput(("n",), "k", {"text": f"text {number}"}) for number in range(8)))

    asyncio.run(main())
    assert len(ebb.memories.list().memories) == 1
    assert (item := store.get(("n",), "k"))
    assert item.value in [{"text": f"text {number}"} for number in range(8)]


def test_a_put_of_an_item_that_another_client_deletes_meanwhile(store: EbbStore, ebb: Ebb, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(("n",), "k", {"text": "x"})
    found = store._found(("n",), "k")
    assert found
    ebb.memories.delete(found.id)
    with monkeypatch.context() as patched:
        patched.setattr(store, "_found", lambda namespace, key: found)
        store.put(("n",), "k", {"text": "y"})
    assert (item := store.get(("n",), "k"))
    assert item.value == {"text": "y"}


def test_memories_of_other_writers_are_no_items(store: EbbStore, ebb: Ebb) -> None:
    store.put(("n",), "k", {"text": "an item"})
    foreign = ["note", '[["n"],"k"]', '[["n"], "k", {}]', '[["n"]]', '[["n"], 1]', '[[1], "k"]', '[["n"', "[[" * 500, '[{"a": 1}, "k"]']
    for name in foreign:
        ebb.memories.add('{"text": "no item"}', id=name)
    for number, content in enumerate(["text", "[1]", "[" * 60_000]):
        ebb.memories.add(content, id=f'[["n"], "text {number}"]')
        assert store.get(("n",), f"text {number}") is None
    for searched in (store.search(()), store.search((), query="item"), store.search((), filter={"text": {"$ne": 1}})):
        assert [item.value for item in searched] == [{"text": "an item"}]
    assert store.list_namespaces() == [("n",)]
    # Its first id is taken.
    store.put(("n",), "text 0", {"text": "an item, too"})
    assert (item := store.get(("n",), "text 0"))
    assert item.value == {"text": "an item, too"}


def test_rights_of_a_key(url: str, scope: str, new_key: Callable[[str], str]) -> None:
    with Ebb(url, new_key("write"), scope=scope) as writer, Ebb(url, new_key("read"), scope=scope) as reader:
        store, read = EbbStore(writer), EbbStore(reader)
        store.put(("n",), "k", {"text": "x"})
        store.put(("n",), "k", {"text": "y"})
        with pytest.raises(NotAuthorized):
            store.delete(("n",), "k")
        for refused in (lambda: read.get(("n",), "k"), lambda: read.search(("n",))):
            with pytest.raises(NotAuthorized):
                refused()
        assert (item := read.get(("n",), "k", refresh_ttl=False))
        assert [item.value] == [found.value for found in read.search(("n",), refresh_ttl=False)] == [{"text": "y"}]


def test_the_limit_of_an_id_counts_escaped_characters(store: EbbStore) -> None:
    # Brackets, quotes and a comma are eleven bytes.
    for key in ("x" * 1_013, "é" * 168, '"' * 506):
        store.put(("n",), key, {})
        assert store.get(("n",), key)
        with pytest.raises(InvalidRequest):
            store.put(("n",), key + key[:6], {})


def test_what_has_faded_is_left_out_of_searches_and_revived_by_a_get(store: EbbStore, ebb: Ebb) -> None:
    old = datetime.now(timezone.utc) - timedelta(days=2)
    ebb.memories.add('{"text": "an old pizza"}', id='[["old"], "k"]', at=old)
    ebb.memories.add('{"text": "an old pinned pizza"}', id='[["old"], "pinned"]', at=old)
    store.pin(("old",), "pinned")
    ebb.jobs.run("decay")
    assert [item.key for item in store.search(("old",))] == ["pinned"]
    assert [item.key for item in store.search(("old",), query="pizza", refresh_ttl=False)] == ["pinned"]
    assert (item := store.get(("old",), "k"))
    assert item.value == {"text": "an old pizza"}
    assert sorted(item.key for item in store.search(("old",))) == ["k", "pinned"]


@pytest.mark.parametrize("options", [{"ttl": 1}, {"index": ["text"]}, {"index": False}])
def test_what_it_cannot_do_is_refused_and_writes_nothing(store: EbbStore, options: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError):
        store.put(("n",), "k", {"text": "x"}, **options)
    assert store.get(("n",), "k") is None


def test_a_batch_in_order_and_async(store: EbbStore) -> None:
    ops: list[Op] = [
        PutOp(("n",), "k", {"text": "x"}),
        GetOp(("n",), "k"),
        SearchOp(("n",), limit=5),
        ListNamespacesOp(),
        PutOp(("n",), "k", None),
        GetOp(("n",), "k"),
    ]
    for results in (store.batch(ops), asyncio.run(store.abatch(ops))):
        put, got, found, namespaces, deleted, gone = results
        assert (put, deleted, gone) == (None, None, None)
        assert isinstance(got, Item)
        assert got.value == {"text": "x"}
        assert isinstance(found, list)
        assert isinstance(found[0], SearchItem)
        assert namespaces == [("n",)]


class State(TypedDict):
    said: str
    known: list[str]


def test_a_graph_uses_it_and_its_thread_is_the_session(store: EbbStore, ebb: Ebb) -> None:
    def remember(state: State) -> dict[str, Any]:
        store.put(("notes",), state["said"], {"text": state["said"]})
        return {"known": [item.value["text"] for item in store.search(("notes",), query="tea")]}

    graph = StateGraph(State)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    app = graph.compile(store=store)
    answer = app.invoke({"said": "Ann drinks tea", "known": []}, {"configurable": {"thread_id": "thread-1"}})
    assert answer["known"] == ["Ann drinks tea"]
    assert [memory.session for memory in ebb.memories.list().memories] == ["thread-1"]
