//! Precedence of layers, each kind of fault with its place, and the agreement of types and default file.

use super::fault::Origin;
use super::keys::KEYS;
use super::layers::Layer;
use super::{DEFAULT_TOML, Environment, Flag, Flags, Settings, reader, sample};
use ebb_engine::graph::builder::WeightRange;
use ebb_engine::graph::kinds::{Dimension, NodeType};
use ebb_engine::graph::number::PosF32;
use ebb_engine::plasticity::{LearningMode, PlasticityConfig};
use ebb_engine::recall::{self, RecallQuery, XlrMode};
use ebb_engine::resonance;
use ebb_engine::temporal::decay::HalfLives;
use secrecy::ExposeSecret;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Settings of a file's text, variables and flags, all given.
fn load(
    toml: &str,
    env: &[(&'static str, &'static str)],
    flags: &[(&'static str, &str)],
) -> Result<Settings, String> {
    let mut faults = Vec::new();
    let origin = |line, column| Origin::File { path: PathBuf::from("ebb.toml"), line, column };
    let file = Layer::of_toml(toml, &origin, &mut faults);
    let set = |&(key, value): &(&'static str, &str)| Flag {
        key,
        value: value.to_owned(),
        written: format!("--{}", key.rsplit('.').next().unwrap()),
    };
    let flags = Flags { config: None, set: flags.iter().map(set).collect() };
    let environment = env.iter().copied().collect::<Environment>();
    Settings::from_layers(file, &flags, &environment, faults).map_err(|faults| faults.to_string())
}

/// The faults, one a line, without the heading.
fn faults(toml: &str, env: &[(&'static str, &'static str)], flags: &[(&'static str, &str)]) -> Vec<String> {
    let said = load(toml, env, flags).unwrap_err();
    said.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

fn row(settings: &Settings, key: &str) -> (Option<String>, String) {
    let row = settings.rows().iter().find(|row| row.key == key).unwrap();
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (row.value.as_ref().map(shown), row.from.clone())
}

/// A file that nobody named may have come with a repository.
#[test]
fn a_file_that_was_found_names_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ebb.toml");
    std::fs::write(&path, "[neo4j]\njava = \"./java\"\nheap_mb = 512\n").unwrap();
    let mut faults = Vec::new();
    let layer = Layer::of_found_file(&path, &mut faults);
    let keys: Vec<&str> = layer.0.iter().map(|given| given.key.name.as_str()).collect();
    assert_eq!(keys, ["neo4j.heap_mb"]);
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    let said = fault.to_string();
    assert!(said.contains("ebb.toml:2:") && said.contains("`neo4j.java` says which programs run"), "{said}");
    assert_eq!(Layer::of_file(&path, &mut Vec::new()).0.len(), 2, "named by --config, it may");
}

/// The block of graphpalace.toml as the stigmergy document has it, comments and all, and other values under its names.
#[test]
fn the_documented_block_of_pheromones_is_read_as_it_stands() {
    let documented = "[pheromones]\n\
        exploitation_decay = 0.02 # Node: ~35 cycle half-life\n\
        exploration_decay = 0.05 # Node: ~14 cycle half-life\n\
        success_decay = 0.01 # Edge: ~69 cycle half-life (most persistent)\n\
        traversal_decay = 0.03 # Edge: ~23 cycle half-life\n\
        recency_decay = 0.10 # Edge: ~7 cycle half-life (most volatile)\n\
        decay_interval_cycles = 10 # How often to run bulk decay\n";
    let rates = |toml: &str| {
        let read = load(toml, &[], &[]).unwrap().pheromones;
        let rates = read.rates();
        let of = [rates.exploitation, rates.exploration, rates.success, rates.traversal, rates.recency];
        (of, read.decay_interval_cycles)
    };
    assert_eq!(rates(documented), ([0.02, 0.05, 0.01, 0.03, 0.10], 10));
    assert_eq!(rates(documented), rates(""), "they are the defaults");
    let other = documented.replace("0.02", "0.2").replace("= 10 ", "= 3 ");
    assert_eq!(rates(&other), ([0.2, 0.05, 0.01, 0.03, 0.10], 3));
}

#[test]
fn the_default_file_alone_is_a_sound_configuration() {
    let settings = load("", &[], &[]).unwrap();
    assert_eq!(settings.neo4j.uri, None);
    assert_eq!(settings.neo4j.start_timeout, Duration::from_secs(60));
    assert_eq!(settings.pools.connections, 8);
    assert_eq!(settings.worker.lease, Duration::from_secs(15));
    assert!(settings.jobs.decay.enabled && settings.jobs.decay.every.is_none());
    assert_eq!(settings.memory, ebb_core::domain::tunables::ConsolidationConfig::DOCUMENTED);
    assert_eq!(row(&settings, "neo4j.heap_mb"), (Some("1024".into()), "default".into()));
    assert_eq!(row(&settings, "neo4j.uri"), (None, "unset".into()));
}

#[test]
fn each_layer_wins_over_the_ones_below_and_says_so() {
    let toml = "[neo4j]\nheap_mb = 300\npagecache_mb = 300\nbolt_port = 300\n";
    let env = [("EBB__NEO4J__PAGECACHE_MB", "400"), ("EBB__NEO4J__BOLT_PORT", "400")];
    let settings = load(toml, &env, &[("neo4j.bolt_port", "500")]).unwrap();
    assert_eq!(
        (
            settings.neo4j.heap_mb,
            settings.neo4j.pagecache_mb,
            settings.neo4j.bolt_port,
            settings.neo4j.http_port
        ),
        (300, 400, 500, 0)
    );
    assert_eq!(row(&settings, "neo4j.heap_mb"), (Some("300".into()), "ebb.toml:2:1".into()));
    assert_eq!(
        row(&settings, "neo4j.pagecache_mb"),
        (Some("400".into()), "env EBB__NEO4J__PAGECACHE_MB".into())
    );
    assert_eq!(row(&settings, "neo4j.bolt_port"), (Some("500".into()), "flag --bolt_port".into()));
}

#[test]
fn the_usual_variables_fill_the_neo4j_section_and_empty_ones_count_as_unset() {
    let env = [
        ("NEO4J_URI", "bolt://localhost:7687"),
        ("NEO4J_USERNAME", "ebb"),
        ("NEO4J_PASSWORD", "hush"),
        ("NEO4J_DATABASE", ""),
        ("EBB_NEO4J", "maven"),
        ("EBB_NEO4J_IMAGE", "neo4j:5"),
        ("EBB__NEO4J__USERNAME", "more-particular"),
    ];
    let neo4j = load("", &env, &[]).unwrap().neo4j;
    assert_eq!(neo4j.uri.as_deref(), Some("bolt://localhost:7687"));
    assert_eq!((neo4j.username.as_str(), neo4j.database.as_str()), ("more-particular", "neo4j"));
    assert_eq!(neo4j.password.unwrap().expose_secret(), "hush");
    assert_eq!((neo4j.way, neo4j.image.as_str()), (Some(ebb_provision::Way::Maven), "neo4j:5"));
}

#[test]
fn keys_match_whatever_their_case() {
    let env = [("EBB__MEMORY__WORKINGTOSHORTTHRESHOLD", "2.5"), ("EBB__Jobs__Promote__every", "5m")];
    let settings = load("[Memory]\nDECAYBATCHSIZE = 50\n", &env, &[]).unwrap();
    assert_eq!((settings.memory.working_to_short_threshold, settings.memory.decay_batch_size), (2.5, 50.0));
    assert_eq!(settings.jobs.promote.every, Some(Duration::from_secs(300)));
}

#[test]
fn unknown_names_come_with_the_nearest_one_and_their_place() {
    let toml =
        "[neo4j]\nheapmb = 3\n[memry]\nworkingDecay = 1.0\n[memory]\n\n  heap_mb = 3\n[worker]\nzzz = 1\n";
    let env = [("EBB__MEMORY__WORKINGTOSHORTTRESHOLD", "2.0"), ("EBB__WORKER", "x")];
    assert_eq!(
        faults(toml, &env, &[]),
        [
            "ebb.toml:2:1: unknown key `neo4j.heapmb`; the nearest name is `neo4j.heap_mb`",
            "ebb.toml:3:2: unknown section `memry`; the nearest name is `memory`",
            "ebb.toml:7:3: unknown key `memory.heap_mb`; the nearest name is `neo4j.heap_mb`",
            "ebb.toml:9:1: unknown key `worker.zzz`; `ebb config show` lists every key",
            "env EBB__MEMORY__WORKINGTOSHORTTRESHOLD: unknown key `memory.workingtoshorttreshold`; the nearest name is `EBB__MEMORY__WORKINGTOSHORTTHRESHOLD`",
            "env EBB__WORKER: `worker` is a section; name one of its keys",
        ]
    );
}

#[test]
fn wrong_types_and_ranges_are_reported_all_at_once() {
    let toml = r#"
neo4j.heap_mb = "1024"
neo4j.bolt_port = 70000
neo4j.insecure = 1
neo4j.uri = "http://localhost"
neo4j.way = "podman"
neo4j.image = ""
neo4j.database = ["a"]
worker.lease = 15
log.filter = "inof"
jobs.decay.every = "10x"
jobs.promote.time_limit = "2days"
memory.workingDecay = "fast"
[memory.longTermDecay]
a = 1
"#;
    let said = faults(toml, &[("EBB__NEO4J__HTTP_PORT", "eighty")], &[("log.format", "xml")]);
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_conflict_of_two_values_is_reported_at_the_one_that_was_given() {
    let toml = "[memory]\nworkingToShortThreshold = 1.0\nshortTermDecay = -1\n[neo4j]\nbolt_port = 7687\nhttp_port = 7687\n";
    assert_eq!(
        faults(toml, &[], &[]),
        [
            "ebb.toml:2:1: `memory.sessionEndThreshold` is 1.5; it must not be above workingToShortThreshold, which is 1",
            "ebb.toml:3:1: `memory.shortTermDecay` is -1; it must be a finite number above 0",
            "ebb.toml:6:1: `neo4j.http_port` is 7687, which is `neo4j.bolt_port` too; the server needs two ports",
        ]
    );
}

#[test]
fn text_that_is_not_toml_names_line_and_column() {
    assert_eq!(faults("[neo4j]\nheap_mb = = 3\n", &[], &[]).len(), 1);
    let said = faults("[neo4j]\nheap_mb = = 3\n", &[], &[]).remove(0);
    assert!(said.starts_with("ebb.toml:2:11: this is not TOML: "), "{said}");
    let twice = faults("[worker]\nlease = \"1s\"\nLease = \"2s\"\n", &[], &[]);
    assert_eq!(twice, ["ebb.toml:3:1: `worker.lease` is given twice; also at ebb.toml:2:1"]);
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let flags = Flags { config: Some(PathBuf::from("no/such.toml")), set: Vec::new() };
    let said = Settings::load(&flags, &Environment::default()).unwrap_err();
    assert_eq!(said.list().len(), 1);
    assert!(said.list()[0].to_string().starts_with("no/such.toml: it cannot be read: "), "{said}");
}

#[test]
fn the_password_of_the_higher_layer_wins_and_two_of_one_layer_are_a_fault() {
    let toml = "[neo4j]\npassword_file = \"/run/secret\"\n";
    let by_file = load(toml, &[], &[]).unwrap().neo4j;
    assert!(by_file.password.is_none() && by_file.password_file.is_some());
    let by_env = load(toml, &[("NEO4J_PASSWORD", "hush")], &[]).unwrap().neo4j;
    assert!(by_env.password.is_some() && by_env.password_file.is_none());
    let env = [("NEO4J_PASSWORD", "hush"), ("NEO4J_PASSWORD_FILE", "/run/secret")];
    let said = faults("", &env, &[]);
    assert_eq!(
        said,
        ["env NEO4J_PASSWORD_FILE: `neo4j.password_file` and `neo4j.password` are both given; keep one"]
    );
}

#[test]
fn a_secret_is_never_printed() {
    let env = [("NEO4J_PASSWORD", "canary-1")];
    let settings = load("", &env, &[]).unwrap();
    let printed = format!("{settings:?} {}", serde_json::to_string(settings.rows()).unwrap());
    assert!(!printed.contains("canary"), "{printed}");
    assert_eq!(row(&settings, "neo4j.password"), (Some("********".into()), "env NEO4J_PASSWORD".into()));
    let rotated = load("", &[("NEO4J_PASSWORD", "canary-5")], &[]).unwrap();
    let others = settings.rows().iter().zip(rotated.rows()).filter(|(old, new)| old.is_other(new));
    assert_eq!(others.map(|(old, _)| old.key).collect::<Vec<_>>(), ["neo4j.password"], "a change is known");

    let toml = "[neo4j]\nuri = \"bolt://neo4j:canary-2@localhost\"\npassword = [\"canary-3\"]\npasword = \"canary-4\"\n";
    let said = faults(toml, &[], &[]).join("\n");
    assert!(said.lines().count() == 3 && !said.contains("canary"), "{said}");
}

#[test]
fn the_cache_folder_follows_the_users_environment() {
    let at = |env: &[(&'static str, &'static str)]| {
        let settings = load("", env, &[]).unwrap();
        (settings.neo4j.cache.clone(), row(&settings, "neo4j.cache").1)
    };
    assert_eq!(at(&[("HOME", "/home/a")]), (Some("/home/a/.cache/ebb".into()), "default, by HOME".into()));
    let both = [("HOME", "/home/a"), ("XDG_CACHE_HOME", "/c")];
    assert_eq!(at(&both), (Some("/c/ebb".into()), "default, by XDG_CACHE_HOME".into()));
    assert_eq!(at(&[]), (None, "unset".into()));
}

#[test]
fn java_home_is_used_if_it_exists() {
    let home = tempfile::tempdir().unwrap();
    let at = || {
        let environment = Environment::from_iter([("JAVA_HOME", home.path().to_str().unwrap())]);
        Settings::from_layers(Layer::default(), &Flags::default(), &environment, Vec::new())
            .unwrap()
            .neo4j
            .java
    };
    assert_eq!(at(), None);
    std::fs::create_dir(home.path().join("bin")).unwrap();
    std::fs::write(home.path().join("bin/java"), "").unwrap();
    assert_eq!(at(), Some(home.path().join("bin/java")));
}

/// A key of `config/default.toml`: its name, its value, whether it is commented out, and its description.
type Documented = (String, String, bool, String);

/// All keys of the default file, and the descriptions of its sections.
fn documented() -> (Vec<Documented>, BTreeMap<String, String>) {
    let (mut keys, mut sections) = (Vec::new(), BTreeMap::new());
    let (mut section, mut words, mut said) = (String::new(), Vec::new(), String::new());
    for line in DEFAULT_TOML.lines() {
        let key = line.strip_prefix("# ").unwrap_or(line).split_once(" = ");
        let is_key = |key: &str| key.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        if line.is_empty() {
            words.clear();
        } else if let Some(name) = line.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            section = name.to_owned();
            sections.insert(section.clone(), std::mem::take(&mut words).join(" "));
            said.clear();
        } else if let Some((key, value)) = key.filter(|(key, _)| is_key(key)) {
            if !words.is_empty() {
                said = std::mem::take(&mut words).join(" ");
            }
            let key = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
            keys.push((key, value.to_owned(), line.starts_with('#'), said.clone()));
        } else if let Some(more) = line.strip_prefix('#') {
            words.push(more.trim().to_owned());
        }
    }
    (keys, sections)
}

#[test]
fn the_sample_changes_nothing_and_names_every_key() {
    let same = |text: &str| load(text, &[], &[]).unwrap().rows().to_vec();
    assert_eq!(same(&sample()), same(""));
    // Of two keys that say one thing in two ways, one.
    let one_of_two = |key: &str| !key.ends_with(".password_file") && !key.ends_with(".cron");
    let examples = documented().0.into_iter().filter(|(key, _, unset, _)| *unset && one_of_two(key));
    let examples: String = examples.map(|(key, value, ..)| format!("{key} = {value}\n")).collect();
    load(&examples, &[], &[]).unwrap();
}

#[test]
fn types_and_default_file_name_the_same_keys() {
    let file: BTreeSet<String> = documented().0.into_iter().map(|(key, ..)| key).collect();
    assert_eq!(file, KEYS.iter().map(|key| key.name.clone()).collect());
}

#[test]
fn policies_come_from_three_sources_and_every_fault_has_its_place() {
    let toml = "[[policies]]\nid = \"a\"\nrelation = \"memory:*\"\nscope = \"company\"\nmode = \"confidence\"\nhalf_life_s = 604800\n\
                [[policies]]\nid = \"b\"\nrelation = \"x\"\nscope = \"*\"\nmode = \"retract\"\nttl_s = 60\nexempt_relations = [\"y*\"]\n";
    let ours = r#"[{"id": "b", "relation": "x", "scope": "team", "mode": "retract", "ttl_s": 7},
        {"id": "c", "relation": "*", "scope": "*", "mode": "dry_run", "ttl_s": 1, "half_life_s": null}]"#;
    let theirs = r#"[{"id": "c", "relation": "z", "scope": "*", "mode": "retract", "ttl_s": 2}]"#;
    let env = [("EBB_DECAY_POLICIES", ours), ("STIGMEM_DECAY_POLICIES", theirs)];
    let said = |settings: &Settings| {
        let policy =
            |policy: &ebb_core::domain::policy::Policy| format!("{} {:?}", policy.id, policy.measure);
        settings.policies.all().iter().map(policy).collect::<Vec<_>>()
    };
    let settings = load(toml, &env, &[]).unwrap();
    assert_eq!(said(&settings), ["a HalfLifeS(604800.0)", "b TtlS(7.0)", "c TtlS(2.0)"]);
    assert_eq!(settings.policies.all()[0].scope.map(|scope| scope.name()), Some("company"));
    assert_eq!(said(&load("", &[], &[]).unwrap()), [""; 0]);
    assert_eq!(load(toml, &[], &[]).unwrap().policies.all()[1].exempt_relations[0].as_str(), "y*");

    let wrong = toml.replace("half_life_s = 604800", "ttl_s = 5").replace("ttl_s = 60", "ttl_s = -60");
    let bad = r#"[{"id": "d", "relation": "x", "scope": "*", "mode": "retract", "ttl_s": 1},
        {"id": "d", "relation": "x", "scope": "mars", "mode": "retract", "ttl_s": 1, "hafl_life_s": 3}]"#;
    let found = faults(&wrong, &[("STIGMEM_DECAY_POLICIES", bad)], &[]);
    assert_eq!(
        found,
        [
            "ebb.toml:1:1: `policies.half_life_s` is missing; mode confidence needs it, not ttl_s",
            "ebb.toml:12:1: `policies.ttl_s` is -60; it is a number of seconds above 0",
            "env STIGMEM_DECAY_POLICIES[1]: `policies.id` is \"d\", as that of an earlier policy; ids are unique; also at env STIGMEM_DECAY_POLICIES[0]",
            "env STIGMEM_DECAY_POLICIES[1]: `policies.scope` is \"mars\"; it is local, team, company, public or *",
            "env STIGMEM_DECAY_POLICIES[1]: unknown field `hafl_life_s` of `policies`; the nearest name is `half_life_s`",
        ]
    );
}

#[test]
fn the_documented_block_of_yaml_is_a_section_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let flags = Flags { config: Some(path), set: Vec::new() };
        Settings::load(&flags, &Environment::default()).map_err(|faults| faults.to_string())
    };
    let documented = "settings:\n  memory:\n    decay:\n      enabled: false\n      halfLifeDays: 30          # days\n      \
                      minimumWeight: 0.25\n      schedule: \"30 4 * * *\"\n";
    let relation = load("a.yaml", documented).unwrap().relation;
    assert_eq!((relation.enabled, relation.half_life_days, relation.minimum_weight), (false, 30.0, 0.25));
    assert_eq!(relation.schedule.text(), "30 4 * * *");
    let toml = "[settings.memory.decay]\nhalfLifeDays = 45\n";
    assert_eq!(load("a.toml", toml).unwrap().relation.half_life_days.to_bits(), 45.0_f64.to_bits());
    let said = load("b.yml", "settings:\n  memory:\n    decay:\n      halfLiveDays: 30\n").unwrap_err();
    assert!(said.contains("b.yml:4:7") && said.contains("nearest name is `relation.halfLifeDays`"), "{said}");
    let said = load("c.yaml", "relation:\n  halfLifeDays: -1\n").unwrap_err();
    assert!(said.contains("c.yaml:2:3") && said.contains("finite number above 0"), "{said}");
    assert!(load("d.yaml", "a: [").unwrap_err().contains("not YAML"));
    assert!(load("e.yaml", "").is_ok());
    assert!(load("f.yaml", "- a\n").unwrap_err().contains("no section"));
}

