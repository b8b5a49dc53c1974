//! Checks of a database and its configuration, and repairs that need no decision.

use super::Service;
use crate::api::layout::{Layout, LayoutState};
use crate::clock::rfc3339;
use crate::domain::ids::shell_word;
use crate::embedder::Config;
use crate::store::{
    About, AdoptionCounts, Drift, EmbeddingTarget, Error, FutureRows, MirrorStatus, OtherEmbeddings,
    QuarantineCounts, UnfinishedErasure, Waiting,
};
use serde::Serialize;

/// Most memories of which embeddings are read, which takes about a second.
const EMBEDDINGS_READ: i64 = 50_000;

/// Advice for a failure that may have passed.
const AGAIN: &str = "run it again: ebb doctor; if it fails again, see the log of the server";

/// The result of a check, with advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Severity.
    pub level: Level,
    /// Name of the check.
    pub what: String,
    /// Result.
    pub found: String,
    /// Advice; empty if nothing is wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fix: String,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Correct.
    Well,
    /// Works, but less safely or less fast than it could.
    Warning,
    /// Does not work.
    Problem,
}

impl Service {
    /// Checks everything that Ebb depends on. Every check runs, even if an earlier one found a fault.
    ///
    /// # Errors
    /// Only if the server cannot be reached at all.
    pub async fn doctor(&self) -> Result<Vec<Finding>, Error> {
        let about = match self.store.about().await {
            Ok(about) => about,
            Err(why) => return refused("server", &why).map(|finding| vec![finding]).ok_or(why),
        };
        let mut findings =
            vec![well("server", format!("{} {} {}", about.name, about.version, about.edition))];
        findings.push(self.clock_skew(&about));
        findings.push(self.writes().await);
        findings.extend(self.server_settings().await);
        findings.extend(self.schema().await);
        findings.push(match self.store.valid_tunables().await {
            Ok(_) => well("tunables", "every value on the ConsolidationConfig node is valid".to_owned()),
            Err(Error::Schema(_)) => problem(
                "tunables",
                "there is no ConsolidationConfig node named 'default'".to_owned(),
                "ebb init",
            ),
            Err(why) => problem(
                "tunables",
                why.to_string(),
                "correct the value in Neo4j Browser, or remove it and run: ebb init",
            ),
        });
        findings.push(match self.store.cycles().await {
            Ok(counter) => {
                well("cycles", format!("a cycle of trails lasts {} s", counter.cycles.length_ms / 1_000))
            }
            Err(why @ Error::Conflict(_)) => problem(
                "cycles",
                why.to_string(),
                "correct it in Neo4j Browser: MATCH (c:EbbCounter {name: 'cycle'}) RETURN c",
            ),
            Err(why) => refused("cycles", &why)
                .unwrap_or_else(|| problem("cycles", why.to_string(), "run it again: ebb doctor")),
        });
        let (quarantined, embed) = match self.waiting_now().await {
            Ok(waiting) => (Ok(waiting.quarantined), Some(waiting.embed)),
            Err(why) => (Err(why), None),
        };
        findings.push(quarantined_rows(quarantined, self.store.quarantine_counts().await));
        findings.push(future_dates(self.future_rows_now().await));
        findings.push(foreign_rows(
            "other writers",
            self.store.memory_adoption().await,
            ("memory", "memories", "an id, a content, and a tier or an energy"),
            "decay",
        ));
        findings.push(foreign_rows(
            "facts",
            self.store.fact_adoption().await,
            ("fact", "facts", "an entity, a relation and a value"),
            "sweep",
        ));
        findings.push(layouts(self.detect_layouts().await));
        findings.push(deletions(self.store.unfinished_erasures().await));
        findings.push(mirror_shares(self.store.mirrors_status().await));
        findings.push(self.embeddings(embed).await);
        findings.push(match self.store.policies().await {
            Ok(found) => well("policies", format!("{} are valid", found.policies.all().len())),
            Err(why) => problem(
                "policies",
                why.to_string(),
                "correct them in Neo4j Browser: MATCH (p:EbbPolicy) RETURN p",
            ),
        });
        Ok(findings)
    }

