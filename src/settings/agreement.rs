//! What two values must agree on, once each is sound alone.
//!
//! A fault here names a key that somebody gave: if the key that breaks the rule has its default value, the fault stands
//! at the other key of the rule.

use super::fault::{Fault, Origin};
use super::jobs::JOBS;
use super::layers::Layer;
use super::{Settings, winner};
use ebb_core::domain::ids::Scope;
use ebb_core::domain::trail::EvaporationError;

/// Settles on one of two keys that say the same thing in two ways, the password stated or in a file, a schedule as an
/// interval or as a pattern: the one of the highest layer, so that a variable can stand in for what a file says and the
/// other way round.
pub(super) fn choose(layers: &mut [Layer], faults: &mut Vec<Fault>) {
    choose_one(layers, "neo4j.password", "neo4j.password_file", faults);
    for job in JOBS {
        choose_one(layers, &format!("jobs.{job}.every"), &format!("jobs.{job}.cron"), faults);
    }
}

fn choose_one(layers: &mut [Layer], one: &str, other: &str, faults: &mut Vec<Fault>) {
    let height = |key| layers.iter().rposition(|layer| layer.0.iter().any(|given| given.key == key));
    match (height(one), height(other)) {
        (Some(first), Some(second)) if first == second => {
            if let Some(given) = winner(layers, other) {
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
    layers.iter_mut().for_each(|layer| layer.0.retain(|given| given.key != key));
}

/// Checks what needs more than one value to be seen.
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
            "`http.listen` is {listen}, where other machines can ask; keys would cross the network in the clear. Put a \
             proxy that ends TLS before it and say so with `http.proxy = true`"
        );
        faults.push(Fault { origin: blamed(layers, &["http.listen", "http.proxy"]), what });
    }
    if let Err(why) = settings.relation.fading() {
        let what = format!("`relation.halfLifeDays` is {}; {why}", settings.relation.half_life_days);
        faults.push(Fault { origin: blamed(layers, &["relation.halfLifeDays"]), what });
    }
    if let Err(EvaporationError::Rate(name, why)) = settings.pheromones.evaporation() {
        let key = format!("pheromones.{name}");
        faults.push(Fault { origin: blamed(layers, &[&key]), what: format!("`{key}`: {why}") });
    }
    if let Err(why) = settings.pheromones.allowed() {
        let keys = ["pheromones.labels", "pheromones.relationship_types"];
        faults.push(Fault { origin: blamed(layers, &keys), what: why.to_string() });
    }
    for (key, why) in settings.engine.refused() {
        faults.push(Fault { origin: blamed(layers, &[&key]), what: format!("`{key}`: {why}") });
    }
    for name in &settings.mirror.scopes {
        if let Err(why) = Scope::new(name) {
            let what = format!("`mirror.scopes` names {name:?}; {why}");
            faults.push(Fault { origin: blamed(layers, &["mirror.scopes"]), what });
        }
    }
    let Err(broken) = settings.memory.clone().check() else { return };
    // A value that is no number at all was named above; what it would have been compared with is not its neighbour's fault.
    let named_above = |text: &str| faults.iter().any(|fault| mentions(&fault.what, text));
    let mut more = Vec::new();
    for fault in broken {
        let names: Vec<&str> = super::knobs::KNOBS
            .iter()
            .filter_map(|knob| knob.key.strip_prefix("memory."))
            .filter(|name| *name == fault.name || mentions(&fault.rule, name))
            .collect();
        if names.iter().any(|name| named_above(name)) {
            continue;
        }
        let mut keys = vec![format!("memory.{}", fault.name)];
        keys.extend(names.iter().map(|name| format!("memory.{name}")));
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        more.push(Fault {
            origin: blamed(layers, &keys),
            what: format!("`memory.{}` is {}; {}", fault.name, fault.value, fault.rule),
        });
    }
    faults.extend(more);
}

/// The place of the first of these keys that somebody gave.
fn blamed(layers: &[Layer], keys: &[&str]) -> Origin {
    let origins = || keys.iter().filter_map(|key| winner(layers, key)).map(|given| &given.origin);
    origins()
        .find(|origin| **origin != Origin::Default)
        .or_else(|| origins().next())
        .cloned()
        .unwrap_or(Origin::Default)
}

/// Whether a text holds this name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name)
}
