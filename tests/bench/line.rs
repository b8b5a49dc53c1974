//! The line through points, by least squares.

#![allow(dead_code, reason = "each program of this folder uses its own part")]

pub(crate) struct Line {
    /// The mean of the ordinates.
    pub(crate) mean: f64,
    pub(crate) slope: f64,
    /// Standard error of the slope; not a number of two points.
    pub(crate) error: f64,
}

impl Line {
    /// `None` of fewer than two abscissas.
    pub(crate) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        if points.len() < 2 || spread <= 0.0 {
            return None;
        }
        let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
        let left: f64 = points.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
        Some(Self { mean: y, slope, error: (left / (count - 2.0) / spread).sqrt() })
    }
}