    /// Repairs that need no decision: missing schema and tunables, and quarantined rows whose values are valid now.
    /// Returns a sentence for each repair made.
    pub async fn mend(&self) -> Result<Vec<String>, Error> {
        let mut done = Vec::new();
        let repaired = self.store.repair_schema().await?;
        if repaired > 0 {
            done.push(format!("created {repaired} missing constraints or indexes"));
        }
        let added = self.store.ensure_tunables(&self.config.consolidation).await?;
        if added > 0 {
            done.push(format!("added {added} missing tunables to the ConsolidationConfig node"));
        }
        let tunables = self.store.valid_tunables().await?;
        let released = self.store.release_sound(self.instant(None).await?, &tunables).await?;
        if released > 0 {
            done.push(format!("released {released} rows whose values are valid"));
        }
        let rewound = self.store.rewind(self.instant(None).await?).await?;
        if rewound > 0 {
            done.push(format!("reset {rewound} rows whose dates lay ahead of the clock"));
        }
        Ok(done)
    }

    /// Whether the server accepts writes. Nothing is left in a database that is not initialised.
    async fn writes(&self) -> Finding {
        let written = match self.store.check_schema().await {
            Ok(()) => self.store.probe_write().await,
            Err(_) => self.store.dry_run_write().await,
        };
        match written {
            Ok(()) => well("writes", "the server accepts writes".to_owned()),
            Err(why) => refused("writes", &why).unwrap_or_else(|| problem("writes", why.to_string(), AGAIN)),
        }
    }

    async fn waiting_now(&self) -> Result<Waiting, Error> {
        self.store.waiting(self.instant(None).await?).await
    }

    async fn future_rows_now(&self) -> Result<FutureRows, Error> {
        self.store.future_rows(self.instant(None).await?).await
    }

    /// Whether the embedder answers with the configured dimensions, and whether memories have embeddings of another model.
    async fn embeddings(&self, waiting: Option<i64>) -> Finding {
        let Some(embedder) = self.embedder() else {
            let found = "none is configured: memories have the embeddings of their writers";
            return well("embedder", found.to_owned());
        };
        if let Err(why) = embedder.probe().await {
            return problem("embedder", why.what, why.fix);
        }
        let Config { address, model, dimensions, expired, .. } = embedder.config();
        let target = EmbeddingTarget { model: model.clone(), dimensions: *dimensions, expired: *expired };
        let waiting = waiting.map_or_else(|| "an unknown number of".to_owned(), |count| count.to_string());
        let found = format!(
            "{model} at {address} answers with {dimensions} numbers; {waiting} memories wait for the job embed"
        );
        other_embeddings(found, self.store.other_embeddings(&target, EMBEDDINGS_READ).await)
    }

    fn clock_skew(&self, about: &About) -> Finding {
        let skew_ms = (self.clock.now().millis() - about.server_now.millis()).abs();
        let found = format!("this machine and the server differ by {skew_ms} ms");
        match skew_ms {
            0..5_000 => well("clock", found),
            5_000..60_000 => Finding {
                level: Level::Warning,
                what: "clock".to_owned(),
                found,
                fix: "synchronise the clocks; a worker uses this machine's, everything else the server's"
                    .to_owned(),
            },
            _ => problem(
                "clock",
                found,
                "synchronise the clocks: until then this machine's worker starts no run, and /readyz fails",
            ),
        }
    }

    async fn server_settings(&self) -> Vec<Finding> {
        let settings = match self.store.settings().await {
            Ok(settings) => settings,
            Err(why) => {
                return vec![Finding {
                    level: Level::Warning,
                    what: "server settings".to_owned(),
                    found: format!("cannot be read: {why}"),
                    fix: "let this user run SHOW SETTINGS".to_owned(),
                }];
            }
        };
        let seconds = |name: &str| {
            let value = settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())?;
            humane_seconds(value)
        };
        [("db.transaction.timeout", 10.0..=35.0, "30s"), ("db.lock.acquisition.timeout", 1.0..=15.0, "10s")]
            .into_iter()
            .map(|(name, range, advice)| match seconds(name) {
                Some(value) if range.contains(&value) => well(name, format!("{value} s")),
                value => Finding {
                    level: Level::Warning,
                    what: name.to_owned(),
                    found: value.map_or_else(|| "unknown".to_owned(), |value| format!("{value} s")),
                    fix: format!("set {name}={advice} on the server: locks of a lost client are then freed"),
                },
            })
            .collect()
    }

    async fn schema(&self) -> Vec<Finding> {
        match self.store.drift().await {
            Err(why) => {
                let fix = match self.store.unfinished_restore().await {
                    Ok(Some(of)) if of.is_loaded => "ebb restore FILE, with the same backup",
                    Ok(Some(_)) => "ebb restore FILE, with the same backup or another",
                    Ok(None) | Err(_) => "use the version of Ebb that initialised it",
                };
                vec![problem("schema", why.to_string(), fix)]
            }
            Ok(drift) if drift.is_empty() => vec![well("schema", "every constraint and index exists".to_owned())],
            Ok(drift) => drift
                .into_iter()
                .map(|drift| match drift {
                    Drift::Pending(name) => problem("schema", format!("{name} was never applied"), "ebb init"),
                    Drift::Missing(name) => problem("schema", format!("{name} was dropped"), "ebb doctor --fix"),
                    Drift::Absent(of) => {
                        problem("schema", format!("there is no index of {of}"), "ebb doctor --fix")
                    }
                    Drift::InTheWay(other) => problem(
                        "schema",
                        other.to_string(),
                        &format!("in Neo4j Browser: {}; then run: ebb doctor --fix", other.remedy()),
                    ),
                    Drift::NotOnline { name, state } => Finding {
                        level: Level::Warning,
                        what: "schema".to_owned(),
                        found: format!("{name} is {state}"),
                        fix: "wait until the server has built it; if that failed, drop it and run: ebb doctor --fix"
                            .to_owned(),
                    },
                })
                .collect(),
        }
    }
}

