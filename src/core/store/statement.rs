//! A statement: one file under `cypher/`, its header and its text.
//!
//! Statements are files and never generated from strings, so all statements can be read in one folder. The header is
//! machine-readable: tests verify it (`tests/tidy.rs`), and `ebb inspect` prints it.
//!
//! # Design notes
//! A label or a relationship type cannot be a parameter. Statements about places and edges are therefore written for
//! one of each, `:Room` with its key `n.id` and `:HALL`, so that they can be read, pasted and explained unchanged, and
//! list these in their header (`names:`). `Statement::about` replaces them with others, names of the allow-list only.
//!
//! Statements of `inspect/` list the labels and types of the documents; `Statement::text_with` replaces the lists by
//! those of the configuration.
//!
//! A statement that works on a page defines in its header how to quarantine a row on which it fails (`quarantine:`).
//! That text follows the page's own `LIMIT $limit` and returns the statement's own columns, so the caller quarantines
//! the first row of a page by the same call and reads the result, cursor included, in the same way.
//!
//! The server estimates what an index holds from samples that it takes now and then, and keeps a plan for a while. A
//! plan that was made while rows came in faster than samples scanned a whole index for each row of a page: the tenfold
//! time and more. So who looks up rows by a key names the index to seek in (`USING INDEX SEEK`), and conditions on
//! neighbours are written so that no index could serve them (`valueType`, `coalesce`). Held by
//! `plans::no_statement_scans_because_its_index_was_sampled_before_it_grew`.
//!
//! Every text is sent as Cypher 5, which is frozen, whatever the default language of the database is. Since 2026.02 Neo4j
//! comes with settings that make it Cypher 25 (operations manual, "Configure the Cypher default version"), where a text may
//! mean something else without an error: `RETURN all - known` negates `known`, since `RETURN ALL` has become a clause.

use super::encode::list;
use super::error::Error;
use crate::domain::trail::{Allowed, EdgeType, PlaceLabel};
use neo4rs::{BoltMap, BoltType, Query};

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

/// Begins each text that is sent: the language of the files.
const LANGUAGE: &str = "CYPHER 5 ";

/// Nodes that one transaction reads by their numbers: a server may end one that takes long.
pub(super) const NODES: usize = 10_000;

/// One file under `cypher/`.
#[derive(Debug)]
pub struct Statement {
    /// Folder and stem, such as `memory/decay`; also its name in traces and errors.
    pub name: &'static str,
    /// The whole file.
    pub file: &'static str,
}

/// The header of a statement file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// Purpose, in one sentence.
    pub purpose: &'a str,
    /// `read`, `write` or `schema`.
    pub mode: &'a str,
    /// Names and types of the parameters.
    pub params: Vec<(&'a str, &'a str)>,
    /// Columns and row count.
    pub returns: &'a str,
    /// Bound of a write.
    pub bound: &'a str,
    /// Why a repeat of a write is safe.
    pub idempotent: &'a str,
    /// Rust twin of a law.
    pub law: &'a str,
    /// `server` if the server's clock may be read.
    pub clock: &'a str,
    /// Placeholders of labels and types in the text.
    pub names: &'a str,
    /// Replacement of the text after the page's `LIMIT $limit`, to quarantine a row on which the statement failed.
    pub quarantine: &'a str,
}

impl<'a> Header<'a> {
    /// The header of a statement file. A missing key is empty.
    fn of(file: &'a str) -> Self {
        let mut header = Self::default();
        for line in file.lines().map_while(|line| line.strip_prefix("//")) {
            let Some((key, value)) = line.trim().split_once(": ") else { continue };
            let value = value.trim();
            match key {
                "purpose" => header.purpose = value,
                "mode" => header.mode = value,
                "params" if value != "none" => {
                    header.params = value
                        .split(", $")
                        .filter_map(|param| param.trim_start_matches('$').split_once(": "))
                        .collect();
                }
                "returns" => header.returns = value,
                "bound" => header.bound = value,
                "idempotent" => header.idempotent = value,
                "law" => header.law = value,
                "clock" => header.clock = value,
                "names" => header.names = value,
                "quarantine" => header.quarantine = value,
                _ => {}
            }
        }
        header
    }
}

/// Mode in which a statement handles a page.
#[derive(Debug, Clone, Copy)]
pub enum PageMode<'a> {
    /// Does the statement's work on at most this many rows.
    Rows(usize),
    /// Quarantines the first row, on which the statement failed with this error.
    Quarantine(&'a Error),
}

