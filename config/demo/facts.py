"""What was asserted in the month (notes/facts.txt), and what a nightly sweep by policies.toml makes of it.

A fact is never changed: a sweep adds a fact of the same tuple with less confidence, and the latest one is its lineage's head.
"""
import pathlib
import re
import tomllib
from datetime import datetime, timezone

HERE = pathlib.Path(__file__).parent
DAY, SWEEP_AT = 24 * 3_600_000, 2 * 3_600_000
EPSILON = 0.05

# The tuples whose end README.md tells and the demo checks: scope, entity, relation, value.
CHECKED = {
    ("team", "production", "status:flag OUTBOX_WRITE", "off"): "retracted: nobody had said it for five days on the 12th",
    ("team", "ORD-2093", "belief:cause", "the cut-off at 16:00"): "reduced: proved on the 10th, half as sure each week",
    ("company", "VAT", "agreement:rounding", "once for each rate group"): "kept: its policy only counts",
}


def events():
    """The assertions, each at its written minute."""
    made = []
    for line in (HERE / "notes/facts.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        when, entity, relation, value, source, *confidence = [part.strip() for part in line.split("|")]
        day, clock, scope = when.split()
        at = int(datetime.fromisoformat(f"{day}T{clock}+00:00").astimezone(timezone.utc).timestamp() * 1000)
        made.append({"at": at, "kind": "fact", "entity": entity, "relation": relation, "value": value, "scope": scope,
                     "confidence": float(confidence[0]) if confidence else 1.0, "source": source})
    return sorted(made, key=lambda fact: fact["at"])


def policies():
    """As they are decided: an exact relation first, then the longest text before the `*`; then an exact scope."""
    found = tomllib.loads((HERE / "policies.toml").read_text(encoding="utf-8"))["policies"]
    return sorted(found, key=lambda p: ("*" in p["relation"], -len(p["relation"].split("*")[0]), p["scope"] == "*"))


def matches(pattern, relation):
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), relation) is not None


def simulate(events, ends):
    """The head of each lineage after the sweep of each night at 02:00, and what every sweep did."""
    facts = [event for event in events if event["kind"] == "fact"]
    heads, sweeps, decided = {}, [], policies()
    first = facts[0]["at"] // DAY * DAY + SWEEP_AT
    for night in range(first if first > facts[0]["at"] else first + DAY, ends + 1, DAY):
        while facts and facts[0]["at"] < night:
            fact = facts.pop(0)
            key = (fact["scope"], fact["entity"], fact["relation"], fact["value"])
            sure = (fact["confidence"], fact["at"])
            heads[key] = {"confidence": sure[0], "at": sure[1], "origin": sure, "source": fact["source"]}
        done = {"retracted": 0, "reduced": 0, "would": 0}
        for key, head in heads.items():
            policy = next((p for p in decided if matches(p["relation"], key[2]) and p["scope"] in ("*", key[0])), None)
            if policy is None or head["confidence"] == 0.0:
                continue
            if "ttl_s" in policy:
                target = 0.0 if night - head["at"] > policy["ttl_s"] * 1000 else None
            else:
                sure, since = head["origin"]
                least = policy.get("min_confidence", 0.0)
                target = max(least, sure * 0.5 ** ((night - since) / 1000 / policy["half_life_s"]))
                at_floor = target == least and head["confidence"] > target
                if head["confidence"] - target < EPSILON and not at_floor:
                    target = None
            if target is None:
                continue
            if policy["mode"] == "dry_run":
                done["would"] += 1
                continue
            done["retracted" if target == 0.0 else "reduced"] += 1
            heads[key] = head | {"confidence": target, "at": night, "source": "system:stigmem:decay"}
        sweeps.append((night, done))
    # What was said after the last sweep is not swept; nothing of it is checked.
    for fact in facts:
        key = (fact["scope"], fact["entity"], fact["relation"], fact["value"])
        heads[key] = {"confidence": fact["confidence"], "at": fact["at"], "origin": None, "source": fact["source"]}
    return heads, sweeps


def expected(events, ends):
    """What the demo checks, twelve digits."""
    heads, _ = simulate(events, ends)
    return [{"scope": key[0], "entity": key[1], "relation": key[2], "value": key[3],
             "confidence": float(f"{heads[key]['confidence']:.12g}"), "why": why} for key, why in CHECKED.items()]


def report(events, ends):
    heads, sweeps = simulate(events, ends)
    total = {name: sum(done[name] for _, done in sweeps) for name in ("retracted", "reduced", "would")}
    gone = sum(head["confidence"] == 0.0 for head in heads.values())
    print(f"\n{len(heads)} lineages, {gone} retracted at the end; {len(sweeps)} nights: {total['retracted']} times retracted, "
          f"{total['reduced']} times reduced, {sweeps[-1][1]['would']} agreements that the last night would have retracted")
    for key in CHECKED:
        print(f"    {heads[key]['confidence']:.12g}  {' | '.join(key)}, {heads[key]['source']}")
