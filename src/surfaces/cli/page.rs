//! What people see of an answer: lines, fields, tables and pictures, one below the other.
//!
//! Text that came out of the database may hold anything, escape sequences of a terminal included: a page shows such
//! characters as `�` and never passes them on.

use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table};
use std::fmt::Write;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    name: &'a str,
    alignment: CellAlignment,
    may_be_cut: bool,
}

impl<'a> Column<'a> {
    /// Text.
    #[must_use]
    pub const fn left(name: &'a str) -> Self {
        Self { name, alignment: CellAlignment::Left, may_be_cut: false }
    }

    /// Numbers.
    #[must_use]
    pub const fn right(name: &'a str) -> Self {
        Self { name, alignment: CellAlignment::Right, may_be_cut: false }
    }

    /// Text that is cut when the terminal is too narrow for the table.
    #[must_use]
    pub const fn cut(name: &'a str) -> Self {
        Self { name, alignment: CellAlignment::Left, may_be_cut: true }
    }
}

/// A page that is being laid out.
#[derive(Debug)]
pub struct Page {
    text: String,
    color: bool,
    width: usize,
    table_width: Option<usize>,
}

impl Page {
    /// An empty page. A table is cut to `table_width`, where there is one.
    pub(super) const fn new(color: bool, width: usize, table_width: Option<usize>) -> Self {
        Self { text: String::new(), color, width, table_width }
    }

    /// What was laid out.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the page may hold colour.
    #[must_use]
    pub const fn color(&self) -> bool {
        self.color
    }

    /// Columns there are.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// A line of text; an empty one is a gap.
    pub fn line(&mut self, text: &str) {
        self.push(&harmless(text));
    }

    /// A text of any length, broken between words at the width.
    pub fn paragraph(&mut self, text: &str) {
        let mut line = String::new();
        for word in harmless(text).split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > self.width {
                self.push(&line);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.push(&line);
    }

    /// A line that stands out.
    pub fn heading(&mut self, text: &str) {
        let text = harmless(text);
        self.push(&if self.color { format!("\x1b[1m{text}\x1b[0m") } else { text });
    }

    /// A line after a sign in its colour, which begins with the escape sequence `ink`.
    pub fn sign(&mut self, sign: &str, ink: &str, text: &str) {
        let sign = if self.color { format!("{ink}{sign}\x1b[0m") } else { sign.to_owned() };
        self.push(&format!("{sign} {}", harmless(text)));
    }

    /// Names and values below each other, the values aligned.
    pub fn fields<V: AsRef<str>>(&mut self, fields: &[(&str, V)]) {
        let widest = fields.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in fields {
            let gap = " ".repeat(widest - name.chars().count() + 2);
            let name = if self.color { format!("\x1b[2m{name}\x1b[0m") } else { (*name).to_owned() };
            self.push(&format!("{name}{gap}{}", harmless(value.as_ref())));
        }
    }

    /// A table without lines. A row is as long as there are columns.
    pub fn table<R: IntoIterator<Item = String>>(
        &mut self,
        columns: &[Column<'_>],
        rows: impl IntoIterator<Item = R>,
    ) {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING).force_no_tty().set_truncation_indicator("…");
        if self.color {
            table.enforce_styling();
        }
        table.set_header(columns.iter().map(|column| Cell::new(column.name).add_attribute(Attribute::Dim)));
        for row in rows {
            let mut row = Row::from(row.into_iter().map(|text| harmless(&text)).collect::<Vec<_>>());
            row.max_height(1);
            table.add_row(row);
        }
        table.set_content_arrangement(ContentArrangement::Disabled);
        if let Some(width) = self.table_width.and_then(|width| u16::try_from(width).ok()) {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        for (column, of) in table.column_iter_mut().zip(columns) {
            column.set_cell_alignment(of.alignment);
            column.set_padding((0, 2));
            if !of.may_be_cut {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        self.push(&table.trim_fmt());
    }

    /// A picture, drawn already: its own line breaks and colours stay.
    pub fn picture(&mut self, picture: &str) {
        self.push(picture.trim_end_matches('\n'));
    }

    fn push(&mut self, text: &str) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.text, "{}", text.trim_end());
    }
}

/// Text without what a terminal would act on: line breaks and tabs become spaces, other control characters and the
/// invisible ones that reorder or hide text become `�`.
#[must_use]
pub fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            '\u{fffd}'
        }
        c => c,
    };
    text.chars().map(shown).collect()
}
