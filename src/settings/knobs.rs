//! The table of knobs: every key there is, and what its value may be.
//!
//! Deserialising alone would stop at the first fault, could not say on which line it stands and would not know the
//! nearest name of a misspelt key. So each value is checked here, alone, before the structs are filled; what must agree
//! between two values is checked after that, in `settings::agreement`.
//!
//! Invariant: this table, the structs and `config/default.toml` name the same keys (held by
//! `tests::table_structs_and_default_file_name_the_same_keys`).

use super::engine::{DIMENSIONS, half_life_keys};
use super::jobs::JOBS;
use super::kind::{Kind, Tables};
use ebb_core::domain::tunables::ConsolidationConfig;
use std::borrow::Cow;
use std::sync::LazyLock;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// One key and what its value may be.
#[derive(Debug)]
pub(super) struct Knob {
    /// Section, dot, name: as it is written in a file.
    pub(super) key: String,
    pub(super) kind: Kind,
}

/// Relations that configuration pins.
static PINNED: Tables = Tables {
    fields: &[("from", Kind::Text), ("type", Kind::Text), ("to", Kind::Text)],
    required: &["type"],
    id: None,
    rule: None,
};

/// Decay policies, whose fields are the documented ones.
static POLICIES: Tables = Tables {
    fields: &[
        ("id", Kind::Text),
        ("relation", Kind::Text),
        ("scope", Kind::OneOf(&["local", "team", "company", "public", "*"])),
        ("mode", Kind::OneOf(&["retract", "confidence", "dry_run"])),
        ("ttl_s", Kind::Number),
        ("half_life_s", Kind::Number),
        ("min_confidence", Kind::Ratio),
        ("exempt_relations", Kind::Texts),
    ],
    required: &["id", "relation", "scope", "mode"],
    id: Some("id"),
    rule: Some(super::policies::rule),
};

