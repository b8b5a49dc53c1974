//! The page `/metrics`, in the text format 0.0.4 of Prometheus.
//!
//! | name | type, labels | says |
//! |---|---|---|
//! | `ebb_ready` | gauge | 1 if `/readyz` says yes |
//! | `ebb_runs_total` | counter, job, outcome | runs by how they ended: done, failed, guarded, panicked, lost, released |
//! | `ebb_run_seconds` | summary, job | time of runs |
//! | `ebb_rows_total` | counter, job, what | rows by what was done to them: the counters of a run in the ledger |
//! | `ebb_schedule_lag_seconds` | gauge, job | how long the occurrence that is due has waited; 0 if none is |
//! | `ebb_last_done_timestamp_seconds` | gauge, job | when a run of this worker last did its work |
//! | `ebb_missed_occurrences_total` | counter, job | occurrences that never ran, one run having made up for all |
//! | `ebb_overlaps_total` | counter, job | occurrences that came due while the run before still went |
//! | `ebb_adopted_runs_total` | counter, job | runs that a dead worker left and this one finished |
//! | `ebb_stranded_run_seconds` | gauge, job | for how long the lease of an open run has been over, and nobody took it |
//! | `ebb_reaped_attempts_total` | counter | attempts whose lease was over and that this worker ended |
//! | `ebb_stuck_attempts` | gauge | attempts that nobody ended a minute after their lease |
//! | `ebb_quarantined_rows` | gauge | rows that are set aside |
//! | `ebb_unknown_commits_total` | counter | commits whose outcome was unknown, each settled by its receipt |
//! | `ebb_retries_total` | counter | transactions begun again |
//! | `ebb_clock_skew_seconds` | gauge | this machine's clock less the server's |
//! | `ebb_failed_looks_total` | counter | looks at the ledger that failed |
//! | `ebb_failed_reloads_total` | counter | changed configurations that had faults and were not taken over |
//! | `ebb_panics_total` | counter | panics |
//! | `ebb_http_responses_total` | counter, status | answers of the API, by the first digit of their status |
//! | `ebb_http_used` | gauge, of | what requests hold: places for reads, writes, lists and batches; bytes of bodies and answers in flight |
//! | `ebb_http_waiting` | gauge, of | requests that wait for it |
//! | `ebb_http_refused_total` | counter, of | requests that waited in vain, and were refused with 503 |
//! | `ebb_http_cut_total` | counter | connections cut since their clients did not read |
//! | `ebb_mirror_age_seconds` | gauge, scope | how long ago this process last looked for what changed |
//! | `ebb_mirror_generation` | gauge, scope | which state of the graph it holds, counted from its start |
//! | `ebb_mirror_nodes` | gauge, scope | nodes that it holds |
//! | `ebb_mirror_slots` | gauge, scope | relationships that it holds, each way by itself |
//! | `ebb_mirror_bytes` | gauge, scope | bytes that they take |
//! | `ebb_mirror_held_share` | gauge, scope | nodes that it holds divided by those that may be held |
//! | `ebb_mirror_tick` | gauge, scope | how many outcomes it has learned |
//! | `ebb_mirror_learned` | gauge, scope | for how many relationships something was learned, each way by itself |
//! | `ebb_mirror_saved_generation` | gauge, scope | which state it saved last, where `mirror.folder` says where to |
//! | `ebb_mirror_save_failures_total` | counter, scope | saves that failed, where `mirror.folder` says where to |
//! | `ebb_mirror_learned_saves_skipped_total` | counter, scope | times that what was learned was not saved, since its graph could not be |
//!
//! Every worker prints its own counts; the gauges of what stands in the graph (lag, stuck attempts, quarantined rows)
//! are the same in each.

use crate::surfaces::http::Usage;
use ebb_core::api::recall::Mirror;
use ebb_core::jobs::JobName;
use ebb_core::scheduler::meter::{Counts, Ending, JobCounts};
use std::fmt::Write;
use std::time::Duration;

