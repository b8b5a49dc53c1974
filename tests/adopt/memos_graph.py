"""MemOS: its graph store for Neo4j Community with local vectors. What lies above it needs several models from a hub."""
import datetime
import os

from shared import *

os.environ["MEMOS_BASE_PATH"] = FOLDER

from memos.configs.graph_db import GraphDBConfigFactory
from memos.graph_dbs.factory import GraphStoreFactory


# More than there is: a limit would cut among equals, which the local vectors order otherwise once they are opened again.
LIMIT = 100


def opened():
    vectors = {"collection_name": "memories", "vector_dimension": DIMENSIONS, "distance_metric": "cosine",
               "path": os.path.join(FOLDER, "vectors")}
    return GraphStoreFactory.from_config(GraphDBConfigFactory(backend="neo4j-community", config={
        "uri": URI, "user": USER, "password": PASSWORD, "db_name": "neo4j", "user_name": "u", "use_multi_db": False,
        "auto_create": False, "embedding_dimension": DIMENSIONS, "vec_config": {"backend": "qdrant", "config": vectors}}))


def key(text):
    digest = hashlib.md5(text.encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def metadata(text, number):
    instant = datetime.datetime.now(datetime.timezone.utc).isoformat()
    return {"memory_type": "WorkingMemory" if number % 2 else "LongTermMemory", "status": "activated", "key": text.split()[0],
            "tags": text.rstrip(".").split(), "created_at": instant, "updated_at": instant, "confidence": 0.9, "usage": [],
            "sources": [], "background": "", "embedding": vector(text), "type": "fact", "session_id": "s", "scope": "team"}


def answers(graph):
    found = []
    for question in QUESTIONS:
        rows = graph.search_by_embedding(vector(question), top_k=LIMIT, status="activated", return_fields=["memory", "tags"])
        found.append(sorted(row["memory"] for row in rows))
        found.append(sorted(graph.get_by_metadata([{"field": "key", "op": "=", "value": question.split()[0]}])))
    whole = graph.export_graph()
    PROMPTS.append(json.dumps(whole, default=str))
    found.append(sorted(node["memory"] for node in whole["nodes"]))
    found.append(sorted(f"{edge['source']} {edge['type']} {edge['target']}" for edge in whole["edges"]))
    for scope in ("WorkingMemory", "LongTermMemory"):
        found.append(graph.get_memory_count(scope))
        found.append(sorted(item["memory"] for item in graph.get_all_memory_items(scope)))
    found.append(graph.get_node(key(FIRST[0]))["memory"])
    return found


def write():
    graph = opened()
    for number, text in enumerate(FIRST[:4]):
        graph.add_node(key(text), text, metadata(text, number))
    graph.add_nodes_batch([{"id": key(text), "memory": text, "metadata": metadata(text, number)}
                           for number, text in enumerate(FIRST[4:])])
    for one, two in zip(FIRST, FIRST[1:]):
        graph.add_edge(key(one), key(two), "RELATE_TO" if one[0] == "A" else "PARENT")
    return answers(graph)


def search():
    return answers(opened())


def again():
    graph = opened()
    for number, text in enumerate(SECOND):
        graph.add_node(key(text), text, metadata(text, number))
    graph.update_node(key(FIRST[1]), {"status": "archived"})
    graph.add_edge(key(FIRST[1]), key(FIRST[2]), "MERGED_TO")
    graph.delete_node(key(FIRST[6]))
    return answers(graph)


main(write, search, again)
