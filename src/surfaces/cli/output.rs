//! Prints answers: a table for people, JSON for programs.
//!
//! Every answer is one `Serialize` value. As JSON it is an object whose first key is `schema`
//! (`"ebb.memory.show/1"`), so that a program knows what it reads; a list as `ndjson` is one such object for each item.
//! As a table the verb lays out a [`Page`].

use super::ColorWhen;
use super::exit::CliError;
use super::page::{Page, harmless};
use clap::ValueEnum;
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// One JSON object.
    Json,
    /// One JSON object a line, for lists.
    Ndjson,
}

/// The width where no terminal says one.
const WIDTH: usize = 80;

/// The output of this process: format, colour and width.
#[derive(Debug, Clone)]
pub struct Output {
    /// Table, JSON or NDJSON.
    pub format: Format,
    /// Whether stdout gets colour.
    pub color: bool,
    /// Columns of the terminal; 80 where there is none.
    pub width: usize,
    /// Whether remarks on stderr are left out.
    pub quiet: bool,
    /// Whether stderr gets colour.
    pub color_on_stderr: bool,
    /// Whether a table is cut to the width: only a terminal has one.
    cut: bool,
    /// Whether the user chose the format.
    is_chosen: bool,
}

#[derive(Serialize)]
struct Tagged<'a, T> {
    schema: &'a str,
    #[serde(flatten)]
    value: &'a T,
}

