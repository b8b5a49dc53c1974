#!/usr/bin/env python3
"""An agent that maintains its memory with Cypher of its own, as the documents say it, beside any number of Ebb workers.

It creates memories, accesses them, opens consolidation attempts, marks and promotes, in the documents' own statements
(two of which are mended, since they do not parse: the pattern of a mark that is looked for had no far end, and the one that
is created had no bound attempt). It knows nothing of Ebb: no labels, leases, holders or states. Every third of its
attempts it abandons, as an agent does that is killed. It shares no line with the product and uses the server's HTTP
interface. Standard library only.

  agent.py --http http://127.0.0.1:7474 [--user neo4j --password-file FILE] [--seconds 60] [--seed 1] [--rest 150]

Then it waits until nothing is held any more and checks: every memory it made is there once, under the laws and with an
energy; every mark is gone and every attempt that held something is over; nothing rose twice. Ends with 1 if not.
"""
import argparse, base64, json, random, sys, time, urllib.error, urllib.request, uuid

CREATE = """CREATE (m:Memory {id: $id, content: $content, tier: 'working', energy: 1.0, created: datetime(),
  lastAccessed: datetime(), accessCount: 1, sessionId: $session, instanceId: $instance})"""
ACCESS = """MATCH (m:Memory {id: $id})
SET m.energy = m.energy * exp(-1 * duration.between(m.lastAccessed, datetime()).hours / 0.5) + 1.0,
  m.lastAccessed = datetime(), m.accessCount = m.accessCount + 1"""
ATTEMPT = """CREATE (attempt:ConsolidationAttempt {id: $attempt, instanceId: $instance, started: datetime(),
  phase: 'working'})"""
MARK = """MATCH (attempt:ConsolidationAttempt {id: $attempt})
MATCH (m:Memory {tier: 'working', instanceId: $instance})
WHERE NOT EXISTS { (m)-[:CONSOLIDATING]->() }
WITH m, attempt LIMIT 10
CREATE (m)-[:CONSOLIDATING {since: datetime()}]->(attempt)
RETURN m.id AS id"""
CONFLICTS = """MATCH (m:Memory)-[c:CONSOLIDATING]->(a1:ConsolidationAttempt {id: $attempt})
MATCH (m)-[:CONSOLIDATING]->(a2:ConsolidationAttempt)
WHERE a2.id <> a1.id AND a2.started <= a1.started
DELETE c
RETURN count(*) AS yielded"""
PROMOTE = """MATCH (m:Memory {tier: 'working'})-[:CONSOLIDATING]->(:ConsolidationAttempt {id: $attempt})
WHERE m.energy > 2.0
CREATE (m)-[:PROMOTED_TO {at: datetime(), energy: m.energy}]->(s:Memory {id: randomUUID(), content: m.content,
  tier: 'shortTerm', energy: m.energy, created: m.created, promotedFrom: m.id, lastAccessed: datetime()})
SET m.tier = 'archivedWorking'
RETURN s.id AS id"""
FINISH = """MATCH (:Memory)-[c:CONSOLIDATING]->(:ConsolidationAttempt {id: $attempt}) DELETE c"""


class Graph:
    def __init__(self, url, user, password):
        self.url = url.rstrip("/") + "/db/neo4j/query/v2"
        self.head = {"Content-Type": "application/json", "Accept": "application/json"}
        if password:
            self.head["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def once(self, text, params):
        body = json.dumps({"statement": text, "parameters": params}).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url, body, self.head), timeout=60) as answer:
                data = json.load(answer)["data"]
                return [dict(zip(data["fields"], row)) for row in data["values"]]
        except urllib.error.HTTPError as error:
            told = json.load(error)["errors"][0]
            if "Transient" in told["code"]:
                return None
            raise SystemExit(f"{told['code']}: {told['message']}")

    def ask(self, text, **params):
        """As an agent does: what was ended by a deadlock is tried again."""
        for _ in range(20):
            rows = self.once(text, params)
            if rows is not None:
                return rows
            time.sleep(random.random() / 10)
        raise SystemExit("twenty deadlocks in a row")


