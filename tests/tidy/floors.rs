//! Floors and doors: who may name whom.
//!
//! Between crates the compiler holds this: what a crate may name stands in its Cargo.toml. The table is the rest: the modules
//! of `ebb-core` and of the program. A floor names only what stands below it, so a law can be read without a database and a
//! surface replaced without touching a law; an outside crate has one home, so that replacing it is one folder's work.

use crate::none;
use crate::source::{File, Language, below, code, is_test, line, manifests, paths, product, words};
use std::collections::{BTreeMap, BTreeSet};

/// What one module may name.
struct Floor {
    /// Its path below `crate`, or below `ebb_core`. The longest that fits a file decides.
    module: &'static str,
    /// Other modules of the core or the program, or paths into them.
    inside: &'static [&'static str],
    /// Crates, beside std, serde and thiserror, which everybody may name; of this repository, all but the core.
    outside: &'static [&'static str],
}

const EVERYTHING: &str = "*";

/// Crates without rows: their manifests say all.
const BY_MANIFEST: [&str; 3] = ["src/engine/", "src/files/", "src/provision/"];

/// From the bottom up.
const FLOORS: &[Floor] = &[
    Floor { module: "domain", inside: &[], outside: &["schemars"] },
    Floor { module: "domain::annotations", inside: &["domain"], outside: &["ebb_engine"] },
    Floor { module: "domain::cluster", inside: &["domain"], outside: &["petgraph"] },
    Floor { module: "domain::journal", inside: &["domain"], outside: &["petgraph"] },
    Floor { module: "domain::ids", inside: &["domain"], outside: &["uuid"] },
    Floor { module: "domain::policy", inside: &["domain", "mutated"], outside: &[] },
    Floor { module: "domain::trail", inside: &["domain"], outside: &["petgraph"] },
    Floor { module: "clock", inside: &["domain"], outside: &["chrono", "uuid"] },
    Floor {
        module: "store",
        inside: &["domain", "clock"],
        outside: &[
            "chrono",
            "neo4rs",
            "rustix",
            "schemars",
            "secrecy",
            "serde_json",
            "sha2",
            "tokio",
            "tracing",
        ],
    },
    Floor {
        module: "embedder",
        inside: &["domain"],
        outside: &[
            "ebb_engine",
            "rustls",
            "rustls_native_certs",
            "secrecy",
            "serde_json",
            "sha2",
            "tokio",
            "tracing",
            "ureq",
        ],
    },
    Floor {
        module: "mirror",
        inside: &["domain", "store", "clock"],
        outside: &["ebb_engine", "ebb_files", "tokio", "tokio_util", "tracing"],
    },
    Floor {
        module: "mirror::state",
        inside: &["domain", "store", "mirror"],
        outside: &["ebb_engine", "postcard", "xxhash_rust"],
    },
    Floor {
        module: "mirror::saving",
        inside: &["domain", "mirror"],
        outside: &["ebb_engine", "ebb_files", "tokio", "tracing", "xxhash_rust"],
    },
    Floor {
        module: "jobs",
        inside: &["domain", "clock", "embedder", "store", "mirror"],
        outside: &["ebb_engine", "tokio", "tokio_util", "tracing"],
    },
    Floor {
        module: "scheduler",
        inside: &["domain", "clock", "store", "jobs"],
        outside: &["tokio", "tokio_util", "tracing"],
    },
    Floor {
        module: "scheduler::calendar",
        inside: &["clock", "domain", "mutated"],
        outside: &["chrono", "chrono_tz", "croner"],
    },
    Floor {
        module: "scheduler::cron",
        inside: &["domain", "clock", "jobs", "scheduler"],
        outside: &["chrono", "tokio", "tokio_cron_scheduler", "tokio_util", "tracing", "uuid"],
    },
    Floor {
        module: "api",
        inside: &["domain", "clock", "store", "jobs", "scheduler"],
        outside: &["ebb_engine", "schemars", "serde_json"],
    },
    Floor {
        module: "service",
        inside: &["domain", "clock", "embedder", "store", "mirror", "jobs", "scheduler", "api", "mutated"],
        outside: &["ebb_engine", "ebb_files", "serde_json", "sha2", "tokio", "tokio_util", "tracing"],
    },
    Floor {
        module: "service::keys",
        inside: &["domain", "store"],
        outside: &["getrandom", "sha2", "subtle", "tokio"],
    },
    Floor { module: "surfaces", inside: &[], outside: &[] },
    Floor {
        module: "surfaces::cli",
        inside: &["domain", "clock", "api", "service", "surfaces", "reference"],
        outside: &[
            "ebb_files",
            "ebb_provision",
            "anyhow",
            "chrono",
            "clap",
            "clap_complete",
            "clap_mangen",
            "flate2",
            "humantime",
            "indicatif",
            "rustix",
            "serde_json",
            "strsim",
            "tokio",
            "tracing",
            "unicode_width",
            "ureq",
        ],
    },
    Floor {
        module: "surfaces::operation",
        inside: &["domain", "clock", "api", "service", "surfaces"],
        outside: &[
            "axum",
            "hyper",
            "schemars",
            "serde_json",
            "serde_path_to_error",
            "serde_urlencoded",
            "tokio",
            "tokio_util",
            "tracing",
        ],
    },
    Floor {
        module: "surfaces::operations",
        inside: &["domain", "api", "service", "surfaces"],
        outside: &["axum", "serde_json"],
    },
    Floor { module: "surfaces::limits", inside: &["surfaces"], outside: &["axum", "tokio"] },
    Floor {
        module: "surfaces::mcp",
        inside: &["domain", "clock", "api", "service", "surfaces"],
        outside: &["axum", "rmcp", "schemars", "serde_json", "sha2", "subtle", "tokio", "tokio_util", "uuid"],
    },
    Floor {
        module: "surfaces::http",
        inside: &["domain", "clock", "api", "service", "surfaces", "reference"],
        outside: &[
            "axum",
            "form_urlencoded",
            "http_body_util",
            "hyper",
            "hyper_util",
            "schemars",
            "serde_json",
            "serde_path_to_error",
            "serde_urlencoded",
            "tokio",
            "tokio_util",
            "tracing",
        ],
    },
    Floor {
        module: "settings",
        inside: &[
            "reference",
            "domain::guard",
            "domain::ids",
            "domain::mapping",
            "domain::policy",
            "domain::relation",
            "domain::retention",
            "domain::trail",
            "domain::tunables",
            "embedder::Address",
            "mutated",
            "store::Config",
            "scheduler::Config",
            "scheduler::calendar",
            "scheduler::due",
            "service::Config",
            "telemetry",
        ],
        outside: &[
            "ebb_engine",
            "ebb_provision",
            "config",
            "humantime",
            "saphyr",
            "secrecy",
            "serde_json",
            "strsim",
            "toml_edit",
        ],
    },
    Floor { module: "fuzzing", inside: &[EVERYTHING], outside: &[] },
    Floor { module: "telemetry", inside: &[], outside: &["tracing", "tracing_subscriber"] },
    Floor { module: "wiring", inside: &[EVERYTHING], outside: &[EVERYTHING] },
    Floor { module: "worker", inside: &[EVERYTHING], outside: &[EVERYTHING] },
    Floor { module: "main", inside: &["program"], outside: &["tikv_jemallocator"] },
    Floor { module: "program", inside: &[EVERYTHING], outside: &[EVERYTHING] },
    Floor { module: "lib", inside: &[EVERYTHING], outside: &[] },
];