impl Output {
    /// For this process: what the flags say, else what stdout and stderr are connected to.
    #[must_use]
    pub fn of_process(format: Option<Format>, color: ColorWhen, no_color: bool, quiet: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let colored = |terminal: bool| match color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => terminal && !no_color,
        };
        let measured = rustix::termios::tcgetwinsize(io::stdout()).map(|size| usize::from(size.ws_col));
        Self {
            format: format.unwrap_or(if terminal { Format::Table } else { Format::Json }),
            color: colored(terminal),
            width: measured.ok().filter(|columns| *columns >= 20).unwrap_or(WIDTH),
            quiet,
            color_on_stderr: colored(io::stderr().is_terminal()),
            cut: terminal,
            is_chosen: format.is_some(),
        }
    }

    /// Whether the user chose this format.
    #[must_use]
    pub fn is_requested(&self, format: Format) -> bool {
        self.is_chosen && self.format == format
    }

    /// Prints an answer. `verb` is two words at most joined by a dot, such as `job.run`; `value` serialises as an
    /// object; `lay_out` makes the page for people.
    pub fn emit<T: Serialize>(
        &self,
        verb: &str,
        value: &T,
        lay_out: impl FnOnce(&mut Page),
    ) -> Result<(), CliError> {
        self.to_stdout(|to| self.write_one(to, verb, value, lay_out))
    }

    /// Prints an answer that takes the place of the one before: on a terminal the screen is cleared first, and JSON is one
    /// object a line.
    pub fn emit_again<T: Serialize>(
        &self,
        verb: &str,
        value: &T,
        lay_out: impl FnOnce(&mut Page),
    ) -> Result<(), CliError> {
        let format = if self.format == Format::Json { Format::Ndjson } else { self.format };
        let again = Self { format, ..*self };
        self.to_stdout(|to| {
            if self.format == Format::Table && io::stdout().is_terminal() {
                // Home, and everything below it cleared.
                to.write_all(b"\x1b[H\x1b[J")?;
            }
            again.write_one(to, verb, value, lay_out)
        })
    }

    /// Prints an answer that is a list: as JSON one object with the items under `field`, as NDJSON an object for each.
    pub fn emit_list<T: Serialize>(
        &self,
        verb: &str,
        field: &'static str,
        items: &[T],
        lay_out: impl FnOnce(&mut Page),
    ) -> Result<(), CliError> {
        self.to_stdout(|to| self.write_list(to, verb, field, items, lay_out))
    }

    /// Prints bytes as they are: scripts, pages, pictures.
    pub fn raw(&self, bytes: &[u8]) -> Result<(), CliError> {
        self.to_stdout(|to| to.write_all(bytes))
    }

    /// Prints what is too long to be held: as it is written.
    pub fn stream(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        self.to_stdout(write)
    }

    /// A remark on stderr, unless the user asked for quiet.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            // If stderr cannot be written, nothing can report it.
            let _ = writeln!(io::stderr(), "{}", harmless(text));
        }
    }

    /// Whether a progress bar has somewhere to be drawn.
    #[must_use]
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    fn to_stdout(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        let mut to = BufWriter::new(io::stdout().lock());
        let written = write(&mut to).and_then(|()| to.flush());
        // What a failed write left in the buffer must not be tried again when the buffer is dropped.
        drop(to.into_parts());
        written.map_err(CliError::from)
    }

    fn write_one<T: Serialize>(
        &self,
        to: &mut dyn Write,
        verb: &str,
        value: &T,
        lay_out: impl FnOnce(&mut Page),
    ) -> io::Result<()> {
        let schema = format!("ebb.{verb}/1");
        let tagged = Tagged { schema: &schema, value };
        match self.format {
            Format::Table => {
                let is_dry_run = serde_json::to_value(value)?["dry_run"] == true;
                return self.write_page(to, |page| {
                    lay_out(page);
                    if is_dry_run {
                        page.line("Dry run: nothing was written.");
                    }
                });
            }
            Format::Json => serde_json::to_writer_pretty(&mut *to, &tagged)?,
            Format::Ndjson => serde_json::to_writer(&mut *to, &tagged)?,
        }
        writeln!(to)
    }

    fn write_list<T: Serialize>(
        &self,
        to: &mut dyn Write,
        verb: &str,
        field: &'static str,
        items: &[T],
        lay_out: impl FnOnce(&mut Page),
    ) -> io::Result<()> {
        match self.format {
            Format::Table => self.write_page(to, lay_out),
            Format::Json => {
                let list = std::collections::BTreeMap::from([(field, items)]);
                self.write_one(to, verb, &list, |_| {})
            }
            Format::Ndjson => items.iter().try_for_each(|item| self.write_one(to, verb, item, |_| {})),
        }
    }

    fn write_page(&self, to: &mut dyn Write, lay_out: impl FnOnce(&mut Page)) -> io::Result<()> {
        let mut page = Page::new(self.color, self.width, self.cut.then_some(self.width));
        lay_out(&mut page);
        to.write_all(page.text().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::page::Column;
    use super::*;

    #[derive(Serialize)]
    struct Memory {
        id: &'static str,
        energy: f64,
        content: &'static str,
    }

    const MEMORIES: [Memory; 2] = [
        Memory { id: "m1", energy: 12.5, content: "prefers tabs\nover spaces" },
        Memory {
            id: "m2",
            energy: 0.25,
            content: "a red \u{1b}[31mlie\u{202e} that is rather long for a terminal",
        },
    ];

    fn output(format: Format, color: bool) -> Output {
        Output { format, color, width: 40, quiet: false, color_on_stderr: false, cut: true, is_chosen: true }
    }

    fn listed(output: &Output) -> String {
        let mut to = Vec::new();
        let lay_out = |page: &mut Page| {
            page.heading("Memories");
            let columns = [Column::left("ID"), Column::right("ENERGY"), Column::cut("CONTENT")];
            let row = |m: &Memory| [m.id.to_owned(), format!("{:.2}", m.energy), m.content.to_owned()];
            page.table(&columns, MEMORIES.iter().map(row));
            page.line("");
            page.fields(&[("tier", "working"), ("due", "never")]);
        };
        output.write_list(&mut to, "memory.list", "memories", &MEMORIES, lay_out).unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn a_page_is_aligned_cut_and_harmless() {
        insta::assert_snapshot!(listed(&output(Format::Table, false)));
        let colored = listed(&output(Format::Table, true));
        assert!(colored.contains("\x1b[2m") && !colored.contains("[31m\u{fffd}"), "{colored:?}");
        assert!(!listed(&output(Format::Table, false)).contains('\x1b'));
    }

    #[test]
    fn json_names_its_schema_first_and_keeps_the_order_of_fields() {
        insta::assert_snapshot!(listed(&output(Format::Json, true)));
        let lines = listed(&output(Format::Ndjson, true));
        assert_eq!(lines.lines().count(), 2);
        assert!(lines.starts_with(r#"{"schema":"ebb.memory.list/1","id":"m1","energy":12.5,"#), "{lines}");
    }

    #[test]
    fn a_reader_that_has_gone_is_an_end_not_a_failure() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for format in [Format::Table, Format::Json, Format::Ndjson] {
            let error = output(format, false)
                .write_list(&mut Gone, "memory.list", "memories", &MEMORIES, |page| page.line("x"))
                .unwrap_err();
            assert_eq!(CliError::from(error).exit(), super::super::exit::Exit::Ok);
        }
    }
}
