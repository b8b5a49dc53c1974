"""The run `adopted`: Ebb reads the library's graph by a mapping, and the library is not harmed.

The library writes and searches; `ebb adopt --detect` proposes the mapping, which the rest of the run uses. Every step of Ebb
leaves the library's rows as they are. Recall, rerank and states are requested with keys and texts that are read from the
graph by the queries below, not by Ebb. While `ebb serve` runs, the library searches and writes and answers as it did
alone, and recall finds what it wrote.
"""
import collections
import json
import re
import time
import urllib.parse

from serving import Server

# The preset of each library that has one. Of the others, nothing is proposed.
PRESETS = {
    "graphiti-core": "graphiti", "graphiti-core attributes": "graphiti", "neo4j-agent-memory": "neo4j-agent-memory",
    "mem0ai": "mem0", "mem0ai base_label": "mem0", "mcp-neo4j-memory": "mcp-neo4j-memory", "MemoryOS": "memos",
}
# The live rows of each: pattern of `n`, scope, key and text. Of neo4j-agent-memory, the users of messages and preferences.
OF_USERS = "(n:{}) OPTIONAL MATCH (n){}(o) WITH DISTINCT n, coalesce(o.user_identifier, o.identifier, 'local') AS scope"
ROWS = {
    "graphiti": [("(n:Entity)", "n.group_id", "n.uuid", "n.name"), ("(n:Episodic)", "n.group_id", "n.uuid", "n.content"),
                 ("()-[n:RELATES_TO]->()", "n.group_id", "n.uuid", "n.fact")],
    "neo4j-agent-memory": [(OF_USERS.format("Entity", "<-[:MENTIONS]-()<-[:HAS_MESSAGE]-"), "scope", "n.id", "n.name"),
                           (OF_USERS.format("Message", "<-[:HAS_MESSAGE]-"), "scope", "n.id", "n.content"),
                           ("(n:Fact)", "'local'", "n.id", "n.subject + ' ' + n.predicate + ' ' + n.object"),
                           (OF_USERS.format("Preference", "<-[:HAS_PREFERENCE]-"), "scope", "n.id", "n.preference")],
    "mem0": [("(n WHERE n.user_id IS NOT NULL)", "n.user_id", "n.name", "n.name"),
             ("(a WHERE a.user_id IS NOT NULL)-[n]->(b WHERE b.user_id IS NOT NULL)", "a.user_id", "elementId(n)", "a.name + ' ' + type(n) + ' ' + b.name")],
    "mcp-neo4j-memory": [("(n:Memory)", "'local'", "n.name", "n.name")],
    "memos": [("(n:Memory {status: 'activated'})", "n.user_name", "n.id", "n.memory")],
}
# Its rows have no instants, so new ones are found after `ebb graph refresh` alone.
WITHOUT_INSTANTS = {"mcp-neo4j-memory"}
# A question about the first write, the name that it is about, and one that only the second write has.
QUESTION, NAME, NEW_NAME = "Carol lives_in Oslo.", "carol", "eve"
# Seconds in which recall finds what was just written.
FOUND = 60

Row = collections.namedtuple("Row", "scope kind key text")


def rows_of(run, preset):
    query = " UNION ALL ".join(
        f"MATCH {pattern} RETURN {scope} AS scope, '{'fact' if '-[n' in pattern else 'node'}' AS kind, {key} AS key, {text} AS text"
        for pattern, scope, key, text in ROWS[preset])
    return [Row(*row) for row in run.call("graph.py", "rows", query)["rows"]]


def is_about(row, name):
    return name in re.findall("[a-z]+", row.text.lower())


def faults(hits, rows, scope, name):
    """Faults of hits: rows about the name that are missing or without their text, and keys that the scope does not have."""
    plain = lambda text: " ".join((text or "").lower().split())
    contents = {hit["id"]: plain(hit["content"]) for hit in hits}
    nodes = [row for row in rows if row.scope == scope and row.kind == "node"]
    about = [row for row in nodes if is_about(row, name)]
    found = [f"{row.key} ({row.text}) is not found" for row in about if plain(row.text) not in contents.get(row.key, "")]
    found += [f"{key} is none of its keys" for key in contents.keys() - {row.key for row in nodes}]
    return found if about else [*found, f"no row is about {name}"]


