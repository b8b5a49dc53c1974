//! Rows of other programs: those of their own kind, and those whose values no law can use.
//!
//! Each carries its name (`row`), a text that must stay (`said`), and where a value is bad, which and what it was
//! (`poisoned`, `was`): nothing of that may be lost or changed. Those of the adopted graph also know how many properties they have
//! (`own`), since Ebb may write none.

/// What another program writes at once: the names of its rows, and the statement.
pub(crate) struct Rows {
    pub(crate) names: Vec<String>,
    pub(crate) text: String,
}

/// Nodes as other programs make them: with Ebb's labels and without, with what Ebb asks for and without.
const FOREIGN: [&str; 9] = [
    ":Memory {id: name, content: said, tier: 'working', energy: 2.5, lastAccessed: datetime()}",
    ":Memory {id: name, content: said, tier: 'shortTerm', energy: 1, lastAccessed: datetime(), pinned: true}",
    ":Memory {text: said}",
    ":Memory:Message {uuid: name, content: said, created_at: datetime()}",
    ":Session {uuid: name}",
    ":Entity {uuid: name, summary: said}",
    ":Fact {text: said}",
    ":Room {title: name}",
    ":Person {name: name}",
];

/// A label, a property of it, and a value of that property which no law can use.
const POISON: [(&str, &str, &str); 14] = [
    ("Memory", "energyAt", "datetime('+999999999-12-31T23:59:59Z')"),
    ("Memory", "lastAccessed", "datetime('+999999999-12-31T23:59:59Z')"),
    ("Memory", "lastAccessed", "'yesterday'"),
    ("Memory", "energy", "0.0 / 0.0"),
    ("Memory", "energy", "'much'"),
    ("Memory", "energy", "-1e308"),
    ("Memory", "tier", "'nonsense'"),
    ("Memory", "tier", "7"),
    ("Memory", "scope", "12"),
    ("Memory", "pinned", "'yes'"),
    ("Entity", "lastAccessed", "datetime('-999999999-01-01T00:00:00+18:00')"),
    ("Room", "exploration_pheromone", "0.0 / 0.0"),
    ("Room", "pheromone_cycle", "9223372036854775807"),
    ("Session", "started", "datetime('+999999999-12-31T23:59:59Z')"),
];

/// The foreign rows of a round, joined to one another by types of Ebb's and of their own.
pub(crate) fn foreign(round: u64) -> Rows {
    let names: Vec<String> = (0..FOREIGN.len()).map(|n| format!("foreign-{round}-{n}")).collect();
    let mut text = String::new();
    for (name, node) in names.iter().zip(FOREIGN) {
        text += &format!(
            "WITH {name:?} AS name, 'what ' + {name:?} + ' says' AS said CREATE (n{node}) SET n.row = name, n.said = said \
             WITH count(*) AS made "
        );
    }
    text += &format!(
        "MATCH (a), (b) WHERE a.row = {:?} AND b.row = {:?} CREATE (a)-[:KNOWS]->(b), (a)-[:RELATES_TO]->(b), \
         (b)-[:MENTIONS]->(a) RETURN made",
        names[5], names[8]
    );
    Rows { names, text }
}

/// The rows of a round with one bad value each, sound in all others.
pub(crate) fn poisoned(round: u64) -> Rows {
    let names: Vec<String> = (0..POISON.len()).map(|n| format!("poison-{round}-{n}")).collect();
    let mut text = String::new();
    for (name, (label, property, value)) in names.iter().zip(POISON) {
        text += &format!(
            "WITH {name:?} AS name CREATE (n:{label} {{id: name, name: name, scope: 'local', content: name, \
             tier: 'working', energy: 2.5, energyAt: datetime(), lastAccessed: datetime(), ripeAt: datetime(), \
             dueAt: datetime(), exploration_pheromone: 0.5, exploitation_pheromone: 0.5, pheromone_cycle: 0}}) \
             SET n.{property} = {value}, n.row = name, n.said = 'what ' + name + ' says', n.poisoned = {property:?} \
             SET n.was = toString(n.{property}) WITH count(*) AS made "
        );
    }
    text += "RETURN made";
    Rows { names, text }
}

/// Rows of the adopted graph.
pub(crate) const ADOPTED: usize = 12;

/// The key and name of a row of the adopted graph.
pub(crate) fn adopted_key(n: usize) -> String {
    format!("note-{n}")
}

/// The mapping of the adopted graph.
pub(crate) const MAPPING: &str = r#"
library = "notes"
releases = "notes 1"
scope = { default = "local" }

[[nodes]]
label = "Note"
role = "memory"
key = "uuid"
text = ["said"]
observed = ["created_at"]
written = ["created_at"]

[[relationships]]
role = "link"
"#;

/// The graph of another library, which is adopted: notes in a ring.
pub(crate) fn adopted() -> Rows {
    let names: Vec<String> = (0..ADOPTED).map(adopted_key).collect();
    let text = format!(
        "UNWIND {names:?} AS name CREATE (n:Note {{uuid: name, created_at: datetime(), row: name, said: 'what ' + name + ' says', \
         own: 5}}) WITH collect(n) AS notes UNWIND range(0, size(notes) - 1) AS i \
         WITH notes[i] AS one, notes[(i + 1) % size(notes)] AS other CREATE (one)-[:NEXT {{since: 1}}]->(other) \
         RETURN count(*) AS made"
    );
    Rows { names, text }
}
