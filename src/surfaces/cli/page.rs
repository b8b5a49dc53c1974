//! An answer as text: lines, fields, tables and pictures, one below the other.
//!
//! Text that came out of the database may hold anything, escape sequences of a terminal included: a page shows such
//! characters as `�` and never passes them on.

use ebb_core::domain::invisible::is_invisible;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    name: &'a str,
    to_the_right: bool,
    may_be_cut: bool,
}

impl<'a> Column<'a> {
    /// Text.
    #[must_use]
    pub const fn left(name: &'a str) -> Self {
        Self { name, to_the_right: false, may_be_cut: false }
    }

    /// Numbers.
    #[must_use]
    pub const fn right(name: &'a str) -> Self {
        Self { name, to_the_right: true, may_be_cut: false }
    }

    /// Text that is cut when the terminal is too narrow for the table.
    #[must_use]
    pub const fn cut(name: &'a str) -> Self {
        Self { name, to_the_right: false, may_be_cut: true }
    }

    fn padded(&self, text: &str, width: usize) -> String {
        let text = shortened(text, width);
        let pad = " ".repeat(width.saturating_sub(text.width()));
        if self.to_the_right { pad + &text } else { text + &pad }
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

    /// The text so far.
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
            if !line.is_empty() && line.width() + 1 + word.width() > self.width {
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

    /// A line in bold.
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
        let widest = fields.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
        for (name, value) in fields {
            let gap = " ".repeat(widest - name.width() + 2);
            let name = if self.color { format!("\x1b[2m{name}\x1b[0m") } else { (*name).to_owned() };
            self.push(&format!("{name}{gap}{}", harmless(value.as_ref())));
        }
    }

    /// A table without lines. A row is as long as there are columns. On a terminal that is too narrow for it, the
    /// columns that may be cut are; where too little would be left of one, it goes below its row.
    pub fn table<R: IntoIterator<Item = String>>(
        &mut self,
        columns: &[Column<'_>],
        rows: impl IntoIterator<Item = R>,
    ) {
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|row| row.into_iter().map(|text| harmless(&text)).collect()).collect();
        let natural = |index: usize| {
            let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.width());
            cells.chain([columns[index].name.width()]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..columns.len()).map(natural).collect();
        let below = self.table_width.is_some_and(|width| !cut(columns, &mut widths, width));
        let beside = |index: &usize| !(below && columns[*index].may_be_cut);
        let line = |cell: &dyn Fn(usize) -> String| {
            let cells: Vec<String> = (0..columns.len()).filter(beside).map(cell).collect();
            cells.join(GAP).trim_end().to_owned()
        };
        let header = line(&|index| columns[index].padded(columns[index].name, widths[index]));
        self.push(&if self.color { format!("\x1b[2m{header}\x1b[0m") } else { header });
        for row in &rows {
            let cell = |index: usize| row.get(index).map_or("", String::as_str);
            self.push(&line(&|index| columns[index].padded(cell(index), widths[index])));
            for index in (0..columns.len()).filter(|index| !beside(index)) {
                self.push(&format!("{GAP}{GAP}{}", shortened(cell(index), self.width.saturating_sub(4))));
            }
        }
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

/// Between two columns.
const GAP: &str = "  ";
/// The fewest characters that are worth showing of a text.
const CUT_LEAST: usize = 16;

/// Cuts the columns that may be cut until the table fits; says whether enough is left of each.
fn cut(columns: &[Column<'_>], widths: &mut [usize], table: usize) -> bool {
    let taken: usize = widths.iter().sum::<usize>() + GAP.len() * columns.len().saturating_sub(1);
    let mut over = taken.saturating_sub(table);
    // The widest first: a short text beside a long one keeps its words.
    while over > 0 {
        let may_be_cut = |index: &usize| columns[*index].may_be_cut && widths[*index] > CUT_LEAST;
        let Some(widest) = (0..columns.len()).filter(may_be_cut).max_by_key(|index| widths[*index]) else {
            return columns.iter().all(|column| !column.may_be_cut);
        };
        widths[widest] -= 1;
        over -= 1;
    }
    true
}

/// A text in at most so many columns of a terminal, with `…` where something is missing: between words, unless much more
/// would be missing then.
fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut taken = 1;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken <= columns
    };
    let kept: String = text.chars().take_while(fits).collect();
    let is_inside_a_word = !text[kept.len()..].starts_with(' ');
    let words = kept.rsplit_once(' ').filter(|(words, _)| is_inside_a_word && words.width() * 2 >= columns);
    format!("{}…", words.map_or(kept.as_str(), |(words, _)| words).trim_end())
}

/// Text without what a terminal would act on: line breaks and tabs become spaces, other control characters and the
/// invisible ones that reorder or hide text become `�`.
#[must_use]
pub fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        // These choose between the forms of an emoji.
        '\u{fe00}'..='\u{fe0f}' => c,
        '\u{2028}' | '\u{2029}' => '\u{fffd}',
        c if is_invisible(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// A share in percent, rounded down: no part of a whole reads as 100 %.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", (share * 1_000.0).floor() / 10.0)
}

/// Says which share of the nodes was searched, unless all are held.
pub(super) fn searched(whole: bool, held_share: f64, page: &mut Page) {
    if !whole {
        let share = percent(held_share);
        page.line(&format!("Searched the hottest {share} of the nodes, limited by mirror.max_bytes."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: usize, content: &str) -> String {
        let mut page = Page::new(false, width, Some(width));
        let columns = [Column::left("ID"), Column::cut("CONTENT"), Column::right("ENERGY")];
        page.table(&columns, [["mem-build-command", content, "39.890"].map(str::to_owned)]);
        assert!(page.text().lines().all(|line| line.width() <= width), "{}", page.text());
        page.text().to_owned()
    }

    #[test]
    fn a_text_that_has_too_little_room_stands_below_its_row() {
        let long = "build and test everything from the root";
        assert_eq!(
            drawn(50, long),
            "ID                 CONTENT                  ENERGY\n\
             mem-build-command  build and test…          39.890\n"
        );
        assert_eq!(
            drawn(40, long),
            "ID                 ENERGY\n\
             mem-build-command  39.890\n    build and test everything from the…\n"
        );
        assert_eq!(drawn(40, "short"), drawn(80, "short"), "what fits stays beside");
    }

    #[test]
    fn characters_that_hide_or_reorder_text_are_shown() {
        let acted_on =
            "\u{1b}\u{7f}\u{9b}\u{ad}\u{61c}\u{200b}\u{2028}\u{202e}\u{2066}\u{feff}\u{e0041}\u{e007f}";
        assert_eq!(harmless(acted_on), "\u{fffd}".repeat(acted_on.chars().count()));
        assert_eq!(harmless("a\tb\r\nc"), "a b  c");
        assert_eq!(harmless("é 記憶 ❤\u{fe0f}"), "é 記憶 ❤\u{fe0f}");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(shortened("記憶は薄れる", 7), "記憶は…");
        assert_eq!(shortened("記憶", 4), "記憶");
        assert_eq!(shortened("every word", 6), "every…", "a whole word");
        assert_eq!(shortened("a long-identifier", 10), "a long-id…", "too little would be left");
        let mut page = Page::new(false, 9, None);
        page.paragraph("記憶は 薄れる one");
        assert_eq!(page.text(), "記憶は\n薄れる\none\n");
    }
}