/// Where a lint that keeps a door shut may be lifted, and for what. Nobody lifts the one on `tokio::spawn`.
const DOORS: &[(&str, &str, &str)] = &[
    ("src/core/store/tx.rs", "disallowed_types", "the driver's types"),
    ("src/core/store/faults.rs", "disallowed_methods", "what tests ask of a process"),
    ("src/core/store/tx.rs", "disallowed_methods", "the driver's transactions"),
    ("src/core/clock.rs", "disallowed_types", "the machine's clock"),
    ("src/core/clock.rs", "disallowed_methods", "the machine's clock, and new ids"),
    ("src/settings/environment.rs", "disallowed_methods", "the environment"),
];

/// The files that rows hold.
fn floored() -> Vec<&'static File> {
    let mut files = below("src", "rs");
    files.retain(|file| !BY_MANIFEST.iter().any(|folder| file.path.starts_with(folder)));
    files
}

/// The path of a file's module below its crate: `src/core/store/tx.rs` is `store::tx`.
fn module(path: &str) -> String {
    let below = path.strip_prefix("src/core/").or_else(|| path.strip_prefix("src/")).unwrap_or(path);
    let stem = below.trim_end_matches(".rs");
    stem.replace('/', "::")
}

/// Whether `path` is `within` or lies below it.
fn lies_in(path: &str, within: &str) -> bool {
    path.strip_prefix(within).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn floor(module: &str) -> Option<&'static Floor> {
    FLOORS.iter().filter(|floor| lies_in(module, floor.module)).max_by_key(|floor| floor.module.len())
}

