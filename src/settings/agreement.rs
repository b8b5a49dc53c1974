//! Checks between values, once each is valid alone, and choices between keys that exclude each other.
//!
//! A fault is placed at a key that was given: if the key that breaks the rule has its default value, at the other key
//! of the rule.

use super::fault::{Fault, Origin};
use super::keys::{self, KEYS};
use super::layers::{Given, Layer};
use super::sections::Embedding;
use super::{Settings, policies, winner};
use config::Value;
use ebb_core::domain::trail::EvaporationError;
use ebb_core::domain::tunables::ConsolidationConfig;

/// Keeps one of two keys that exclude each other, such as a password and its file, or an interval and a cron pattern:
/// that of the higher layer, so that a variable can replace either key of a file.
pub(super) fn choose(layers: &mut [Layer], faults: &mut Vec<Fault>) {
    choose_one(layers, "neo4j.password", "neo4j.password_file", faults);
    for job in KEYS.iter().filter_map(|key| key.name.strip_suffix(".every")) {
        choose_one(layers, &format!("{job}.every"), &format!("{job}.cron"), faults);
    }
}

fn choose_one(layers: &mut [Layer], one: &str, other: &str, faults: &mut Vec<Fault>) {
    let height = |key| layers.iter().rposition(|layer| layer.0.iter().any(|given| given.key.name == key));
    match (height(one), height(other)) {
        (Some(first), Some(second)) if first == second => {
            if let Some(given) = keys::find(other).and_then(|key| winner(layers, key)) {
                let origin = given.origin.clone();
                faults
                    .push(Fault { origin, what: format!("`{other}` and `{one}` are both given; keep one") });
            }
        }
        (first, Some(second)) if first < Some(second) => remove(layers, one),
        (Some(_), Some(_)) => remove(layers, other),
        _ => {}
    }
}

fn remove(layers: &mut [Layer], key: &str) {
    layers.iter_mut().for_each(|layer| layer.0.retain(|given| given.key.name != key));
}

/// Moves the policies of all layers into the highest: a later one replaces the earlier one with its id, at the same
/// position, so that a variable can replace one policy of a file and keep the others. Any other list is replaced as a
/// whole.
pub(super) fn merge_policies(layers: &mut [Layer]) {
    let mut merged: Vec<Value> = Vec::new();
    let mut last: Option<Given> = None;
    let id = |policy: &Value| policy.clone().into_table().ok()?.remove("id");
    for given in layers.iter().flat_map(|layer| &layer.0).filter(|given| given.key.name == policies::KEY) {
        for policy in given.value.clone().into_array().unwrap_or_default() {
            match merged.iter_mut().find(|known| id(known) == id(&policy)) {
                Some(known) => *known = policy,
                None => merged.push(policy),
            }
        }
        last = Some(given.clone());
    }
    if let (Some(last), Some((highest, _))) = (last, layers.split_last_mut()) {
        highest.0.push(Given { value: Value::from(merged), ..last });
    }
}

/// Checks values against each other, and by the laws.
pub(super) fn check(settings: &Settings, layers: &[Layer], faults: &mut Vec<Fault>) {
    let (bolt, http) = (settings.neo4j.bolt_port, settings.neo4j.http_port);
    if bolt == http && bolt != 0 {
        let what = format!(
            "`neo4j.http_port` is {http}, which is `neo4j.bolt_port` too; the server needs two ports"
        );
        faults.push(Fault { origin: blamed(layers, &["neo4j.http_port", "neo4j.bolt_port"]), what });
    }
    let (tick, lease) = (settings.worker.tick, settings.worker.lease);
    if tick > lease {
        let [tick, lease] = [tick, lease].map(humantime::format_duration);
        let what =
            format!("`worker.tick` is {tick}; it must not be longer than `worker.lease`, which is {lease}");
        faults.push(Fault { origin: blamed(layers, &["worker.tick", "worker.lease"]), what });
    }
    if let Some(listen) =
        settings.http.listen.filter(|listen| !listen.ip().is_loopback() && !settings.http.proxy)
    {
        let what = format!(
            "`http.listen` is {listen}, which other machines can reach; keys would be sent unencrypted. Put a \
             proxy that terminates TLS in front of it and set `http.proxy = true`"
        );
        faults.push(Fault { origin: blamed(layers, &["http.listen", "http.proxy"]), what });
    }
    check_embedding(&settings.embedding, layers, faults);
    if laws(settings).is_err() {
        check_laws(layers, faults);
    }
    let Err(broken) = settings.memory.clone().check() else { return };
    // A value that is not a number was reported above, and is replaced by its default here: a conflict with that is no
    // fault.
    let named_above = |name: &str| faults.iter().any(|fault| mentions(&fault.what, name));
    let mut more = Vec::new();
    for fault in broken {
        let compared = ConsolidationConfig::NAMES.into_iter().filter(|name| mentions(&fault.rule, name));
        let names: Vec<&str> = std::iter::once(fault.name).chain(compared).collect();
        if names.iter().any(|name| named_above(name)) {
            continue;
        }
        let keys: Vec<String> = names.iter().map(|name| format!("memory.{name}")).collect();
        more.push(Fault {
            origin: blamed(layers, &keys.iter().map(String::as_str).collect::<Vec<_>>()),
            what: format!("`memory.{}` is {}; {}", fault.name, fault.value, fault.rule),
        });
    }
    faults.extend(more);
}

