"""Where the agents walk: areas are wings, tasks are rooms, rules and findings that were looked up again lie in drawers.

Nothing here is written by hand. A note that is looked up at least twice (`>` in the notes) gets a drawer, in a closet of the
room of its task; a task that looks up what lies in another one's drawer gets a hall to that room, or a tunnel where it is
in another wing. A sitting that came to something leaves success on the way it took, a dead end leaves that it was searched.
"""
import re

HOUR = 3_600_000
RATE = {"exploitation": 0.02, "exploration": 0.05, "success": 0.01, "traversal": 0.03, "recency": 0.10}
FLOOR = 0.001
BASE = {"HAS_ROOM": 0.3, "HAS_CLOSET": 0.3, "HAS_DRAWER": 0.3, "HALL": 0.5, "TUNNEL": 0.7}
# Ways that a sitting leaves success on: whoever reads through everything has not walked everywhere.
WAYS = 3
WINGS = {"api": "Orders API", "db": "Database", "queue": "Queue and outbox", "web": "Front ends", "ci": "Builds and tests",
         "money": "Money", "ops": "Operations"}
CAME_TO = re.compile(r"\b([Mm]erged|[Ff]ixed|[Ff]ix:|[Ss]ettled|[Dd]ecided|[Pp]roved|[Aa]greed|[Aa]pproved|[Dd]eployed|"
                     r"[Ss]witched|[Ll]ive|[Gg]reen|[Dd]one|[Cc]losed|[Ff]inished|[Ff]ound)\b")
WENT_LIVE = re.compile(r"\b(merged|deployed|live|in production)\b", re.IGNORECASE)
LED_NOWHERE = re.compile(r"\b([Dd]ead end|[Gg]ave up|[Gg]iven up|[Aa]bandoned|[Rr]ejected|[Rr]everted|[Nn]ot now)\b")

# What README.md tells and the demo checks.
EDGE = (("Room", "refunds"), "HAS_CLOSET", ("Closet", "refunds/rules"))
PLACE = ("Room", "outbox")


def place(label, name):
    return {"label": label, "id": name}


class Palace:
    """The palace as far as the month has come, and the events that built it."""

    def __init__(self, sittings):
        written = {line["id"]: (line, s["task"]) for s in sittings for line in s["lines"] if line["mark"] != ">"}
        looked_up = [line["id"] for s in sittings for line in s["lines"] if line["mark"] == ">"]
        self.drawers = {k: written[k] for k in dict.fromkeys(looked_up) if looked_up.count(k) > 1}
        count = [s["task"] for s in sittings]
        self.rooms = {t for t in count if count.count(t) > 1} | {task for _, task in self.drawers.values()}
        self.made, self.events = set(), []
        self.wing_of = {}

    def say(self, at, event):
        self.events.append({"at": at} | event)

    def node(self, at, label, name, told):
        if (label, name) not in self.made:
            self.made.add((label, name))
            self.say(at, {"kind": "node", "label": label, "id": name, "name": told})

    def edge(self, at, start, kind, end):
        if (start["id"], kind, end["id"]) not in self.made:
            self.made.add((start["id"], kind, end["id"]))
            self.say(at, {"kind": "edge", "from": start, "to": end, "type": kind})

    def room(self, at, task, areas):
        """The wing and the room of a task; the wing is the first area of its first sitting."""
        wing = self.wing_of.setdefault(task, next(area for area in areas if area != "team"))
        self.node(at, "Wing", wing, WINGS[wing])
        self.node(at, "Room", task, task.replace("-", " "))
        self.edge(at, place("Wing", wing), "HAS_ROOM", place("Room", task))

    def closet(self, note, task):
        return f"{task}/{'findings' if note['mark'] == '*' else 'rules'}" if note["mark"] != "~" else f"{task}/dead ends"

    def drawer(self, note, task):
        """A drawer appears with its note, although only later sittings show that it is worth one."""
        at, closet = note["at"] + 1_400, self.closet(note, task)
        self.node(at, "Closet", closet, closet.replace("/", ": "))
        self.edge(at, place("Room", task), "HAS_CLOSET", place("Closet", closet))
        self.node(at, "Drawer", note["id"], note["id"][4:].replace("-", " "))
        self.edge(at, place("Closet", closet), "HAS_DRAWER", place("Drawer", note["id"]))

    def sitting(self, sitting):
        task, lines = sitting["task"], sitting["lines"]
        self.room(lines[0]["at"] + 1_000, task, sitting["order"])
        ways = []
        for line in lines:
            if line["mark"] != ">" and LED_NOWHERE.search(line["text"]):
                self.say(line["at"] + 1_200, {"kind": "explore", "node": place("Room", task)})
            if line["id"] not in self.drawers:
                continue
            note, home = self.drawers[line["id"]]
            if line["mark"] != ">":
                self.drawer(note, task)
            way = [place("Wing", self.wing_of[task]), place("Room", task)]
            if home != task:
                kind = "HALL" if self.wing_of[home] == self.wing_of[task] else "TUNNEL"
                self.edge(line["at"] + 1_300, place("Room", task), kind, place("Room", home))
                way.append(place("Room", home))
            ways.append(way + [place("Closet", self.closet(note, home)), place("Drawer", note["id"])])
        texts = [line["text"] for line in lines if line["mark"] != ">"]
        if not any(CAME_TO.search(text) for text in texts):
            return
        reward = 2.0 if any(WENT_LIVE.search(text) for text in texts) else 1.0
        ways = ways or [[place("Wing", self.wing_of[task]), place("Room", task)]]
        for number, way in enumerate(ways[:WAYS]):
            deposit = {"kind": "deposit", "path": way} | ({"reward": reward} if reward != 1.0 else {})
            self.say(lines[-1]["at"] + 20_000 + number, deposit)


