//! Immutable rows of 16-bit components, as two planes of bytes.
//!
//! # Design notes
//! A component `t`, -32,639 to 32,639, is stored as `t + 32,896`, of which `high` and `low` are the bytes: `t = 256 * (high -
//! 128) + (low - 128)`. So the high byte is `t / 256` rounded to nearest, and a component of 0 has no remainder, which keeps
//! the bounds of sparse vectors narrow. Bytes are unsigned since they widen in fewer instructions.
//!
//! Rows are padded with components of 0 to a multiple of [`LANES`], so that the scan has no remainder.

use super::query::Scanned;
use crate::graph::raw::in_large_pages;
use serde::{Deserialize, Serialize};

/// Number of components that one step of the scan reads.
pub(super) const LANES: usize = 32;
/// The greatest component.
pub(super) const COMPONENT_MAX: f64 = 32_639.0;
/// A component of 0 as it is stored.
const ZERO: u16 = 32_896;

/// Rows in ascending order of their numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Segment {
    numbers: Vec<u32>,
    measures: Vec<Measures>,
    high: Vec<u8>,
    low: Vec<u8>,
}

/// Lengths of a row, by which its scan is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Measures {
    /// Length of the row: the root of a sum of integers, so it does not depend on their order.
    pub(super) length: f64,
    /// 1 divided by the length of the row.
    pub(super) inverse_length: f32,
    /// Length of the remainders, which the scan does not read, divided by that of the row; rounded up.
    pub(super) remainder: f32,
}

/// The two planes of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) high: &'a [u8],
    pub(super) low: &'a [u8],
}

impl Row<'_> {
    /// The components, exact.
    pub(super) fn components(&self) -> impl Iterator<Item = i32> {
        self.high.iter().zip(self.low).map(|(high, low)| component(*high, *low))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded to f32: the bounds allow for one, and the other is rounded up"
    )]
    fn measures(&self) -> Measures {
        let squares = |values: &mut dyn Iterator<Item = i32>| {
            values.map(|value| f64::from(value) * f64::from(value)).sum::<f64>()
        };
        let length = squares(&mut self.components()).sqrt();
        let remainder = squares(&mut self.low.iter().map(|low| i32::from(*low) - 128)).sqrt();
        Measures {
            length,
            inverse_length: (1.0 / length) as f32,
            remainder: if remainder > 0.0 { ((remainder / length) as f32).next_up() } else { 0.0 },
        }
    }
}

/// The component with these bytes.
pub(super) fn component(high: u8, low: u8) -> i32 {
    i32::from(u16::from_be_bytes([high, low])) - i32::from(ZERO)
}

impl Segment {
    /// Whether the columns of a segment that was read from a file agree.
    pub(super) fn is_sound(&self, dimensions: usize) -> bool {
        let stride = dimensions.next_multiple_of(LANES);
        let count = self.numbers.len();
        let bytes = count.checked_mul(stride);
        count > 0
            && self.numbers.is_sorted_by(|a, b| a < b)
            && self.measures.len() == count
            && bytes == Some(self.high.len())
            && bytes == Some(self.low.len())
            && (0..count).all(|at| {
                let (row, measures) = (self.row(at), &self.measures[at]);
                row.measures() == *measures
                    && measures.inverse_length.is_finite()
                    && row.components().skip(dimensions).all(|value| value == 0)
            })
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Adds a vector that was checked.
    pub(super) fn push_vector(&mut self, number: u32, vector: &[f32]) {
        let begin = self.high.len();
        let scale = COMPONENT_MAX / f64::from(vector.iter().fold(0_f32, |most, value| most.max(value.abs())));
        for value in vector {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most COMPONENT_MAX before ZERO is added, so from 257 to 65,535"
            )]
            let stored = (f64::from(*value) * scale + f64::from(ZERO)).round() as u16;
            let [high, low] = stored.to_be_bytes();
            self.high.push(high);
            self.low.push(low);
        }
        let end = begin + vector.len().next_multiple_of(LANES);
        let [high, low] = ZERO.to_be_bytes();
        self.high.resize(end, high);
        self.low.resize(end, low);
        self.numbers.push(number);
        self.measures.push(Row { high: &self.high[begin..], low: &self.low[begin..] }.measures());
    }

    /// Merges segments of ascending numbers; `renumber` gives the number of each row to keep.
    pub(super) fn merged<'a>(
        segments: impl IntoIterator<Item = &'a Self> + Clone,
        dimensions: usize,
        renumber: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let stride = dimensions.next_multiple_of(LANES);
        let kept = |segment: &'a Self| segment.numbers.iter().filter(|number| renumber(**number).is_some());
        let count = segments.clone().into_iter().map(|segment| kept(segment).count()).sum();
        let mut all = Self {
            numbers: Vec::with_capacity(count),
            measures: Vec::with_capacity(count),
            high: in_large_pages(Vec::with_capacity(count * stride)),
            low: in_large_pages(Vec::with_capacity(count * stride)),
        };
        for segment in segments {
            for (at, number) in segment.numbers.iter().enumerate() {
                let Some(number) = renumber(*number) else { continue };
                let row = segment.row(at);
                all.numbers.push(number);
                all.measures.push(segment.measures[at]);
                all.high.extend_from_slice(row.high);
                all.low.extend_from_slice(row.low);
            }
        }
        all
    }

    /// The row at a position, which is within the segment.
    pub(super) fn row(&self, at: usize) -> Row<'_> {
        let stride = self.high.len() / self.numbers.len();
        let range = at * stride..(at + 1) * stride;
        Row { high: &self.high[range.clone()], low: &self.low[range] }
    }

    /// The length of a row.
    pub(super) fn length(&self, at: usize) -> f64 {
        self.measures[at].length
    }

    /// The numbers of all rows with what the scan reads of them.
    pub(super) fn scan(&self) -> impl Iterator<Item = (u32, Scanned<'_>)> {
        let stride = (self.high.len() / self.numbers.len().max(1)).max(1);
        let rows = self.high.chunks_exact(stride).zip(&self.measures);
        self.numbers.iter().zip(rows).map(|(number, (high, measures))| (*number, Scanned { high, measures }))
    }

    pub(super) fn bytes(&self) -> usize {
        let columns = 4 * self.numbers.capacity() + size_of::<Measures>() * self.measures.capacity();
        columns + self.high.capacity() + self.low.capacity()
    }
}