/// The crates that the manifests name under `[dependencies]`, as code names them. The core's modules have rows instead.
fn crates() -> BTreeSet<String> {
    let mut crates = BTreeSet::new();
    for manifest in manifests() {
        let (_, after) = manifest.text.split_once("\n[dependencies]\n").expect("dependencies");
        let table = after.split("\n[").next().unwrap_or_default();
        let names = table.lines().filter_map(|line| line.split_once(" = "));
        crates.extend(names.map(|(name, _)| name.trim_end_matches(".workspace").replace('-', "_")));
    }
    crates.remove("ebb_core");
    crates
}

#[test]
fn a_floor_names_only_what_stands_below_it() {
    let mut offences = Vec::new();
    for file in floored() {
        let own = module(&file.path);
        let Some(floor) = floor(&own) else {
            offences.push(format!("{}: no floor holds this module; add it to the table", file.path));
            continue;
        };
        let code = code(&file.text, Language::Rust);
        let home = own.split("::").next().unwrap();
        for (at, path) in named(&code) {
            let own_house = lies_in(&path, home) || path == "*" || home == "lib";
            let allows = |inside: &&str| {
                // Tests of a floor may look at more of a module that it knows.
                let known = is_test(&file.path) && inside.split("::").next() == path.split("::").next();
                *inside == EVERYTHING || known || lies_in(&path, inside)
            };
            if !own_house && !floor.inside.iter().any(allows) {
                offences.push(format!("{}:{}: {} names {path}", file.path, line(&code, at), floor.module));
            }
        }
        offences.extend(upward(file, &own));
    }
    none("a floor names only what stands below it: modules by `crate::` or `ebb_core::`", &offences);
}

/// What a file names below `crate` and `ebb_core`, each with where. A module that is imported whole stands for what is named
/// of it.
fn named(code: &str) -> Vec<(usize, String)> {
    let mut named = Vec::new();
    for (at, path) in ["crate", "ebb_core"].into_iter().flat_map(|root| paths(code, root)) {
        let of_it = if path.contains("::") { Vec::new() } else { paths(code, &path) };
        if of_it.is_empty() {
            named.push((at, path));
        } else {
            named.extend(of_it.into_iter().map(|(at, item)| (at, format!("{path}::{item}"))));
        }
    }
    named
}

/// Chains of `super` that leave the floor by its roof, where the table would not see what they name.
fn upward(file: &File, own: &str) -> Vec<String> {
    let code = product(file);
    let depth = own.split("::").count();
    let chain = vec!["super"; depth].join("::") + "::";
    let leaves = |(at, _): &(usize, &str)| code[*at..].starts_with(&chain);
    let found = words(&code).filter(|(_, word)| *word == "super").filter(leaves);
    found
        .map(|(at, _)| format!("{}:{}: `super` up to the crate: say `crate::`", file.path, line(&code, at)))
        .collect()
}