/// An embedder needs a model and its dimensions, and gets no key that can be read on the way.
fn check_embedding(embedding: &Embedding, layers: &[Layer], faults: &mut Vec<Fault>) {
    let Some(url) = &embedding.url else { return };
    let keys = [
        ("embedding.model", embedding.model.is_none()),
        ("embedding.dimensions", embedding.dimensions.is_none()),
    ];
    for (key, _) in keys.into_iter().filter(|(_, is_missing)| *is_missing) {
        let what = format!("`embedding.url` is {url}, and `{key}` is not set; set it to that of the model");
        faults.push(Fault { origin: blamed(layers, &["embedding.url"]), what });
    }
    if url.is_exposed() && embedding.api_key_file.is_some() {
        let what = format!(
            "`embedding.url` is {url}, and the key in `embedding.api_key_file` would be sent unencrypted; use https, or \
             an embedder on this machine"
        );
        faults.push(Fault { origin: blamed(layers, &["embedding.url", "embedding.api_key_file"]), what });
    }
}

/// Builds the laws from the settings, which checks ranges that only the laws know.
fn laws(settings: &Settings) -> Result<(), String> {
    let relation = &settings.relation;
    relation.fading().map_err(|why| format!("it is {}; {why}", relation.half_life_days))?;
    settings.pheromones.evaporation().map_err(|why| match why {
        EvaporationError::Rate(_, why) => why.to_string(),
        why => why.to_string(),
    })?;
    settings.pheromones.allowed().map_err(|why| why.to_string())?;
    settings.mappings()?;
    settings.engine.rules().map_err(|why| why.to_string())?;
    settings.engine.kinds().map_err(|why| why.to_string())?;
    settings.engine.range().map_err(|why| why.to_string())?;
    settings.engine.plasticity().map_err(|why| why.to_string()).map(drop)
}

/// Finds the values that break a law: first those that do so alone, with all else at its default; then the first of the
/// others that do so together. The laws themselves name no keys, and stop at their first fault.
fn check_laws(layers: &[Layer], faults: &mut Vec<Fault>) {
    let Some(defaults) = layers.first() else { return };
    let broken = |values: &[&Given]| {
        let values = Layer(values.iter().map(|given| (*given).clone()).collect());
        super::fill(&[defaults.clone(), values]).ok().and_then(|settings| laws(&settings).err())
    };
    let mut blame = |given: &Given, why| {
        faults.push(Fault { origin: given.origin.clone(), what: format!("`{}`: {why}", given.key.name) });
    };
    let mut others = Vec::new();
    let winners = KEYS.iter().filter_map(|key| winner(layers, key));
    for given in winners.filter(|given| given.origin != Origin::Default) {
        match broken(&[given]) {
            Some(why) => blame(given, why),
            None => others.push(given),
        }
    }
    if let Some(why) = broken(&others) {
        let is_needed = |one: &&&Given| {
            let without: Vec<_> =
                others.iter().copied().filter(|given| given.key.name != one.key.name).collect();
            broken(&without).is_none()
        };
        if let Some(given) = others.iter().find(is_needed) {
            blame(given, why);
        }
    }
}

/// The place of the first of these keys that is not at its default.
fn blamed(layers: &[Layer], names: &[&str]) -> Origin {
    let given = || names.iter().filter_map(|name| keys::find(name)).filter_map(|key| winner(layers, key));
    let origins = || given().map(|given| &given.origin);
    origins()
        .find(|origin| **origin != Origin::Default)
        .or_else(|| origins().next())
        .cloned()
        .unwrap_or(Origin::Default)
}

/// Whether a text contains this name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name)
}
