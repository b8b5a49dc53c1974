//! A canvas of characters: dots four to a cell high and two wide (braille), text and rules between them.
//!
//! Dots of different colours that share a cell take the colour of the last one; text and rules only show where there
//! are no dots, so a curve is never hidden by what it crosses.

use super::Ink;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Dots in a cell.
pub(super) const WIDE: usize = 2;
/// Dots in a cell.
pub(super) const HIGH: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    dots: u8,
    character: Option<char>,
    ink: Option<Ink>,
}

/// Cells in rows, the first at the top.
#[derive(Debug)]
pub(super) struct Canvas {
    cells: Vec<Cell>,
    columns: usize,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self { cells: vec![Cell::default(); columns * rows], columns }
    }

    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Cell> {
        if column < self.columns { self.cells.get_mut(row * self.columns + column) } else { None }
    }

    /// One dot, counted from the top left; nothing outside the canvas.
    pub(super) fn dot(&mut self, x: usize, y: usize, ink: Ink) {
        // The order of the bits is that of the braille block in Unicode.
        const BITS: [[u8; WIDE]; HIGH] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        if let Some(cell) = self.cell(x / WIDE, y / HIGH) {
            cell.dots |= BITS[y % HIGH][x % WIDE];
            cell.ink = Some(ink);
        }
    }

    /// A line of dots; a `dashed` one leaves every other column of cells empty.
    pub(super) fn line(&mut self, from: (usize, usize), to: (usize, usize), dashed: bool, ink: Ink) {
        let along = |a: usize, b: usize, i: usize, n: usize| {
            if b >= a { a + ((b - a) * i + n / 2) / n } else { a - ((a - b) * i + n / 2) / n }
        };
        let n = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        for i in 0..=n {
            let (x, y) = (along(from.0, to.0, i, n), along(from.1, to.1, i, n));
            if !dashed || (x / WIDE).is_multiple_of(2) {
                self.dot(x, y, ink);
            }
        }
    }

    /// A character in a cell; dots go before it.
    pub(super) fn put(&mut self, column: usize, row: usize, character: char, ink: Option<Ink>) {
        if let Some(cell) = self.cell(column, row) {
            cell.character = Some(character);
            if cell.dots == 0 {
                cell.ink = ink;
            }
        }
    }

    /// The rows as text.
    pub(super) fn rows(&self, color: bool) -> Vec<String> {
        self.cells.chunks(self.columns.max(1)).map(|row| text_of(row, color)).collect()
    }
}

fn text_of(row: &[Cell], color: bool) -> String {
    let mut text = String::new();
    let mut current = None;
    for cell in row {
        let character = match cell.dots {
            0 => cell.character.unwrap_or(' '),
            dots => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        };
        let ink = cell.ink.filter(|_| color && character != ' ');
        if ink != current {
            if current.is_some() {
                text.push_str("\x1b[0m");
            }
            text.push_str(ink.map_or("", Ink::ansi));
            current = ink;
        }
        text.push(character);
    }
    if current.is_some() {
        text.push_str("\x1b[0m");
    }
    text
}

/// A row of labels under an axis: each centred on its column, left out where it would touch the one before.
pub(super) fn labels(ticks: &[(usize, &str)], width: usize) -> String {
    let mut row = String::new();
    let mut used = 0;
    for (column, label) in ticks {
        let long = label.chars().count();
        let start = column.saturating_sub(long / 2).min(width.saturating_sub(long));
        if start >= used && start + long <= width {
            row.push_str(&" ".repeat(start - row.chars().count()));
            row.push_str(label);
            used = start + long + 2;
        }
    }
    row
}

/// A bar that many eighths of a column long.
pub(super) fn bar(eighths: usize) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|rest| EIGHTHS[rest]));
    bar
}

/// Text in a colour, where there is colour and text.
pub(super) fn inked(text: &str, ink: Ink, color: bool) -> String {
    if color && !text.is_empty() { format!("{}{text}\x1b[0m", ink.ansi()) } else { text.to_owned() }
}

/// Text of so many columns of a terminal: cut with a sign of it, and filled up.
pub(super) fn fitted(text: &str, width: usize) -> String {
    let mut fitted = text.to_owned();
    if text.width() > width {
        let mut taken = 1;
        let fits = |c: &char| {
            taken += c.width().unwrap_or(0);
            taken <= width
        };
        fitted = text.chars().take_while(fits).collect();
        fitted.push('…');
    }
    let room = width.saturating_sub(fitted.width());
    fitted + &" ".repeat(room)
}

/// A place between `from` and `to` as one of `dots` dots.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of 0 to 1 of at most a few thousand dots"
)]
pub(super) fn place(value: f64, from: f64, to: f64, dots: usize) -> usize {
    let share = ((value - from) / (to - from)).clamp(0.0, 1.0);
    // A NaN share becomes 0 in the cast.
    (share * dots.saturating_sub(1) as f64).round() as usize
}