class Adopted:
    """The run of one library: `whole` does all of it, in order."""

    def __init__(self, run, alone, seconds):
        self.run, self.alone, self.seconds = run, alone, seconds
        self.preset = PRESETS.get(run.library)

    def whole(self):
        """Returns whether all dumps are equal."""
        run = self.run
        run.fresh()
        run.answers("write", "before the mapping", self.alone)
        run.answers("search", "before the mapping", self.alone)
        self.before, self.equal = run.dump(), True
        if not self.detected():
            return self.equal
        self.rows = rows_of(run, self.preset)
        self.scopes = sorted({row.scope for row in self.rows})
        self.verbs()
        with Server(run.ebb_program, run.environment, run.folder, EBB__MIRROR__REFRESH="1s") as server:
            last = self.served(server)
        run.holds("ebb serve ends well", server.code == 0, f"{server.code}: {server.log()[-1500:]}")
        self.equal &= run.same("its rows after ebb serve", last["theirs"], run.dump()["theirs"])
        shapes = self.alone["shapes"]
        self.equal &= run.same("its labels, types and names of properties at the end, and alone", shapes, last["shapes"])
        return self.equal & run.uninstalled("with the mapping", self.before, last)

    def checked(self, *words, codes=(0,)):
        """Runs a verb, after which the library's rows are as before."""
        done = self.run.ebb(*words, codes=codes)
        self.equal &= self.run.same(f"its rows after ebb {' '.join(words)}", self.before["theirs"], self.run.dump()["theirs"])
        return done.stdout

    def detected(self):
        """Writes what is proposed to ebb.toml, and returns whether anything is."""
        run, words = self.run, ("adopt", "--detect", "--json")
        detection = json.loads(run.ebb(*words).stdout)
        after = run.dump()
        for part in ("theirs", "own", "schema"):
            self.equal &= run.same(f"{part} after ebb {' '.join(words)}", self.before[part], after[part])
        proposed = re.findall('^preset = "(.*)"$', detection["adopt"], re.M)
        unknown = ", ".join(f"{label['label']} {label['nodes']}" for label in detection["unknown"]) or "none"
        print(f"  {run.library}: proposed {', '.join(proposed) or 'nothing'}; unknown labels: {unknown}", flush=True)
        run.holds("ebb adopt --detect proposes its preset alone", proposed == [self.preset] * bool(self.preset), detection["adopt"])
        run.holds("ebb adopt --detect names unknown labels where it proposes nothing", proposed or detection["unknown"], str(detection))
        (run.folder / "ebb.toml").write_text(detection["adopt"])
        return proposed == [self.preset]

    def verbs(self):
        self.checked("doctor", codes=(0, 7))
        for words in (["init", "--yes"], ["doctor"], ["status"], ["job", "run", "--all"]):
            self.checked(*words)
        runs = json.loads(self.checked("job", "run", "--all", "-o", "json"))["runs"]
        changed = {run["job"]: run.get("changed", 0) + run.get("affected", 0) for run in runs}
        self.run.holds("the second run of the jobs changes nothing", not any(changed.values()), str(changed))
        layout = json.loads(self.checked("report", "-o", "json"))["layouts"][0]
        counted = sum(nodes["nodes"] for nodes in layout["nodes"])
        nodes = sum(row.kind == "node" for row in self.rows)
        self.run.holds("ebb report counts its nodes", layout["adopted"] and counted == nodes, f"{counted}, not {nodes}: {layout}")
        for scope in self.scopes:
            hits = json.loads(self.checked("recall", QUESTION, "--scope", scope, "--top", "1000", "-o", "json"))["hits"]
            self.holds(f"ebb recall in the scope {scope}", faults(hits, self.rows, scope, NAME))

    def holds(self, what, faults):
        self.run.holds(what, not faults, f"{len(faults)} faults: {faults[:3]}")

    def served(self, server):
        """Returns the dump after the last write."""
        until = time.monotonic() + self.seconds
        for scope in self.scopes:
            self.holds(f"recall over HTTP in the scope {scope}", faults(self.recall(server, scope, QUESTION), self.rows, scope, NAME))
            self.reranked(server, scope)
        hidden = self.states(server, self.scopes[0])
        self.equal &= self.run.same("its rows after states were set", self.before["theirs"], self.run.dump()["theirs"])
        for step in ("search", "again"):
            self.run.answers(step, "beside ebb serve with the mapping", self.alone)
        last, rows = self.run.dump(), rows_of(self.run, self.preset)
        if self.preset in WITHOUT_INSTANTS:
            self.run.ebb("graph", "refresh")
        # The row that was hidden stays so, whatever was written.
        rows = [row for row in rows if row != hidden]
        for scope in sorted({row.scope for row in rows if is_about(row, NEW_NAME)}):
            self.found(server, scope, rows)
        while time.monotonic() < until:
            self.run.answers("search", "later beside ebb serve", {"search": self.alone["again"]})
        return last

    def recall(self, server, scope, text):
        answer = server.post("/v1/recall", scope=scope, text=text, top_k=1000)
        self.run.holds(f"recall of {text}", "hits" in answer, str(answer))
        return answer.get("hits", [])

    def found(self, server, scope, rows):
        """Waits until recall finds the rows of the second write."""
        limit = time.monotonic() + FOUND
        while True:
            left = faults(self.recall(server, scope, f"{NEW_NAME} works_at Acme."), rows, scope, NEW_NAME)
            if not left or time.monotonic() > limit:
                break
            time.sleep(0.5)
        self.holds(f"recall finds what was just written in the scope {scope}", left)

    def rerank(self, server, scope, keys):
        answer = server.post("/v1/rerank", scope=scope, query=QUESTION, keys=keys)
        self.run.holds("rerank answers each key in order", [row["key"] for row in answer.get("results", [])] == keys, str(answer))
        return {row["key"]: row for row in answer.get("results", [])}

    def reranked(self, server, scope):
        rows = [row for row in self.rows if row.scope == scope]
        scored = self.rerank(server, scope, [*{row.key: None for row in rows}, "nonesuch"])
        wrong = [scored[row.key] for row in rows if (scored[row.key]["kind"], scored[row.key]["live"]) != (row.kind, True)]
        wrong += [scored[row.key] for row in rows if is_about(row, NAME) and not scored[row.key]["score"] > 0]
        wrong += [scored["nonesuch"]] if scored["nonesuch"]["live"] else []
        best = max(rows, key=lambda row: scored[row.key]["score"])
        wrong += [] if re.search("carol|oslo", best.text.lower()) else [best]
        self.holds(f"rerank in the scope {scope}", wrong)

    def states(self, server, scope):
        """Pins a row, hides another and accesses a third. Returns the hidden one."""
        rows = [row for row in self.rows if row.scope == scope]
        hidden = next(row for row in rows if row.kind == "node" and is_about(row, NAME))
        # The last ones are facts, where there are any.
        pinned, accessed = [row for row in rows if row.key != hidden.key][-2:]
        for row, state in ((pinned, {"pinned": True}), (hidden, {"hidden": True}), (accessed, {"accessed": True})):
            answer = server.post("/v1/states", scope=scope, keys=[row.key], **state)
            self.run.holds(f"the state {state} is set", answer.get("rows") == 1, str(answer))
        listed = server.get("/v1/hidden?" + urllib.parse.urlencode({"scope": scope}))
        self.run.holds("the hidden row is listed", listed == {"hidden": [{"key": hidden.key, "kind": "node"}]}, str(listed))
        keys = [hit["id"] for hit in self.recall(server, scope, QUESTION)]
        self.run.holds("recall leaves the hidden row out", keys and hidden.key not in keys, str(keys))
        scored = self.rerank(server, scope, [hidden.key, pinned.key, accessed.key])
        wrong = [] if not scored[hidden.key]["live"] and scored[hidden.key]["score"] == 0 else [scored[hidden.key]]
        wrong += [] if scored[pinned.key]["live"] and scored[pinned.key]["why"].startswith("pinned") else [scored[pinned.key]]
        wrong += [] if scored[accessed.key]["live"] and scored[accessed.key]["weight"] > 0.999 else [scored[accessed.key]]
        self.holds("rerank knows the states", wrong)
        return hidden
