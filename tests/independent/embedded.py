#!/usr/bin/env python3
"""Writes events and questions with their embeddings and scopes, as `ebb eval` reads them.

    embedded.py EVENTS.ndjson QUESTIONS.ndjson [--vectors F16 F16] --to FOLDER

A memory whose id has a colon gets the scope that stands before it, and a question that of its gold. --vectors names files of
16-bit floats, little endian, a row for each memory and for each question in their order. Writes FOLDER/events.ndjson and
FOLDER/questions.ndjson, and prints the number of dimensions, for embedding.dimensions. Of Python it needs nothing but
its own library.
"""

import argparse
import json
import pathlib

from recall import lines, rows, scope_of


def scoped(line, name, row):
    scope = {} if scope_of(name) == "local" else {"scope": scope_of(name)}
    return {**line, **scope, **({"embedding": row} if row else {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("events", type=pathlib.Path)
    parser.add_argument("questions", type=pathlib.Path)
    parser.add_argument("--vectors", nargs=2, type=pathlib.Path)
    parser.add_argument("--to", type=pathlib.Path, required=True)
    given = parser.parse_args()
    events, questions = lines(given.events), lines(given.questions)
    memories = sum(event["kind"] == "memory" for event in events)
    of_memories, of_questions = [None] * memories, [None] * len(questions)
    if given.vectors:
        of_memories, of_questions = rows(given.vectors[0], memories), rows(given.vectors[1], len(questions))
        print(len(of_memories[0]))
    each = iter(of_memories)
    events = [scoped(event, event["id"], next(each)) if event["kind"] == "memory" else event for event in events]
    questions = [scoped(question, question["gold"][0], row) for question, row in zip(questions, of_questions)]
    given.to.mkdir(parents=True, exist_ok=True)
    for name, all_lines in (("events", events), ("questions", questions)):
        text = "".join(json.dumps(line) + "\n" for line in all_lines)
        (given.to / f"{name}.ndjson").write_text(text, encoding="utf-8")


main()
