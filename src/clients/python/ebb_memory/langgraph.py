"""A store for LangGraph whose items are memories of Ebb: items that nobody reads fade from searches. Needs `ebb-memory[langgraph]`.

An item is a memory. Its id is the JSON of [namespace, key, version], so that the ids of a namespace are neighbours in the list of
memories; its content is the JSON of its value, so that a search finds every word of it. A put of an item that exists adds a version and
deletes the one before, since the content of a memory does not change; if it is interrupted between the two, the last version counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from langgraph.config import get_config
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp

from . import models
from .client import Ebb
from .errors import NotFound

Made = TypeVar("Made", bound=Item)

LIVE = {"working", "shortTerm", "longTerm"}
# The most hits of a recall: those of other namespaces and values are among them.
HITS_MAX = 1_000
PAGE = 1_000


class EbbStore(BaseStore):
    """A store of the items of one scope, which must be one of `mirror.scopes` of the server.

    Reading an item is an access of its memory, unless `refresh_ttl` is false. An item that is not read for some time fades: searches
    leave it out, a get still finds it and revives it. The thread of the running graph is the session of accesses and new items.

    Limits: items fade, and have no `ttl`; all of an item is searched, so there is no `index`; a search with a query looks at the 1,000
    best hits of the scope, one without reads all items of its namespaces; namespace and key have about 1,000 bytes at most, a value as
    JSON 65,536. A put of an item that exists and a delete need a key with the right admin.
    """

    supports_ttl = False

    def __init__(self, client: Ebb) -> None:
        self._client = client

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def pin(self, namespace: tuple[str, ...], key: str, pinned: bool = True) -> None:
        """Stops the fading of an item, or lets it fade again."""
        for memory in self._versions(namespace, key):
            if pinned:
                self._client.memories.pin(memory.id)
            else:
                self._client.memories.unpin(memory.id)

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
        """The memories whose ids begin with the prefix: lists are in the order of ids, and a cursor is an id."""
        cursor: str | None = prefix
        while cursor is not None:
            page = self._client.memories.list(cursor=cursor, limit=limit)
            for memory in page.memories:
                if not memory.id.startswith(prefix):
                    return
                yield memory
            cursor = page.cursor

    def _versions(self, namespace: tuple[str, ...], key: str) -> list[models.Memory]:
        """The memories of an item: none, one, or more if puts were interrupted."""
        return list(self._listed(_item_prefix(namespace, key), limit=2))

    def _read(self, id: str, is_access: bool) -> models.Memory | None:
        try:
            return self._client.memories.access(id, session=_thread()) if is_access else self._client.memories.get(id)
        except NotFound:
            return None

    def _get(self, op: GetOp) -> Item | None:
        versions = self._versions(op.namespace, op.key)
        memory = self._read(versions[-1].id, op.refresh_ttl) if versions else None
        return _item(memory, Item) if memory else None

    def _put(self, op: PutOp) -> None:
        if op.ttl is not None or op.index is not None:
            raise NotImplementedError("EbbStore has no ttl and no index: items fade, and all of their text is searched")
        before = self._versions(op.namespace, op.key)
        if op.value is not None:
            is_pinned = any(memory.pinned for memory in before)
            self._client.memories.add(_encoded(op.value), id=_new_id(op.namespace, op.key), pinned=is_pinned, session=_thread())
        for memory in before:
            # Another put of the item may have deleted it.
            with contextlib.suppress(NotFound):
                self._client.memories.delete(memory.id)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = _namespace_prefix(op.namespace_prefix)
        found: Iterable[tuple[str, str | None, float | None]]
        if op.query:
            hits = self._client.recall.run(
                text=op.query, top_k=HITS_MAX, kinds=["Memory"], tiers=sorted(LIVE), content=bool(op.filter)
            ).hits
            found = [(hit.id, hit.content, hit.score) for hit in hits]
        else:
            memories = [memory for memory in self._listed(prefix) if memory.tier in LIVE]
            memories.sort(key=lambda memory: -(memory.energy or 0.0))
            found = [(memory.id, memory.content, None) for memory in memories]
        chosen = [
            (name, score)
            for name, content, score in found
            if name.startswith(prefix) and (not op.filter or (content is not None and _matches(_decoded(content), op.filter)))
        ]
        read = [(self._read(name, op.refresh_ttl), score) for name, score in chosen[op.offset : op.offset + op.limit]]
        return [_item(memory, SearchItem, score=score) for memory, score in read if memory]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {_parts(memory.id)[0] for memory in self._listed(_namespace_prefix(()))}
        chosen = {one[: op.max_depth] for one in every if all(_is_within(one, condition) for condition in op.match_conditions or ())}
        return sorted(chosen)[op.offset : op.offset + op.limit]


# How an item is a memory.


def _encoded(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)


def _decoded(content: str) -> Any:
    return json.loads(content)


def _new_id(namespace: tuple[str, ...], key: str) -> str:
    return json.dumps([list(namespace), key, f"{time.time_ns():020}"])


def _parts(id: str) -> tuple[tuple[str, ...], str]:
    """Namespace and key of an id."""
    namespace, key, _ = json.loads(id)
    return tuple(namespace), key


def _item_prefix(namespace: tuple[str, ...], key: str) -> str:
    """Beginning of the ids of an item."""
    return json.dumps([list(namespace), key])[:-1] + ","


def _namespace_prefix(namespace: tuple[str, ...]) -> str:
    """Beginning of the ids of all items in a namespace and in those below it."""
    return json.dumps([list(namespace)])[:-2]


def _item(memory: models.Memory, make: Callable[..., Made], **more: Any) -> Made:
    namespace, key = _parts(memory.id)
    # Each version is a memory of its own, so its creation is the update of the item.
    at = memory.created
    return make(value=_decoded(memory.content or "{}"), namespace=namespace, key=key, created_at=at, updated_at=at, **more)


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