def work(graph, instance, seconds, rng):
    made, copies, counts = [], [], {"accesses": 0, "attempts": 0, "abandoned": 0, "marked": 0, "yielded": 0}
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        session = f"agent-session-{rng.randrange(20)}"
        for _ in range(rng.randrange(1, 6)):
            made.append(str(uuid.UUID(int=rng.getrandbits(128), version=4)))
            graph.ask(CREATE, id=made[-1], content=f"note {len(made)}", session=session, instance=instance)
        for _ in range(rng.randrange(2, 12)):
            graph.ask(ACCESS, id=rng.choice(made[-30:]))
            counts["accesses"] += 1
        if rng.random() < 0.5:
            attempt = str(uuid.UUID(int=rng.getrandbits(128), version=4))
            counts["attempts"] += 1
            graph.ask(ATTEMPT, attempt=attempt, instance=instance)
            counts["marked"] += len(graph.ask(MARK, attempt=attempt, instance=instance))
            counts["yielded"] += graph.ask(CONFLICTS, attempt=attempt)[0]["yielded"]
            if counts["attempts"] % 3 == 0:
                counts["abandoned"] += 1
                continue
            copies += [row["id"] for row in graph.ask(PROMOTE, attempt=attempt)]
            graph.ask(FINISH, attempt=attempt)
    return made, copies, counts


def rest(graph, limit):
    """Waits until no mark is left and every memory is under the laws; answers how long that took."""
    begun = time.monotonic()
    while time.monotonic() - begun < limit:
        left = graph.ask("""RETURN COUNT { ()-[:CONSOLIDATING]->() } + COUNT { (m:Memory WHERE NOT m:EbbMemory) }
            + COUNT { (a:ConsolidationAttempt WHERE a.state IN ['planned', 'claimed']) } AS left""")[0]["left"]
        if left == 0:
            return time.monotonic() - begun
        time.sleep(0.5)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", required=True)
    parser.add_argument("--user", default="neo4j")
    parser.add_argument("--password-file")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rest", type=float, default=150)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    password = open(args.password_file).read().strip() if args.password_file else None
    graph = Graph(args.http, args.user, password)
    instance = f"agent-{args.seed}"
    made, copies, counts = work(graph, instance, args.seconds, random.Random(args.seed))
    print(f"made {len(made)}, promoted {len(copies)} by itself, " + ", ".join(f"{n} {k}" for k, n in counts.items()))
    faults = []
    took = rest(graph, args.rest)
    if took is None:
        faults.append(f"not at rest after {args.rest} s")
    else:
        print(f"at rest after {took:.1f} s")
    rows = graph.ask("""UNWIND $ids AS id OPTIONAL MATCH (m:Memory {id: id})
        RETURN id, count(m) AS found, count(m.energy) AS energies, sum(CASE WHEN m:EbbMemory THEN 1 ELSE 0 END) AS stamped,
          sum(CASE WHEN m:EbbQuarantined THEN 1 ELSE 0 END) AS aside""", ids=made + copies)
    for what, bad in [
        ("lost or doubled", [row["id"] for row in rows if row["found"] != 1]),
        ("without energy", [row["id"] for row in rows if row["energies"] != 1]),
        ("not under the laws", [row["id"] for row in rows if row["stamped"] != 1]),
        ("set aside", [row["id"] for row in rows if row["aside"]]),
    ]:
        if bad:
            faults.append(f"{len(bad)} {what}, such as {bad[0]}")
    twice = graph.ask("""MATCH (m:Memory)-[r:PROMOTED_TO]->(n:Memory)
        WITH m, count(r) AS steps WHERE steps > 1 RETURN count(m) AS twice""")[0]["twice"]
    if twice:
        faults.append(f"{twice} rose twice")
    tiers = graph.ask("MATCH (m:Memory) RETURN m.tier AS tier, count(*) AS n ORDER BY tier")
    attempts = graph.ask("""MATCH (a:ConsolidationAttempt) RETURN coalesce(a.state, 'without state, holds nothing') AS state,
        a.instanceId = $instance AS ours, count(*) AS n, sum(coalesce(a.conflicts, 0)) AS conflicts
        ORDER BY state, ours""", instance=instance)
    print("tiers: " + ", ".join(f"{row['tier']} {row['n']}" for row in tiers))
    for row in attempts:
        print(f"attempts of {'the agent' if row['ours'] else 'ebb'}: {row['n']} {row['state']}, {row['conflicts']} conflicts")
    for fault in faults:
        print("FAULT:", fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
