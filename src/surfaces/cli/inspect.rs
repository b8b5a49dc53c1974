//! `ebb inspect`: the prepared questions.

use super::exit::CliError;
use super::instant::{readable, rfc3339};
use super::output::{Format, Output};
use super::page::Column;
use super::unknown;
use clap::Args;
use ebb_core::domain::units::Timestamp;
use ebb_core::service::{Answer, Cell, Service};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// `ebb inspect`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Each query is one Cypher statement that can be pasted into Neo4j Browser as it is.
A style shows memories, entities and facts by their texts there: save it and drop the file on the Browser's window.

Examples:
  ebb inspect
  ebb inspect tiers
  ebb inspect tiers --cypher
  ebb inspect --style > ebb.grass")]
pub struct Inspect {
    /// Name of the query; without it, list all queries
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print the statement instead of running it
    #[arg(long, requires = "name")]
    pub cypher: bool,
    /// Print a style for Neo4j Browser
    #[arg(long, conflicts_with = "name")]
    pub style: bool,
}

#[derive(Serialize)]
struct Question {
    name: &'static str,
    title: &'static str,
}

#[derive(Serialize)]
struct Answered<'a> {
    name: &'a str,
    title: &'a str,
    columns: &'a [String],
    rows: Vec<Row<'a>>,
}

/// A row as an object, its keys in the order of the columns.
struct Row<'a>(&'a [String], &'a [Cell]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (column, cell) in self.0.iter().zip(self.1) {
            map.serialize_entry(column, &Value(cell))?;
        }
        map.end()
    }
}

/// A cell as JSON: instants as RFC 3339, and as text the numbers that JSON has no word for.
struct Value<'a>(&'a Cell);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Cell::Null => serializer.serialize_unit(),
            Cell::Boolean(value) => serializer.serialize_bool(*value),
            Cell::Integer(value) => serializer.serialize_i64(*value),
            Cell::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            Cell::Float(value) => serializer.collect_str(value),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Instant(ms) => match Timestamp::from_millis(*ms) {
                Ok(at) => serializer.serialize_str(&rfc3339(at)),
                Err(_) => serializer.serialize_i64(*ms),
            },
            Cell::List(cells) => serializer.collect_seq(cells.iter().map(Value)),
        }
    }
}

/// Prints the style, which needs no database.
pub fn style(output: &Output) -> Result<(), CliError> {
    output.raw(include_bytes!("inspect.grass"))
}

/// Answers a question, prints its statement, or lists the questions.
pub async fn run(args: &Inspect, service: &Service, output: &Output) -> Result<(), CliError> {
    let Some(asked) = &args.name else { return list(output) };
    // Files have an underscore where fingers type a hyphen.
    let asked = asked.replace('-', "_");
    let Some((name, title)) = Service::questions().find(|(name, _)| *name == asked) else {
        return Err(unknown("query", &asked, Service::questions().map(|(name, _)| name), "ebb inspect"));
    };
    if args.cypher {
        let text = service.question(name).unwrap_or_default();
        return output.raw(format!("// {title}\n{text}").as_bytes());
    }
    let Answer { columns, rows, bound } = service.inspect(name).await?;
    let objects = || rows.iter().map(|row| Row(&columns, row)).collect::<Vec<_>>();
    let printed = match output.format {
        Format::Ndjson => output.emit_list("inspect", "rows", &objects(), |_| {}),
        _ => output.emit("inspect", &Answered { name, title, columns: &columns, rows: objects() }, |page| {
            page.heading(title);
            if rows.is_empty() {
                page.line("No rows.");
                return;
            }
            let kind = |index: usize| {
                let numbers = |row: &Vec<Cell>| {
                    matches!(row.get(index), Some(Cell::Integer(_) | Cell::Float(_) | Cell::Null))
                };
                let long = rows.iter().any(|row| row.get(index).is_some_and(|cell| text_of(cell).len() > 44));
                let name = columns[index].as_str();
                if rows.iter().all(numbers) {
                    Column::right(name)
                } else if long {
                    Column::cut(name)
                } else {
                    Column::left(name)
                }
            };
            let columns: Vec<Column<'_>> = (0..columns.len()).map(kind).collect();
            page.table(&columns, rows.iter().map(|row| row.iter().map(text_of).collect::<Vec<_>>()));
        }),
    };
    if let Some(bound) = bound {
        output.remark(&format!("{bound} are shown"));
    }
    printed
}

fn list(output: &Output) -> Result<(), CliError> {
    let questions: Vec<Question> =
        Service::questions().map(|(name, title)| Question { name, title }).collect();
    output.emit_list("inspect", "questions", &questions, |page| {
        let columns = [Column::left("NAME"), Column::cut("QUERY")];
        page.table(&columns, questions.iter().map(|q| [q.name.to_owned(), q.title.to_owned()]));
    })
}

/// A number with three decimals; with an exponent if these are too few to show it, or more than nine digits stand before them.
fn number(value: f64) -> String {
    let is_plain = value == 0.0 || !value.is_finite() || (0.001..1e9).contains(&value.abs());
    if is_plain { format!("{value:.3}") } else { format!("{value:.3e}") }
}

fn text_of(cell: &Cell) -> String {
    match cell {
        Cell::Null => "-".to_owned(),
        Cell::Boolean(value) => if *value { "yes" } else { "no" }.to_owned(),
        Cell::Integer(value) => value.to_string(),
        Cell::Float(value) => number(*value),
        Cell::Text(text) => text.clone(),
        Cell::Instant(ms) => Timestamp::from_millis(*ms).map_or_else(|_| ms.to_string(), readable),
        Cell::List(cells) => cells.iter().map(text_of).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_are_told_apart() {
        let texts = [0.0, -0.25, 0.001, 0.0004, -5e-324, 999_999_999.5, 1e9, 1e300, f64::NAN].map(number);
        let wanted = [
            "0.000",
            "-0.250",
            "0.001",
            "4.000e-4",
            "-4.941e-324",
            "999999999.500",
            "1.000e9",
            "1.000e300",
            "NaN",
        ];
        assert_eq!(texts, wanted);
    }
}
