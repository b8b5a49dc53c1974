#!/usr/bin/env python3
"""Measures how soon a memory is found that was just written, through the process that wrote it and through another one.

  ebb serve --roles http          in two terminals, on one database, with mirror.refresh = "1h"
  python3 tests/bench/read_your_writes.py URL URL [PAIRS]

Each pair is a write through one process and a recall through the same or the other one, in turn, that names the write
(`at_least`) and waits for it for up to five seconds, should the server stand still. A recall without the memory among its
hits is a miss; one that says so itself (flag `change_not_reached`) is counted apart. Prints the numbers of both, and
milliseconds of writes and recalls.
"""

import http.client
import json
import sys
import time
import urllib.parse


class Server:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)

    def post(self, path, body):
        """The answer, and how long it took, in milliseconds."""
        began = time.perf_counter()
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status >= 300:
            sys.exit(f"{path}: {response.status} {answer}")
        return answer, 1000 * (time.perf_counter() - began)


def of(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    servers = [Server(url) for url in sys.argv[1:3]]
    pairs = int(sys.argv[3]) if len(sys.argv) == 4 else 10_000
    run = f"{time.time_ns():x}"
    writes, recalls, misses, late = [], {"same process": [], "other process": []}, 0, 0
    for n in range(pairs):
        writer = servers[n % 2]
        where = "same process" if n // 2 % 2 else "other process"
        reader = writer if where == "same process" else servers[1 - n % 2]
        word = f"w{run}x{n}"
        memory = {"id": f"{run}-{n}", "content": f"The kettle of floor {word} leaks"}
        written, took = writer.post("/v1/memories", memory)
        writes.append(took)
        found, took = reader.post("/v1/recall", {"text": word, "top_k": 5, "at_least": written["change"], "wait_ms": 5000})
        recalls[where].append(took)
        if memory["id"] not in [hit["id"] for hit in found["hits"]]:
            is_said = "change_not_reached" in found["flags"]
            late, misses = late + is_said, misses + (not is_said)
    print(f"{pairs} pairs, {misses} misses; {late} not reached in time, and said so")
    print(f"{'':24}{'p50 ms':>10}{'p99 ms':>10}{'most ms':>10}")
    for name, times in [("write", writes), *((f"recall, {where}", times) for where, times in recalls.items())]:
        print(f"{name:24}{of(times, 0.5):10.1f}{of(times, 0.99):10.1f}{max(times):10.1f}")
    sys.exit(1 if misses else 0)


main()
