//! Plans. The driver hands out none, so the server's HTTP endpoint is asked.

use super::neo4j::Fresh;
use secrecy::ExposeSecret;
use serde::Deserialize;

/// One operator with what it reads from.
#[derive(Deserialize)]
pub(crate) struct Plan {
    #[serde(rename = "operatorType")]
    kind: String,
    arguments: Arguments,
    children: Vec<Plan>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(rename = "Details", default)]
    details: String,
}

/// Aggregations, as the beginning of a column says them: what begins otherwise is a key by which rows are grouped.
const AGGREGATIONS: [&str; 7] = ["avg(", "collect(", "collect_distinct(", "count(", "max(", "min(", "sum("];

impl Plan {
    /// The plan that the server makes for a statement.
    pub(crate) async fn of(db: &Fresh, statement: &str) -> Self {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(rename = "queryPlan")]
            plan: Plan,
        }
        let (_, host) = db.http.split_once("://").expect("an address with http://");
        let (user, password) = (&db.config.username, db.config.password.expose_secret());
        let url = format!("http://{user}:{password}@{host}/db/{}/query/v2", db.config.database);
        let body = serde_json::json!({ "statement": format!("EXPLAIN CYPHER 5 {statement}") });
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut answer =
            agent.post(&url).header("Accept", "application/json").send_json(&body).expect("an answer");
        let text = answer.body_mut().read_to_string().expect("text");
        let answer: Answer =
            serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}\nfor {statement}"));
        answer.plan
    }

    /// The operator, such as `NodeIndexSeek`.
    pub(crate) fn kind(&self) -> &str {
        self.kind.trim_end_matches("@neo4j")
    }

    /// What it works on, on one line.
    pub(crate) fn details(&self) -> String {
        self.arguments.details.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What it reads from.
    pub(crate) fn children(&self) -> &[Self] {
        &self.children
    }

    /// This operator and all below it.
    pub(crate) fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        self.children.iter().for_each(|child| all.extend(child.all()));
        all
    }

    /// Those that read from nothing but the database or the parameters.
    pub(crate) fn leaves(&self) -> Vec<&Self> {
        self.all().into_iter().filter(|plan| plan.children.is_empty()).collect()
    }

    /// What a leaf starts from: `Memory(dueAt)` for an index, the label or type for a scan.
    pub(crate) fn start(&self) -> String {
        let details = self.details();
        let named =
            details.split(" WHERE ").next().and_then(|named| named.split(']').next()).unwrap_or_default();
        let kinds = named.trim_start_matches("RANGE INDEX ").trim_start_matches("UNIQUE ");
        kinds.split_once(':').map_or(kinds, |(_, kinds)| kinds).to_owned()
    }

    /// The tree as text: an operator a line, each below what reads from it; leaves with what they start from. Operators
    /// that only compute columns from a row are left out: they come and go with every word.
    pub(crate) fn tree(&self) -> String {
        fn write(plan: &Plan, depth: usize, text: &mut String) {
            if let ("Projection" | "CacheProperties", [below]) = (plan.kind(), plan.children.as_slice()) {
                return write(below, depth, text);
            }
            text.push_str(&"  ".repeat(depth));
            text.push_str(plan.kind());
            let named = ["Seek", "Scan", "CountStore", "ProcedureCall"];
            if plan.children.is_empty() && named.iter().any(|name| plan.kind().contains(name)) {
                text.push(' ');
                let start = match plan.kind() {
                    "NodeCountFromCountStore" | "ProcedureCall" => plan.details(),
                    _ => plan.start(),
                };
                text.push_str(&start);
            }
            text.push('\n');
            plan.children.iter().for_each(|child| write(child, depth + 1, text));
        }
        let mut text = String::new();
        write(self, 1, &mut text);
        text
    }

    /// Whether it gives one row at most for each row that it is given.
    pub(crate) fn single(&self) -> bool {
        match self.kind() {
            "EagerAggregation" => !self.groups(),
            "Limit" => self.details() == "1" || self.children.iter().all(Self::single),
            "Top" | "PartialTop" => {
                self.details().ends_with(" LIMIT 1") || self.children.iter().all(Self::single)
            }
            _ => self.grows_with(Self::single, false),
        }
    }

    /// Whether the number of its rows has a bound that the statement or its parameters set: a limit, a list, a key.
    pub(crate) fn bounded(&self) -> bool {
        match self.kind() {
            "Limit" | "Top" | "PartialTop" => true,
            "EagerAggregation" if !self.groups() => true,
            _ => self.grows_with(Self::bounded, true),
        }
    }

    /// Whether the rows of this operator are no more than what `holds` says of those it reads from.
    fn grows_with(&self, holds: fn(&Self) -> bool, lists: bool) -> bool {
        let kind = self.kind();
        if kind == "Unwind" {
            return lists && self.details().contains('$') && self.children.iter().all(holds);
        }
        if kind.starts_with("Expand(All)")
            || kind.starts_with("OptionalExpand(All)")
            || kind.contains("VarLength")
        {
            return false;
        }
        if kind == "Union" {
            return lists && self.children.iter().all(holds);
        }
        // The right side of these decides about rows of the left, or works once for each, and gives none of its own.
        let left_only = ["SemiApply", "RollUpApply", "Foreach", "ConditionalApply"];
        match self.children.as_slice() {
            [] => {
                // An element id names one element, as a unique key does.
                let key = (kind.contains("UniqueIndexSeek") && !kind.contains("ByRange"))
                    || kind.contains("ByElementIdSeek")
                    || kind == "MergeUniqueNode";
                key || ["Argument", "EmptyRow", "ProcedureCall"].contains(&kind)
                    || kind.contains("FromCountStore")
            }
            [left, ..] if left_only.iter().any(|name| kind.ends_with(name)) => holds(left),
            children => children.iter().all(holds),
        }
    }

    /// Whether an aggregation has a key, and so more rows than one.
    fn groups(&self) -> bool {
        let details = self.details();
        let (mut depth, mut begins) = (0_usize, true);
        for (at, c) in details.char_indices() {
            if begins && c != ' ' {
                if !AGGREGATIONS.iter().any(|name| details[at..].starts_with(name)) {
                    return true;
                }
                begins = false;
            }
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => begins = true,
                _ => {}
            }
        }
        false
    }
}
