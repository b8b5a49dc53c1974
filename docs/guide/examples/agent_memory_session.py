"""An agent that writes with neo4j-agent-memory and recalls with Ebb: answers that were useful change the next recall.

Needs neo4j-agent-memory, and `ebb serve` with the preset "neo4j-agent-memory". `answer` stands in for your model.
"""
import asyncio
import json
import os
import urllib.request

from neo4j_agent_memory import MemoryClient, MemorySettings
from neo4j_agent_memory.schema.models import EntityRef
from pydantic import SecretStr

URL = os.environ.get("EBB_URL", "http://127.0.0.1:8322")
HEADERS = {"Content-Type": "application/json"}
if "EBB_API_KEY" in os.environ:
    HEADERS["Authorization"] = f"Bearer {os.environ['EBB_API_KEY']}"


def post(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), HEADERS)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def opened():
    """Without models, so that it runs anywhere: name your embedder and extractor here."""
    neo4j = {"uri": os.environ["NEO4J_URI"], "username": os.environ.get("NEO4J_USERNAME", "neo4j"), "password": SecretStr(os.environ["NEO4J_PASSWORD"])}
    return MemoryClient(MemorySettings(neo4j=neo4j, embedding={"provider": "custom"}, extraction={"extractor_type": "none"}))


async def write(client, session, role, text, entities):
    named = [EntityRef(name=name, type="OBJECT") for name in entities]
    await client.short_term.add_message(session, role, text, extraction_mode="explicit", explicit_mentions=named)


def recall(question):
    return post("/v1/recall", {"text": question, "kinds": ["Message", "Entity"], "top_k": 10})


async def turn(client, session, question, answer):
    """One turn of the agent: recall, answer, report of the hits that were used, and both messages."""
    found = await asyncio.to_thread(recall, question)
    text, entities, used = answer(question, found["hits"])
    if used:
        body = {"recall_id": found["recall_id"], "used": [{"id": hit["id"], "path": hit["path"]} for hit in used], "reward": 1}
        await asyncio.to_thread(post, "/v1/outcomes", body)
    await write(client, session, "user", question, [])
    await write(client, session, "assistant", text, entities)
    return found


def answer(question, hits):
    """The stand-in: names a project, and says which hits it used for that."""
    used = [hit for hit in hits if "Borealis" in hit["label"]]
    return "Borealis needs help.", ["Borealis"], used


async def until(question, condition):
    """Waits for a recall that fulfils the condition: new rows come with the next refresh, outcomes with the job learn."""
    while not condition(found := await asyncio.to_thread(recall, question)):
        await asyncio.sleep(1)
    return found


async def main():
    async with opened() as client:
        for text, *entities in [
            ("Ann works at Acme.", "Ann", "Acme"), ("Bob works at Acme.", "Bob", "Acme"),
            ("Ann works on Apollo.", "Ann", "Apollo"), ("Bob works on Borealis.", "Bob", "Borealis"),
        ]:
            await write(client, "monday", "user", text, entities)
        question = "Which project at Acme needs help?"
        await until(question, lambda found: "Borealis" in [hit["label"] for hit in found["hits"]])
        first = await turn(client, "monday", question, answer)
        second = await until(question, lambda found: found["tick_end"] > first["tick_end"])
        for name, found in (("before", first), ("after", second)):
            print(name, json.dumps([hit["label"] for hit in found["hits"]]))


if __name__ == "__main__":
    asyncio.run(main())
