#!/usr/bin/env python3
"""The examples of docs/guide/examples, each with its library, a real server and `ebb serve`.

  examples.py --state FOLDER [EXAMPLE ...]      EBB names the program; the stage `.ci/run adopt` calls it
  examples.py prepare | check EXAMPLE           in the library's environment: its schema and data before `ebb serve`; the checks

The environments and the server are those of run.py. Each example begins with an empty database. Ends with 1 if anything failed.
"""
import argparse
import asyncio
import datetime
import json
import logging
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
GUIDE = HERE.parent.parent / "docs" / "guide"
SECONDS_MAX = 60
# The library of each example, and the settings of its `ebb serve`.
EXAMPLES = {
    "graphiti_reranker": ("graphiti-core", '[[adopt]]\npreset = "graphiti"\n'),
    "agent_memory_session": ("neo4j-agent-memory", '[[adopt]]\npreset = "neo4j-agent-memory"\n'),
}
FAILURES = []


def holds(what, condition, detail=""):
    if not condition:
        FAILURES.append(what)
        print(f"  FAILED {what}: {detail}", flush=True)


def is_equal(what, found, wanted):
    holds(what, found == wanted, f"{found!r} instead of {wanted!r}")


def post(path, body, method="POST"):
    request = urllib.request.Request(os.environ["EBB_URL"] + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def until(what, condition):
    """The first result of the condition that is true; refusals while a scope is loaded are none."""
    end, result = time.monotonic() + SECONDS_MAX, None
    while time.monotonic() < end:
        try:
            result = condition()
            if result:
                return result
        except Exception as why:
            if "503" not in str(why):
                raise
            result = why
        time.sleep(0.3)
    raise SystemExit(f"{what}: not within {SECONDS_MAX} s, but {result!r}")


# graphiti_reranker


def graphiti():
    import shared

    os.environ |= {"EMBEDDING_DIM": str(shared.DIMENSIONS), "GRAPHITI_TELEMETRY_ENABLED": "false", "OPENAI_API_KEY": "none"}
    os.environ["OPENAI_BASE_URL"] = shared.model(lambda messages, request: {"content": "{}"})
    from graphiti_core import Graphiti

    # A notification for each property that no row has yet.
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    return Graphiti(shared.URI, shared.USER, shared.PASSWORD)


def days_ago(days):
    return datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)


async def write_facts(library):
    """Facts about Ann in the group `team`, the newest first; one of the default group."""
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode
    from shared import vector

    await library.build_indices_and_constraints()
    for group, name, days, ended in [("team", "Borealis", 1, None), ("team", "Draco", 2, None), ("team", "Eridanus", 3, None),
                                     ("team", "Cygnus", 4, days_ago(1)), ("team", "Apollo", 90, None), ("", "Fornax", 5, None)]:
        ends = []
        for number, end in enumerate(("Ann", name)):
            node = EntityNode(uuid=f"{group}-{end}", name=end, group_id=group, summary="", created_at=days_ago(days), name_embedding=vector(end))
            if number or name in ("Borealis", "Fornax"):
                await node.save(library.driver)
            ends.append(node.uuid)
        fact = f"Ann works on {name}"
        await EntityEdge(uuid=f"fact-{name}", source_node_uuid=ends[0], target_node_uuid=ends[1], name="WORKS_ON", fact=fact, group_id=group,
                         fact_embedding=vector(fact), created_at=days_ago(days), valid_at=days_ago(days), expired_at=ended).save(library.driver)
    await library.driver.execute_query("CALL db.awaitIndexes(300)")
    await library.close()


def prepare_graphiti_reranker():
    asyncio.run(write_facts(graphiti()))


def check_graphiti_reranker():
    asyncio.run(check_reranker(graphiti()))


