#!/usr/bin/env python3
"""Share of gold memories among the first hits of `POST /v1/recall`, before and after the jobs, on a real server.

    recall.py EVENTS.ndjson QUESTIONS.ndjson [--vectors F16 F16] [--ebb PATH]

EVENTS holds `memory` and `observe` events; a memory whose id has a colon is imported into the scope that stands before it, and a
question is asked in the scope of its gold. --vectors names files of 16-bit floats, little endian, a row for each memory and for each
question in their order. Prints R@2, 5, 10 and 20 in per cent: plain, after `ebb job run --all`, and with vectors.

Run it in an empty folder, whose managed server it uses. Of Python it needs nothing but its own library.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

ADDRESS = "127.0.0.1:8397"
AT = (2, 5, 10, 20)


def scope_of(name):
    return name.split(":", 1)[0] if ":" in name else "local"


def lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def rows(path, count):
    data = pathlib.Path(path).read_bytes()
    dimensions = len(data) // 2 // count
    if dimensions * 2 * count != len(data):
        sys.exit(f"{path} has not a row for each of {count} lines")
    each = struct.iter_unpack(f"<{dimensions}e", data)
    return [[round(number, 6) for number in row] for row in each]


def imported(ebb, events, environment):
    by_scope = {}
    for event in events:
        by_scope.setdefault(scope_of(event["id"]) if event["kind"] == "memory" else "local", []).append(event)
    for scope, own in by_scope.items():
        file = pathlib.Path(f"{scope}.ndjson")
        file.write_text("".join(json.dumps(event) + "\n" for event in own), encoding="utf-8")
        subprocess.run([ebb, "import", file, "--scope", scope], env=environment, check=True, stdout=subprocess.DEVNULL)
    return sorted(by_scope)


def served(ebb, environment):
    process = subprocess.Popen([ebb, "serve", "--roles", "http"], env=environment, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://{ADDRESS}/readyz", timeout=2)
            return process
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    process.kill()
    sys.exit("ebb serve is not ready after two minutes")


def recalled(scope, text, vector):
    body = {"scope": scope, "text": text, "kinds": ["Memory"], "top_k": max(AT), "content": False}
    if vector:
        body["embedding"] = vector
    request = urllib.request.Request(f"http://{ADDRESS}/v1/recall", json.dumps(body).encode(), {"Content-Type": "application/json"})
    for _ in range(100):
        try:
            return [hit["id"] for hit in json.load(urllib.request.urlopen(request, timeout=60))["hits"]]
        except urllib.error.HTTPError as why:
            # The mirror of a scope is being loaded.
            if why.code not in (429, 503):
                sys.exit(f"{why.code}: {why.read().decode()}")
            time.sleep(0.3)
    sys.exit(f"no answer in the scope {scope}")


def measured(name, ebb, environment, questions, vectors):
    process = served(ebb, environment)
    try:
        for given in [None, vectors] if vectors else [None]:
            sums, count = [0.0] * len(AT), 0
            for place, question in enumerate(questions):
                if not question["gold"]:
                    continue
                count += 1
                hits = recalled(scope_of(question["gold"][0]), question["question"], given and given[place])
                gold = set(question["gold"])
                for at, most in enumerate(AT):
                    sums[at] += len(gold & set(hits[:most])) / len(gold)
            shares = "/".join(f"{100 * total / count:.1f}" for total in sums)
            print(f"{name}, {'with' if given else 'without'} vectors: {shares}", flush=True)
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events")
    parser.add_argument("questions")
    parser.add_argument("--vectors", nargs=2, metavar=("MEMORIES", "QUESTIONS"))
    parser.add_argument("--ebb", default="ebb")
    arguments = parser.parse_args()
    events, questions = lines(arguments.events), lines(arguments.questions)
    environment = os.environ | {"EBB__HTTP__LISTEN": ADDRESS, "EBB__HTTP__RATE": "100000"}
    vectors = None
    if arguments.vectors:
        memories = [event for event in events if event["kind"] == "memory"]
        own = rows(arguments.vectors[0], len(memories))
        for event, row in zip(memories, own):
            event["embedding"] = row
        vectors = rows(arguments.vectors[1], len(questions))
        environment["EBB__EMBEDDING__DIMENSIONS"] = str(len(own[0]))
    subprocess.run([arguments.ebb, "neo4j", "start"], env=environment, check=True, stdout=subprocess.DEVNULL)
    try:
        subprocess.run([arguments.ebb, "init", "--yes"], env=environment, check=True, stdout=subprocess.DEVNULL)
        scopes = imported(arguments.ebb, events, environment)
        environment["EBB__MIRROR__SCOPES"] = ",".join(scopes)
        measured("plain", arguments.ebb, environment, questions, vectors)
        subprocess.run([arguments.ebb, "job", "run", "--all"], env=environment, check=True, stdout=subprocess.DEVNULL)
        measured("after the jobs", arguments.ebb, environment, questions, vectors)
    finally:
        subprocess.run([arguments.ebb, "neo4j", "stop", "--force"], env=environment, check=False, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
