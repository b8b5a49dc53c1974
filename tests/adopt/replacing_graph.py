"""Graphiti replaces all properties of its rows (`SET n = $map`) beside `ebb serve`, while states are set: none is lost.

  replacing_graph.py write URL saves|minutes NUMBER     URL is that of `ebb serve`, which reads the graph by a mapping

One writer saves entities and facts, reads each again, and adds episodes. Three threads set states of the same rows, each of its own
share, and repeat some requests with their key, which count once. At the end every state that was acknowledged is there.
"""
import collections
import random
import time
import urllib.parse

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode

from graphiti_graph import *
from serving import request

THREADS, TRIES = 3, 10
ROWS = """MATCH (n:Entity) RETURN n.group_id AS scope, 'node' AS kind, n.uuid AS key
UNION ALL MATCH ()-[r:RELATES_TO]->() RETURN r.group_id AS scope, 'fact' AS kind, r.uuid AS key"""
STATES = "MATCH (s:EbbState) RETURN s.scope AS scope, s.kind AS kind, s.key AS key, properties(s) AS state"
UNSET = {"pinned": False, "hidden": False, "accesses": 0, "at": None}


class States(threading.Thread):
    """Sets states of every third row of a list that grows, and notes what was acknowledged."""

    def __init__(self, url, rows, part, ended):
        super().__init__()
        self.url, self.rows, self.part, self.ended = url, rows, part, ended
        self.random = random.Random(part)
        self.expected, self.counts, self.faults = {}, collections.Counter(), []

    def run(self):
        try:
            while not self.ended.is_set():
                self.turn()
                time.sleep(0.02)
        except Exception:
            self.faults.append(traceback.format_exc())

    def turn(self):
        rows = self.rows[self.part::THREADS]
        scope = self.random.choice(rows)[0]
        some = self.random.sample([row for row in rows if row[0] == scope], self.random.randint(1, 3))
        state = self.random.choice([{"pinned": True}, {"pinned": False}, {"hidden": True}, {"hidden": False},
                                    {"accessed": True}, {"accessed": True, "pinned": True}])
        body = {"scope": scope, "keys": [row[2] for row in some]} | state
        self.counts["requests"] += 1
        answer = self.acknowledged(body)
        if self.counts["requests"] % 7 == 0:
            self.counts["repeats"] += 1
            again = self.acknowledged(body)
            # A repeat is answered with its own instant, though the row keeps that of the first.
            self.counts["repeats with another instant"] += again["at"] != answer["at"]
        for row in some:
            known = self.expected.setdefault(row, dict(UNSET))
            known |= {name: value for name, value in state.items() if name != "accessed"}
            if "accessed" in state:
                known |= {"accesses": known["accesses"] + 1, "at": answer["at"]}
            self.counts["states"] += 1
        if self.counts["requests"] % 10 == 0:
            request(f"{self.url}/v1/recall", {"scope": scope, "text": self.random.choice(QUESTIONS)})

    def acknowledged(self, body):
        """Sends a request, again with its key while it is refused."""
        key = {"Idempotency-Key": f"{self.part}-{self.counts['requests']}"}
        for _ in range(TRIES):
            answer = request(f"{self.url}/v1/states", body, key)
            if answer.get("rows") == len(body["keys"]):
                return answer
            self.counts["refused"] += 1
            time.sleep(0.2)
        raise ValueError(f"{body} is answered with {answer}")


async def saved(driver, kind, key, turn):
    """Saves a row with one attribute changed. Returns how the library reads it again, if that is not as it was saved."""
    async def read():
        row = await (EntityNode if kind == "node" else EntityEdge).get_by_uuid(driver, key)
        await (row.load_name_embedding(driver) if kind == "node" else row.load_fact_embedding(driver))
        return row
    row = await read()
    row.attributes["turn"] = turn
    await row.save(driver)
    again = await read()
    # save() writes these to a relationship besides its own fields.
    ends = {"source_uuid": row.source_node_uuid, "target_uuid": row.target_node_uuid} if kind == "fact" else {}
    row.attributes |= ends
    same = again.model_dump() == row.model_dump() and row.attributes.keys() == {"turn", *ends}
    return [] if same else [f"saved {row}, read {again}"]


async def write_beside(graphiti, rows, is_over):
    """Returns numbers of saves and episodes, and faults."""
    counts, faults = collections.Counter(), []
    while not is_over(counts["saves"]):
        for _ in range(5):
            counts["saves"] += 1
            _, kind, key = rows[counts["saves"] % len(rows)]
            faults += await saved(graphiti.driver, kind, key, counts["saves"])
        text = (FIRST + SECOND)[counts["episodes"] % 12]
        if counts["episodes"] % 6 == 5:
            name = "N" + "".join(chr(97 + int(digit)) for digit in str(counts["episodes"]))
            text = f"{name} works_at Acme."
        counts["episodes"] += 1
        await add(graphiti, [text], "one")
        known = set(rows)
        rows += [row for row in await read_rows(graphiti.driver) if row not in known]
    return counts, faults


async def read_rows(driver):
    return [(row["scope"], row["kind"], row["key"]) for row in (await driver.execute_query(ROWS)).records]


async def lost(driver, url, expected):
    """States that are not as they were acknowledged."""
    stored = {}
    for row in (await driver.execute_query(STATES)).records:
        state = row["state"]
        at = state.get("lastAccess") and state["lastAccess"].to_native()
        stored[row["scope"], row["kind"], row["key"]] = {name: state.get(name, UNSET[name]) for name in UNSET} | {"at": at}
    expected = {row: state | {"at": state["at"] and datetime.datetime.fromisoformat(state["at"])} for row, state in expected.items()}
    wrong = [f"{row}: {stored.get(row)}, not {state}" for row, state in expected.items() if stored.get(row, UNSET) != state]
    wrong += [f"{row}: {state}, never set" for row, state in stored.items() if row not in expected]
    for scope in ("one", "two"):
        listed = request(f"{url}/v1/hidden?" + urllib.parse.urlencode({"scope": scope}))["hidden"]
        listed = {(scope, row["kind"], row["key"]) for row in listed}
        hidden = {row for row, state in expected.items() if row[0] == scope and state["hidden"]}
        wrong += [f"{row} is listed as hidden or not, against what was set" for row in listed ^ hidden]
    return wrong


async def write():
    url, unit, number = sys.argv[2], sys.argv[3], float(sys.argv[4])
    until = time.monotonic() + 60 * number
    is_over = lambda saves: saves >= number if unit == "saves" else time.monotonic() >= until
    graphiti, ended = opened(), threading.Event()
    rows = await read_rows(graphiti.driver)
    threads = [States(url, rows, part, ended) for part in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        counts, faults = await write_beside(graphiti, rows, is_over)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    expected = {}
    for thread in threads:
        counts.update(thread.counts)
        faults += thread.faults
        expected |= thread.expected
    faults += await lost(graphiti.driver, url, expected)
    return {"counts": counts, "rows with a state": len(expected), "faults": faults}


if __name__ == "__main__":
    main(write)