/// Memories with embeddings of other models, after what was `found` of the configured one.
fn other_embeddings(found: String, others: Result<OtherEmbeddings, Error>) -> Finding {
    let warning = |found: String, fix: &str| Finding {
        level: Level::Warning,
        what: "embedder".to_owned(),
        found,
        fix: fix.to_owned(),
    };
    let OtherEmbeddings { read, memories, models } = match others {
        Ok(others) => others,
        Err(why) => {
            let found = format!("{found}; embeddings of other models cannot be counted: {why}");
            return warning(found, AGAIN);
        }
    };
    let some = (read >= EMBEDDINGS_READ).then(|| format!("of {read} memories, which are not all, "));
    match (memories, some) {
        (0, None) => well("embedder", found),
        (0, Some(some)) => well("embedder", format!("{found}; {some}none has an embedding of another model")),
        (_, some) => warning(
            format!(
                "{found}; {}{memories} have embeddings of another model or length ({}), which no recall compares until the \
                 job has replaced them",
                some.unwrap_or_default(),
                models.join("; ")
            ),
            "leave that to the worker, or run: ebb job run embed",
        ),
    }
}

/// Quarantined rows.
fn quarantined_rows(nodes: Result<i64, Error>, others: Result<QuarantineCounts, Error>) -> Finding {
    let fix = "see them with: ebb inspect quarantine; correct the value or constraint that each names, then run: ebb doctor --fix. \
               Places and edges are released by the next run of evaporate, adopted relations by that of fade";
    let mut unknown = Vec::new();
    let nodes = nodes.unwrap_or_else(|why| {
        unknown.push(format!("memories, facts and sessions could not be counted: {why}"));
        0
    });
    let QuarantineCounts { relations, places, edges } = others.unwrap_or_else(|why| {
        unknown.push(format!("relations and trails could not be counted: {why}"));
        QuarantineCounts { relations: 0, places: 0, edges: 0 }
    });
    let named = [
        (nodes, "memory, fact or session", "memories, facts or sessions"),
        (relations, "relation", "relations"),
        (places, "place", "places"),
        (edges, "edge", "edges"),
    ];
    let mut said: Vec<String> = named
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, several)| format!("{count} {}", if count == 1 { one } else { several }))
        .collect();
    if said.is_empty() && unknown.is_empty() {
        return well("rows", "none is quarantined".to_owned());
    }
    if !said.is_empty() {
        said = vec![format!("{} quarantined, values unchanged", said.join(", "))];
    }
    said.append(&mut unknown);
    problem("rows", said.join("; "), fix)
}

/// Deletions of scopes that are not finished.
fn deletions(found: Result<Vec<UnfinishedErasure>, Error>) -> Finding {
    let found = match found {
        Ok(found) => found,
        Err(why) => return unread("deletions", &why),
    };
    if found.is_empty() {
        return well("deletions", "each of a scope is finished".to_owned());
    }
    let describe = |UnfinishedErasure { scope, by, at }: &UnfinishedErasure| {
        let since = at.map_or_else(|| "at an unknown instant".to_owned(), rfc3339);
        format!("that of the scope {scope}, begun {since} by {by}, is in progress or was broken off")
    };
    // As a shell reads it: a scope may have quotes.
    let command = |one: &UnfinishedErasure| format!("ebb scope delete {}", shell_word(&one.scope));
    Finding {
        level: Level::Warning,
        what: "deletions".to_owned(),
        found: found.iter().map(describe).collect::<Vec<_>>().join("; "),
        fix: format!("to finish it, run: {}", found.iter().map(command).collect::<Vec<_>>().join("; ")),
    }
}

