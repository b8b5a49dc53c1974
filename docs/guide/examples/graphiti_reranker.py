"""Graphiti's search results in the order of Ebb's scores, without rows that have ended, are hidden or were deleted.

Needs graphiti-core, and `ebb serve` with the preset "graphiti". GROUP and a question as arguments.
"""
import asyncio
import os
import sys

import httpx
from graphiti_core import Graphiti
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF

URL = os.environ.get("EBB_URL", "http://127.0.0.1:8322")
HEADERS = {"Authorization": f"Bearer {os.environ['EBB_API_KEY']}"} if "EBB_API_KEY" in os.environ else {}


async def reranked(question, rows, group=""):
    """Facts, nodes or episodes of one group, best first."""
    if not rows:
        return []
    body = {"scope": group or "local", "query": question, "keys": [row.uuid for row in rows]}
    async with httpx.AsyncClient(base_url=URL, headers=HEADERS, timeout=60) as http:
        answer = (await http.post("/v1/rerank", json=body)).raise_for_status()
    scores = {row["key"]: row["score"] for row in answer.json()["results"] if row["live"]}
    return sorted((row for row in rows if row.uuid in scores), key=lambda row: -scores[row.uuid])


async def main(group, question):
    graphiti = Graphiti(os.environ["NEO4J_URI"], os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ["NEO4J_PASSWORD"])
    found = await graphiti.search_(question, config=COMBINED_HYBRID_SEARCH_RRF, group_ids=[group])
    for row in await reranked(question, [*found.edges, *found.nodes], group):
        print(row.uuid, getattr(row, "fact", row.name))
    await graphiti.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