/// All knobs, section by section, in the order in which `config show` prints them.
pub(super) static KNOBS: LazyLock<Vec<Knob>> = LazyLock::new(|| {
    let connections = Kind::Whole { least: 1, greatest: 1_000, unit: "connections" };
    let port = Kind::Whole { least: 0, greatest: 65_535, unit: "a port; 0 takes a free one" };
    let mut knobs = vec![Knob { key: "policies".to_owned(), kind: Kind::Tables(&POLICIES) }];
    let mut section = |name: &str, keys: &[(&str, Kind)]| {
        let knob = |(key, kind): &(&str, Kind)| Knob { key: format!("{name}.{key}"), kind: kind.clone() };
        knobs.extend(keys.iter().map(knob));
    };
    section(
        "neo4j",
        &[
            ("uri", Kind::Uri),
            ("username", Kind::Text),
            ("password", Kind::Secret),
            ("password_file", Kind::Text),
            ("database", Kind::Text),
            ("insecure", Kind::Switch),
            ("home", Kind::Text),
            ("cache", Kind::Text),
            ("way", Kind::OneOf(&["docker", "maven"])),
            ("image", Kind::Text),
            ("docker", Kind::Text),
            ("java", Kind::Text),
            ("mvn", Kind::Text),
            ("bolt_port", port.clone()),
            ("http_port", port),
            ("heap_mb", Kind::Whole { least: 128, greatest: 1 << 20, unit: "MiB" }),
            ("pagecache_mb", Kind::Whole { least: 8, greatest: 1 << 20, unit: "MiB" }),
            ("start_timeout", Kind::Span { least_ms: SECOND, greatest_ms: HOUR }),
            ("connections", connections),
            ("acquire_timeout", Kind::Span { least_ms: 100, greatest_ms: 10 * MINUTE }),
        ],
    );
    // What each number means and may be is a law: domain::tunables checks the section as a whole.
    section("memory", &ConsolidationConfig::NAMES.map(|name| (name, Kind::Number)));
    section(
        "similarity",
        &[
            ("embedding_dimensions", Kind::Whole { least: 1, greatest: 4_096, unit: "numbers" }),
            ("text_threshold", Kind::Ratio),
        ],
    );
    section(
        "relation",
        &[
            ("enabled", Kind::Switch),
            ("halfLifeDays", Kind::Number),
            ("minimumWeight", Kind::Ratio),
            ("schedule", Kind::Cron),
            ("pinned", Kind::Tables(&PINNED)),
        ],
    );
    section(
        "pheromones",
        &[
            ("exploitation_decay", Kind::Number),
            ("exploration_decay", Kind::Number),
            ("success_decay", Kind::Number),
            ("traversal_decay", Kind::Number),
            ("recency_decay", Kind::Number),
            ("decay_interval_cycles", Kind::Whole { least: 1, greatest: 1_000_000, unit: "cycles" }),
            ("cycle", Kind::Span { least_ms: SECOND, greatest_ms: 366 * 24 * HOUR }),
            ("labels", Kind::Names),
            ("relationship_types", Kind::Names),
            ("pheromone_cap", Kind::Whole { least: 1, greatest: 1_000_000, unit: "pheromone" }),
        ],
    );
    section("facts", &[("epsilon", Kind::Ratio)]);
    for job in JOBS {
        section(
            &format!("jobs.{job}"),
            &[
                ("enabled", Kind::Switch),
                ("every", Kind::Span { least_ms: SECOND, greatest_ms: 28 * 24 * HOUR }),
                ("cron", Kind::Cron),
                ("timezone", Kind::Zone),
                ("jitter", Kind::Span { least_ms: 0, greatest_ms: HOUR }),
                ("time_limit", Kind::Span { least_ms: SECOND, greatest_ms: 24 * HOUR }),
            ],
        );
    }
    section(
        "worker",
        &[
            ("lease", Kind::Span { least_ms: SECOND, greatest_ms: 10 * MINUTE }),
            ("tick", Kind::Span { least_ms: 50, greatest_ms: MINUTE }),
            ("listen", Kind::Listen),
        ],
    );
    section(
        "http",
        &[
            ("listen", Kind::Address),
            ("proxy", Kind::Switch),
            ("origins", Kind::Origins),
            ("rate", Kind::Whole { least: 1, greatest: 1_000_000, unit: "requests a second" }),
        ],
    );
    section(
        "mirror",
        &[
            ("scopes", Kind::Texts),
            ("max_bytes", Kind::Bytes),
            ("expired", Kind::Switch),
            ("refresh", Kind::Span { least_ms: SECOND, greatest_ms: HOUR }),
            ("staleness", Kind::Span { least_ms: SECOND, greatest_ms: 24 * HOUR }),
            ("connections", Kind::Whole { least: 1, greatest: 64, unit: "connections" }),
            ("folder", Kind::Text),
            ("persist_every", Kind::Whole { least: 1, greatest: 1_000_000, unit: "recalls" }),
        ],
    );
    // What each number may be is a law of the engine: settings::agreement asks it.
    let profile = ["threshold", "decay", "cap"].map(|name| (name, Kind::Number));
    let pulses = Kind::Whole { least: 1, greatest: 10_000_000, unit: "pulses" };
    section(
        "engine",
        &[
            ("text_weight", Kind::Number),
            ("top_k_max", Kind::Whole { least: 1, greatest: 1_000, unit: "hits" }),
            ("dimensions", Kind::Words(&DIMENSIONS)),
            ("xlr", Kind::OneOf(&["off", "gate", "report"])),
            ("priming", Kind::Switch),
            ("xlr_pulses", pulses.clone()),
            ("resonance_pulses", pulses),
            ("wavelength", Kind::Number),
            ("random_seed", Kind::Whole { least: 0, greatest: u32::MAX, unit: "any of them" }),
            ("learn", Kind::OneOf(&["on_outcome", "always", "off"])),
            ("learning_rate", Kind::Number),
            ("decay_rate", Kind::Number),
            ("synonyms", Kind::Groups),
            ("weight_floor", Kind::Number),
            ("weight_cap", Kind::Number),
        ],
    );
    section("engine.weights", &DIMENSIONS.map(|name| (name, Kind::Number)));
    let half_lives: Vec<(&str, Kind)> = half_life_keys().map(|key| (key, Kind::Number)).collect();
    section("engine.half_lives", &half_lives);
    for name in ["recall", "reference"] {
        section(&format!("engine.{name}"), &profile);
        let depth = Kind::Whole { least: 1, greatest: 20, unit: "hops" };
        section(&format!("engine.{name}"), &[("max_depth", depth)]);
    }
    section("mcp", &[("allow_writes", Kind::Switch)]);
    section(
        "guard",
        &[("enabled", Kind::Switch), ("max_affected_ratio", Kind::Ratio), ("first_run_dry", Kind::Switch)],
    );
    // Runs outlive the window within which a missed one is caught up.
    let kept = |least_ms| Kind::Span { least_ms, greatest_ms: 10 * 366 * 24 * HOUR };
    section(
        "retention",
        &[
            ("requests", kept(HOUR)),
            ("runs", kept(8 * 24 * HOUR)),
            ("sessions", kept(24 * HOUR)),
            ("decayed_facts", kept(24 * HOUR)),
            ("tombstones", kept(24 * HOUR)),
        ],
    );
    section("log", &[("filter", Kind::Filter), ("format", Kind::OneOf(&["text", "json"]))]);
    knobs
});

