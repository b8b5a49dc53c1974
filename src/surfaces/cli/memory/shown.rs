//! A memory as answers show it: one JSON shape, one card, one row of a table.

use crate::domain::memory::Vital;
use crate::domain::tier::Tier;
use crate::domain::units::Timestamp;
use crate::service::Done;
use crate::service::memories::Memory;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::{Rfc3339, readable};
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use serde::Serialize;

/// A memory at an instant. A row that no law can use has its reason in `quarantined`, and null for what is not known.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    pub(super) id: String,
    content: Option<String>,
    scope: Option<String>,
    tier: Option<Tier>,
    energy: Option<f64>,
    energy_at: Option<Rfc3339>,
    last_accessed: Option<Rfc3339>,
    created: Option<Rfc3339>,
    access_count: Option<i64>,
    session: Option<String>,
    pinned: Option<bool>,
    ripe_at: Option<Rfc3339>,
    due_at: Option<Rfc3339>,
    promoted_from: Option<String>,
    clusters: Vec<String>,
    reinforcement_count: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) did: Option<Done>,
    #[serde(rename = "dry_run", skip_serializing_if = "std::ops::Not::not")]
    pub(super) dry_run: bool,
    #[serde(skip)]
    at: Timestamp,
    #[serde(skip)]
    instance: Option<String>,
    #[serde(skip)]
    mentions: Vec<String>,
}

impl From<Memory> for Shown {
    fn from(Memory { record, at, energy }: Memory) -> Self {
        let (life, fault) = match record.life {
            Ok(life) => (Some(life), None),
            Err(why) => (None, Some(why)),
        };
        let vital: Option<Vital> = life.as_ref().map(|life| life.vital);
        let instant = |of: fn(&Vital) -> Option<Timestamp>| vital.as_ref().and_then(of).map(Rfc3339);
        Self {
            id: record.id,
            content: record.content,
            scope: life.as_ref().map(|life| life.scope.to_string()),
            tier: vital.map(|vital| vital.tier),
            energy: energy.map(|energy| energy.value()),
            energy_at: instant(|vital| Some(vital.energy_at)),
            last_accessed: instant(|vital| Some(vital.last_accessed)),
            created: life.as_ref().map(|life| Rfc3339(life.created)),
            access_count: vital.map(|vital| vital.access_count),
            session: life.and_then(|life| life.session),
            pinned: vital.map(|vital| vital.pinned),
            ripe_at: instant(|vital| vital.ripe_at),
            due_at: instant(|vital| vital.due_at),
            promoted_from: record.promoted_from,
            clusters: record.clusters,
            reinforcement_count: record.reinforcement_count,
            quarantined: fault,
            did: None,
            dry_run: false,
            at,
            instance: record.instance,
            mentions: record.mentions,
        }
    }
}

impl Shown {
    /// What became of it, or would.
    pub(super) fn after(memory: Memory, did: Option<Done>, dry_run: bool) -> Self {
        Self { did, dry_run, ..memory.into() }
    }

    /// Everything about it, below each other.
    pub(super) fn card(&self, page: &mut Page) {
        if let Some(content) = &self.content {
            page.paragraph(content);
            page.line("");
        }
        let mut fields: Vec<(&str, String)> = vec![("id", self.id.clone())];
        let mut field = |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
        let instant = |at: Option<Rfc3339>| at.map(|at| format!("{} UTC", readable(at.0)));
        let several = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
        field("set aside", self.quarantined.clone());
        field("tier", self.tier.map(|tier| tier.to_string()));
        field("energy", self.energy.map(|energy| format!("{energy:.3} at {} UTC", readable(self.at))));
        field(
            "pinned",
            self.pinned
                .filter(|pinned| *pinned)
                .map(|_| "yes: it neither fades nor expires nor rises".to_owned()),
        );
        field("ripe since", instant(self.ripe_at));
        field("created", instant(self.created));
        field(
            "accessed",
            self.access_count.map(|count| {
                let last = self.last_accessed.map(|at| readable(at.0)).unwrap_or_default();
                format!("{count} {}, last {last} UTC", if count == 1 { "time" } else { "times" })
            }),
        );
        field(
            "strengthened",
            (self.reinforcement_count > 0).then(|| format!("{} times", self.reinforcement_count)),
        );
        field("session", self.session.clone());
        field("instance", self.instance.clone());
        field("mentions", several(&self.mentions));
        field("clusters", several(&self.clusters));
        field("promoted from", self.promoted_from.clone());
        field("scope", self.scope.clone());
        page.fields(&fields);
    }

    fn row(&self, with_access: bool) -> Vec<String> {
        let mut row = vec![
            self.id.clone(),
            self.tier.map_or_else(|| "set aside".to_owned(), |tier| tier.to_string()),
            self.energy.map_or_else(|| "-".to_owned(), |energy| format!("{energy:.3}")),
        ];
        if with_access {
            row.push(self.last_accessed.map(|at| readable(at.0)).unwrap_or_default());
        }
        row.push(self.content.clone().unwrap_or_default());
        row
    }
}

/// Memories as a table; the last access has room on a wide terminal only.
pub(super) fn table(page: &mut Page, memories: &[Shown]) {
    let wide = page.width() >= 100;
    let mut columns = vec![Column::left("ID"), Column::left("TIER"), Column::right("ENERGY")];
    if wide {
        columns.push(Column::left("LAST ACCESS (UTC)"));
    }
    columns.push(Column::cut("CONTENT"));
    page.table(&columns, memories.iter().map(|memory| memory.row(wide)));
}

/// Answers what was done to memories: one as itself, several as a list.
pub(super) fn emit(
    output: &Output,
    verb: &str,
    memories: &[Shown],
    heading: impl Fn(&Shown) -> String,
) -> Result<(), CliError> {
    match memories {
        [one] => output.emit(verb, one, |page| {
            page.heading(&heading(one));
            page.line("");
            one.card(page);
        }),
        _ => output.emit_list(verb, "memories", memories, |page| {
            memories.iter().for_each(|memory| page.line(&heading(memory)));
            page.line("");
            table(page, memories);
        }),
    }
}
