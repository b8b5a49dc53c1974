//! A memory as people see it: a card, a row of a table.

pub(super) use crate::surfaces::answer::memory::Shown;
use crate::surfaces::cli::exit::CliError;
use crate::surfaces::cli::instant::readable;
use crate::surfaces::cli::output::Output;
use crate::surfaces::cli::page::{Column, Page};
use ebb_core::domain::units::Timestamp;

impl Shown {
    /// Everything about it, below each other.
    pub(super) fn card(&self, page: &mut Page) {
        if let Some(content) = &self.content {
            page.paragraph(content);
            page.line("");
        }
        let mut fields: Vec<(&str, String)> = vec![("id", self.id.clone())];
        let mut field = |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
        let instant = |at: Option<Timestamp>| at.map(|at| format!("{} UTC", readable(at)));
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
                let last = self.last_accessed.map(|at| readable(at)).unwrap_or_default();
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
            row.push(self.last_accessed.map(|at| readable(at)).unwrap_or_default());
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
