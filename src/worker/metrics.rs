//! The page `/metrics`, in the text format 0.0.4 of Prometheus; `docs/reference/metrics.md` is written from it.
//!
//! Every worker prints its own counts; the gauges of the graph (lag, stuck attempts, quarantined rows) are the same in
//! each.
//!
//! The page is written here and not by the crate prometheus-client, which writes OpenMetrics alone: a counter's TYPE and HELP
//! would lose their `_total`, and there is no summary for `ebb_run_seconds`.

use crate::surfaces::http::Usage;
use ebb_core::api::recall::Mirror;
use ebb_core::jobs::JobName;
use ebb_core::scheduler::meter::{Counts, Ending, JobCounts};
use ebb_core::store::GuardedRecall;
use std::fmt::Write;
use std::time::Duration;

/// State of the process besides the counters of its scheduler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProcessState {
    /// Whether the worker is ready.
    pub ready: bool,
    /// Whether no job can run.
    pub stopped: bool,
    /// Transactions that were retried.
    pub retries: u64,
    /// Commits of unknown outcome.
    pub unknown_commits: u64,
    /// Panics on all threads.
    pub panics: u64,
    /// Responses of the API by the class of their status, if there is one.
    pub responses: Option<[(&'static str, u64); 4]>,
    /// Capacity in use by requests, and closed connections, if there is an API.
    pub usage: Option<([(&'static str, Usage); 6], u64)>,
    /// The mirrors of the configuration.
    pub mirrors: Vec<Mirror>,
    /// Number of the scopes that are held because they were queried, and the bytes that these take.
    pub on_demand: (usize, u64),
}

/// Writes the page.
#[must_use]
pub fn page(counts: &Counts, process: &ProcessState) -> String {
    let mut page = Page(String::new());
    page.gauge("ready", "1 if the process is ready, as /readyz says.", f64::from(u8::from(process.ready)));
    page.gauge(
        "jobs_stopped",
        "1 if no job can run, for the reason that /readyz gives.",
        f64::from(u8::from(process.stopped)),
    );
    jobs(&mut page, counts);
    page.counter(
        "reaped_attempts_total",
        "Attempts with an expired lease that this worker ended.",
        counts.reaped,
    );
    page.gauge(
        "stuck_attempts",
        "Attempts still open a minute after their lease expired.",
        signed(counts.stuck),
    );
    page.gauge("quarantined_rows", "Rows in quarantine.", signed(counts.quarantined));
    page.counter(
        "unknown_commits_total",
        "Commits of unknown outcome, each resolved by its receipt.",
        process.unknown_commits,
    );
    page.counter("retries_total", "Transactions that were retried.", process.retries);
    page.gauge(
        "clock_skew_seconds",
        "This machine's clock minus the server's.",
        signed(counts.skew_ms) / 1_000.0,
    );
    recall_guard(&mut page, counts.recall_guard.as_ref());
    page.counter(
        "recall_guard_failures_total",
        "Times the questions of [recall_guard] could not be asked.",
        counts.recall_guard_failures,
    );
    page.counter("failed_looks_total", "Failed reads of the ledger of runs.", counts.failed_looks);
    page.counter(
        "failed_reloads_total",
        "Changed configurations that were rejected for faults.",
        counts.failed_reloads,
    );
    page.counter("panics_total", "Panics.", process.panics);
    let responses = process.responses.into_iter().flatten();
    let by_status = responses.map(|(class, count)| (format!("{{status=\"{class}\"}}"), whole(count)));
    page.family(
        "http_responses_total",
        COUNTER,
        "Responses of the API by the first digit of their status.",
        by_status,
    );
    usage(&mut page, process.usage.as_ref());
    mirrors(&mut page, &process.mirrors);
    let (scopes, bytes) = process.on_demand;
    page.gauge(
        "mirror_on_demand_scopes",
        "Scopes that are held because they were queried.",
        whole(scopes as u64),
    );
    page.gauge("mirror_on_demand_bytes", "Bytes that these take.", whole(bytes));
    page.0
}

const COUNTER: &str = "counter";
const GAUGE: &str = "gauge";

struct Page(String);

impl Page {
    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, GAUGE, help, [(String::new(), value)]);
    }

    fn counter(&mut self, name: &str, help: &str, count: u64) {
        self.family(name, COUNTER, help, [(String::new(), whole(count))]);
    }

    /// A metric with a row for each set of labels.
    fn family(&mut self, name: &str, kind: &str, help: &str, rows: impl IntoIterator<Item = (String, f64)>) {
        self.head(name, kind, help);
        rows.into_iter().for_each(|(labels, value)| self.row(name, &labels, value));
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP ebb_{name} {help}\n# TYPE ebb_{name} {kind}");
    }

    fn row(&mut self, name: &str, labels: &str, value: f64) {
        let _ = writeln!(self.0, "ebb_{name}{labels} {value}");
    }
}

/// Counts of runs and their schedules, by job.
fn jobs(page: &mut Page, counts: &Counts) {
    let none = JobCounts::default();
    let jobs = || JobName::ALL.into_iter().map(|job| (job, counts.jobs.get(&job).unwrap_or(&none)));
    let of = |job: JobName| format!("{{job=\"{job}\"}}");
    let each = |value: fn(&JobCounts) -> f64| jobs().map(move |(job, counts)| (of(job), value(counts)));

    let runs = jobs().flat_map(|(job, counts)| {
        Ending::ALL.map(|ending| {
            let labels = format!("{{job=\"{job}\",outcome=\"{}\"}}", ending.name());
            (labels, whole(counts.runs.get(&ending).copied().unwrap_or(0)))
        })
    });
    page.family("runs_total", COUNTER, "Runs by outcome.", runs);
    page.head("run_seconds", "summary", "Duration of runs.");
    for (job, counts) in jobs() {
        page.row("run_seconds_sum", &of(job), counts.took.as_secs_f64());
        page.row("run_seconds_count", &of(job), whole(counts.runs.values().sum()));
    }
    let rows = jobs().flat_map(|(job, counts)| {
        let row = move |(what, rows): (&&str, &i64)| {
            (format!("{{job=\"{job}\",what=\"{what}\"}}"), whole(rows.unsigned_abs()))
        };
        counts.rows.iter().map(row)
    });
    page.family("rows_total", COUNTER, "Rows by what a run did to them: the counters of its EbbRun.", rows);
    let lag = "Time since the first occurrence without a run; 0 if none is due.";
    page.family("schedule_lag_seconds", GAUGE, lag, each(|counts| counts.lag.as_secs_f64()));
    let stranded = "Time since the lease of an open run expired without another worker taking it.";
    page.family("stranded_run_seconds", GAUGE, stranded, each(|counts| counts.stranded.as_secs_f64()));
    let last =
        jobs().filter_map(|(job, counts)| Some((of(job), signed(counts.last_done?.millis()) / 1_000.0)));
    page.family("last_done_timestamp_seconds", GAUGE, "When a run of this worker last completed.", last);
    let missed = "Occurrences that never ran; one run made up for all of them.";
    page.family("missed_occurrences_total", COUNTER, missed, each(|counts| whole(counts.missed)));
    let unfired = "Occurrences that started a minute late because their timer did not fire.";
    page.family("unfired_occurrences_total", COUNTER, unfired, each(|counts| whole(counts.unfired)));
    let overlaps = "Occurrences that came due while the previous run was open.";
    page.family("overlaps_total", COUNTER, overlaps, each(|counts| whole(counts.overlaps)));
    let adopted = "Runs of a dead worker that this one finished.";
    page.family("adopted_runs_total", COUNTER, adopted, each(|counts| whole(counts.adopted)));
}

/// Capacity of the API that requests use.
fn usage(page: &mut Page, usage: Option<&([(&'static str, Usage); 6], u64)>) {
    let each = |value: fn(&Usage) -> u64| {
        let parts = usage.into_iter().flat_map(|(parts, _)| parts);
        parts.map(move |(of, usage)| (format!("{{of=\"{of}\"}}"), whole(value(usage))))
    };
    let used = "Capacity in use: requests by kind, and bytes of bodies and responses in flight.";
    page.family("http_used", GAUGE, used, each(|usage| usage.used));
    page.family("http_waiting", GAUGE, "Requests that wait for capacity.", each(|usage| usage.waiting));
    let refused = "Requests that waited for capacity in vain and got 503.";
    page.family("http_refused_total", COUNTER, refused, each(|usage| usage.refused));
    let cut = usage.map_or(0, |(_, cut)| *cut);
    page.counter("http_cut_total", "Connections closed because the client did not read.", cut);
}

/// The last result of the recall guard, if there is one.
fn recall_guard(page: &mut Page, found: Option<&GuardedRecall>) {
    let mut gauge = |name, help, value: fn(&GuardedRecall) -> f64| {
        page.family(name, GAUGE, help, found.map(|found| (String::new(), value(found))));
    };
    gauge(
        "recall_guard_recall",
        "Mean recall among the first 10 hits of the questions of [recall_guard].",
        |found| found.recall,
    );
    gauge("recall_guard_baseline", "The same in the baseline.", |found| found.baseline);
    gauge("recall_guard_max_loss", "The difference above which it warns.", |found| found.max_loss);
    gauge(
        "recall_guard_lost_questions",
        "Questions that find fewer memories than in the baseline.",
        |found| whole(found.lost_questions.unsigned_abs()),
    );
}

/// Contents, age and saves of mirrors, by scope.
fn mirrors(page: &mut Page, mirrors: &[Mirror]) {
    let mut family = |name, kind, help, value: &dyn Fn(&Mirror) -> Option<f64>| {
        page.family(
            name,
            kind,
            help,
            mirrors.iter().filter_map(|mirror| Some((of_scope(mirror), value(mirror)?))),
        );
    };
    let count = |count: Option<usize>| count.map(|count| whole(count as u64));
    family("mirror_age_seconds", GAUGE, "Time since the mirror was last brought up to date.", &|mirror| {
        Some(Duration::from_millis(mirror.stale_ms?).as_secs_f64())
    });
    family("mirror_generation", GAUGE, "Generation of the graph that is held.", &|mirror| {
        mirror.generation.map(whole)
    });
    family("mirror_nodes", GAUGE, "Nodes that are held.", &|mirror| count(mirror.nodes));
    family("mirror_slots", GAUGE, "Relationships that are held, counted in each direction.", &|mirror| {
        count(mirror.slots)
    });
    family("mirror_bytes", GAUGE, "Bytes that nodes and relationships take.", &|mirror| count(mirror.bytes));
    family("mirror_held_share", GAUGE, "Nodes that are held divided by all nodes of the scope.", &|mirror| {
        mirror.held_share
    });
    family("mirror_tick", GAUGE, "Outcomes that were learned.", &|mirror| mirror.tick.map(whole));
    let learned = "Relationships with learned weight, counted in each direction.";
    family("mirror_learned", GAUGE, learned, &|mirror| count(mirror.learned));
    let saved = "Generation that was saved last, if mirrors are saved.";
    family("mirror_saved_generation", GAUGE, saved, &|mirror| mirror.saved_generation.map(whole));
    let failures = "Failed saves, if mirrors are saved.";
    family("mirror_save_failures_total", COUNTER, failures, &|mirror| {
        mirror.is_saved.then(|| whole(mirror.save_failures))
    });
    let skipped = "Times learned weights were not saved because their graph could not be.";
    family("mirror_learned_saves_skipped_total", COUNTER, skipped, &|mirror| {
        mirror.is_saved.then(|| whole(mirror.learned_saves_skipped))
    });
}

/// The label of a scope, escaped; a scope has no line break.
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
    use serde_json::Value;
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn worked() -> String {
        let guarded = GuardedRecall {
            process: "here".to_owned(),
            age_ms: 0,
            questions: 8,
            recall: 0.5,
            baseline: 0.75,
            max_loss: 0.05,
            lost_questions: 2,
        };
        let recall_guard = Some(guarded);
        let mut counts = Counts { quarantined: 3, skew_ms: -1_500, recall_guard, ..Counts::default() };
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
        let usage = Usage { used: 1, waiting: 0, refused: 0 };
        let mirrors = vec![loaded, Mirror::unloaded(scope("local"))];
        page(
            &counts,
            &ProcessState {
                ready: true,
                stopped: true,
                retries: 2,
                unknown_commits: 1,
                panics: 0,
                responses: Some(["2xx", "3xx", "4xx", "5xx"].map(|class| (class, 1))),
                usage: Some((
                    ["reads", "writes", "lists", "batches", "body_bytes", "answer_bytes"]
                        .map(|of| (of, usage)),
                    1,
                )),
                mirrors,
                on_demand: (2, 4_096),
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
            "ebb_jobs_stopped 1",
            "ebb_runs_total{job=\"decay\",outcome=\"done\"} 1",
            "ebb_run_seconds_sum{job=\"decay\"} 1.25",
            "ebb_rows_total{job=\"decay\",what=\"scanned\"} 7",
            "ebb_last_done_timestamp_seconds{job=\"decay\"} 1767225600.5",
            "ebb_runs_total{job=\"promote\",outcome=\"failed\"} 0",
            "ebb_clock_skew_seconds -1.5",
            "ebb_recall_guard_recall 0.5",
            "ebb_recall_guard_baseline 0.75",
            "ebb_recall_guard_max_loss 0.05",
            "ebb_recall_guard_failures_total 0",
            "ebb_recall_guard_lost_questions 2",
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
            "# Metrics\n\n`GET /metrics` of a worker and of `ebb serve`, in the text format of Prometheus; this page is written from the program. \
             `config/prometheus.yml` scrapes them, `config/alerts.yml` holds alert rules and `config/grafana.json` a dashboard for them. Each worker prints its own counts; lag, stuck attempts and quarantined rows are \
             read from the graph and the same in each.\n\n",
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

    /// Names of metrics in a text.
    fn asked(text: &str) -> BTreeSet<&str> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let metrics = words.filter(|word| word.starts_with("ebb_"));
        // A summary has a sum and a count.
        metrics
            .map(|name| name.strip_suffix("_sum").or_else(|| name.strip_suffix("_count")).unwrap_or(name))
            .collect()
    }

    #[test]
    fn alerts_use_existing_metrics() {
        let page = worked();
        let rules = include_str!("../../config/alerts.yml").lines().filter(|line| line.contains("expr: "));
        let asked: BTreeSet<&str> = rules.flat_map(asked).collect();
        assert!(asked.len() >= 9, "{asked:?}");
        assert!(asked.is_subset(&names(&page)), "{asked:?}");
    }

    #[test]
    fn the_dashboard_shows_existing_metrics() {
        let (text, page) = (include_str!("../../config/grafana.json"), worked());
        let dashboard: Value = serde_json::from_str(text).unwrap();
        let panels = dashboard["panels"].as_array().unwrap();
        let ids: BTreeSet<i64> = panels.iter().map(|panel| panel["id"].as_i64().unwrap()).collect();
        assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
        let queries: Vec<&str> = panels
            .iter()
            .flat_map(|panel| panel["targets"].as_array().into_iter().flatten())
            .map(|target| target["expr"].as_str().unwrap())
            .collect();
        let shown: BTreeSet<&str> = queries.iter().copied().flat_map(asked).collect();
        assert!(queries.iter().all(|query| !asked(query).is_empty()), "{queries:?}");
        assert!(shown.is_subset(&names(&page)), "{shown:?}");
        // Beside the queries, only the list of processes names one.
        assert_eq!(&asked(text) - &shown, BTreeSet::new());
    }

    #[test]
    fn the_scrape_configuration_keeps_the_label_of_jobs() {
        let scrapes = include_str!("../../config/prometheus.yml");
        assert!(scrapes.contains("honor_labels: true") && scrapes.contains("job_name: ebb\n"), "{scrapes}");
    }
}