def events(sittings):
    """Every event of the palace, in the order in which things come to be."""
    palace = Palace(sittings)
    for sitting in sittings:
        looks = any(line["id"] in palace.drawers for line in sitting["lines"])
        if sitting["task"] in palace.rooms or looks:
            palace.sitting(sitting)
    return palace.events


class Pheromones:
    """Values as of a cycle, by the laws: what is left is a function of the cycles since."""

    def __init__(self):
        self.value, self.cycle = {}, None

    def bring(self, cycle):
        if self.cycle is not None and cycle > self.cycle:
            left = {k: v * (1 - RATE[k]) ** (cycle - self.cycle) for k, v in self.value.items()}
            self.value = {k: 0.0 if v < FLOOR else v for k, v in left.items()}
        self.cycle = cycle

    def add(self, cycle, name, deposit):
        self.bring(cycle)
        self.value[name] = self.value.get(name, 0.0) + deposit


def cost(base, value):
    level = {name: min(value.get(name, 0.0), 1.0) for name in ("success", "recency", "traversal")}
    return base * (1 - 0.5 * (0.5 * level["success"] + 0.3 * level["recency"] + 0.2 * level["traversal"]))


def simulate(events, at):
    """What lies on every place and edge at an instant. The evaporation runs change nothing that a deposit would not find."""
    places, edges, kinds = {}, {}, {}
    for event in events:
        cycle = event["at"] // HOUR
        if event["kind"] == "edge":
            ends = tuple(event[end]["label"] + " " + event[end]["id"] for end in ("from", "to"))
            kinds[ends], edges[ends] = event["type"], Pheromones()
        elif event["kind"] == "explore":
            node = event["node"]
            places.setdefault((node["label"], node["id"]), Pheromones()).add(cycle, "exploration", 0.3)
        elif event["kind"] == "deposit":
            path = [(node["label"], node["id"]) for node in event["path"]]
            for node in path:
                places.setdefault(node, Pheromones()).add(cycle, "exploitation", 0.2)
            steps = list(zip(path, path[1:]))
            for number, (start, end) in enumerate(steps):
                edge = edges[(" ".join(start), " ".join(end))]
                edge.add(cycle, "success", event.get("reward", 1.0) * (1 - number / len(steps)))
                edge.add(cycle, "traversal", 0.1)
                edge.value["recency"] = 1.0
    for every in (places, edges):
        for one in every.values():
            one.bring(at // HOUR)
    return places, edges, kinds


def digits(value):
    return float(f"{value:.12g}")


def expected(events, at):
    """What the demo checks: the success and the cost of an edge, the exploitation of a place."""
    places, edges, _ = simulate(events, at)
    start, kind, end = EDGE
    lies = edges[(" ".join(start), " ".join(end))].value
    return [
        {"edge": {"from": place(*start), "type": kind, "to": place(*end)}, "success": digits(lies["success"]),
         "cost": digits(cost(BASE[kind], lies)), "why": "walked while refunds were built, and again when the books were closed"},
        {"place": place(*PLACE), "exploitation": digits(places[PLACE].value["exploitation"]),
         "why": "a busy room until the 12th, asked on the 14th and on the 31st"},
    ]


def report(events, at):
    places, edges, kinds = simulate(events, at)
    heat = {k: e.value.get("success", 0.0) + e.value.get("traversal", 0.0) for k, e in edges.items()}
    print(f"\n{len(kinds)} edges, {sum(h > 0 for h in heat.values())} of them not silent at the end; the hottest:")
    for ends, value in sorted(heat.items(), key=lambda row: -row[1])[:10]:
        lies = edges[ends].value
        told = ", ".join(f"{name} {lies.get(name, 0.0):.6g}" for name in ("success", "traversal", "recency"))
        print(f"    {value:.6g}  {ends[0]} {kinds[ends]} {ends[1]}: {told}, cost {cost(BASE[kinds[ends]], lies):.6g}")
    loved = sorted(places.items(), key=lambda row: -row[1].value.get("exploitation", 0.0))
    print("most exploited: " + ", ".join(f"{k[0]} {k[1]} {p.value['exploitation']:.4g}" for k, p in loved[:8]))
    searched = sorted(places.items(), key=lambda row: -row[1].value.get("exploration", 0.0))
    print("most searched: " + ", ".join(f"{k[1]} {p.value.get('exploration', 0.0):.4g}" for k, p in searched[:5]))