/// Share of their scopes that mirrors hold.
fn mirror_shares(statuses: Result<Vec<MirrorStatus>, Error>) -> Finding {
    let statuses = match statuses {
        Ok(statuses) => statuses,
        Err(why) => return unread("mirrors", &why),
    };
    if statuses.iter().all(|mirror| mirror.stale) {
        return well("mirrors", "no process has one".to_owned());
    }
    let fix = "raise mirror.max_bytes, or list fewer scopes in mirror.scopes";
    let partial = |mirror: &&MirrorStatus| !mirror.stale && !mirror.whole;
    let describe = |mirror: &MirrorStatus| match mirror.nodes {
        0 => format!(
            "the mirror of {} in {} is empty: nothing fits, recall returns 503",
            mirror.scope, mirror.process
        ),
        _ => format!(
            "the mirror of {} in {} holds {} nodes, {:.3} of all",
            mirror.scope, mirror.process, mirror.nodes, mirror.held_share
        ),
    };
    let found: Vec<String> = statuses.iter().filter(partial).map(describe).collect();
    if found.is_empty() {
        return well("mirrors", "each holds its whole scope".to_owned());
    }
    let is_empty = statuses.iter().filter(partial).any(|mirror| mirror.nodes == 0);
    let level = if is_empty { Level::Problem } else { Level::Warning };
    Finding { level, what: "mirrors".to_owned(), found: found.join("; "), fix: fix.to_owned() }
}

/// Dates in the future, written with a wrong clock; nothing decays from them.
fn future_dates(found: Result<FutureRows, Error>) -> Finding {
    let found = match found {
        Ok(found) => found,
        Err(why) => {
            let fix = "fix the fault on the line for cycles or the server, then run: ebb doctor";
            return problem("dates ahead", format!("cannot be counted: {why}"), fix);
        }
    };
    let FutureRows { memories, relations, facts, places, edges, sessions, accesses, pairs, ledger, named } =
        found;
    let counted = [
        (memories, "memories"),
        (relations, "relations"),
        (facts, "facts"),
        (places, "places"),
        (edges, "edges"),
        (sessions, "sessions"),
        (accesses, "accesses"),
        (pairs, "pairs"),
        (ledger, "runs and leases"),
    ];
    let said: Vec<String> = counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, several)| format!("{several}: {count}"))
        .collect();
    if said.is_empty() {
        return well("dates ahead", "no date lies ahead of the clock".to_owned());
    }
    problem(
        "dates ahead",
        match named.as_slice() {
            [] => format!("dates written with a wrong clock lie in the future ({})", said.join(", ")),
            named => format!(
                "dates written with a wrong clock lie in the future ({}), such as {}",
                said.join(", "),
                named.join(", ")
            ),
        },
        "first see that the clock of the server is right; then, to let them decay from now on with their present values, \
         run: ebb doctor --fix",
    )
}

/// Rows of other writers: those that no run has adopted yet, and those that are none of Ebb's.
fn foreign_rows(
    what: &str,
    counts: Result<AdoptionCounts, Error>,
    (one, several, shape): (&str, &str, &str),
    job: &str,
) -> Finding {
    let counts = match counts {
        Ok(counts) => counts,
        Err(why) => return unread(what, &why),
    };
    let number = |count: i64| match count {
        1 => format!("1 {one}"),
        n => format!("{n} {several}"),
    };
    match (counts.waiting(), counts.foreign) {
        (0, 0) => well(what, format!("every {one} is adopted")),
        (0, foreign) => {
            well(what, format!("{} of another library, without {shape}: never changed", number(foreign)))
        }
        (waiting, _) => Finding {
            level: Level::Warning,
            what: what.to_owned(),
            found: format!("{} by plain Cypher since the last run", number(waiting)),
            fix: format!("the next run adopts those of the documented shape: ebb job run {job}"),
        },
    }
}