/// Placeholders: the label of places, its key, and the type of edges.
pub(super) const ROOM: &str = ":Room";
pub(super) const ROOM_ID: &str = "n.id";
pub(super) const HALL: &str = ":HALL";
/// The label and the type at the end of the name of an index or constraint.
const ROOM_NAME: &str = "_Room";
const HALL_NAME: &str = "_HALL";

impl PageMode<'_> {
    /// Whether so many rows are all that the page may have, so that there may be more.
    pub(super) fn is_full(self, rows: i64) -> bool {
        match self {
            Self::Rows(limit) => usize::try_from(rows).is_ok_and(|rows| rows >= limit),
            Self::Quarantine(_) => true,
        }
    }

    /// The rest of the page after so many rows; `None` if nothing is left of it.
    pub(super) fn rest(self, rows: i64) -> Option<Self> {
        match self {
            Self::Rows(limit) => {
                let left = limit.saturating_sub(usize::try_from(rows).unwrap_or(usize::MAX));
                (left > 0).then_some(Self::Rows(left))
            }
            Self::Quarantine(_) => (rows == 0).then_some(self),
        }
    }
}

impl Statement {
    /// Text to send: the file from its first line that is not a comment.
    #[must_use]
    pub fn body(&self) -> &'static str {
        body(self.file)
    }

    /// The header. A missing key is empty.
    #[must_use]
    pub fn header(&self) -> Header<'static> {
        Header::of(self.file)
    }

    /// The text with these instead of the placeholders of its header. The only place where a name is inserted into a text:
    /// callers pass names that were checked.
    pub(super) fn text_of(&self, inserted: &[(&str, String)]) -> String {
        let names = self.header().names;
        let is_named = |(stands, _): &&(&str, String)| names.split(", ").any(|named| named == *stands);
        let named: Vec<&(&str, String)> = inserted.iter().filter(is_named).collect();
        let (mut text, mut rest) = (String::new(), self.body());
        // In one pass, since a name may contain a placeholder.
        while let Some((at, stands, name)) =
            named.iter().filter_map(|(stands, name)| Some((rest.find(stands)?, *stands, name))).min()
        {
            text.push_str(&rest[..at]);
            text.push_str(name);
            rest = &rest[at + stands.len()..];
        }
        let key =
            named.iter().find(|(stands, _)| *stands == ROOM_ID).and_then(|(_, name)| name.strip_prefix("n."));
        hinted(text + rest, key.unwrap_or("id"))
    }

    /// The text for these labels and types, any of them if there are several.
    pub(super) fn text_about(&self, labels: &[PlaceLabel], types: &[EdgeType]) -> String {
        let mut inserted = Vec::new();
        if let Some(first) = labels.first() {
            let names: Vec<&str> = labels.iter().map(PlaceLabel::as_str).collect();
            inserted.push((ROOM_ID, format!("n.{}", first.key())));
            inserted.push((ROOM, format!(":{}", names.join("|"))));
            inserted.push((ROOM_NAME, format!("_{}", names.join("_"))));
        }
        if !types.is_empty() {
            let names: Vec<&str> = types.iter().map(EdgeType::as_str).collect();
            inserted.push((HALL, format!(":{}", names.join("|"))));
            inserted.push((HALL_NAME, format!("_{}", names.join("_"))));
        }
        self.text_of(&inserted)
    }

    /// The text with the labels and types of an allow-list in place of those of the documents.
    pub(super) fn text_with(&self, allowed: &Allowed) -> String {
        let quoted = |names: &[&str]| format!("['{}']", names.join("', '"));
        let labels: Vec<&str> = allowed.labels().iter().map(PlaceLabel::as_str).collect();
        let types: Vec<&str> = allowed.types().iter().map(EdgeType::as_str).collect();
        self.body()
            .replace(&Allowed::LABELS.join("|"), &labels.join("|"))
            .replace(&quoted(&Allowed::LABELS), &quoted(&labels))
            .replace(&Allowed::TYPES.join("|"), &types.join("|"))
    }

    /// The quarantining text of this statement: up to the end of its page, then the text of its header.
    #[must_use]
    pub fn quarantining(&self, text: &str) -> String {
        let page = text.split_inclusive('\n').scan(false, |ended, line| {
            (!std::mem::replace(ended, *ended || line.trim_end().ends_with("LIMIT $limit"))).then_some(line)
        });
        page.chain([self.header().quarantine]).collect()
    }

    /// A call for these labels and types. A statement with a key takes one label.
    pub(super) fn about(&'static self, labels: &[PlaceLabel], types: &[EdgeType]) -> Call {
        self.reading(&self.text_about(labels, types))
    }

    /// A call over all of these labels or types: the subquery with which the statement begins is repeated for each, and
    /// united. A server plans it once, and a page is of all of them.
    pub(super) fn over(&'static self, labels: &[PlaceLabel], types: &[EdgeType]) -> Call {
        self.reading(&self.text_over(labels, types))
    }

    fn text_over(&self, labels: &[PlaceLabel], types: &[EdgeType]) -> String {
        let (begin, end) = ("CALL () {\n", "}\n");
        let texts = labels.chunks(1).map(|label| self.text_about(label, &[]));
        let mut texts = texts.chain(types.chunks(1).map(|one| self.text_about(&[], one))).peekable();
        let whole = texts.peek().map_or_else(|| self.body().to_owned(), Clone::clone);
        let inside = |text: &str| Some(text.strip_prefix(begin)?.split_once(end)?.0.to_owned());
        let Some((_, rest)) = whole.split_once(end) else { return whole };
        let parts: Vec<String> = texts.filter_map(|text| inside(&text)).collect();
        format!("{begin}{}{end}{rest}", parts.join("  UNION\n"))
    }

    /// A call with another text than the file's.
    pub(super) fn reading(&'static self, text: &str) -> Call {
        self.sending(&format!("{LANGUAGE}{text}"))
    }

    /// A call in the default language of the database, for what is asked before the server's version is known.
    pub(super) fn in_any_language(&'static self) -> Call {
        self.sending(self.body())
    }

    fn sending(&'static self, text: &str) -> Call {
        Call { statement: self, query: neo4rs::query(text), rows: BoltMap::default() }
    }

    pub(super) fn call(&'static self) -> Call {
        self.reading(self.body())
    }
}

