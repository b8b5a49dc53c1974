"""The database as it is: `graph.py dump` writes its rows and schema to answer.json of the folder, `wipe` removes both, `count`
counts its nodes, `rows QUERY` writes the rows of a query.

A row is one line of text without element ids: labels or type, and properties with their types. A relationship names its
ends by the hashes of their lines. A shape is labels or type and names of properties, without values. Rows of Ebb's own are listed apart from all others; one with any other label is not one.
"""
import hashlib
import json
import os
import sys

from neo4j import GraphDatabase


def text(properties):
    return ", ".join(f"{name}: {type(value).__name__} {value!r}" for name, value in sorted(properties.items()))


def is_own(labels):
    return bool(labels) and all(label.startswith("Ebb") or label in ("ConsolidationAttempt", "ConsolidationConfig") for label in labels)


def dump(session):
    own, theirs, shapes, name = [], [], [], {}
    for id, labels, properties in session.run("MATCH (n) RETURN elementId(n), labels(n), properties(n)").values():
        line = f"(:{':'.join(sorted(labels))} {{{text(properties)}}})"
        name[id] = (hashlib.sha256(line.encode()).hexdigest()[:12], is_own(labels))
        (own if is_own(labels) else theirs).append(line)
        if not is_own(labels):
            shapes.append(f"{':'.join(sorted(labels))}({', '.join(sorted(properties))})")
    query = "MATCH (a)-[r]->(b) RETURN elementId(a), type(r), properties(r), elementId(b)"
    for a, kind, properties, b in session.run(query).values():
        line = f"({name[a][0]})-[:{kind} {{{text(properties)}}}]->({name[b][0]})"
        (own if name[a][1] or name[b][1] else theirs).append(line)
        if not name[a][1] and not name[b][1]:
            shapes.append(f"{kind}({', '.join(sorted(properties))})")
    columns = "name, type, entityType, labelsOrTypes, properties, options"
    schema = [str(row) for row in session.run(f"SHOW INDEXES YIELD {columns} RETURN {columns} ORDER BY name").values()]
    columns = "name, type, entityType, labelsOrTypes, properties"
    schema += [str(row) for row in session.run(f"SHOW CONSTRAINTS YIELD {columns} RETURN {columns} ORDER BY name").values()]
    return {"theirs": sorted(theirs), "own": sorted(own), "shapes": sorted(shapes), "schema": schema}


def wipe(session):
    while session.run("MATCH (n) WITH n LIMIT 10000 DETACH DELETE n RETURN count(*)").single()[0]:
        pass
    for kind in ("CONSTRAINT", "INDEX"):
        names = session.run(f"SHOW {kind}ES YIELD name, type WHERE type <> 'LOOKUP' RETURN name" if kind == "INDEX"
                            else "SHOW CONSTRAINTS YIELD name RETURN name").value()
        for one in names:
            session.run(f"DROP {kind} `{one}`").consume()
    session.run("CALL db.clearQueryCaches()").consume()
    return {}


with GraphDatabase.driver(os.environ["NEO4J_URI"], auth=(os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ["NEO4J_PASSWORD"])) as driver:
    with driver.session() as session:
        count = lambda session: {"nodes": session.run("MATCH (n) RETURN count(n)").single()[0]}
        rows = lambda session: {"rows": session.run(sys.argv[2]).values()}
        answer = {"dump": dump, "wipe": wipe, "count": count, "rows": rows}[sys.argv[1]](session)
with open(os.path.join(os.environ["ADOPT_FOLDER"], "answer.json"), "w") as file:
    json.dump(answer, file)
