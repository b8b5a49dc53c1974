//! A query vector, its similarity to a row, and bounds of it from the high bytes of the row.
//!
//! # The bound
//! Let `q` be the query and `t = 256 h + l` a row, where `h` are its high bytes less 128 and `l` its low bytes less 128. The
//! query is scaled by `g` and rounded to integers `c`, and `r = q - c / g` is left. Then
//!
//! `q . t = 256 (c . h) / g + (c / g) . l + r . t`
//!
//! where the first term is what the scan computes, exactly. By the inequality of Cauchy and Schwarz the similarity
//! `q . t / (|q| |t|)` differs from `256 (c . h) / (g |q| |t|)` by at most
//!
//! `(|c| / (g |q|)) (|l| / |t|) + |r| / |q|`
//!
//! in which `|l| / |t|` is stored for each row ([`Measures::remainder`]), and the rest depends on the query only. [`ROUNDING`]
//! is added for floating-point arithmetic: the inverse length of a row was rounded to f32, an error of at most 2^-24 of an
//! estimate below 2, and sums of up to 4,096 terms in f64 have an error below 2^-39.
//!
//! `g` is as great as it can be with `c` in i16 and with no sum above the greatest i32, as a byte is at most 255. Bounds and
//! similarity are rounded to f32 at the end. Rounding keeps the order, so the bounds still hold.

#[cfg(doc)]
use super::segment::Measures;
use super::segment::{self, LANES, Row, component};

/// Allowance for floating-point arithmetic.
const ROUNDING: f64 = 1.0 / (1_u32 << 20) as f64;
/// Number of sums of a similarity, so that they can be computed in parallel.
const SUMS: usize = 8;

/// A query vector that was checked, for similarities alone.
#[derive(Debug)]
pub(super) struct Exact {
    /// Components, padded as a row.
    values: Vec<f64>,
    length: f64,
}

/// A query vector that was checked, for scans.
#[derive(Debug)]
pub(super) struct Query {
    exact: Exact,
    /// The components scaled and rounded, `c`.
    codes: Vec<i16>,
    /// `128 * sum(c)`, which the scan adds too much since bytes are unsigned.
    excess: i32,
    /// `256 / (g |q|)`.
    scale: f64,
    /// `|c| / (g |q|)`.
    remainder_factor: f64,
    /// `|r| / |q|`, and the allowance.
    error: f64,
}

/// What the scan reads of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanned<'a> {
    pub(super) high: &'a [u8],
    pub(super) measures: &'a segment::Measures,
}

/// Bounds of a similarity, rounded as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) lower: f32,
    /// The middle, from the high bytes of the row.
    pub(super) estimate: f32,
    pub(super) upper: f32,
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

impl Exact {
    pub(super) fn new(vector: &[f32]) -> Self {
        let mut values: Vec<f64> = vector.iter().map(|value| f64::from(*value)).collect();
        values.resize(vector.len().next_multiple_of(LANES), 0.0);
        let length = norm(values.iter().copied());
        Self { values, length }
    }

    /// The similarity of a row of this length, from all of its bits.
    pub(super) fn similarity(&self, row: Row<'_>, length: f64) -> f32 {
        let mut products = [0_f64; SUMS];
        let (values, _) = self.values.as_chunks::<SUMS>();
        let ((high, _), (low, _)) = (row.high.as_chunks::<SUMS>(), row.low.as_chunks::<SUMS>());
        for (values, (high, low)) in values.iter().zip(high.iter().zip(low)) {
            for at in 0..SUMS {
                products[at] += values[at] * f64::from(component(high[at], low[at]));
            }
        }
        let similarity = products.iter().sum::<f64>() / (self.length * length);
        #[expect(clippy::cast_possible_truncation, reason = "rounded once, at most 1")]
        let rounded = similarity.clamp(-1.0, 1.0) as f32;
        // No zero has a sign, since equal similarities must be ties.
        rounded + 0.0
    }
}

impl Query {
    pub(super) fn new(vector: &[f32]) -> Self {
        let exact = Exact::new(vector);
        let Exact { values, length } = &exact;
        let greatest = values.iter().fold(0_f64, |most, value| most.max(value.abs()));
        let dimensions = u32::try_from(vector.len()).unwrap_or(u32::MAX);
        let code_max =
            (f64::from(i32::MAX) / (255.0 * f64::from(dimensions))).floor().min(f64::from(i16::MAX));
        let g = code_max / greatest;
        #[expect(clippy::cast_possible_truncation, reason = "at most code_max, which is an i16")]
        let codes: Vec<i16> = values.iter().map(|value| (value * g).round() as i16).collect();
        let left = norm(values.iter().zip(&codes).map(|(value, code)| value - f64::from(*code) / g));
        let coded = norm(codes.iter().map(|code| f64::from(*code)));
        let excess = codes.iter().fold(0_i32, |sum, code| sum.wrapping_add(128 * i32::from(*code)));
        Self {
            excess,
            scale: 256.0 / (g * length),
            remainder_factor: coded / (g * length),
            error: left / length + ROUNDING,
            codes,
            exact,
        }
    }

    /// The vector, for similarities.
    pub(super) const fn exact(&self) -> &Exact {
        &self.exact
    }

    /// Bounds of the similarity of a row.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to f32, which keeps the order")]
    pub(super) fn bounds(&self, row: Scanned<'_>) -> Bounds {
        let product = scan_product(row.high, &self.codes).wrapping_sub(self.excess);
        let estimate = f64::from(product) * (self.scale * f64::from(row.measures.inverse_length));
        let error = self.remainder_factor * f64::from(row.measures.remainder) + self.error;
        let [lower, upper] = [estimate - error, estimate + error].map(|bound| bound as f32);
        Bounds { lower, estimate: estimate as f32, upper }
    }
}

/// The product of the high bytes of a row and the codes of a query, both padded to whole steps.
///
/// A step sums to one number: in this form, and not with one sum over all, the compiler loads 16 bytes at once and uses
/// `pmaddwd`, which multiplies 8 pairs and adds them in 4 (checked in the assembly; a loop over bytes takes twice as long).
/// Sums wrap in form only: the codes are scaled so that none can, and a check for each would prevent SIMD.
fn scan_product(high: &[u8], codes: &[i16]) -> i32 {
    let ((high, _), (codes, _)) = (high.as_chunks::<LANES>(), codes.as_chunks::<LANES>());
    let steps = high.iter().zip(codes).map(|(high, codes)| {
        let products = high.iter().zip(codes).map(|(byte, code)| i32::from(*byte) * i32::from(*code));
        products.fold(0_i32, i32::wrapping_add)
    });
    steps.fold(0_i32, i32::wrapping_add)
}