/// The knob of this key, whatever the case of its letters: environment variables lose it.
pub(super) fn find(key: &str) -> Option<&'static Knob> {
    let key = documented(key);
    KNOBS.iter().find(|knob| knob.key.eq_ignore_ascii_case(&key))
}

/// The block in which the relation decay document keeps its settings, and the section that it is here.
const DOCUMENTED: (&str, &str) = ("settings.memory.decay", "relation");

/// A key as the table names it, of one as a document names it.
fn documented(key: &str) -> Cow<'_, str> {
    let (block, section) = DOCUMENTED;
    match key.split_at_checked(block.len()) {
        Some((head, rest)) if head.eq_ignore_ascii_case(block) && rest.starts_with('.') => {
            Cow::Owned(format!("{section}{rest}"))
        }
        _ => Cow::Borrowed(key),
    }
}

/// Whether this path is a section, or holds some.
pub(super) fn is_section(path: &str) -> bool {
    let block = DOCUMENTED.0;
    let holds_it = |dot: usize| block[..dot].eq_ignore_ascii_case(path);
    sections().any(|section| section.eq_ignore_ascii_case(path))
        || block.match_indices('.').any(|(dot, _)| holds_it(dot))
        || block.eq_ignore_ascii_case(path)
}

fn sections() -> impl Iterator<Item = &'static str> {
    KNOBS.iter().flat_map(|knob| knob.key.match_indices('.').map(|(dot, _)| &knob.key[..dot]))
}

/// The key most likely meant: one of the same section with a name like it, the same name in another section, or a path
/// that looks alike as a whole.
pub(super) fn nearest_key(wrong: &str) -> Option<&'static str> {
    let wrong = documented(wrong).to_ascii_lowercase();
    let (section, name) = wrong.rsplit_once('.').unwrap_or(("", &wrong));
    let keys = || KNOBS.iter().map(|knob| knob.key.as_str());
    let name_of = |key: &'static str| key.rsplit_once('.').map_or(key, |(_, name)| name);
    let section_of = |key: &'static str| key.rsplit_once('.').map_or("", |(section, _)| section);

    let siblings = keys().filter(|key| section_of(key).eq_ignore_ascii_case(section));
    closest(siblings.map(|key| (name_of(key), key)), name, 0.6)
        .or_else(|| keys().find(|key| name_of(key).eq_ignore_ascii_case(name)))
        .or_else(|| closest(keys().map(|key| (key, key)), &wrong, 0.7))
}

/// The section most likely meant.
pub(super) fn nearest_section(wrong: &str) -> Option<&'static str> {
    closest(sections().map(|section| (section, section)), &wrong.to_ascii_lowercase(), 0.5)
}

pub(super) fn closest(
    candidates: impl Iterator<Item = (&'static str, &'static str)>,
    wrong: &str,
    least_likeness: f64,
) -> Option<&'static str> {
    candidates
        .map(|(name, key)| (strsim::normalized_damerau_levenshtein(&name.to_ascii_lowercase(), wrong), key))
        .filter(|(likeness, _)| *likeness >= least_likeness)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, key)| key)
}