/// A file from its first line that is not a comment.
fn body(file: &str) -> &str {
    let mut rest = file;
    while rest.starts_with("//") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest
}

/// A text with this key in its hints, which name the key without its node.
fn hinted(text: String, key: &str) -> String {
    if key == "id" {
        return text;
    }
    let hint =
        |line: &str| match line.strip_suffix("id)\n").filter(|line| line.contains("USING INDEX SEEK n:")) {
            Some(before) => format!("{before}{key})\n"),
            None => line.to_owned(),
        };
    text.split_inclusive('\n').map(hint).collect()
}

/// A statement with its parameters.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) statement: &'static Statement,
    query: Query,
    rows: BoltMap,
}

impl Call {
    /// Sets the parameter `$name`; a list is `$rows.name`.
    ///
    /// A plan is cached by the types of its parameters, and the server has different types for lists of ten and of
    /// eleven, and of nulls and of texts. It does not examine maps, so one plan serves all: the planning of
    /// `memory/lock` takes 0.2 to 0.4 s on a server that has just started.
    pub(super) fn set(mut self, name: &str, value: impl Into<BoltType>) -> Self {
        match value.into() {
            list @ BoltType::List(_) => self.rows.put(name.into(), list),
            value => self.query = self.query.param(name, value),
        }
        self
    }

    /// The same about a page of these nodes each, by `$rows.numbers`.
    pub(super) fn by_numbers(self, numbers: &[i64]) -> impl Iterator<Item = Self> {
        numbers.chunks(NODES).map(move |page| self.clone().set("numbers", list(page.iter().copied())))
    }

    /// Sets the parameters of a page.
    pub(super) fn page(mut self, page_mode: PageMode<'_>) -> Self {
        match page_mode {
            PageMode::Rows(limit) => self.set("limit", i64::try_from(limit).unwrap_or(i64::MAX)),
            PageMode::Quarantine(why) => {
                let text = self.statement.quarantining(self.query.query());
                self.query = neo4rs::query(&text).with_params(self.query.get_params().clone());
                self.set("limit", 1).set("reason", why.quarantine_reason())
            }
        }
    }

    /// The driver's query.
    pub(super) fn query(self) -> Query {
        if self.rows.is_empty() { self.query } else { self.query.param("rows", BoltType::Map(self.rows)) }
    }
}

