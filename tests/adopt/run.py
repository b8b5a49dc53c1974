#!/usr/bin/env python3
"""Graphs of other memory libraries, written by the libraries themselves, beside every verb of Ebb: nothing is harmed.

  run.py --state FOLDER [LIBRARY ...]      EBB names the program; the stage `.ci/run adopt` calls it

Each library is installed from PyPI with the versions of requirements/LIBRARY.txt, in an environment of its own below the
state folder that later runs use again. The server is that of NEO4J_URI, which must be empty, or a managed one that ends
with the run. Each library runs from an empty database:

  alone     writes, searches, writes again: what it answers without Ebb
  first     `ebb init` in the empty database; then it answers as it did alone, with the constraints and indexes of both
  beside    writes and searches; every verb of Ebb; then its rows are those from before; it searches and writes again and
            answers as it did alone; `ebb uninstall`, and the database is its own, rows and schema
  together  as beside, with memories, entities, relations and facts of Ebb's in the same database, or the refusal of what
            would be in the library's way

No prompt of a library contains `ebb`. A table at the end; ends with 1 if anything failed.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from adopted import Adopted
from environment import installed, server
from replacing import replacing
from serving import Server

HERE = pathlib.Path(__file__).resolve().parent
# The package of each library, and its script. After a space, a variant of it.
LIBRARIES = {
    "graphiti-core": "graphiti_graph.py", "neo4j-agent-memory": "agent_memory.py", "mem0ai": "mem0_graph.py",
    "mcp-neo4j-memory": "mcp_memory.py", "MemoryOS": "memos_graph.py", "langchain-neo4j": "langchain_graph.py",
    "graphiti-core attributes": "graphiti_graph.py", "mem0ai base_label": "mem0_graph.py",
}
# What each library's rows make Ebb refuse, by the name of the verb.
REFUSED = {
    "graphiti-core": {"mention", "relation", "fact"}, "neo4j-agent-memory": {"mention", "relation", "fact"}, "langchain-neo4j": {"session"},
}
JOBS = {"audit", "decay", "coactivate", "cluster", "reinforce", "promote", "evaporate", "fade", "sweep", "learn"}


class Failure(Exception):
    pass


class Stopped(Exception):
    """A failure that was noted, and after which nothing more can be tried."""


class Run:
    """One library in one database."""

    def __init__(self, library, python, ebb, folder, environment):
        self.library, self.python, self.ebb_program, self.folder = library, python, ebb, folder
        self.environment = environment
        self.failures, self.prompts = [], []

    def fail(self, what):
        self.failures.append(what)
        print(f"  FAILED {self.library}: {what}", flush=True)

    def holds(self, what, condition, detail=""):
        if not condition:
            self.fail(f"{what}{': ' if detail else ''}{detail}")

    def call(self, script, *arguments, timeout=600):
        answer = self.folder / "answer.json"
        answer.unlink(missing_ok=True)
        done = subprocess.run([self.python, HERE / script, *arguments], env=self.environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=timeout)
        if done.returncode != 0 or not answer.exists():
            raise Failure(f"{script} {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-3000:]}")
        return json.loads(answer.read_text())

    def output(self, script, *arguments, timeout=600):
        """Output of a script of the library, whose prompts are kept."""
        output = self.call(script, *arguments, timeout=timeout)
        self.prompts += output["prompts"]
        return output

    def step(self, name, when):
        output = self.output(LIBRARIES[self.library], name)
        for failure in output["failures"]:
            self.fail(f"{name} {when}: {failure.strip()[-1500:]}")
        return None if output["failures"] else json.dumps(output["results"], indent=1, sort_keys=True)

    def ebb(self, *words, codes=(0,)):
        done = subprocess.run([self.ebb_program, *words], env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.holds(f"ebb {' '.join(words)} ended with {done.returncode}", done.returncode in codes, done.stderr[-1500:] + done.stdout[-1500:])
        return done

    def fresh(self):
        self.call("graph.py", "wipe")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def dump(self):
        return self.call("graph.py", "dump")

    def same(self, what, before, after):
        gone, come = [row for row in before if row not in set(after)], [row for row in after if row not in set(before)]
        self.holds(what, before == after, f"{len(gone)} gone {gone[:2]}, {len(come)} new {come[:2]}")
        return before == after

    def alone(self):
        self.fresh()
        return {name: self.step(name, "alone") for name in ("write", "search", "again")} | {"shapes": self.dump()["shapes"]}

    def verbs(self):
        """Every verb that a user tries beside a graph of others."""
        self.ebb("doctor", codes=(0, 7))
        if self.ebb("init", "--yes").returncode:
            raise Stopped
        self.ebb("doctor")
        self.ebb("status")
        for _ in range(2):
            self.ebb("job", "run", "--all")
        self.ebb("recall", "Ann", "Acme")
        self.ebb("health")
        self.ebb("inspect", "quarantine")
        self.served()

    def served(self):
        """`ebb serve` until it has run each job."""
        every = {f"EBB__JOBS__{job.upper()}__EVERY": "1s" for job in JOBS}
        with Server(self.ebb_program, self.environment, self.folder, **every) as server:
            for _ in range(300):
                runs = json.loads(self.ebb("job", "history", "--limit", "200", "-o", "json").stdout)["runs"]
                waits = JOBS - {run["job"] for run in runs if run["state"] == "done" and not run["occurrence"].startswith("manual/")}
                if not waits or server.process.poll() is not None:
                    break
                time.sleep(0.2)
        what = f"not run: {waits}, ended with {server.code}: {server.log()[-1500:]}"
        self.holds("ebb serve runs each job and ends well", not waits and server.code == 0, what)

    def after_init(self, alone):
        # Its vector store has the label Memory here, whose id it wants unique: docs/guide/your-own-data.md.
        if self.library == "langchain-neo4j":
            return True
        self.fresh()
        self.ebb("init", "--yes")
        for name in ("write", "search", "again"):
            self.answers(name, "after ebb init", alone)
        return True

    def beside(self, alone, own_rows):
        """Returns whether the dumps are equal."""
        when = "with rows of Ebb's" if own_rows else "beside Ebb"
        self.fresh()
        self.answers("write", "before Ebb", alone)
        self.answers("search", "before Ebb", alone)
        before = self.dump()
        self.verbs()
        equal = self.same(f"its rows {when}, after the verbs", before["theirs"], self.dump()["theirs"])
        if own_rows:
            self.own_rows()
        self.answers("search", when, alone)
        self.answers("again", when, alone)
        last = self.dump()
        return equal & self.uninstalled(when, before, None if own_rows else last)

    def uninstalled(self, when, before, last):
        """`ebb uninstall`: nothing of Ebb's is left, and the schema is that from before. Returns whether the dumps are equal."""
        self.ebb("uninstall", "--dry-run")
        # A program that was killed is seen for a minute; this one ended.
        self.ebb("uninstall", "--yes")
        left = self.dump()
        equal = self.same(f"nodes of Ebb's own {when}, after the uninstallation", [], left["own"])
        if last:
            equal &= self.same(f"its rows {when}, after the uninstallation", last["theirs"], left["theirs"])
        equal &= self.same(f"schema {when}, after the uninstallation", before["schema"], left["schema"])
        leaks = [prompt for prompt in self.prompts if "ebb" in prompt.lower()]
        self.holds("no prompt names Ebb", not leaks, str(leaks[:1])[:600])
        return equal

    def answers(self, name, when, alone):
        found = self.step(name, when)
        if None not in (found, alone[name]) and found != alone[name]:
            lines = list(difflib.unified_diff(alone[name].splitlines(), found.splitlines(), "alone", when, lineterm="", n=2))
            self.fail(f"{name} {when} answers other than alone:\n" + "\n".join(lines[:30]))

    def own_rows(self):
        """Memories, entities, relations and facts of Ebb's in the library's graph; what would be in its way is refused."""
        refused = REFUSED.get(self.library.split()[0], set())
        for what, words in (("memory", ["memory", "add", "Ann met Frank at Acme", "--id", "own"]),
                            ("session", ["memory", "add", "Ann met Frank again", "--id", "own2", "--session", "a"]),
                            ("mention", ["memory", "add", "Ann met Frank twice", "--id", "own3", "--mention", "Ann", "--mention", "Frank"]),
                            ("relation", ["relation", "observe", "Ann", "works_at", "Acme"]),
                            ("fact", ["fact", "assert", "Ann", "lives_in", "Oslo"])):
            done = self.ebb(*words, codes=(1,) if what in refused else (0,))
            if what in refused:
                self.holds(f"the refusal of {what} names the way out", "docs/guide/your-own-data.md" in done.stderr, done.stderr)
        self.ebb("job", "run", "--all")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=pathlib.Path, required=True)
    parser.add_argument("--runs", default="first,beside,together,adopted,replacing", help="those after alone, with commas between; default %(default)s")
    parser.add_argument("--serve", type=float, default=10, metavar="SECONDS", help="at least, of the run adopted; default %(default)s")
    parser.add_argument("--minutes", type=float, help="of the run replacing; default: as long as 30 saves take")
    parser.add_argument("libraries", nargs="*", default=[], help=", ".join(LIBRARIES))
    arguments = parser.parse_args()
    state, ebb = arguments.state.resolve(), os.environ["EBB"]
    libraries = arguments.libraries or list(LIBRARIES)
    pythons = {library: installed(library, state) for library in libraries}
    environment, stop = server(ebb, state)
    table, failed = [], False
    try:
        for library in libraries:
            folder = state / "adopt" / "run"
            folder.mkdir(parents=True, exist_ok=True)
            run = Run(library, pythons[library], ebb, folder, environment | {"ADOPT_FOLDER": str(folder), "ADOPT_VARIANT": library})
            if library == libraries[0] and run.call("graph.py", "count")["nodes"] and "NEO4J_URI" in os.environ:
                raise SystemExit(f"the database at {os.environ['NEO4J_URI']} is not empty, and this test wipes it. Name an empty one")
            began, rows, equal = time.monotonic(), 0, False
            try:
                alone = run.alone()
                rows = len(alone["shapes"])
                runs = {
                    "first": lambda: run.after_init(alone),
                    "beside": lambda: run.beside(alone, own_rows=False), "together": lambda: run.beside(alone, own_rows=True),
                    "adopted": lambda: Adopted(run, alone, arguments.serve).whole(),
                    "replacing": lambda: library != "graphiti-core" or replacing(run, alone, arguments.minutes),
                }
                equal = all([runs[name]() for name in arguments.runs.split(",")])
            except (Failure, OSError, subprocess.TimeoutExpired) as why:
                run.fail(str(why))
            except Stopped:
                pass
            package = library.split()[0]
            version = re.search(rf"^{package}==(.*)$", (HERE / "requirements" / f"{package}.txt").read_text(), re.M).group(1)
            table.append((library, version, rows, len(run.prompts), len(run.failures), "yes" if equal else "no", f"{time.monotonic() - began:.0f} s"))
            failed |= bool(run.failures)
    finally:
        if table:
            run.fresh()
        stop()
    head = ("library", "version", "rows", "prompts", "failures", "dumps equal", "time")
    widths = [max(len(str(row[i])) for row in [head, *table]) for i in range(len(head))]
    for row in [head, *table]:
        print("  ".join(str(value).ljust(width) for value, width in zip(row, widths)))
    sys.exit(1 if failed else 0)


main()
