"""mem0 with a graph store: its default pipeline against a server of OpenAI's protocol.

In the variant `base_label`, its nodes have the label `__Entity__`, by which the preset finds them.
"""
import os

from shared import *

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = os.path.join(FOLDER, "mem0")

import mem0.memory.graph_memory
from mem0 import Memory


class Ranker(mem0.memory.graph_memory.BM25Okapi):
    """Ranks all relations: its limit of five cuts among equals, which come in the order of the plan."""

    def get_top_n(self, query, documents, n):
        return super().get_top_n(query, documents, len(documents))


mem0.memory.graph_memory.BM25Okapi = Ranker


def call(name, arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": "1", "type": "function", "function": function}]}


def answer(messages, request):
    text = messages[-1]["content"]
    tools = [tool["function"]["name"] for tool in request.get("tools") or []]
    if "extract_entities" in tools:
        names = dict.fromkeys(name for one, _, two in statements(text) for name in (one, two))
        return call("extract_entities", {"entities": [{"entity": name, "entity_type": KINDS.get(name, "Person")} for name in names]})
    if any(name.startswith("establish") for name in tools):
        rows = [{"source": one, "relationship": verb, "destination": two} for one, verb, two in statements(text)]
        return call("establish_relationships", {"entities": rows})
    if tools:
        return {"content": "nothing to delete"}
    if "new retrieved facts" in text.lower() or "```" in text:
        facts = statements(text.rsplit("```", 2)[-2])
        return {"content": json.dumps({"memory": [
            {"id": str(100 + number), "text": " ".join(fact), "event": "ADD"} for number, fact in enumerate(facts)]})}
    return {"content": json.dumps({"facts": [" ".join(fact) for fact in statements(text)]})}


def opened():
    url = model(answer)
    openai = {"api_key": "none", "openai_base_url": url}
    return Memory.from_config({
        "llm": {"provider": "openai", "config": openai},
        "embedder": {"provider": "openai", "config": openai | {"embedding_dims": DIMENSIONS}},
        "vector_store": {"provider": "qdrant", "config": {
            "path": os.path.join(FOLDER, "vectors"), "on_disk": True, "embedding_model_dims": DIMENSIONS}},
        "graph_store": {"provider": "neo4j", "config": {
            "url": URI, "username": USER, "password": PASSWORD, "base_label": "base_label" in os.environ["ADOPT_VARIANT"]}},
        "history_db_path": os.path.join(FOLDER, "history.db"),
    })


def answers(memory):
    triples = lambda rows: sorted(" ".join(str(row[name]) for name in sorted(row)) for row in rows)
    found = []
    for user in ("u", "v"):
        for question in QUESTIONS:
            rows = memory.search(question, user_id=user)
            found.append([sorted(row["memory"] for row in rows["results"]), triples(rows["relations"])])
        found.append(triples(memory.get_all(user_id=user)["relations"]))
    return found


def write():
    memory = opened()
    for user in ("u", "v"):
        for text in FIRST:
            memory.add(text, user_id=user)
    return answers(memory)


def search():
    return answers(opened())


def again():
    memory = opened()
    for text in SECOND:
        memory.add(text, user_id="u")
    return answers(memory)


main(write, search, again)
