#!/usr/bin/env python3
"""How well present weights foretell what is observed next, through Ebb's own API.

    prediction.py EVENTS.ndjson --from 334 [--ebb PATH] [--half-life 30]

EVENTS holds `observe` events in the order of their time. From day --from on (days count from the first event), each day is
foretold from all before it: what came before is imported, all relations are asked for as of the day's first moment
(`GET /memory/graph/edges`, retrievable and decayed), and for each event of the day the objects of its (from, type) are
ranked by their weight. What else is true of that (from, type) on that day is left out of the ranking; objects of equal
weight share their ranks; objects never seen weigh nothing. Prints the mean reciprocal rank, in per cent.

Run it in an empty folder, whose managed server it uses. Of Python it needs nothing but its own library.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

ADDRESS = "127.0.0.1:8397"


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def imported(ebb, events, environment):
    """Adds events to those that were imported before: a longer version of a file goes on where it stopped."""
    with open("growing.ndjson", "a", encoding="utf-8") as file:
        file.writelines(line for line, _ in events)
    subprocess.run([ebb, "import", "growing.ndjson"], env=environment, check=True, stdout=subprocess.DEVNULL)


def served(ebb, environment):
    process = subprocess.Popen([ebb, "serve", "--roles", "http"], env=environment)
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://{ADDRESS}/readyz", timeout=2)
            return process
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    process.kill()
    sys.exit("ebb serve is not ready after a minute")


def weights(at):
    found = collections.defaultdict(dict)
    for decayed in ("false", "true"):
        url = f"http://{ADDRESS}/memory/graph/edges?decayed={decayed}&at={at}"
        for edge in json.load(urllib.request.urlopen(url, timeout=120)):
            found[edge["from"], edge["type"]][edge["to"]] = edge["weight"]
    return found


def rank(known, wanted, others, objects):
    """The middle of the ranks that objects of the weight of `wanted` share."""
    mine = known.get(wanted, 0.0)
    rivals = [weight for to, weight in known.items() if to != wanted and to not in others]
    above = sum(weight > mine for weight in rivals)
    beside = sum(weight == mine for weight in rivals)
    if mine == 0.0:
        beside += objects - 1 - len(rivals) - len(others)
    return 1 + above + beside / 2


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("events", type=pathlib.Path)
    words.add_argument("--from", dest="first", type=int, required=True, help="the first day that is foretold")
    words.add_argument("--ebb", default="ebb")
    words.add_argument("--half-life", default="30", help="days")
    asked = words.parse_args()
    environment = {
        **os.environ,
        "EBB__RELATION__HALFLIFEDAYS": asked.half_life,
        "EBB__HTTP__LISTEN": ADDRESS,
    }
    lines = [(line, json.loads(line)) for line in asked.events.read_text(encoding="utf-8").splitlines(True)]
    begin = instant(lines[0][1]["at"]).replace(hour=0, minute=0, second=0, microsecond=0)
    days = collections.defaultdict(list)
    for line, event in lines:
        days[(instant(event["at"]) - begin).days].append((line, event))
    objects = len({event[end] for _, event in lines for end in ("from", "to")})

    subprocess.run([ebb := asked.ebb, "init", "--yes"], env=environment, check=True, stdout=subprocess.DEVNULL)
    imported(ebb, [one for day in sorted(days) if day < asked.first for one in days[day]], environment)
    server = served(ebb, environment)
    try:
        reciprocal = []
        for day in sorted(day for day in days if day >= asked.first):
            at = (begin + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
            known, true = weights(at), collections.defaultdict(set)
            for _, event in days[day]:
                true[event["from"], event["type"]].add(event["to"])
            for _, event in days[day]:
                about = event["from"], event["type"]
                others = true[about] - {event["to"]}
                reciprocal.append(1 / rank(known[about], event["to"], others, objects))
            imported(ebb, days[day], environment)
        print(f"MRR {100 * sum(reciprocal) / len(reciprocal):.2f} over {len(reciprocal)} events")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
