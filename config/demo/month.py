#!/usr/bin/env python3
"""The month that `ebb demo` replays: notes/*.txt in, month.ndjson and expected.json out.

This file makes the memories; relations.py, palace.py and facts.py make what else the same notes tell.

The notes are written by hand, because a demo of memory convinces only if the memories are ones a person
would recognise. What a hand cannot do evenly is the reading: which note is looked up when. That is the rule
in `read_rule`, drawn from one seed, so the same bytes come out of every run.

    python3 month.py              write month.ndjson and expected.json
    python3 month.py --check      fail unless both files are what the rule makes
    python3 month.py --simulate   play the month by the laws, print tiers and the five fates

A notes file is read line by line:

    @ 2026-03-02 08:00 +165 agent-a repo-tour : team api
                           a sitting: start (UTC), minutes, agent, task : areas
    - text                 said in passing
    * {slug} text          matters to its task: read again in the sitting and in the task's next ones
    ** {slug} [areas] text a rule for everybody who works in one of these areas
    !! {slug} [areas] text the same, and pinned
    ~ {slug} text          left to itself, as dead ends are: the rule never reads it again
    > mem-slug             an older note is looked up at this point of the work

The session is (agent, task, day); it ends with the last sitting of the day. A text that begins with a clock
time, or with @ and one that is not part of it, is dated by it; the others are spread between.
"""
import json
import math
import pathlib
import random
import re
import sys
from datetime import datetime, timedelta, timezone

sys.dont_write_bytecode = True
import facts  # noqa: E402  (what is imported leaves no cache beside the notes)
import palace  # noqa: E402
import relations  # noqa: E402

SEED = 20260302
HERE = pathlib.Path(__file__).parent
MINUTE, HOUR = 60_000, 3_600_000
MONTH_END = int(datetime(2026, 4, 1, tzinfo=timezone.utc).timestamp() * 1000)

# The five memories whose fate README.md tells and the demo checks.
FATES = {
    "mem-build-command": "crystallised: the command every session needs",
    "mem-memo-rows-dead-end": "expired: a dead end nobody read again",
    "mem-redis-streams-spike": "revived: expired on 6 March, asked for again on 31 March, and promoted",
    "mem-no-force-push": "pinned: one per creation and access, never faded",
    "mem-easter-freeze": "promoted by the end of its session: above 1.5, never above 2.0",
}


def read_names():
    """The ticket of each task, and each entity with the pattern that means it."""
    tickets, named = {}, []
    for line in (HERE / "notes/names.txt").read_text(encoding="utf-8").splitlines():
        kind, _, rest = line.partition(" ")
        name, _, given = rest.partition(" = ")
        if kind == "task":
            tickets[name] = given
        elif kind == "name":
            named.append((name, re.compile(given or re.escape(name))))
    return tickets, named


TICKET, NAMED = read_names()
# Tickets, decision records, pull requests and file names, as they stand in a text.
CITED = re.compile(
    r"ORD-\d{4}|ADR \d{4}|#1[89]\d\d|\b[\w-]+(?:[/.][\w-]+)*\.(?:tsx?|md|yaml|json|css)\b"
)
# Words that tell nothing in an id.
STOP = set("""
a an the and or but of in on at to for from by with is are was were be been it its this that these
those as so not no than then there their our my we i he she they his her has have had do does did
what who when where which if else into out up one all any each per now only also after before both
can will would must may old new still just too very up down over under same other
""".split())


def named(text, task):
    """Who and what a note names, in a fixed order."""
    found = [TICKET[task]] if task in TICKET else []
    found += CITED.findall(text) + [n for n, p in NAMED if p.search(text)]
    return list(dict.fromkeys("PR " + f if f[0] == "#" else f for f in found))


def slug(text, taken):
    """A readable id from the first telling words of a note."""
    plain = re.sub(r"^\d\d:\d\d ", "", text).lower().replace("'", "")
    every = re.findall(r"[a-z0-9]+", plain)
    words = [w for w in every if len(w) > 1 and w not in STOP and not w.isdigit()] or every
    for count in range(min(4, len(words)), len(words) + 1):
        if (name := "mem-" + "-".join(words[:count])) not in taken:
            return name
    raise SystemExit(f"two notes read alike: {text}")


def read_sitting(rest):
    head, areas = rest.split(" : ")
    day, clock, minutes, agent, task = head.split()
    start = int(datetime.fromisoformat(f"{day}T{clock}+00:00").timestamp() * 1000)
    return {"start": start, "length": int(minutes) * MINUTE, "agent": agent, "task": task,
            "order": areas.split(), "areas": {"team"} | set(areas.split()), "lines": [],
            "session": f"ses-{day[5:7]}{day[8:]}-{agent[-1]}-{task}"}


