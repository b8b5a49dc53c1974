"""mcp-neo4j-memory: the tools of its server, called by a client of MCP in this process."""
from fastmcp import Client
from mcp_neo4j_memory.neo4j_memory import Neo4jMemory
from mcp_neo4j_memory.server import create_mcp_server
from neo4j import AsyncGraphDatabase

from shared import *


async def with_tools(work):
    async with AsyncGraphDatabase.driver(URI, auth=(USER, PASSWORD)) as driver:
        memory = Neo4jMemory(driver)
        await memory.create_fulltext_index()
        await driver.execute_query("CALL db.awaitIndexes()")
        async with Client(create_mcp_server(memory)) as client:
            return await work(client)


async def add(client, texts):
    found = statements(" ".join(texts))
    names = dict.fromkeys(name for one, _, two in found for name in (one, two))
    await client.call_tool("create_entities", {"entities": [
        {"name": name, "type": KINDS.get(name, "Person"), "observations": [f"seen as {name}"]} for name in names]})
    await client.call_tool("create_relations", {"relations": [
        {"source": one, "target": two, "relationType": verb.upper()} for one, verb, two in found]})
    await client.call_tool("add_observations", {"observations": [
        {"entityName": one, "observations": [f"{one} {verb} {two}"]} for one, verb, two in found]})


async def answers(client):
    found = []
    for tool, arguments in [("read_graph", {}), ("find_memories_by_name", {"names": ["Ann", "Oslo"]})] + [
            ("search_memories", {"query": question.split()[0]}) for question in QUESTIONS]:
        graph = (await client.call_tool(tool, arguments)).structured_content
        PROMPTS.append(json.dumps(graph))
        found.append({name: sorted(json.dumps(row, sort_keys=True) for row in rows) for name, rows in graph.items()})
    return found


async def write():
    async def work(client):
        await add(client, FIRST)
        return await answers(client)
    return await with_tools(work)


async def search():
    return await with_tools(answers)


async def again():
    async def work(client):
        await add(client, SECOND)
        await client.call_tool("delete_relations", {"relations": [{"source": "Dan", "target": "Turin", "relationType": "LIVES_IN"}]})
        await client.call_tool("delete_entities", {"entityNames": ["Borealis"]})
        return await answers(client)
    return await with_tools(work)


main(write, search, again)