#[test]
fn an_outside_crate_is_named_on_its_floors_only() {
    let everybody = ["serde", "thiserror"];
    let crates = crates();
    assert!(crates.iter().any(|name| name == "neo4rs"), "{crates:?}");
    let mut offences = Vec::new();
    for file in floored() {
        let own = module(&file.path);
        let Some(floor) = floor(&own) else { continue };
        let code = product(file);
        for name in crates.iter().filter(|name| !everybody.contains(&name.as_str())) {
            let allowed = floor.outside.iter().any(|outside| *outside == EVERYTHING || outside == name);
            if allowed {
                continue;
            }
            for (at, _) in paths(&code, name).into_iter().filter(|_| !is_module(&own, name)) {
                offences.push(format!("{}:{}: {} names {name}", file.path, line(&code, at), floor.module));
            }
        }
    }
    none("a crate is named on the floors that the table gives it", &offences);
}

/// Whether a module of the same floor bears the name of a crate, so that a path may mean it.
fn is_module(own: &str, name: &str) -> bool {
    let house = own.rsplit_once("::").map_or(own, |(house, _)| house).to_owned();
    floored()
        .iter()
        .map(|file| module(&file.path))
        .any(|other| other == format!("{house}::{name}") || other == format!("{own}::{name}"))
}

#[test]
fn a_crate_of_the_table_is_a_dependency() {
    let crates = crates();
    let named = FLOORS.iter().flat_map(|floor| floor.outside).filter(|name| **name != EVERYTHING);
    let offences: Vec<String> = named
        .filter(|name| !crates.iter().any(|known| known == *name))
        .map(|name| (*name).to_owned())
        .collect();
    none("the table of floors names crates that no Cargo.toml does", &offences);
}

#[test]
fn a_door_is_opened_in_its_one_home() {
    let mut opened: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut offences = Vec::new();
    for file in below("src", "rs").into_iter().filter(|file| !is_test(&file.path)) {
        let code = product(file);
        for (at, word) in words(&code).filter(|(_, word)| word.starts_with("disallowed_")) {
            let known = DOORS.iter().find(|(home, lint, _)| *home == file.path && *lint == word);
            match known {
                Some((home, lint, _)) => *opened.entry(((*home).to_owned(), lint)).or_default() += 1,
                None => offences.push(format!("{}:{}: lifts clippy::{word}", file.path, line(&code, at))),
            }
        }
    }
    for (home, lint, what) in DOORS {
        let exists = below("src", "rs").iter().any(|file| file.path == *home);
        if exists && !opened.contains_key(&((*home).to_owned(), *lint)) {
            offences.push(format!("{home}: is the door to {what} and never lifts clippy::{lint}"));
        }
    }
    none("a door is opened in its one home (tests apart)", &offences);
}

#[test]
fn files_are_written_in_one_place() {
    // Locks are files in which nothing is written, and which many open at once; the history of a test is no product's.
    let homes = ["src/files/lib.rs", "src/provision/lock.rs", "src/core/store/faults.rs"];
    let makers =
        ["fs::write(", "File::create", "File::options", "OpenOptions", "fs::copy(", "fs::hard_link("];
    let mut offences = Vec::new();
    for file in below("src", "rs").into_iter().filter(|file| !homes.contains(&file.path.as_str())) {
        let code = product(file);
        for maker in makers {
            offences.extend(
                code.match_indices(maker)
                    .map(|(at, _)| format!("{}:{}: {maker}: call ebb_files", file.path, line(&code, at))),
            );
        }
    }
    none("files are made by src/files, exclusively and with their mode", &offences);
}

#[test]
fn the_linter_keeps_every_door_shut() {
    let lints = include_str!("../../.clippy.toml");
    for door in [
        "neo4rs::Graph",
        "neo4rs::Txn",
        "neo4rs::Graph::run",
        "neo4rs::Graph::execute",
        "neo4rs::Graph::start_txn",
        "std::time::SystemTime",
        "std::time::SystemTime::now",
        "chrono::Utc::now",
        "uuid::Uuid::now_v7",
        "std::env::var",
        "tokio::spawn",
    ] {
        assert!(
            lints.contains(&format!("{{ path = \"{door}\", reason = ")),
            ".clippy.toml does not name {door}"
        );
    }
}
