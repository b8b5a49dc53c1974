"""Graphiti: episodes through its whole pipeline, in several groups.

In the variant `attributes`, its entity and edge types have attributes whose names Ebb uses: groups then hold entities of
one name with one `scope`, and facts with one `key`.
"""
import datetime
import os
import re

from shared import *

os.environ["EMBEDDING_DIM"] = str(DIMENSIONS)
os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.nodes import EpisodeType
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_CROSS_ENCODER
from graphiti_core.utils.bulk_utils import RawEpisode
from pydantic import BaseModel, Field

# More than there is: a limit would cut among equals, which Graphiti orders by their random ids.
LIMIT = 100


class Project(BaseModel):
    """A project."""
    scope: str | None = Field(None, description="its scope")
    tier: str | None = Field(None, description="its tier")


class WorksOn(BaseModel):
    """Someone works on a project."""
    key: str | None = Field(None, description="key of the assignment")


class Plain(BaseModel):
    """A project."""


TYPES = {"entity_types": {"Project": Plain}}
if "attributes" in os.environ["ADOPT_VARIANT"]:
    TYPES = {"entity_types": {"Project": Project}, "edge_types": {"WORKS_ON": WorksOn},
             "edge_type_map": {("Entity", "Project"): ["WORKS_ON"]}}


class Model(LLMClient):
    """Answers by the statements of the current messages."""

    async def _generate_response(self, messages, response_model=None, max_tokens=0, model_size=None, **_):
        text = "\n".join(message.content for message in messages)
        PROMPTS.append(text)
        current = re.search(r"<CURRENT[ _]MESSAGES?>(.*?)</CURRENT", text, re.S)
        found = statements(current.group(1)) if current else []
        names = list(dict.fromkeys(name for one, _, two in found for name in (one, two)))
        entities = [{"name": name, "entity_type_id": int(KINDS.get(name) == "Project")} for name in names]
        edges = [{"source_entity_name": one, "target_entity_name": two, "relation_type": verb.upper(),
                  "fact": f"{one} {verb} {two}"} for one, verb, two in found]
        answers = {
            "ExtractedEntities": {"extracted_entities": entities},
            "ExtractedEdges": {"edges": edges},
            "CombinedExtraction": {"extracted_entities": entities, "edges": edges},
            "NodeResolutions": {"entity_resolutions": []},
            "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": []},
            "EdgeTimestamps": {}, "BatchEdgeTimestamps": {"timestamps": [{}] * 30},
            "SummarizedEntities": {"summaries": []}, "Plain": {},
            "Project": {"scope": "team", "tier": "gold"}, "WorksOn": {"key": "lead"},
        }
        return answers[response_model.__name__]


class Embedder(EmbedderClient):
    async def create(self, input_data):
        return vector(input_data if isinstance(input_data, str) else input_data[0])

    async def create_batch(self, input_data_list):
        return [vector(text) for text in input_data_list]


class Ranker(CrossEncoderClient):
    async def rank(self, query, passages):
        score = lambda text: sum(a * b for a, b in zip(vector(query), vector(text)))
        return sorted(((text, score(text)) for text in passages), key=lambda pair: (-pair[1], pair[0]))


def opened():
    return Graphiti(URI, USER, PASSWORD, llm_client=Model(None), embedder=Embedder(), cross_encoder=Ranker())


async def add(graphiti, texts, group):
    for number, text in enumerate(texts):
        await graphiti.add_episode(
            name=f"{group} {number}", episode_body=text, source_description="chat", group_id=group,
            source=EpisodeType.message, reference_time=datetime.datetime(2026, 1, 1 + number, tzinfo=datetime.timezone.utc), **TYPES)


async def answers(graphiti):
    found = []
    for question in QUESTIONS:
        for groups in (None, ["one"], ["two"]):
            found.append(sorted(edge.fact for edge in await graphiti.search(question, group_ids=groups, num_results=LIMIT)))
            rest = await graphiti.search_(question, group_ids=groups, config=COMBINED_HYBRID_SEARCH_CROSS_ENCODER.model_copy(update={"limit": LIMIT}))
            found.append([sorted(edge.fact for edge in rest.edges), sorted(node.name for node in rest.nodes),
                          sorted(episode.content for episode in rest.episodes)])
    return found


async def write():
    graphiti = opened()
    await graphiti.build_indices_and_constraints()
    for group in ("one", "two"):
        await add(graphiti, FIRST, group)
    return await answers(graphiti)


async def search():
    return await answers(opened())


async def again():
    graphiti = opened()
    await add(graphiti, SECOND, "one")
    await add(graphiti, SECOND, "two")
    at = datetime.datetime(2026, 2, 1, tzinfo=datetime.timezone.utc)
    episodes = [RawEpisode(name=f"bulk {number}", content=text, source_description="chat", source=EpisodeType.message, reference_time=at)
                for number, text in enumerate(FIRST)]
    await graphiti.add_episode_bulk(episodes, group_id="three", **TYPES)
    return await answers(graphiti)


if __name__ == "__main__":
    main(write, search, again)