/// What is not counted by the scheduler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProcessState {
    /// Whether the worker is ready.
    pub ready: bool,
    /// Transactions begun again.
    pub retries: u64,
    /// Commits of unknown outcome.
    pub unknown_commits: u64,
    /// Answers of the API by the class of their status, where there is one.
    pub answered: Option<[(&'static str, u64); 4]>,
    /// What requests hold, and connections that were cut, where there is an API.
    pub room: Option<([(&'static str, Usage); 6], u64)>,
    /// The mirrors of this process.
    pub mirrors: Vec<Mirror>,
}

/// Writes the page.
#[must_use]
pub fn page(counts: &Counts, process: &ProcessState) -> String {
    let mut page = Page(String::new());
    page.one("ready", "gauge", "Whether the worker can do its work.", f64::from(u8::from(process.ready)));
    page.jobs(counts);
    for (name, kind, help, value) in [
        ("reaped_attempts_total", "counter", "Attempts whose lease was over, ended.", whole(counts.reaped)),
        (
            "stuck_attempts",
            "gauge",
            "Attempts that nobody ended a minute after their lease.",
            signed(counts.stuck),
        ),
        ("quarantined_rows", "gauge", "Rows that are set aside.", signed(counts.quarantined)),
        (
            "unknown_commits_total",
            "counter",
            "Commits whose outcome was unknown.",
            whole(process.unknown_commits),
        ),
        ("retries_total", "counter", "Transactions begun again.", whole(process.retries)),
        (
            "clock_skew_seconds",
            "gauge",
            "This machine's clock less the server's.",
            signed(counts.skew_ms) / 1_000.0,
        ),
        ("failed_looks_total", "counter", "Looks at the ledger that failed.", whole(counts.failed_looks)),
        (
            "failed_reloads_total",
            "counter",
            "Changed configurations that had faults.",
            whole(counts.failed_reloads),
        ),
        ("panics_total", "counter", "Panics.", whole(counts.panics)),
    ] {
        page.one(name, kind, help, value);
    }
    page.head("http_responses_total", "counter", "Answers of the API by the first digit of their status.");
    for (class, answers) in process.answered.into_iter().flatten() {
        page.row("http_responses_total", &format!("{{status=\"{class}\"}}"), whole(answers));
    }
    page.room(process.room.as_ref());
    page.mirrors(&process.mirrors);
    page.0
}

/// A counter of each job: its name, its help, and where its value is.
type ByJob = (&'static str, &'static str, fn(&JobCounts) -> u64);
/// A figure of each mirror, where it is known: its name, its kind, its help, and where its value is.
type ByMirror<'a> = (&'static str, &'static str, &'static str, &'a dyn Fn(&Mirror) -> Option<f64>);

struct Page(String);

/// A figure of each part of the room for requests.
type ByPart = (&'static str, &'static str, &'static str, fn(&Usage) -> u64);

impl Page {
    /// What requests hold.
    fn room(&mut self, room: Option<&([(&'static str, Usage); 6], u64)>) {
        let cut = room.map_or(0, |(_, cut)| *cut);
        let figures: [ByPart; 3] = [
            ("http_used", "gauge", "Places and bytes that requests hold.", |usage| usage.used),
            ("http_waiting", "gauge", "Requests that wait for them.", |usage| usage.waiting),
            ("http_refused_total", "counter", "Requests that waited for them in vain.", |usage| {
                usage.refused
            }),
        ];
        for (name, kind, help, figure) in figures {
            self.head(name, kind, help);
            for (of, usage) in room.iter().flat_map(|(parts, _)| parts) {
                self.row(name, &format!("{{of=\"{of}\"}}"), whole(figure(usage)));
            }
        }
        self.one(
            "http_cut_total",
            "counter",
            "Connections cut since their clients did not read.",
            whole(cut),
        );
    }

    /// What is counted by job.
    fn jobs(&mut self, counts: &Counts) {
        let page = self;
        let none = JobCounts::default();
        let jobs = || JobName::ALL.into_iter().map(|job| (job, counts.jobs.get(&job).unwrap_or(&none)));

        page.head("runs_total", "counter", "Runs by how they ended.");
        for (job, counts) in jobs() {
            for ending in Ending::ALL {
                let runs = counts.runs.get(&ending).copied().unwrap_or(0);
                page.row(
                    "runs_total",
                    &format!("{{job=\"{job}\",outcome=\"{}\"}}", ending.name()),
                    whole(runs),
                );
            }
        }
        page.head("run_seconds", "summary", "Time of runs.");
        for (job, counts) in jobs() {
            page.row("run_seconds_sum", &of(job), counts.took.as_secs_f64());
            page.row("run_seconds_count", &of(job), whole(counts.runs.values().sum()));
        }
        page.head("rows_total", "counter", "Rows by what was done to them.");
        for (job, counts) in jobs() {
            for (what, rows) in &counts.rows {
                let labels = format!("{{job=\"{job}\",what=\"{what}\"}}");
                page.row("rows_total", &labels, whole(rows.unsigned_abs()));
            }
        }
        page.head("schedule_lag_seconds", "gauge", "How long the occurrence that is due has waited.");
        jobs().for_each(|(job, counts)| page.row("schedule_lag_seconds", &of(job), counts.lag.as_secs_f64()));
        page.head("stranded_run_seconds", "gauge", "For how long the lease of an open run has been over.");
        jobs().for_each(|(job, counts)| {
            page.row("stranded_run_seconds", &of(job), counts.stranded.as_secs_f64())
        });
        page.head("last_done_timestamp_seconds", "gauge", "When a run of this worker last did its work.");
        for (job, counts) in jobs() {
            if let Some(at) = counts.last_done {
                page.row("last_done_timestamp_seconds", &of(job), signed(at.millis()) / 1_000.0);
            }
        }
        let by_job: [ByJob; 3] = [
            ("missed_occurrences_total", "Occurrences that never ran.", |counts| counts.missed),
            ("overlaps_total", "Occurrences that came due while the run before still went.", |counts| {
                counts.overlaps
            }),
            ("adopted_runs_total", "Runs that a dead worker left and this one finished.", |counts| {
                counts.adopted
            }),
        ];
        for (name, help, count) in by_job {
            page.head(name, "counter", help);
            jobs().for_each(|(job, counts)| page.row(name, &of(job), whole(count(counts))));
        }
    }

    /// What mirrors hold, and how their saves went.
    fn mirrors(&mut self, mirrors: &[Mirror]) {
        let count = |count: Option<usize>| count.map(|count| count as u64);
        let saves = |mirror: &Mirror, count: u64| mirror.is_saved.then(|| whole(count));
        let by_mirror: [ByMirror<'_>; 11] = [
            ("mirror_age_seconds", "gauge", "How long ago the graph was looked at.", &|mirror| {
                Some(Duration::from_millis(mirror.stale_ms?).as_secs_f64())
            }),
            ("mirror_generation", "gauge", "Which state is held.", &|mirror| mirror.generation.map(whole)),
            ("mirror_nodes", "gauge", "Nodes that are held.", &|mirror| count(mirror.nodes).map(whole)),
            ("mirror_slots", "gauge", "Relationships that are held, each way by itself.", &|mirror| {
                count(mirror.slots).map(whole)
            }),
            ("mirror_bytes", "gauge", "Bytes that they take.", &|mirror| count(mirror.bytes).map(whole)),
            ("mirror_held_share", "gauge", "Nodes that are held divided by those that may be.", &|mirror| {
                mirror.held_share
            }),
            ("mirror_tick", "gauge", "Outcomes that were learned.", &|mirror| mirror.tick.map(whole)),
            (
                "mirror_learned",
                "gauge",
                "Relationships for which something was learned, each way by itself.",
                &|mirror| count(mirror.learned).map(whole),
            ),
            ("mirror_saved_generation", "gauge", "Which state was saved last.", &|mirror| {
                mirror.saved_generation.map(whole)
            }),
            ("mirror_save_failures_total", "counter", "Saves that failed.", &|mirror| {
                saves(mirror, mirror.save_failures)
            }),
            (
                "mirror_learned_saves_skipped_total",
                "counter",
                "Times that what was learned was not saved.",
                &|mirror| saves(mirror, mirror.learned_saves_skipped),
            ),
        ];
        for (name, kind, help, value) in by_mirror {
            self.head(name, kind, help);
            for mirror in mirrors {
                if let Some(value) = value(mirror) {
                    self.row(name, &of_scope(mirror), value);
                }
            }
        }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP ebb_{name} {help}\n# TYPE ebb_{name} {kind}");
    }

    fn row(&mut self, name: &str, labels: &str, value: f64) {
        let _ = writeln!(self.0, "ebb_{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.head(name, kind, help);
        self.row(name, "", value);
    }
}

fn of(job: JobName) -> String {
    format!("{{job=\"{job}\"}}")
}

/// The label of a scope, which may hold what ends a label; it holds no line break.
fn of_scope(mirror: &Mirror) -> String {
    let scope = mirror.scope.as_str().replace('\\', r"\\").replace('"', "\\\"");
    format!("{{scope=\"{scope}\"}}")
}

#[expect(clippy::cast_precision_loss, reason = "the format's numbers are floats; exact up to 2^53")]
fn whole(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "the format's numbers are floats; exact up to 2^53")]
fn signed(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;
    use ebb_core::domain::ids::Scope;
    use ebb_core::store::Tally;
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn worked() -> String {
        let mut counts = Counts { quarantined: 3, skew_ms: -1_500, ..Counts::default() };
        let decay = counts.jobs.entry(JobName::Decay).or_default();
        decay.ended(Ending::Done, Duration::from_millis(1_250));
        decay.worked(Tally { scanned: 7, changed: 5, ..Tally::default() });
        decay.last_done = ebb_core::domain::units::Timestamp::from_millis(1_767_225_600_500).ok();
        let scope = |scope| Scope::new(scope).unwrap();
        let loaded = Mirror {
            loaded: true,
            generation: Some(3),
            stale_ms: Some(2_500),
            held_share: Some(1.0),
            nodes: Some(4),
            slots: Some(5),
            bytes: Some(6),
            tick: Some(8),
            learned: Some(7),
            saved_generation: Some(2),
            save_failures: 1,
            learned_saves_skipped: 1,
            is_saved: true,
            ..Mirror::unloaded(scope("a \"b\\"))
        };
        let mirrors = vec![loaded, Mirror::unloaded(scope("local"))];
        page(
            &counts,
            &ProcessState {
                ready: true,
                retries: 2,
                unknown_commits: 1,
                answered: None,
                room: None,
                mirrors,
            },
        )
    }

    fn names(page: &str) -> BTreeSet<&str> {
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect()
    }

    #[test]
    fn the_page_is_in_the_format_of_prometheus() {
        let page = worked();
        let lines = page.lines().filter(|line| !line.starts_with("# "));
        for line in lines {
            let (series, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{line}");
            assert!(labels.ends_with('}'), "{line}");
            let known = |kind: &str| name.strip_suffix(kind).unwrap_or(name);
            assert!(names(&page).contains(known("_sum")) || names(&page).contains(known("_count")), "{line}");
        }
        for line in [
            "ebb_ready 1",
            "ebb_runs_total{job=\"decay\",outcome=\"done\"} 1",
            "ebb_run_seconds_sum{job=\"decay\"} 1.25",
            "ebb_rows_total{job=\"decay\",what=\"scanned\"} 7",
            "ebb_last_done_timestamp_seconds{job=\"decay\"} 1767225600.5",
            "ebb_runs_total{job=\"promote\",outcome=\"failed\"} 0",
            "ebb_clock_skew_seconds -1.5",
            r#"ebb_mirror_age_seconds{scope="a \"b\\"} 2.5"#,
            r#"ebb_mirror_bytes{scope="a \"b\\"} 6"#,
            r#"ebb_mirror_learned{scope="a \"b\\"} 7"#,
            r#"ebb_mirror_tick{scope="a \"b\\"} 8"#,
            r#"ebb_mirror_learned_saves_skipped_total{scope="a \"b\\"} 1"#,
            r#"ebb_mirror_saved_generation{scope="a \"b\\"} 2"#,
            r#"ebb_mirror_save_failures_total{scope="a \"b\\"} 1"#,
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }

    #[test]
    fn the_reference_page_of_metrics() {
        let page = worked();
        let mut text = String::from(
            "# Metrics\n\n`GET /metrics` of a worker and of `ebb serve`, in the text format of Prometheus; written from the program. \
             `config/alerts.yml` has alerts for them.\n\n",
        );
        reference::head(&mut text, &["metric", "kind", "labels", "what"]);
        let helps = page.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '));
        for (name, help) in helps {
            let kind = page.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} "))).unwrap();
            let series = page.lines().find(|line| line.starts_with(name) && line.contains('{'));
            let labels = series.and_then(|line| line.split(['{', '}']).nth(1)).unwrap_or_default();
            let labels: Vec<&str> =
                labels.split(',').filter_map(|label| Some(label.split_once('=')?.0)).collect();
            reference::row(&mut text, &[&format!("`{name}`"), kind, &labels.join(", "), help]);
        }
        reference::holds("metrics.md", &text);
    }

    #[test]
    fn the_table_names_every_metric_and_no_other() {
        let table = include_str!("metrics.rs").lines().filter_map(|line| line.strip_prefix("//! | `"));
        let told: BTreeSet<&str> = table.filter_map(|row| row.split('`').next()).collect();
        assert_eq!(told, names(&worked()));
    }

    #[test]
    fn an_alert_asks_for_metrics_that_are_there() {
        let page = worked();
        let rules = include_str!("../../config/alerts.yml").lines().filter(|line| line.contains("expr: "));
        let words = rules.flat_map(|rule| rule.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
        let asked: BTreeSet<&str> = words.filter(|word| word.starts_with("ebb_")).collect();
        assert!(asked.len() >= 9, "{asked:?}");
        assert!(asked.is_subset(&names(&page)), "{asked:?}");
    }
}
