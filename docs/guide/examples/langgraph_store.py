"""A LangGraph store whose items are memories of Ebb: items that nobody reads fade from searches.

Needs langgraph and `ebb serve`. The scope must be one of `mirror.scopes`.
"""
import asyncio
import json
import os
import time
from datetime import datetime
from urllib.parse import quote

import httpx
from langgraph.config import get_config
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, PutOp, SearchItem, SearchOp


def item_prefix(namespace, key):
    """Beginning of the ids of an item: an id is the JSON of [namespace, key, version]."""
    return json.dumps([list(namespace), key])[:-1] + ","


def namespace_prefix(namespace):
    """Beginning of the ids of all items in a namespace and in those below it."""
    return json.dumps([list(namespace)])[:-2]


class EbbStore(BaseStore):
    def __init__(self, scope="local", url=None, key=None):
        key = key or os.environ.get("EBB_KEY")
        url = url or os.environ.get("EBB_URL", "http://127.0.0.1:8322")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.scope, self.http = scope, httpx.Client(base_url=url, timeout=60, headers=headers)

    def batch(self, ops):
        names = {GetOp: "_get", PutOp: "_put", SearchOp: "_search", ListNamespacesOp: "_namespaces"}
        return [getattr(self, names[type(op)])(op) for op in ops]

    async def abatch(self, ops):
        return await asyncio.to_thread(self.batch, list(ops))

    def pin(self, namespace, key, pinned=True):
        """Stops the fading of an item, or lets it fade again."""
        for memory in self._versions(namespace, key):
            path = f"/v1/memories/{quote(memory['id'], safe='')}/pin"
            self._call("POST", path, json={"scope": self.scope}) if pinned else self._call("DELETE", path, params={"scope": self.scope})

    def _call(self, method, path, allowed=(), **parts):
        answer = self.http.request(method, path, **parts)
        if answer.is_error and answer.status_code not in allowed:
            raise RuntimeError(f"{method} {path} answered {answer.status_code}: {answer.text}")
        return None if answer.is_error else answer.json()

    def _where(self):
        """The scope, and the thread of the running graph as the session."""
        try:
            thread = get_config().get("configurable", {}).get("thread_id")
        except RuntimeError:
            thread = None
        return {"scope": self.scope} | ({"session": str(thread)} if thread else {})

    def _listed(self, prefix, size=100):
        """The memories whose ids begin with the prefix: lists are in the order of ids, and a cursor is an id."""
        after = prefix
        while True:
            page = self._call("GET", "/v1/memories", params={"scope": self.scope, "limit": size, "cursor": after})["memories"]
            found = [memory for memory in page if memory["id"].startswith(prefix)]
            yield from found
            if len(found) < size:
                return
            after = found[-1]["id"]

    def _versions(self, namespace, key):
        """The memories of an item: one, or two if a put was interrupted, of which the last one counts."""
        return list(self._listed(item_prefix(namespace, key), size=2))

    def _item(self, id, reads, make, **more):
        """The item of a memory, None if it was deleted. Reading it is an access, which adds 1 to its energy."""
        path = f"/v1/memories/{quote(id, safe='')}"
        if reads:
            memory = self._call("POST", f"{path}/access", allowed=[404], json=self._where())
        else:
            memory = self._call("GET", path, allowed=[404], params={"scope": self.scope})
        if memory is None:
            return None
        (namespace, key, _), at = json.loads(id), datetime.fromisoformat(memory["created"].replace("Z", "+00:00"))
        return make(value=json.loads(memory["content"]), namespace=tuple(namespace), key=key, created_at=at, updated_at=at, **more)

    def _get(self, op):
        versions = self._versions(op.namespace, op.key)
        return self._item(versions[-1]["id"], op.refresh_ttl, Item) if versions else None

    def _put(self, op):
        if op.ttl is not None or op.index is not None:
            raise NotImplementedError("EbbStore has no ttl and no index: items fade, and all of their text is searched")
        before = self._versions(op.namespace, op.key)
        if op.value is not None:
            id = json.dumps([list(op.namespace), op.key, f"{time.time_ns():020}"])
            pinned = any(memory["pinned"] for memory in before)
            content = json.dumps(op.value, ensure_ascii=False)
            self._call("POST", "/v1/memories", json={"id": id, "content": content, "pinned": pinned} | self._where())
        for memory in before:
            self._call("DELETE", f"/v1/memories/{quote(memory['id'], safe='')}", allowed=[404], params={"scope": self.scope})

    def _search(self, op):
        if op.filter:
            raise NotImplementedError("EbbStore has no filter: use a namespace, or choose among the results")
        prefix, live = namespace_prefix(op.namespace_prefix), ["working", "shortTerm", "longTerm"]
        if op.query:
            body = {"scope": self.scope, "text": op.query, "top_k": 1000, "kinds": ["Memory"], "tiers": live, "content": False}
            found = [(hit["id"], hit["score"]) for hit in self._call("POST", "/v1/recall", json=body)["hits"]]
        else:
            memories = [memory for memory in self._listed(prefix) if memory["tier"] in live]
            found = [(memory["id"], None) for memory in sorted(memories, key=lambda memory: -memory["energy"])]
        ids = [(id, score) for id, score in found if id.startswith(prefix)][op.offset : op.offset + op.limit]
        items = [self._item(id, op.refresh_ttl, SearchItem, score=score) for id, score in ids]
        return [item for item in items if item]

    def _namespaces(self, op):
        def matches(namespace, kind, path):
            part = namespace[: len(path)] if kind == "prefix" else namespace[-len(path) :]
            return len(part) == len(path) and all(want in ("*", have) for want, have in zip(path, part))

        namespaces = {tuple(json.loads(memory["id"])[0]) for memory in self._listed(namespace_prefix(()))}
        chosen = {namespace[: op.max_depth] for namespace in namespaces
                  if all(matches(namespace, *condition) for condition in op.match_conditions or ())}
        return sorted(chosen)[op.offset : op.offset + op.limit]