def read_note(mark, rest, task, taken):
    found = re.fullmatch(r"(?:\{([\w-]+)\} )?(?:\[([\w ]+)\] )?(?:@(\d\d:\d\d) )?(.+)", rest)
    if mark not in ("-", "*", "**", "!!", "~") or not found:
        return None
    name, areas, clock, text = found.groups()
    return {"mark": mark, "text": text, "clock": clock or text[:5], "task": task,
            "areas": set((areas or "").split()), "id": "mem-" + name if name else slug(text, taken),
            "mentions": named(text, task)[:6]}


def read_notes():
    """The bank as a list of sittings, each with its lines in order."""
    sittings, taken = [], set()
    for path in sorted((HERE / "notes").glob("week-*.txt")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            mark, rest = line.split(" ", 1)
            if mark == "@":
                sittings.append(read_sitting(rest))
            elif mark == ">":
                sittings[-1]["lines"].append({"mark": ">", "id": rest})
            else:
                note = read_note(mark, rest, sittings[-1]["task"], taken)
                if note is None or note["id"] in taken:
                    raise SystemExit(f"{path.name}:{number}: unknown mark, or an id taken twice: {line}")
                taken.add(note["id"])
                sittings[-1]["lines"].append(note)
    return sorted(sittings, key=lambda s: s["start"])


def date_lines(sitting, draw):
    """Gives every line its instant: clock times hold, the rest is spread between them, unevenly."""
    lines, start = sitting["lines"], sitting["start"]
    midnight = start - start % (24 * HOUR)
    anchors, last = [(-1, start)], start
    for index, line in enumerate(lines):
        if stated := re.fullmatch(r"(\d\d):(\d\d)", line.get("clock", "")):
            at = midnight + int(stated[1]) * HOUR + int(stated[2]) * MINUTE + int(draw.random() * 40_000)
            if at > last:
                anchors.append((index, at))
                last = at
    anchors.append((len(lines), max(last + 6 * MINUTE, start + sitting["length"])))
    for (first, begin), (end, until) in zip(anchors, anchors[1:]):
        weights = [0.35 + draw.random() * (0.3 if lines[k]["mark"] == ">" else 1.3)
                   for k in range(first + 1, end)] + [0.8]
        passed = 0.0
        for k, weight in zip(range(first + 1, end), weights):
            passed += weight
            lines[k]["at"] = begin + int((until - begin) * passed / sum(weights))
        if end < len(lines):
            lines[end]["at"] = until
    return anchors[-1][1]


# How likely a new note is read again in its own sitting: a first time, a second, and so on.
AGAIN = {"-": (0.42, 0.24), "*": (0.96, 0.88, 0.30),
         "**": (1.0, 1.0, 1.0, 1.0, 0.95, 0.8), "!!": (0.6, 0.3), "~": ()}


def read_rule(sittings, draw):
    """Every event of the month, unsorted: what was written, and who read what again, when."""
    events, known = [], []
    last_sitting = {s["session"]: s["start"] for s in sittings}

    def access(at, note_id, sitting):
        events.append({"at": at, "kind": "access", "id": note_id,
                       "session": sitting["session"], "instance": sitting["agent"]})

    def later(at, low, high):
        return at + int((low + (high - low) * draw.random()) * MINUTE)

    for sitting in sittings:
        start, end = sitting["start"], date_lines(sitting, draw)
        # Opening: the rules of the areas at hand, and what this task left behind.
        at = start
        for note in known:
            chance, fresh = 0.0, start - note["at"] < 40 * HOUR
            if note["mark"] in ("**", "!!") and note["areas"] & sitting["areas"]:
                chance = 0.90 if fresh else 0.36
            elif note["mark"] == "*" and note["task"] == sitting["task"]:
                chance = 0.80 if start - note["at"] < 100 * HOUR else 0.30
            if note["at"] < start and draw.random() < chance:
                at = later(at, 0.1, 0.9)
                access(at, note["id"], sitting)
                for more in ((0.9, 0.7) if fresh and note["mark"] != "*" else (0.25,)):
                    if draw.random() < more:
                        access(later(start, 30, (end - start) / MINUTE - 5), note["id"], sitting)
        # The work: a note that matters is read again while it is fresh, one in passing seldom.
        for line in sitting["lines"]:
            if line["mark"] == ">":
                access(line["at"], line["id"], sitting)
                continue
            events.append({"at": line["at"], "kind": "memory", "id": line["id"], "content": line["text"],
                           "session": sitting["session"], "instance": sitting["agent"],
                           "mentions": line["mentions"]} | ({"pinned": True} if line["mark"] == "!!" else {}))
            again = line["at"]
            for chance in AGAIN[line["mark"]]:
                again = later(again, 5, 24)
                if draw.random() >= chance:
                    break
                if again < end - MINUTE:
                    access(again, line["id"], sitting)
        # Now and then something old turns out to be of use: a note that names the same thing.
        if draw.random() < 0.45:
            names = {m for line in sitting["lines"] for m in line.get("mentions", [])}
            old = [n["id"] for n in known if n["mark"] == "-" and start - n["at"] > 24 * HOUR
                   and len(names & set(n["mentions"])) > 1]
            if old:
                access(later(start, 20, 80), old[int(draw.random() * len(old))], sitting)
        known += [line for line in sitting["lines"] if line["mark"] != ">"]
        if start == last_sitting[sitting["session"]]:
            events.append({"at": later(end, 1, 4), "kind": "session_end", "session": sitting["session"]})
    return events


def make_memories():
    """What happens to memories in the month, in order, each instant used once; and the sittings it comes from."""
    draw, sittings = random.Random(SEED), read_notes()
    events = read_rule(sittings, draw)
    for event in events:
        event["at"] += int(draw.random() * 1000)
    events.sort(key=lambda e: (e["at"], e["kind"]))
    written, last = set(), 0
    for event in events:
        event["at"] = last = max(event["at"], last + 1)
        if event["kind"] == "memory":
            written.add(event["id"])
        elif event["kind"] == "access" and event["id"] not in written:
            raise SystemExit(f"{event['session']} reads {event['id']} before it is written")
    return events, sittings


def make_events():
    """The month in order. What else the notes tell finds its place between the memories and moves none of them."""
    memories, sittings = make_memories()
    notes = [event for event in memories if event["kind"] == "memory"]
    # A seed of its own for each, so that a change of one leaves the others as they are.
    told = relations.events(notes, named, random.Random(SEED + 1)) + palace.events(sittings)
    told += facts.events()
    taken = {event["at"] for event in memories}
    for event in sorted(told, key=lambda e: e["at"]):
        while event["at"] in taken:
            event["at"] += 1
        taken.add(event["at"])
    return sorted(memories + told, key=lambda e: e["at"])


def instant(ms):
    """RFC 3339 with milliseconds."""
    return (datetime(1970, 1, 1) + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds") + "Z"


RATE = {"working": 0.5, "shortTerm": 0.05, "longTerm": 0.001}
THRESHOLD = {"working": 2.0, "shortTerm": 5.0, "longTerm": math.inf}
NEXT = {"working": "shortTerm", "shortTerm": "longTerm"}


class Memory:
    """One memory under the laws: an energy and its anchor, changed by events and jobs, read by formula."""

    def __init__(self, event):
        self.id, self.session, self.pinned = event["id"], event["session"], event.get("pinned", False)
        self.tier, self.energy, self.anchor, self.ripe = "working", 1.0, event["at"], None
        self.story = [(event["at"], "created", 1.0)]

    def now(self, at):
        if self.pinned or self.tier not in RATE:
            return self.energy
        return self.energy * math.exp(-RATE[self.tier] * max(0, at - self.anchor) / HOUR)

    def put(self, at, energy, what):
        self.energy, self.anchor = energy, at
        self.story.append((at, what, energy))

    def access(self, at):
        if self.tier == "expiredWorking":
            self.tier = "working"
            return self.put(at, 1.0, "revived")
        self.put(at, self.now(at) + 1.0, "access")
        if not self.pinned and self.energy > THRESHOLD[self.tier] and self.ripe is None:
            self.ripe = at

    def expires(self, at):
        return self.tier == "working" and self.ripe is None and not self.pinned and self.now(at) < 0.1

    def promote(self, at, what):
        energy, self.tier = self.now(at), NEXT[self.tier]
        self.put(at, energy, what + " to " + self.tier)
        self.ripe = at if energy > THRESHOLD[self.tier] else None


def simulate(events):
    """Plays the month: decay on the hour, promotion every ten minutes, jobs before the events of an instant."""
    memories, tick = {}, events[0]["at"] // (10 * MINUTE) * 10 * MINUTE
    for event in events:
        while tick <= event["at"]:
            for m in memories.values():
                if tick % HOUR == 0 and m.expires(tick):
                    m.put(tick, m.now(tick), "expired")
                    m.tier = "expiredWorking"
            for m in [m for m in memories.values() if m.ripe is not None and m.ripe < tick]:
                m.promote(tick, "promoted")
            tick += 10 * MINUTE
        at = event["at"]
        if event["kind"] == "memory":
            memories[event["id"]] = Memory(event)
        elif event["kind"] == "access":
            memories[event["id"]].access(at)
        elif event["kind"] == "session_end":
            for m in memories.values():
                if m.session == event["session"] and m.tier == "working" and not m.pinned and m.now(at) > 1.5:
                    m.promote(at, "session end")
    return memories


def expected(memories):
    """The five fates as the demo checks them: energy at MONTH_END by the closed form, twelve digits."""
    return [{"id": k, "tier": memories[k].tier, "energy": float(f"{memories[k].now(MONTH_END):.12g}"),
             "why": why} for k, why in FATES.items()]


def alike(events):
    """The greatest trigram TF-IDF cosine between one of the five and a later memory.

    Above 0.5 the later one would strengthen the earlier, and the closed form would miss that.
    """
    texts = {e["id"]: e["content"].lower()[:200] for e in events if e["kind"] == "memory"}
    grams = {k: [t[i:i + 3] for i in range(len(t) - 2)] for k, t in texts.items()}
    spread = {}
    for g in grams.values():
        for gram in set(g):
            spread[gram] = spread.get(gram, 0) + 1

    def vector(key):
        v = {g: grams[key].count(g) * (math.log(len(texts) / spread[g]) + 1) for g in sorted(set(grams[key]))}
        norm = math.sqrt(sum(x * x for x in v.values()))
        return {g: x / norm for g, x in v.items()}

    vectors = {k: vector(k) for k in texts}
    order = {k: i for i, k in enumerate(texts)}
    return max(sum(x * vectors[k].get(g, 0.0) for g, x in vectors[f].items())
               for f in FATES for k in texts if order[k] > order[f])


def report(events):
    memories = simulate(events)
    kinds = [e["kind"] for e in events]
    counts = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
    print(f"{len(events)} events: {counts}")
    print(f"from {instant(events[0]['at'])} to {instant(events[-1]['at'])}")
    for tier in ("working", "shortTerm", "longTerm", "expiredWorking"):
        count = sum(m.tier == tier for m in memories.values())
        print(f"{tier:15}{count:6}{100 * count / len(memories):7.1f} %")
    print(f"{'pinned':15}{sum(m.pinned for m in memories.values()):6}")
    stories = [[what for _, what, _ in m.story] for m in memories.values()]
    for label in ("promoted to shortTerm", "session end to shortTerm", "promoted to longTerm", "expired",
                  "revived"):
        times, who = sum(s.count(label) for s in stories), sum(label in s for s in stories)
        print(f"{label:26}{times:5} times, {who} memories")
    print(f"nearest later text to one of the five: {alike(events):.3f} (strengthening begins above 0.5)")
    for row in expected(memories):
        m = memories[row["id"]]
        print(f"\n{m.id}: {m.tier}, {m.now(MONTH_END):.12g} at {instant(MONTH_END)}")
        for number, (at, what, energy) in enumerate(m.story):
            if number < 9 or number >= len(m.story) - 3:
                print(f"    {instant(at)}  {what:26}{energy:.12g}")
            elif number == 9:
                print(f"    ... {len(m.story) - 12} more")
    relations.report(events, MONTH_END)
    palace.report(events, MONTH_END)
    facts.report(events, MONTH_END)


def main():
    events = make_events()
    lines = "".join(json.dumps(e | {"at": instant(e["at"])}, ensure_ascii=False, separators=(",", ":")) + "\n"
                    for e in events)
    checked = expected(simulate(events)) + relations.expected(events, MONTH_END)
    checked += palace.expected(events, MONTH_END) + facts.expected(events, MONTH_END)
    files = {HERE / "month.ndjson": lines, HERE / "expected.json": json.dumps(checked, indent=2) + "\n"}
    if "--simulate" in sys.argv:
        report(events)
    elif "--check" in sys.argv:
        for path, text in files.items():
            if path.read_bytes() != text.encode():
                raise SystemExit(f"{path.name} is not what the rule makes: run month.py")
    else:
        for path, text in files.items():
            path.write_bytes(text.encode())


if __name__ == "__main__":
    main()
