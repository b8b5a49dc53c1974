#!/usr/bin/env python3
"""An agent that learns which of its memories help. It has rules in place of a model, so that it runs anywhere with `ebb serve`.

It looks after a queue. When the queue is stuck, it recalls what it knows, tries one advice after the other until one helps, and
reports that one. The next time, the advice that helped comes first.
"""

from __future__ import annotations

import sys
import time

from ebb_memory import Ebb
from ebb_memory.models import Hit, Recall, UsedHit

ADVICE = {
    "Restart the worker when the queue is stuck": ["queue", "worker"],
    "Empty the cache when the queue is stuck": ["queue", "cache"],
    "Raise the lease when the queue is stuck": ["queue", "lease"],
}
QUESTION = "What helps when the queue is stuck?"
LEARN_S = 120


def helps(advice: str) -> bool:
    """The world of the agent: only one advice helps."""
    return advice.startswith("Raise the lease")


def recall(ebb: Ebb) -> tuple[Recall, list[Hit]]:
    """What is known about the question: an answer, and the memories among its hits."""
    answer = ebb.recall.run(text=QUESTION, kinds=["Memory"])
    return answer, [hit for hit in answer.hits if hit.content in ADVICE]


def turn(ebb: Ebb) -> None:
    """One turn of the agent: recall, try, report, learn."""
    print(f"user:   {QUESTION}")
    answer, hits = recall(ebb)
    for hit in hits:
        works = helps(hit.content or "")
        print(f"agent:  {hit.content} ... {'that helped' if works else 'no'}")
        if works:
            ebb.outcomes.report(recall_id=answer.recall_id, used=[UsedHit(id=hit.id, path=hit.path)], reward=1.0)
            learn(ebb, answer.tick_end)
            return


def learn(ebb: Ebb, before: int) -> None:
    """The worker learns from outcomes each minute; here it does so now, and the mirror of the scope reads the result."""
    ebb.jobs.run("learn")
    until_s = time.monotonic() + LEARN_S
    while recall(ebb)[0].tick_end == before:
        if time.monotonic() > until_s:
            raise TimeoutError(f"nothing was learned in {LEARN_S} seconds: the log of `ebb serve` says why")
        ebb.mirrors.refresh()
        time.sleep(0.2)


def main(scope: str) -> None:
    with Ebb(scope=scope) as ebb:
        for number, (content, mentions) in enumerate(ADVICE.items()):
            ebb.memories.add(content, id=f"advice-{number}", mentions=mentions)
        for _ in range(2):
            turn(ebb)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "local")