/// Graphs of other libraries.
fn layouts(found: Result<Vec<Layout>, Error>) -> Finding {
    let describe = |layout: &Layout| {
        let state = match (layout.adopted, layout.state) {
            (true, _) => "adopted",
            (false, LayoutState::Known) => "not read: run ebb adopt --detect",
            (false, _) => "cannot be read: run ebb adopt --detect",
        };
        format!("{}: {}; {state}", layout.library, layout.summary())
    };
    match found {
        Ok(found) if found.is_empty() => well("layouts", "no graph of another library is known".to_owned()),
        Ok(found) => well("layouts", found.iter().map(describe).collect::<Vec<_>>().join(". ")),
        Err(why) => Finding {
            level: Level::Warning,
            what: "layouts".to_owned(),
            found: format!("cannot be counted: {why}"),
            fix: "run ebb adopt --detect".to_owned(),
        },
    }
}

fn well(what: &str, found: String) -> Finding {
    Finding { level: Level::Well, what: what.to_owned(), found, fix: String::new() }
}

/// A check whose read failed.
fn unread(what: &str, why: &Error) -> Finding {
    refused(what, why).unwrap_or_else(|| problem(what, format!("cannot be read: {why}"), AGAIN))
}

/// A problem for a statement that the server refuses until its configuration is changed.
fn refused(what: &str, why: &Error) -> Option<Finding> {
    why.refusal().map(|refusal| problem(what, format!("{refusal}: {why}"), refusal.fix()))
}

fn problem(what: &str, found: String, fix: &str) -> Finding {
    Finding { level: Level::Problem, what: what.to_owned(), found, fix: fix.to_owned() }
}

/// The seconds of a duration setting of the server, such as `30s`, `1m` or `500ms`; 0 is off.
fn humane_seconds(text: &str) -> Option<f64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().ok()?;
    let unit = match &text[split..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed<T>() -> Result<T, Error> {
        Err(Error::Schema("the server is out of memory".to_owned()))
    }

    #[test]
    fn a_read_that_fails_is_a_finding_with_the_reason() {
        let counts = Ok(QuarantineCounts { relations: 2, places: 0, edges: 0 });
        for finding in [
            quarantined_rows(failed(), counts),
            future_dates(failed()),
            foreign_rows("facts", failed(), ("fact", "facts", "a value"), "sweep"),
            layouts(failed()),
            deletions(failed()),
            mirror_shares(failed()),
            other_embeddings("small".to_owned(), failed()),
        ] {
            assert!(finding.found.contains("the server is out of memory"), "{finding:?}");
            assert!(finding.level != Level::Well && !finding.fix.is_empty(), "{finding:?}");
        }
        let rows = quarantined_rows(failed(), Ok(QuarantineCounts { relations: 2, places: 0, edges: 0 }));
        assert!(rows.found.starts_with("2 relations quarantined"), "{rows:?}");
    }

    #[test]
    fn mirrors_are_whole_where_there_are_any() {
        let mirror = |stale, whole| MirrorStatus {
            scope: "local".to_owned(),
            process: "p".to_owned(),
            age_ms: 1,
            stale,
            generation: 1,
            nodes: 8,
            slots: 0,
            bytes: 0,
            tick: 0,
            learned: 0,
            whole,
            held_share: if whole { 1.0 } else { 0.5 },
            refresh_ms: 1,
            stale_ms: 1,
        };
        let found = |mirrors: &[MirrorStatus]| mirror_shares(Ok(mirrors.to_vec())).found;
        assert_eq!(found(&[]), "no process has one");
        assert_eq!(found(&[mirror(true, false)]), "no process has one");
        assert_eq!(found(&[mirror(true, false), mirror(false, true)]), "each holds its whole scope");
        assert!(found(&[mirror(false, false)]).contains("holds 8 nodes, 0.500 of all"));
    }

    #[test]
    fn a_count_of_embeddings_says_if_it_did_not_read_all() {
        let found = |read, memories| {
            let models = vec!["large, 4 numbers".to_owned()];
            other_embeddings("small".to_owned(), Ok(OtherEmbeddings { read, memories, models }))
        };
        assert_eq!(found(EMBEDDINGS_READ - 1, 0), well("embedder", "small".to_owned()));
        let none = "small; of 50000 memories, which are not all, none has an embedding of another model";
        assert_eq!(found(EMBEDDINGS_READ, 0), well("embedder", none.to_owned()));
        let some = found(EMBEDDINGS_READ, 3).found;
        assert!(some.starts_with("small; of 50000 memories, which are not all, 3 have embeddings"), "{some}");
        assert!(found(9, 3).found.starts_with("small; 3 have embeddings"));
    }
}
