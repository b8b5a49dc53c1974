"""The run `replacing`: Graphiti replaces its rows beside `ebb serve`, while states are set (replacing_graph.py).

No state is lost, no row gets a property that the library did not write, and no prompt names Ebb.
"""
import json
import re

from serving import Server

# Names of properties that the library's save() writes besides those that it wrote before: one by the script, two by itself.
SAVED = {"turn", "source_uuid", "target_uuid"}
SAVES = 30


def names(shapes):
    """Labels or type, with each name of a property."""
    parted = [re.fullmatch(r"(.*)\((.*)\)", shape).groups() for shape in shapes]
    return {(kind, name) for kind, properties in parted for name in properties.split(", ")}


def replacing(run, alone, minutes):
    """Runs for a number of minutes, or of saves if none is given. Returns whether the dumps are equal after `ebb uninstall`."""
    run.fresh()
    run.answers("write", "before states", alone)
    before = run.dump()
    (run.folder / "ebb.toml").write_text(json.loads(run.ebb("adopt", "--detect", "--json").stdout)["adopt"])
    run.ebb("init", "--yes")
    with Server(run.ebb_program, run.environment, run.folder, EBB__MIRROR__REFRESH="1s") as server:
        amount = ("minutes", str(minutes)) if minutes else ("saves", str(SAVES))
        output = run.output("replacing_graph.py", "write", server.url, *amount, timeout=600 + 60 * (minutes or 0))
    run.holds("ebb serve ends well", server.code == 0, f"{server.code}: {server.log()[-1500:]}")
    results = output["results"] or {"counts": {}, "faults": ["no result"]}
    print(f"  {run.library}: {dict(results['counts'])}, {len(output['prompts'])} prompts", flush=True)
    faults = output["failures"] + results["faults"]
    run.holds("no state is lost, and rows are read as they were saved", not faults, f"{len(faults)} faults: {faults[:3]}")
    last = run.dump()
    new = {(kind, name) for kind, name in names(last["shapes"]) - names(before["shapes"]) if name not in SAVED}
    run.holds("its rows have no property that it did not write", not new, str(new))
    return run.uninstalled("with states", before, last)