async def check_reranker(library):
    from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF
    from graphiti_reranker import reranked

    question = "What does Ann work on?"
    named = lambda rows: [row.uuid.split("-")[1] for row in rows]
    config = COMBINED_HYBRID_SEARCH_RRF.model_copy(update={"limit": 100})
    found = await library.search_("Ann works on Apollo, Borealis, Cygnus, Draco, Eridanus", config=config, group_ids=["team"])
    everything = {"Apollo", "Borealis", "Cygnus", "Draco", "Eridanus"}
    is_equal("Graphiti finds all facts, with ended ones", set(named(found.edges)), everything)
    is_equal("Graphiti finds all nodes", set(named(found.nodes)), everything | {"Ann"})
    ready = lambda: post("/v1/rerank", {"scope": "team", "query": question, "keys": ["team-Ann"]})["results"][0]["score"] > 0
    until("the group is loaded", ready)
    is_equal("facts by their age, without the ended one", named(await reranked(question, found.edges, "team")),
             ["Borealis", "Draco", "Eridanus", "Apollo"])
    nodes = named(await reranked(question, found.nodes, "team"))
    is_equal("the node that the question names comes first", (nodes[0], set(nodes)), ("Ann", everything | {"Ann"}))
    post("/v1/states", {"scope": "team", "keys": ["fact-Draco", "team-Draco"], "hidden": True})
    await library.driver.execute_query("MATCH ()-[r:RELATES_TO {uuid: 'fact-Eridanus'}]->() DELETE r")
    is_equal("facts without the hidden and the deleted one", named(await reranked(question, found.edges, "team")), ["Borealis", "Apollo"])
    holds("nodes without the hidden one", "Draco" not in named(await reranked(question, found.nodes, "team")))
    post("/v1/states", {"scope": "team", "keys": ["fact-Apollo"], "accessed": True})
    scores = lambda: [row["score"] for row in post("/v1/rerank", {"scope": "team", "query": question, "keys": ["fact-Apollo", "fact-Borealis"]})["results"]]
    until("the access is in the mirror", lambda: (lambda accessed, other: accessed > other)(*scores()))
    is_equal("the accessed fact comes first", named(await reranked(question, found.edges, "team")), ["Apollo", "Borealis"])
    is_equal("of no rows, none", await reranked(question, [], "team"), [])
    other = await library.search(question, group_ids=[""])
    until("the scope local is loaded", lambda: post("/v1/rerank", {"query": question, "keys": ["-Ann"]}))
    is_equal("the default group is the scope local", named(await reranked(question, [row for row in other if not row.group_id])), ["Fornax"])
    await library.close()
    program = await asyncio.create_subprocess_exec(sys.executable, GUIDE / "examples" / "graphiti_reranker.py", "team", question,
                                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = (await program.communicate())[0].decode().splitlines()
    is_equal("the program prints the live facts", [line for line in lines if line.startswith("fact-")],
             ["fact-Apollo Ann works on Apollo", "fact-Borealis Ann works on Borealis"])
    holds("the program prints the live nodes", "team-Ann Ann" in lines and "team-Draco Draco" not in lines, lines)


# agent_memory_session


def prepare_agent_memory_session():
    async def connect():
        from agent_memory_session import opened

        async with opened():
            pass

    asyncio.run(connect())


def check_agent_memory_session():
    program = subprocess.run([sys.executable, GUIDE / "examples" / "agent_memory_session.py"], capture_output=True, text=True, timeout=SECONDS_MAX)
    holds("the program ends well", program.returncode == 0, program.stderr)
    lists = dict(line.split(" ", 1) for line in program.stdout.splitlines())
    before, after = json.loads(lists["before"]), json.loads(lists["after"])
    used, other = "Bob works on Borealis.", "Ann works on Apollo."
    holds("the other project is first before the outcome", before.index(other) < before.index(used), before)
    holds("the used one is first after it", after.index(used) < after.index(other), after)
    asyncio.run(asyncio.wait_for(check_session(), 2 * SECONDS_MAX))


async def check_session():
    """The effect is of the outcome alone: here a turn writes nothing."""
    import agent_memory_session as example

    question, used, other = "Which ship of Zeta needs help?", "Finn sails on Delta.", "Eve sails on Gamma."
    # All hits, so that each has a rank.
    example.recall = lambda question: post("/v1/recall", {"text": question, "kinds": ["Message", "Entity"], "top_k": 100})
    write, written = example.write, []

    async def note(client, session, role, text, entities):
        written.append((role, text))

    def rank(label, found):
        return [hit["label"] for hit in found["hits"]].index(label)

    async with example.opened() as client:
        for text, *entities in [("Eve sails for Zeta.", "Eve", "Zeta"), ("Finn sails for Zeta.", "Finn", "Zeta"),
                                (other, "Eve", "Gamma"), (used, "Finn", "Delta")]:
            await write(client, "tuesday", "user", text, entities)
        await example.until(question, lambda found: {used, "Delta"} <= {hit["label"] for hit in found["hits"]})
        example.write = note
        first = await example.turn(client, "tuesday", question, lambda question, hits: ("Nothing is known.", [], []))
        post("/v1/jobs/learn/run", {})
        second = await example.turn(client, "tuesday", question, lambda question, hits: (
            "Delta.", ["Delta"], [hit for hit in hits if hit["label"] in (used, "Delta")]))
        is_equal("a turn without a report teaches nothing", second["tick_end"], first["tick_end"])
        third = await example.until(question, lambda found: found["tick_end"] > second["tick_end"])
        holds("the other ship is first before the outcome", rank(other, second) < rank(used, second), second["hits"])
        holds("the used one is first after it", rank(used, third) < rank(other, third), third["hits"])
        is_equal("both messages of a turn are written", written[-2:], [("user", question), ("assistant", "Delta.")])
        messages = (await client.short_term.get_conversation("monday")).messages
        is_equal("the program's messages are the library's", [message.content for message in messages[-2:]],
                 ["Which project at Acme needs help?", "Borealis needs help."])


# The driver


def served(ebb, environment, folder, settings):
    """`ebb serve` with these settings, ready. Returns its process and its environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (folder / "ebb.toml").write_text(settings)
    environment = environment | {"EBB_URL": f"http://{address}", "EBB__HTTP__LISTEN": address, "EBB__MIRROR__REFRESH": "1s", "EBB__JOBS__LEARN__EVERY": "1s"}
    subprocess.run([ebb, "init", "--yes"], env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with open(folder / "serve.log", "w") as log:
        process = subprocess.Popen([ebb, "serve"], env=environment, cwd=folder, stdout=log, stderr=log)
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{environment['EBB_URL']}/readyz", timeout=5)
            break
        except OSError:
            time.sleep(0.2)
    return process, environment


def is_shown(name):
    """Whether the guide shows the whole file."""
    return f"```python\n{(GUIDE / 'examples' / f'{name}.py').read_text()}```\n" in (GUIDE / "with-your-library.md").read_text()


def main():
    from environment import installed, server

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=pathlib.Path, required=True)
    parser.add_argument("examples", nargs="*", default=[], help=", ".join(EXAMPLES))
    arguments = parser.parse_args()
    state, ebb = arguments.state.resolve(), os.environ["EBB"]
    examples = arguments.examples or list(EXAMPLES)
    pythons = {name: installed(EXAMPLES[name][0], state) for name in examples}
    driver = installed("graphiti-core", state)
    environment, stop = server(ebb, state)
    folder = state / "adopt" / "examples"
    environment |= {"ADOPT_FOLDER": str(folder), "PYTHONPATH": f"{HERE}:{GUIDE / 'examples'}"}

    def call(python, *words):
        return subprocess.run([python, *words], env=environment, cwd=folder, timeout=600).returncode == 0

    def fresh():
        folder.mkdir(parents=True, exist_ok=True)
        if not call(driver, HERE / "graph.py", "wipe"):
            raise SystemExit("the database could not be emptied")
        shutil.rmtree(folder)
        folder.mkdir()

    folder.mkdir(parents=True, exist_ok=True)
    call(driver, HERE / "graph.py", "count")
    if "NEO4J_URI" in os.environ and json.loads((folder / "answer.json").read_text())["nodes"]:
        raise SystemExit(f"the database at {os.environ['NEO4J_URI']} is not empty, and this test wipes it. Name an empty one")
    try:
        for name in examples:
            began, before = time.monotonic(), len(FAILURES)
            holds(f"docs/guide/with-your-library.md shows {name}.py", is_shown(name))
            fresh()
            holds(f"{name} is prepared", call(pythons[name], __file__, "prepare", name))
            process, serving = served(ebb, environment, folder, EXAMPLES[name][1])
            try:
                done = subprocess.run([pythons[name], __file__, "check", name], env=serving, cwd=folder, timeout=600)
                holds(f"{name} passes", done.returncode == 0, (folder / "serve.log").read_text()[-1500:])
            finally:
                process.send_signal(signal.SIGTERM)
                holds("ebb serve ends well", process.wait(timeout=60) == 0, (folder / "serve.log").read_text()[-1500:])
            print(f"{name}: {'failed' if len(FAILURES) > before else 'passed'}, {time.monotonic() - began:.0f} s", flush=True)
        fresh()
    finally:
        stop()
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    if sys.argv[1] in ("prepare", "check"):
        globals()[f"{sys.argv[1]}_{sys.argv[2]}"]()
        sys.exit(1 if FAILURES else 0)
    main()
