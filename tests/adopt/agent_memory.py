"""neo4j-agent-memory: conversations with extraction, entities, relationships, facts, preferences and reasoning traces,
first of no user, then of one.

Its embedder and its extractor are given by its own constructor. The context that it builds for a prompt is recorded.
"""
from neo4j_agent_memory import MemoryClient, MemorySettings
from neo4j_agent_memory.embeddings.base import BaseEmbedder
from neo4j_agent_memory.extraction.base import ExtractedEntity, ExtractedRelation, ExtractionResult
from pydantic import SecretStr

from shared import *

TYPES = {"Company": "ORGANIZATION", "Project": "OBJECT", "City": "LOCATION"}


class Embedder(BaseEmbedder):
    @property
    def dimensions(self):
        return DIMENSIONS

    async def embed(self, text):
        return vector(text)

    async def embed_batch(self, texts):
        return [vector(text) for text in texts]


class Extractor:
    async def extract(self, text, **_):
        found = statements(text)
        names = dict.fromkeys(name for one, _, two in found for name in (one, two))
        return ExtractionResult(
            entities=[ExtractedEntity(name=name, type=TYPES.get(KINDS.get(name), "PERSON")) for name in names],
            relations=[ExtractedRelation(source=one, target=two, relation_type=verb) for one, verb, two in found],
            source_text=text)


def opened():
    settings = MemorySettings(neo4j={"uri": URI, "username": USER, "password": SecretStr(PASSWORD)},
                              embedding={"dimensions": DIMENSIONS})
    return MemoryClient(settings, embedder=Embedder(), extractor=Extractor())


async def add(client, texts, session, user=None):
    for number, text in enumerate(texts):
        await client.short_term.add_message(session, "user" if number % 2 == 0 else "assistant", text, user_identifier=user)
        for one, verb, two in statements(text):
            await client.long_term.add_fact(one, verb, two)
        await client.long_term.add_preference("style", f"prefers {text}", user_identifier=user)
    trace = await client.reasoning.start_trace(session, f"find {texts[0]}")
    step = await client.reasoning.add_step(trace.id, thought="look", action="search")
    await client.reasoning.record_tool_call(step.id, "search", {"q": texts[0]}, result="found")
    await client.reasoning.complete_trace(trace.id, outcome="found", success=True)


async def answers(client):
    found = []
    for question in QUESTIONS:
        PROMPTS.append(await client.get_context(question))
        found.append({
            "messages": sorted(row.content for row in await client.short_term.search_messages(question, threshold=0.6)),
            "entities": sorted(row.name for row in await client.long_term.search_entities(question, threshold=0.6)),
            "facts": sorted(" ".join(row.as_triple) for row in await client.long_term.search_facts(question, threshold=0.6)),
            "preferences": sorted(row.preference for row in await client.long_term.search_preferences(question, threshold=0.6)),
            "about": sorted(" ".join(row.as_triple) for row in await client.long_term.get_facts_about("Ann")),
        })
    found.append(await client.get_stats())
    return found


async def write():
    async with opened() as client:
        await add(client, FIRST, "first")
        return await answers(client)


async def search():
    async with opened() as client:
        return await answers(client)


async def again():
    async with opened() as client:
        await add(client, SECOND, "second", "user-2")
        await add(client, SECOND, "first")
        return await answers(client)


main(write, search, again)
