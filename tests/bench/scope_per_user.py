#!/usr/bin/env python3
"""Measures a process in which each of many users has a scope of their own that no setting names.

  EBB__HTTP__RATE=100000 ebb serve --roles http        on a database of its own
  python3 tests/bench/scope_per_user.py URL [SCOPES [MEMORIES]]

Each scope gets memories, then four clients ask each one first once, in an order by chance, and then as many questions again in scopes by
chance, one in ten of them right after a write to the scope that it must include (`at_least`). An answer without the memory that was
asked for is a miss. Prints misses, milliseconds, how many scopes are held.
"""

import concurrent.futures
import http.client
import json
import random
import sys
import threading
import time
import urllib.parse

CLIENTS = 4
PAGE = 500


class Server:
    def __init__(self, url):
        self.parts = urllib.parse.urlsplit(url)
        self.local = threading.local()

    def ask(self, method, path, body=None):
        """The status and text of the answer, and how long it took, in milliseconds."""
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection(self.parts.hostname, self.parts.port, timeout=120)
        began = time.perf_counter()
        text = None if body is None else json.dumps(body)
        self.local.connection.request(method, path, text, {"Content-Type": "application/json"})
        response = self.local.connection.getresponse()
        return response.status, response.read(), 1000 * (time.perf_counter() - began)

    def post(self, path, body):
        status, text, took = self.ask("POST", path, body)
        if status >= 300:
            sys.exit(f"{path}: {status} {text[:300]}")
        return json.loads(text), took

    def metric(self, name):
        page = self.ask("GET", "/metrics")[1].decode()
        return next(float(line.split(" ")[1]) for line in page.splitlines() if line.startswith(name + " "))


def text_of(scope, memory):
    return f"user {scope} keeps kettle k{memory}x{scope} on floor {memory} of the house in street {scope * 7 % 1000}"


def in_parts(count, work, clients=CLIENTS):
    """Runs work(n) for each n on a few threads."""
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        for _ in pool.map(work, range(count)):
            pass


def of(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    server = Server(sys.argv[1])
    scopes, memories = [int(text) for text in sys.argv[2:] + ["10000", "50"][len(sys.argv) - 2 :]]
    chance = random.Random(7)
    misses = []

    began = time.time()
    per_call = max(1, PAGE // memories)
    calls = -(-scopes // per_call)

    def write(call):
        batch = [
            {"scope": f"user-{scope}", "id": f"m{memory}", "content": text_of(scope, memory)}
            for scope in range(call * per_call, min(scopes, (call + 1) * per_call))
            for memory in range(memories)
        ]
        server.post("/v1/memories:batch", batch)

    in_parts(calls, write, clients=1)
    print(f"{scopes} scopes of {memories} memories written in {time.time() - began:.0f} s", flush=True)

    order = list(range(scopes))
    chance.shuffle(order)
    first, later, own = [], [], []

    def ask(scope, memory, change=None):
        body = {"text": f"k{memory}x{scope}", "scope": f"user-{scope}", "top_k": 5}
        if change is not None:
            body |= {"at_least": change, "wait_ms": 5000}
        found, took = server.post("/v1/recall", body)
        if f"m{memory}" not in [hit["id"] for hit in found["hits"]]:
            misses.append((scope, memory, change))
        return took

    began = time.time()
    in_parts(scopes, lambda n: first.append(ask(order[n], n % memories)))
    took_first = time.time() - began
    picks = [chance.randrange(scopes) for _ in range(scopes)]

    def again(n):
        scope = picks[n]
        if n % 10:
            later.append(ask(scope, n % memories))
            return
        memory = memories + n
        body = {"scope": f"user-{scope}", "id": f"m{memory}", "content": text_of(scope, memory)}
        change = server.post("/v1/memories", body)[0]["change"]
        own.append(ask(scope, memory, change))

    began = time.time()
    in_parts(scopes, again)
    print(f"first answers in {took_first:.0f} s, {scopes} more in {time.time() - began:.0f} s, {len(misses)} misses")
    print(f"{'':24}{'p50 ms':>10}{'p99 ms':>10}{'most ms':>10}")
    for name, times in [("first answer", first), ("later answer", later), ("answer to a write", own)]:
        print(f"{name:24}{of(times, 0.5):10.1f}{of(times, 0.99):10.1f}{max(times):10.1f}")
    held, taken = server.metric("ebb_mirror_on_demand_scopes"), server.metric("ebb_mirror_on_demand_bytes")
    print(f"{held:.0f} scopes are held, in {taken / 2**20:.0f} MiB, {taken / max(held, 1) / 1024:.0f} KiB each")
    for miss in misses[:5]:
        print(f"missed: {miss}")
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