/// Embeds `cypher/<name>.cypher`.
macro_rules! statement {
    ($name:literal) => {
        $crate::store::statement::Statement {
            name: $name,
            file: include_str!(concat!("../../../cypher/", $name, ".cypher")),
        }
    };
}
pub(super) use statement;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::trail::Allowed;

    #[test]
    fn names_of_the_list_come_into_a_text_where_its_header_says_and_nowhere_else() {
        let allowed = Allowed::new(&["Entity", "Den"], &["TUNNEL", "WAY"]).unwrap();
        let file = "// names: :Room, n.id, :HALL\nMATCH (n:Room)-[r:HALL]-(m) WHERE n.id = $id AND m:Entity RETURN m.id";
        let statement = Statement { name: "trail/some", file };
        let text = |labels: &[PlaceLabel], types: &[EdgeType]| statement.text_about(labels, types);
        assert_eq!(
            text(&allowed.labels()[..1], &allowed.types()[1..]),
            "MATCH (n:Entity)-[r:WAY]-(m) WHERE n.name = $id AND m:Entity RETURN m.id"
        );
        assert!(
            text(&allowed.labels()[1..], allowed.types())
                .starts_with("MATCH (n:Den)-[r:TUNNEL|WAY]-(m) WHERE n.id")
        );
        assert_eq!(text(&[], &[]), statement.body());
        let hinted = "// names: :Room, n.id\nMATCH (n:Room)\nUSING INDEX SEEK n:Room(scope, id)\nWHERE n.id = $id RETURN count(id)\n";
        assert_eq!(
            Statement { name: "a", file: hinted }.text_about(&allowed.labels()[..1], &[]),
            "MATCH (n:Entity)\nUSING INDEX SEEK n:Entity(scope, name)\nWHERE n.name = $id RETURN count(id)\n"
        );
        let other = Statement { name: "a", file: "// names: :HALL\nMATCH (n:Room)-[:HALL]-()" };
        assert_eq!(other.text_about(allowed.labels(), &allowed.types()[..1]), "MATCH (n:Room)-[:TUNNEL]-()");
    }

    #[test]
    fn a_subquery_is_repeated_for_each_name() {
        let allowed = Allowed::new(&["Entity", "Den"], &["TUNNEL", "WAY"]).unwrap();
        let places = Statement {
            name: "a",
            file: "// names: :Room\nCALL () {\n  MATCH (n:Room)\n  RETURN n\n}\nSET n = {a: 1}\n",
        };
        assert_eq!(
            places.text_over(allowed.labels(), &[]),
            "CALL () {\n  MATCH (n:Entity)\n  RETURN n\n  UNION\n  MATCH (n:Den)\n  RETURN n\n}\nSET n = {a: 1}\n"
        );
        assert_eq!(places.text_over(&allowed.labels()[1..], &[]), places.body().replace("Room", "Den"));
        let edges = Statement {
            name: "b",
            file: "// names: :HALL\nCALL () {\n  MATCH ()-[r:HALL]->() RETURN r\n}\n",
        };
        assert_eq!(edges.text_over(&[], allowed.types()).matches("UNION").count(), 1);
    }

    #[test]
    fn a_text_is_sent_as_cypher_5_but_before_the_version_is_known() {
        static STATEMENT: Statement =
            Statement { name: "a", file: "// purpose: None.\nMATCH (n) LIMIT $limit" };
        let sent = |call: Call| call.query().query().to_owned();
        assert_eq!(sent(STATEMENT.call()), "CYPHER 5 MATCH (n) LIMIT $limit");
        let failed = Error::Schema("no".to_owned());
        let quarantining = STATEMENT.call().page(PageMode::Quarantine(&failed));
        assert_eq!(sent(quarantining), "CYPHER 5 MATCH (n) LIMIT $limit");
        assert_eq!(sent(STATEMENT.in_any_language()), STATEMENT.body());
    }

    #[test]
    fn a_quarantining_text_is_the_page_and_what_the_header_says() {
        let file = "// quarantine: SET n.bad = $reason RETURN n.id\nMATCH (n)\nWITH n LIMIT $limit\nSET n.x = 1\n\
                    WITH n LIMIT $limit\nRETURN n.id";
        let statement = Statement { name: "a", file };
        assert_eq!(
            statement.quarantining(statement.body()),
            "MATCH (n)\nWITH n LIMIT $limit\nSET n.bad = $reason RETURN n.id"
        );
    }
}
