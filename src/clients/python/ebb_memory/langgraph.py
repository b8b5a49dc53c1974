"""A store for LangGraph whose items are memories of Ebb: items that nobody reads fade from searches. Needs `ebb-memory[langgraph]`.

An item is a memory. Its id is the JSON of [namespace, key], so that the ids of a namespace are neighbours in the list of memories; its
content is the JSON of its value, so that a search finds every word of it. The id of a deleted memory is never used again, so an item
that is put again after a delete has the instant as a third part of its id. Memories of other writers in the scope are no items.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar

from langgraph.config import get_config
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp

from . import models
from .client import Ebb
from .errors import Conflict, NotFound

Made = TypeVar("Made", bound=Item)

LIVE: list[Literal["working", "shortTerm", "longTerm"]] = ["working", "shortTerm", "longTerm"]
# The most hits of a recall that a server gives: those of other namespaces and values are among them.
TOP_K = 1_000
PAGE = 1_000


class EbbStore(BaseStore):
    """A store of the items of one scope.

    Reading an item is an access of its memory, unless `refresh_ttl` is false. An item that is not read for some time fades: searches
    leave it out, a get still finds it and revives it. The thread of the running graph is the session of accesses and new items.

    Rights of the key: `write`; for reads with `refresh_ttl=False` alone `read`; for a delete `admin`.

    Limits: items fade, and have no `ttl`; all of an item is searched, so there is no `index`; a search with a query looks at the `top_k`
    best hits of the scope, one without reads all items of its namespaces. A value as JSON has 65,536 bytes at most. Namespace and key
    as JSON have 1,024 together, where a quote takes two and a character outside of ASCII six or twelve.

    Args:
        client: The client that sends the requests of the store.
        top_k: Hits of a search with a query, before those of other namespaces are left out; at most the server's `engine.top_k_max`.
    """

    supports_ttl = False

    def __init__(self, client: Ebb, *, top_k: int = TOP_K) -> None:
        self._client = client
        self._top_k = top_k

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def pin(self, namespace: tuple[str, ...], key: str, pinned: bool = True) -> None:
        """Stops the fading of an item, or lets it fade again. `NotFound` if there is none."""
        memory = self._found(namespace, key)
        change = self._client.memories.pin if pinned else self._client.memories.unpin
        change(memory.id if memory else _id(namespace, key))

    def _run(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case PutOp():
                self._put(op)
                return None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise TypeError(f"EbbStore knows no operation {type(op).__name__}")

    def _listed(self, prefix: str, limit: int = PAGE) -> Iterator[models.Memory]:
        """The memories of items whose ids begin with the prefix: lists are in the order of ids, and a cursor is an id."""
        cursor: str | None = prefix
        while cursor is not None:
            page = self._client.memories.list(cursor=cursor, limit=limit)
            for memory in page.memories:
                if not memory.id.startswith(prefix):
                    return
                if _parts(memory.id) and _value(memory.content) is not None:
                    yield memory
            cursor = page.cursor

    def _found(self, namespace: tuple[str, ...], key: str) -> models.Memory | None:
        """The memory of an item. If two clients put an item at once after its deletion, there may be two, of which the last counts."""
        return max(self._of_item(namespace, key), key=operator.attrgetter("id"), default=None)

    def _of_item(self, namespace: tuple[str, ...], key: str) -> list[models.Memory]:
        return list(self._listed(_id(namespace, key)[:-1], limit=2))

    def _read(self, id: str, is_access: bool) -> models.Memory | None:
        try:
            return self._client.memories.access(id, session=_thread()) if is_access else self._client.memories.get(id)
        except NotFound:
            return None

    def _get(self, op: GetOp) -> Item | None:
        memory = self._found(op.namespace, op.key)
        return _item(self._read(memory.id, op.refresh_ttl), Item) if memory else None

    def _put(self, op: PutOp) -> None:
        if op.ttl is not None or op.index is not None:
            raise NotImplementedError("EbbStore has no ttl and no index: items fade, and all of their text is searched")
        if op.value is None:
            self._delete(op)
            return
        content = _encoded(op.value)
        try:
            self._client.memories.add(content, id=_id(op.namespace, op.key), session=_thread())
        except Conflict:
            # It has another value, or was deleted.
            if not self._replace(op, content):
                self._client.memories.add(content, id=_id(op.namespace, op.key, time.time_ns()), session=_thread())

    def _replace(self, op: PutOp, content: str) -> bool:
        """Changes the value of an item if it exists. A change is no access, but a put is one."""
        memory = self._found(op.namespace, op.key)
        if memory is None:
            return False
        try:
            self._client.memories.update(memory.id, content=content)
            self._client.memories.access(memory.id, session=_thread())
        except NotFound:
            # Another client deleted it since.
            return False
        return True

    def _delete(self, op: PutOp) -> None:
        for memory in self._of_item(op.namespace, op.key):
            with contextlib.suppress(NotFound):
                self._client.memories.delete(memory.id)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = _namespace_prefix(op.namespace_prefix)
        found: Iterable[tuple[str, str | None, float | None]]
        if op.query:
            hits = self._client.recall.run(text=op.query, top_k=self._top_k, kinds=["Memory"], tiers=LIVE, content=bool(op.filter)).hits
            found = [(hit.id, hit.content, hit.score) for hit in hits]
        else:
            memories = [memory for memory in self._listed(prefix) if memory.tier in LIVE]
            memories.sort(key=lambda memory: -(memory.energy or 0.0))
            found = [(memory.id, memory.content, None) for memory in memories]
        chosen = [
            (name, score)
            for name, content, score in found
            if name.startswith(prefix) and _parts(name) and (not op.filter or _matches(_value(content), op.filter))
        ]
        read = [(self._read(name, op.refresh_ttl), score) for name, score in chosen[op.offset : op.offset + op.limit]]
        items = (_item(memory, SearchItem, score=score) for memory, score in read)
        return [item for item in items if item]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {parts[0] for memory in self._listed(_namespace_prefix(())) if (parts := _parts(memory.id))}
        chosen = {one[: op.max_depth] for one in every if all(_is_within(one, condition) for condition in op.match_conditions or ())}
        return sorted(chosen)[op.offset : op.offset + op.limit]


# How an item is a memory.


def _encoded(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)


def _value(content: str | None) -> dict[str, Any] | None:
    """The value of an item; none if another writer wrote the content."""
    try:
        found = json.loads(content or "")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _id(namespace: tuple[str, ...], key: str, *at: int) -> str:
    return json.dumps([list(namespace), key, *at])


def _parts(id: str) -> tuple[tuple[str, ...], str] | None:
    """Namespace and key of the id of an item; none for ids of other writers."""
    try:
        namespace, key, *at = json.loads(id)
        is_own = isinstance(namespace, list) and _id(tuple(namespace), key, *at) == id
    except (ValueError, TypeError, RecursionError):
        return None
    is_own = is_own and all(isinstance(one, str) for one in [*namespace, key]) and all(isinstance(one, int) for one in at)
    return (tuple(namespace), key) if is_own else None


def _namespace_prefix(namespace: tuple[str, ...]) -> str:
    """Beginning of the ids of all items in a namespace and in those below it."""
    return json.dumps([list(namespace)])[:-2]


def _item(memory: models.Memory | None, make: Callable[..., Made], **more: Any) -> Made | None:
    parts, value = (_parts(memory.id), _value(memory.content)) if memory else (None, None)
    if memory is None or parts is None or value is None:
        return None
    times = {"created_at": memory.created, "updated_at": memory.updated or memory.created}
    return make(value=value, namespace=parts[0], key=parts[1], **times, **more)


def _thread() -> str | None:
    """The thread of the running graph."""
    try:
        thread = get_config().get("configurable", {}).get("thread_id")
    except RuntimeError:
        return None
    return None if thread is None else str(thread)


# Conditions, as other stores of LangGraph read them.

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value has what a filter wants: equal values, comparisons such as {"$gte": 3}, or the same of fields."""
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_compares(value, name, other) for name, other in wanted.items())
    return isinstance(value, dict) and all(_matches(value.get(name), part) for name, part in wanted.items())


def _compares(value: Any, name: str, other: Any) -> bool:
    if name not in _COMPARISONS:
        raise ValueError(f"unknown comparison {name} in a filter; there are {', '.join(_COMPARISONS)}")
    try:
        return _COMPARISONS[name](value, other)
    except TypeError:
        return False  # Values of kinds that have no order.


def _is_within(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[max(0, len(namespace) - len(path)) :]
    return len(part) == len(path) and all(want in ("*", have) for want, have in zip(path, part, strict=True))
