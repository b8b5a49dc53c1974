"""What stands in whose way, who works on what: the relations of the month, seen again whenever a note names both ends.

Relations are written by hand (notes/relations.txt) and seen by rule, so that the ones that matter are fresh and those that
nobody mentions any more fade in front of the reader. A month is short against a half-life of 90 days: a relation that was
seen on the 3rd alone weighs 0.80 at its end, and only one that never weighed much falls below the minimum.
"""
import pathlib

NOTES = pathlib.Path(__file__).parent / "notes/relations.txt"
HALF_LIFE_DAYS, MINIMUM = 90, 0.10
DAY = 24 * 3_600_000

# The relations whose weight README.md tells and the demo checks.
CHECKED = {
    ("Tomasz", "operates", "Postgres"): "seen on three days of the first half, then not again",
    ("ORD-2121", "may_move_to", "Redis"): "an idea of 6 March, never worth much, below the minimum since the 30th",
    ("relay", "publishes_to", "RabbitMQ"): "pinned: structure does not fade",
}


def read():
    """Each relation: from, type, to, and how it is seen."""
    found = []
    for line in NOTES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            start, kind, end, *how = [part.strip() for part in line.split("|")]
            found.append((start, kind, end, how[0].split() if how else []))
    return found


def events(notes, named, draw):
    """An observation for each relation and day, some seconds after the first note of that day that names both ends.

    `notes` are the memories of the month in order, `named` says who and what a text names.
    """
    known = [(note, set(named(note["content"], note["session"].split("-", 3)[3]))) for note in notes]
    made = []
    for start, kind, end, how in read():
        days = set()
        for note, names in known:
            day = note["at"] // DAY
            if not {start, end} <= names or day in days or ("once" in how and days):
                continue
            seen = {"at": note["at"] + 1_000 + int(draw.random() * 8_000), "kind": "observe", "from": start,
                    "type": kind, "to": end}
            if weight := [float(word) for word in how if word[0].isdigit()]:
                seen["weight"] = weight[0]
            if "pinned" in how and not days:
                seen["pinned"] = True
            days.add(day)
            made.append(seen)
        if not days:
            raise SystemExit(f"no note names both {start} and {end}")
    return made


def weights(events, at):
    """What each relation weighs at an instant, by the closed form: base · 0.5^(days / half-life), or its base if pinned."""
    held = {}
    for event in events:
        if event["kind"] == "observe":
            key = (event["from"], event["type"], event["to"])
            pinned = event.get("pinned", held.get(key, (0, 0, False))[2])
            held[key] = (event.get("weight", 1.0), event["at"], pinned)
    return {key: base if pinned else base * 0.5 ** ((at - seen) / DAY / HALF_LIFE_DAYS)
            for key, (base, seen, pinned) in held.items()}


def expected(events, at):
    """What the demo checks, twelve digits."""
    every = weights(events, at)
    return [{"from": key[0], "type": key[1], "to": key[2], "weight": float(f"{every[key]:.12g}"), "why": why}
            for key, why in CHECKED.items()]


def report(events, at):
    every = sorted(weights(events, at).items(), key=lambda row: row[1])
    print(f"\n{len(every)} relations, {sum(weight < MINIMUM for _, weight in every)} below the minimum; the lightest:")
    for (start, kind, end), weight in every[:6]:
        print(f"    {weight:.12g}  {start} {kind} {end}")