#[test]
fn a_list_of_tables_is_read_from_every_form_and_every_fault_has_its_place() {
    let pins = |settings: Settings| settings.relation.pinned.0;
    let tables = "[[relation.pinned]]\ntype = \"depends_on\"\n[[relation.pinned]]\nfrom = \"a\"\ntype = \"uses\"\nto = \"b\"\n";
    let both = pins(load(tables, &[], &[]).unwrap());
    assert_eq!((both.len(), both[0].from.as_deref(), both[1].to.as_deref()), (2, None, Some("b")));
    let inline =
        "[relation]\npinned = [{ type = \"depends_on\" }, { from = \"a\", type = \"uses\", to = \"b\" }]\n";
    assert_eq!(pins(load(inline, &[], &[]).unwrap()), both);
    let json = [("EBB__RELATION__PINNED", r#"[{"type": "depends_on", "from": null}]"#)];
    assert_eq!(pins(load(tables, &json, &[]).unwrap()), both[..1], "a higher layer replaces the list");
    assert!(pins(load("[relation]\npinned = []\n", &[], &[]).unwrap()).is_empty());
    let mut faults_of_yaml = Vec::new();
    let place = |line, column| Origin::File { path: "x.yaml".into(), line, column };
    let yaml = "settings:\n  memory:\n    decay:\n      pinned:\n        - type: depends_on\n        - {from: a, type: uses, to: b}\n";
    let layer = Layer::of_yaml(yaml, &place, &mut faults_of_yaml);
    let settings = Settings::from_layers(layer, &Flags::default(), &Environment::default(), faults_of_yaml);
    assert_eq!(pins(settings.unwrap()), both);

    let wrong = "[[relation.pinned]]\nfrom = \"a\"\ntpye = 3\n[[relation.pinned]]\ntype = 3\nto = \"\"\nTYPE = \"x\"\n";
    assert_eq!(
        faults(wrong, &[], &[]),
        [
            "ebb.toml:1:1: `relation.pinned`: a table has no `type`; its fields are from, type, to",
            "ebb.toml:3:1: unknown field `tpye` of `relation.pinned`; the nearest name is `type`",
            "ebb.toml:5:1: `relation.pinned.type` is 3; it must be text, not empty",
            "ebb.toml:6:1: `relation.pinned.to` is \"\"; it must be text, not empty",
            "ebb.toml:7:1: `relation.pinned.type` is given twice",
        ]
    );
    let said = faults("relation.pinned = \"depends_on\"\n", &[("EBB__RELATION__PINNED", "{")], &[]);
    assert!(said[0].ends_with("it must be a list of tables, such as [[relation.pinned]]"), "{said:?}");
    assert!(said[1].contains("must be a JSON array of objects"), "{said:?}");
}

#[test]
fn no_text_makes_the_reader_panic() {
    let seeds = [
        "[memory]\nworkingDecay = 0.5\ndecayBatchSize = 100\n[jobs.decay]\ncron = \"30 4 * * 0\"\ntimezone = \"Europe/Berlin\"\n",
        "[relation]\nhalfLifeDays = 90\nminimumWeight = 0.10\n[log]\nfilter = \"warn,ebb=info\"\n[worker]\nlease = \"15s\"\n",
        "settings:\n  memory:\n    decay:\n      enabled: true\n      halfLifeDays: 90\n      schedule: \"30 4 * * 0\"\n",
        "[neo4j]\nuri = \"bolt://localhost:7687\"\npassword_file = \"a\"\nbolt_port = 7687\n",
        "[[relation.pinned]]\ntype = \"depends_on\"\n[[relation.pinned]]\nfrom = \"a\"\ntype = \"uses\"\nto = \"b\"\n",
        "relation:\n  pinned:\n    - type: depends_on\n    - {from: a, type: uses, to: b}\n",
    ];
    let (mut sound, mut faulty) = (0, 0);
    for (n, text) in crate::mutated::mutated(&seeds, 1).take(crate::mutated::MANY).enumerate() {
        let mut faults = Vec::new();
        let place = |line, column| Origin::File { path: "x".into(), line, column };
        let layer = if n % 2 == 0 {
            Layer::of_toml(&text, &place, &mut faults)
        } else {
            Layer::of_yaml(&text, &place, &mut faults)
        };
        let (lines, given) = (text.split('\n').count(), layer.0.len());
        for fault in &faults {
            let Origin::File { line, column, .. } = fault.origin else { panic!("{fault:?}") };
            assert!((1..=lines + 1).contains(&line) && column >= 1, "{fault:?} in {text:?}");
        }
        if faults.is_empty() {
            sound += 1
        } else {
            faulty += 1
        }
        assert!(given <= lines, "{text:?}");
    }
    assert!(sound > 100 && faulty > 10_000, "{sound} sound, {faulty} faulty");
}

#[test]
fn the_engine_of_the_default_file_is_that_of_the_constants() {
    let engine = load("", &[], &[]).unwrap().engine;
    let wanted = recall::RecallConfig::default();
    assert_eq!(format!("{:?}", engine.rules().unwrap()), format!("{wanted:?}"));
    assert_eq!(engine.range().unwrap(), WeightRange::default());
    assert_eq!(engine.plasticity().unwrap(), PlasticityConfig::new(0.3, 0.005).unwrap());
    let waves = engine.resonance().unwrap();
    assert_eq!((waves.pulse_budget, waves.max_hops), (resonance::DEFAULT_PULSE_BUDGET, resonance::HOPS_MAX));
    assert_eq!(waves.wavelength, resonance::WAVELENGTH);
    assert_eq!(engine.learn, LearningMode::OnOutcome);
    assert_eq!(*engine.rules().unwrap().default_query(), RecallQuery::default());
}

#[test]
fn an_embedder_needs_a_model_and_gets_no_key_that_others_can_read() {
    let said = |toml: &str| faults(&format!("[embedding]\n{toml}"), &[], &[]);
    let said_alone = said("url = \"http://127.0.0.1:11434/v1\"\n");
    assert_eq!(said_alone.len(), 2, "{said_alone:?}");
    for (fault, key) in said_alone.iter().zip(["embedding.dimensions", "embedding.model"]) {
        assert!(
            fault.contains("ebb.toml:2") && fault.contains(&format!("`{key}` is not set")),
            "{said_alone:?}"
        );
    }
    let whole =
        |url: &str| format!("url = \"{url}\"\nmodel = \"m\"\ndimensions = 3\napi_key_file = \"key\"\n");
    let exposed = said(&whole("http://10.0.0.1/v1"));
    assert!(exposed.len() == 1 && exposed[0].contains("would be sent unencrypted; use https"), "{exposed:?}");
    for url in ["https://api.openai.com/v1", "http://localhost:11434/v1/"] {
        let embedding = load(&format!("[embedding]\n{}", whole(url)), &[], &[]).unwrap().embedding;
        assert_eq!((embedding.model(), embedding.batch), (Some("m"), 32));
    }
    let secret = said(&whole("https://me:s3cret@api.openai.com/v1"));
    assert!(secret[0].contains("set embedding.api_key_file") && !secret[0].contains("s3cret"), "{secret:?}");
    // A model without a server embeds nothing.
    assert_eq!(load("[embedding]\nmodel = \"m\"\n", &[], &[]).unwrap().embedding.model(), None);
    let old = faults("[similarity]\nembedding_dimensions = 3\n", &[], &[]);
    assert!(old[0].contains("similarity.embedding_dimensions"), "{old:?}");
}

#[test]
fn the_engine_is_configured_by_file_and_variables() {
    let toml = "[engine]\nlearn = \"off\"\nlearning_rate = 1\nxlr = \"Gate\"\ndimensions = [\"Causal\", \"structural\"]\n\
                synonyms = [[\"car\", \"auto\"], [\"plane\"]]\n[engine.weights]\nstructural = 2\ncausal = 0\n\
                [engine.half_lives]\nmemory = 48\nothers = 96.5\n";
    let engine = load(toml, &[], &[]).unwrap().engine;
    assert_eq!((engine.learn, engine.xlr_pulses, engine.random_seed), (LearningMode::Off, 50_000, 42));
    assert_eq!(engine.plasticity().unwrap(), PlasticityConfig::new(1.0, 0.005).unwrap());
    let usual = engine.rules().unwrap().default_query().clone();
    assert_eq!(usual.dimensions, BTreeSet::from([Dimension::Structural, Dimension::Causal]));
    assert_eq!((usual.xlr, usual.priming), (XlrMode::Gate, false));
    let shown = format!("{:?}", engine.rules().unwrap());
    assert!(shown.contains("Weights([2.0, 0.25, 0.15, 0.0])"), "{shown}");
    let hours = |own: &[(NodeType, f32)], others: f32| {
        let own = own.iter().map(|(node_type, hours)| (*node_type, PosF32::new(*hours).unwrap()));
        format!("{:?}", HalfLives::new(PosF32::new(others).unwrap(), own))
    };
    // The kinds that the file does not name keep what the layer below says of them.
    let own = [(NodeType::File, 168.0), (NodeType::Function, 336.0), (NodeType::MEMORY, 48.0)];
    assert!(shown.contains(&hours(&own, 96.5)), "{shown}");
    assert!(
        shown.contains("\"auto\"") && !shown.contains("\"insumo\""),
        "a list replaces the one below: {shown}"
    );

    let env = [
        ("EBB__ENGINE__LEARN", "always"),
        ("EBB__ENGINE__PRIMING", "true"),
        ("EBB__ENGINE__DIMENSIONS", "semantic, temporal"),
        ("EBB__ENGINE__XLR_PULSES", "1"),
        ("EBB__ENGINE__RANDOM_SEED", "4294967295"),
        ("EBB__ENGINE__WEIGHTS__CAUSAL", "0.5"),
        ("EBB__ENGINE__HALF_LIVES__SEMANTICCLUSTER", "1"),
        ("EBB__ENGINE__SYNONYMS", "erro, error; custo,cost"),
    ];
    let settings = load(toml, &env, &[]).unwrap();
    let engine = &settings.engine;
    assert_eq!(
        (engine.learn, engine.xlr_pulses, engine.random_seed),
        (LearningMode::Always, 1, 4_294_967_295)
    );
    let usual = engine.rules().unwrap().default_query().clone();
    assert_eq!(usual.dimensions, BTreeSet::from([Dimension::Semantic, Dimension::Temporal]));
    assert!(usual.priming);
    assert_eq!(engine.weights.causal.to_bits(), 0.5_f32.to_bits());
    assert_eq!(engine.half_lives["SemanticCluster"].to_bits(), 1.0_f32.to_bits());
    assert_eq!(engine.synonyms, [["erro", "error"], ["custo", "cost"]]);
    let said = row(&settings, "engine.synonyms");
    assert_eq!(
        said,
        (Some(r#"[["erro","error"],["custo","cost"]]"#.into()), "env EBB__ENGINE__SYNONYMS".into())
    );
}

#[test]
fn numbers_outside_the_laws_are_reported_by_key_and_place() {
    let laws = [
        ("engine", "text_weight = -1", "text_weight is -1; it must be "),
        ("engine", "weight_floor = 0.001", "WEIGHT_FLOOR is 0.001"),
        ("engine", "weight_cap = 16.5", "WEIGHT_CAP is 16.5; it must be 1 to 16"),
        ("engine", "wavelength = 0.0", "positive number is 0; it must be 0 to "),
        ("engine", "wavelength = inf", "is not a finite number"),
        ("engine", "learning_rate = 0", "learning rate is 0; it must be 0 to 1"),
        ("engine", "learning_rate = 1.5", "learning rate is 1.5; it must be 0 to 1"),
        ("engine", "decay_rate = 1", "decay rate is 1; it must be 0 to 0.99999"),
        ("engine", "decay_rate = -0.5", "decay rate is -0.5; it must be 0 to 0.99999"),
        ("engine", "synonyms = [[\"a\", \"Erro\"], [\"erro\"]]", "'Erro' is in two groups of synonyms"),
        ("engine.causal", "causes = [\"a b\", \"A_B\"]", "the causal relation 'A_B' is empty or given twice"),
        ("engine.causal", "caused_by = [\"a=2\"]", "the causal strength of a is 2; it must be 0 to 1"),
        ("engine.weights", "causal = -1", "DIMENSION_WEIGHTS is -1; it must be 0 to "),
        ("engine.weights", "temporal = nan", "DIMENSION_WEIGHTS of NaN is not a finite number"),
        ("engine.half_lives", "Memory = 0", "positive number is 0; it must be 0 to "),
        ("engine.recall", "threshold = 1", "threshold is 1; it must be "),
        ("engine.recall", "cap = 16.5", "saturation_cap is 16.5; it must be "),
        ("engine.reference", "decay = 0", "decay is 0; it must be "),
    ];
    for (section, line, says) in laws {
        let key = line.split(' ').next().unwrap();
        let said = faults(&format!("[{section}]\n{line}\n"), &[], &[]);
        assert_eq!(said.len(), 1, "{said:?}");
        let begins = format!("ebb.toml:2:1: `{section}.{key}`: ");
        assert!(said[0].starts_with(&begins) && said[0].contains(says), "{said:?}");
    }
    // Each may weigh nothing, not all of them; and every fault is reported at once.
    let none = "[engine]\nlearning_rate = 2\n[engine.weights]\nstructural = 0\nsemantic = 0\ntemporal = 0\ncausal = 0\n";
    let said = faults(none, &[("EBB__ENGINE__SYNONYMS", "a,b;b")], &[]);
    assert_eq!(said.len(), 3, "{said:?}");
    let zero = "ebb.toml:4:1: `engine.weights.structural`: sum of DIMENSION_WEIGHTS is 0";
    assert!(said[1].starts_with(zero), "{said:?}");
    let twice = "env EBB__ENGINE__SYNONYMS: `engine.synonyms`: 'b' is in two groups";
    assert!(said[2].starts_with(twice), "{said:?}");
    assert!(load("[engine]\nsynonyms = []\n", &[], &[]).is_ok());
}

#[test]
fn engine_values_of_a_wrong_type_are_reported_by_key_and_place() {
    let heard =
        "it must be a list of \"structural\" or \"semantic\" or \"temporal\" or \"causal\", none twice";
    let shapes = [
        ("dimensions = []", heard),
        ("dimensions = [\"causal\", \"Causal\"]", "none twice"),
        ("dimensions = [\"smell\"]", heard),
        ("dimensions = \"causal\"", heard),
        ("xlr = \"on\"", "it must be \"off\" or \"gate\" or \"report\""),
        ("priming = 1", "it must be true or false"),
        ("learn = \"sometimes\"", "it must be \"on_outcome\" or \"always\" or \"off\""),
        ("xlr_pulses = 0", "it must be a whole number in 1 ..= 10000000 (pulses)"),
        ("resonance_pulses = 10000001", "it must be a whole number in 1 ..= 10000000 (pulses)"),
        ("random_seed = -1", "it must be a whole number in 0 ..= 4294967295"),
        ("synonyms = [\"a\"]", "it must be a list of lists of texts, none empty"),
        ("synonyms = [[\"a\", \" \"]]", "it must be a list of lists of texts, none empty"),
        ("learning_rate = \"fast\"", "it must be a number"),
    ];
    for (line, says) in shapes {
        let key = line.split(' ').next().unwrap();
        let said = faults(&format!("[engine]\n{line}\n"), &[], &[]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with(&format!("ebb.toml:2:1: `engine.{key}` is ")), "{said:?}");
        assert!(said[0].contains(says), "{said:?}");
    }
    let said = faults("[engine.half_lives]\nMemmory = 3\n[engine]\nlern = \"off\"\n", &[], &[]);
    assert_eq!(
        said,
        [
            "ebb.toml:2:1: unknown key `engine.half_lives.Memmory`; the nearest name is `engine.half_lives.Memory`",
            "ebb.toml:4:1: unknown key `engine.lern`; the nearest name is `engine.learn`",
        ]
    );
}

#[test]
fn the_reference_page_of_the_configuration() {
    let mut text = String::from(
        "# Configuration\n\nEvery key with its default, and what its value must be. Later layers win: the defaults, `ebb.toml` in the \
         current folder (or the file of `--config`), the environment (`EBB__SECTION__KEY`), flags. `ebb config show` says where each value comes \
         from, `ebb config validate` names every fault. A key without a default may be left out; its example is in brackets.\n",
    );
    let (keys, sections) = documented();
    let mut head = None;
    for key in KEYS.iter() {
        let (section, name) = key.name.rsplit_once('.').unwrap_or(("", &key.name));
        if head != Some(section) {
            head = Some(section);
            if let Some(words) = sections.get(section) {
                text += &format!("\n## {section}\n");
                text += &if words.is_empty() { String::new() } else { format!("\n{words}\n") };
            }
            text += "\n";
            crate::reference::head(&mut text, &["key", "default", "value", "description"]);
        }
        let rule = reader::describe(&key.path).broken.unwrap().0;
        let (_, value, is_example, words) = keys.iter().find(|(name, ..)| *name == key.name).unwrap();
        let value = if *is_example { format!("(`{value}`)") } else { format!("`{value}`") };
        let rule = match rule.strip_prefix("it must be ") {
            _ if !key.fields.is_empty() => "a list of tables",
            Some(rule) => rule,
            None => panic!("{}: {rule}", key.name),
        };
        crate::reference::row(&mut text, &[&format!("`{name}`"), &value, rule, words]);
    }
    crate::reference::holds("configuration.md", &text);
}

#[test]
fn causal_relations_of_the_default_file_are_those_of_the_engine() {
    use ebb_engine::graph::kinds::Kinds;
    let kinds = |text: &str| load(text, &[], &[]).unwrap().engine.kinds().unwrap();
    assert_eq!(kinds(""), Kinds::default());
    let own = kinds("[engine.causal]\ncauses = [\"sparks=0.25\"]\n");
    assert_eq!(own.of("SPARKS").causal.map(f32::to_bits), [0.25_f32.to_bits(), 0]);
    assert_eq!(own.of("CAUSES").causal.map(f32::to_bits), [0, 0]);
    assert_eq!(own.of("CAUSED_BY").causal.map(f32::to_bits), [0, 1.0_f32.to_bits()]);
}
