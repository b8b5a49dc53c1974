#!/usr/bin/env python3
"""What a file of events should leave of each memory, worked out apart from Ebb, and compared with a replayed graph.

The laws in closed form over the same events: one exponential per tier, no sweeps, no database. It shares no line with
the product: it reads the graph through the server's HTTP interface. Standard library only.

  memories.py EVENTS.ndjson --http http://127.0.0.1:7474 [--user neo4j --password-file FILE]

Prints the tiers on both sides and the greatest relative difference of an energy; ends with 1 if any memory differs in
tier, or in energy by more than 1e-6.
"""
import argparse, base64, collections, datetime, json, math, sys, urllib.request

RATE = {"working": 0.5, "shortTerm": 0.05, "longTerm": 0.001}
ABOVE = {"working": 2.0, "shortTerm": 5.0}
NEXT = {"working": "shortTerm", "shortTerm": "longTerm"}
HOUR, DECAY, PROMOTE = 3_600_000.0, 3_600_000, 600_000


def ms(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


class Life:
    """One memory, brought forward from one thing that happens to it to the next."""

    def __init__(self, at, session, pinned):
        self.tier, self.energy, self.anchor, self.ripe, self.session, self.pinned = "working", 1.0, at, None, session, pinned

    def now(self, at):
        if self.pinned or self.tier == "expired":
            return self.energy
        return self.energy * math.exp(-RATE[self.tier] * max(0, at - self.anchor) / HOUR)

    def settle(self, at):
        self.energy, self.anchor = self.now(at), at

    def rise(self, at):
        self.settle(at)
        self.tier = NEXT[self.tier]
        self.ripe = at if self.energy > ABOVE.get(self.tier, math.inf) else None

    def forward(self, until, inclusive):
        """Lets the jobs pass that run before `until` (or at it): promotions one by one, expiry at its own instant."""
        before = lambda t: t < until or (inclusive and t == until)
        while not self.pinned and self.tier != "expired":
            if self.ripe is not None:
                # Jobs of an instant run before its events, so what ripens at an instant rises at the next.
                at = (self.ripe // PROMOTE + 1) * PROMOTE
                if not before(at):
                    return
                self.rise(at)
            elif self.tier == "working":
                falls = self.anchor + math.log(self.energy / 0.1) / 0.5 * HOUR if self.energy > 0.1 else self.anchor
                at = (math.floor(max(falls, self.anchor)) // DECAY + 1) * DECAY
                if not before(at):
                    return
                self.settle(at)
                self.tier = "expired"
            else:
                return

    def access(self, at):
        self.forward(at, True)
        if self.tier == "expired":
            self.tier, self.energy, self.anchor, self.ripe = "working", 1.0, at, None
            return
        if self.pinned:
            self.energy += 1.0
            return
        self.settle(at)
        self.energy += 1.0
        if self.ripe is None and self.energy > ABOVE.get(self.tier, math.inf):
            self.ripe = at

    def session_ends(self, at):
        self.forward(at, True)
        if self.tier == "working" and not self.pinned and self.now(at) > 1.5:
            self.rise(at)


def expected(path):
    lives, made_in, last = {}, collections.defaultdict(list), None
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        at = last = ms(event["at"])
        if event["kind"] == "memory":
            if event["id"] in lives:
                lives[event["id"]].access(at)
            else:
                lives[event["id"]] = Life(at, event.get("session"), event.get("pinned", False))
                made_in[event.get("session")].append(event["id"])
        elif event["kind"] == "access":
            lives[event["id"]].access(at)
        elif event["kind"] == "session_end":
            for memory in made_in[event["session"]]:
                lives[memory].session_ends(at)
    for life in lives.values():
        life.forward(last, True)
    return lives, last


def graph(http, user, password):
    rows, after = [], ""
    while True:
        body = json.dumps({
            "statement": "MATCH (m:Memory) WHERE m.id > $after AND m.promotionKey IS NULL "
                         "RETURN m.id, m.tier, m.energy, CASE WHEN m.lastAccessed > m.energyAt THEN "
                         "m.lastAccessed.epochMillis ELSE m.energyAt.epochMillis END, coalesce(m.pinned, false) "
                         "ORDER BY m.id LIMIT 5000",
            "parameters": {"after": after}}).encode()
        request = urllib.request.Request(http + "/db/neo4j/query/v2", body, {
            "Content-Type": "application/json", "Accept": "application/json",
            "Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()})
        page = json.load(urllib.request.urlopen(request))["data"]["values"]
        rows += page
        if len(page) < 5000:
            return rows
        after = page[-1][0]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("events")
    ap.add_argument("--http", required=True)
    ap.add_argument("--user", default="neo4j")
    ap.add_argument("--password-file")
    a = ap.parse_args()
    password = open(a.password_file).read().strip() if a.password_file else ""
    lives, last = expected(a.events)
    found = graph(a.http, a.user, password)
    worst, wrong = 0.0, []
    for memory, tier, energy, anchor, pinned in found:
        life = lives.pop(memory)
        name = {"expired": "expiredWorking"}.get(life.tier, life.tier)
        rate = 0.0 if pinned else RATE.get(tier, 0.0)
        now = energy * math.exp(-rate * max(0, last - anchor) / HOUR)
        difference = abs(now - life.now(last)) / max(life.now(last), 1e-300)
        worst = max(worst, difference)
        if name != tier or difference > 1e-6:
            wrong.append((memory, tier, name, now, life.now(last)))
        life.tier = name
    print("in the graph:", dict(sorted(collections.Counter(row[1] for row in found).items())))
    print(f"{len(found)} memories compared, {len(lives)} missing, {len(wrong)} differ; greatest relative difference {worst:.2e}")
    for row in wrong[:10]:
        print("  ", *row)
    sys.exit(1 if wrong or lives else 0)


if __name__ == "__main__":
    main()
