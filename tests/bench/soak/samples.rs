//! Samples of a soak: their columns, a CSV file to which each is appended at once, and the trend of each column.

use crate::line::Line;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// What a trend of a column means.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Expected {
    /// It is the axis, or follows from the flags.
    Nothing,
    /// It must not have a trend.
    Flat,
    /// It grows, since the retention of its rows is longer than a soak.
    Grows,
}

/// A sampled value.
pub(crate) struct Column {
    /// In the head of the CSV file.
    pub(crate) name: &'static str,
    /// In the report and the picture, with its unit.
    pub(crate) title: &'static str,
    pub(crate) expected: Expected,
}

const fn column(name: &'static str, title: &'static str, expected: Expected) -> Column {
    Column { name, title, expected }
}

/// In the order of the values of a sample.
pub(crate) const COLUMNS: [Column; 22] = [
    column("seconds", "seconds", Expected::Nothing),
    column("requests_s", "requests a second", Expected::Nothing),
    column("p50_ms", "latency p50, ms", Expected::Flat),
    column("p99_ms", "latency p99, ms", Expected::Flat),
    column("most_ms", "longest latency, ms", Expected::Nothing),
    column("status_4xx", "answers 4xx", Expected::Flat),
    column("status_5xx", "answers 5xx", Expected::Flat),
    column("no_answer", "requests without an answer", Expected::Flat),
    column("rss_mib", "Ebb: resident memory, MiB", Expected::Flat),
    column("descriptors", "Ebb: open descriptors", Expected::Flat),
    column("threads", "Ebb: threads", Expected::Flat),
    column("ebb_requests", "EbbRequest nodes", Expected::Flat),
    column("ebb_changes", "EbbChange nodes", Expected::Flat),
    column("ebb_runs", "EbbRun nodes", Expected::Grows),
    column("attempts", "ConsolidationAttempt nodes", Expected::Grows),
    column("ebb_journal", "EbbJournal nodes", Expected::Flat),
    column("ebb_tombstones", "EbbTombstone nodes", Expected::Flat),
    column("memories", "memories", Expected::Flat),
    column("facts", "facts", Expected::Flat),
    column("nodes", "all nodes", Expected::Flat),
    column("relationships", "all relationships", Expected::Flat),
    column("heap_mib", "Neo4j: used heap, MiB", Expected::Flat),
];

/// Greatest slope of a flat curve, percent of its mean an hour.
const FLAT_PERCENT: f64 = 5.0;

/// A value for each column, taken at one instant.
pub(crate) struct Sample {
    pub(crate) values: Vec<f64>,
}

/// A line through the second half of a curve, by least squares.
#[derive(Clone, Copy)]
pub(crate) struct Trend {
    /// The mean of the second half.
    pub(crate) mean: f64,
    /// Where the half begins and ends, seconds.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Change a second.
    pub(crate) slope: f64,
    /// Slope and its standard error, percent of the mean an hour.
    pub(crate) percent: f64,
    pub(crate) error: f64,
}

impl Trend {
    /// Whether there is no slope, or none that stands out of the noise.
    pub(crate) fn is_flat(&self) -> bool {
        self.percent.abs() <= FLAT_PERCENT || self.percent.abs() <= 2.0 * self.error
    }

    /// Of points in the order of their time.
    fn of(points: &[(f64, f64)]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let Line { mean, slope, error } = Line::through(points).filter(|_| points.len() > 2)?;
        let percent = |slope: f64| if mean == 0.0 { 0.0 } else { slope * 3_600.0 / mean.abs() * 100.0 };
        Some(Self { mean, from: first.0, to: last.0, slope, percent: percent(slope), error: percent(error) })
    }
}

/// All samples of a run.
pub(crate) struct Samples {
    samples: Vec<Sample>,
    file: Option<File>,
    /// Seconds from one scope to the next.
    turn: f64,
}

impl Samples {
    /// No samples yet; they go into a new file.
    pub(crate) fn create(path: &Path, turn: u64) -> Self {
        let mut file = File::create(path).expect("a file of samples");
        writeln!(file, "{}", header()).expect("written");
        Self { samples: Vec::new(), file: Some(file), turn: turn as f64 }
    }

    /// Those of a file.
    pub(crate) fn read(path: &Path, turn: u64) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(header().as_str()), "{} has other columns", path.display());
        let values = |line: &str| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
        // The last line may have been broken off.
        let is_whole = |sample: &Sample| sample.values.len() == COLUMNS.len();
        let samples = lines.map(|line| Sample { values: values(line) }).filter(is_whole).collect();
        Self { samples, file: None, turn: turn as f64 }
    }

    pub(crate) fn add(&mut self, sample: Sample) {
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", cells(&sample)).and_then(|()| file.sync_data()).expect("appended");
        }
        self.samples.push(sample);
    }

    pub(crate) fn to_csv(&self) -> String {
        let lines: Vec<String> = self.samples.iter().map(cells).collect();
        format!("{}\n{}\n", header(), lines.join("\n"))
    }

    /// Seconds and values of a column.
    pub(crate) fn curve(&self, name: &str) -> Vec<(f64, f64)> {
        let at = COLUMNS.iter().position(|column| column.name == name).expect("a column");
        let points = self.samples.iter().map(|sample| (sample.values[0], sample.values[at]));
        points.filter(|point| point.1.is_finite()).collect()
    }

    /// The trend of a column over the second half.
    ///
    /// The graph grows within a turn and shrinks when a scope is deleted. So the samples of each turn are averaged first, if there
    /// are enough turns.
    pub(crate) fn trend(&self, name: &str) -> Option<Trend> {
        let points = self.curve(name);
        let half = points.last()?.0 / 2.0;
        let points: Vec<(f64, f64)> = points.into_iter().filter(|point| point.0 >= half).collect();
        // A sample is taken shortly after the instant at which it is due.
        let turn = |point: &(f64, f64)| ((point.0 - 1.0) / self.turn).floor().to_bits();
        let means: Vec<(f64, f64)> = points.chunk_by(|a, b| turn(a) == turn(b)).map(mean).collect();
        // The first turn and the last may be cut.
        Trend::of(if means.len() >= 6 { &means[1..means.len() - 1] } else { &points })
    }

    /// A table in Markdown of the curves and their trends, and the verdict.
    pub(crate) fn report(&self) -> String {
        let mut text = "| | first | mean of the second half | most | slope, % of the mean an hour | |\n|---|---|---|---|---|---|\n".to_owned();
        let mut not_flat = Vec::new();
        for column in COLUMNS.iter().skip(1) {
            let curve = self.curve(column.name);
            let most = curve.iter().map(|point| point.1).fold(f64::NAN, f64::max);
            let (Some(first), Some(trend)) = (curve.first(), self.trend(column.name)) else {
                _ = writeln!(text, "| {} | | | | too few samples | |", column.title);
                continue;
            };
            let verdict = match (column.expected, trend.is_flat()) {
                (Expected::Nothing, _) => "",
                (_, true) => "flat",
                (Expected::Grows, false) => "grows: kept for longer than this run",
                (Expected::Flat, false) => {
                    not_flat.push(column.title);
                    "not flat"
                }
            };
            _ = writeln!(
                text,
                "| {} | {:.1} | {:.1} | {most:.1} | {:+.1} ± {:.1} | {verdict} |",
                column.title, first.1, trend.mean, trend.percent, trend.error
            );
        }
        let hours = self.samples.last().map_or(0.0, |sample| sample.values[0] / 3_600.0);
        let verdict = if not_flat.is_empty() {
            "all flat".to_owned()
        } else {
            format!("not flat: {}", not_flat.join("; "))
        };
        _ = write!(text, "\n{} samples in {hours:.2} h; {verdict}", self.samples.len());
        if hours < 2.0 {
            text += ". Requests and changes are kept for an hour: in less than two hours they cannot be flat";
        }
        text
    }
}

fn mean(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let of = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    (of(|point| point.0), of(|point| point.1))
}

fn header() -> String {
    COLUMNS.map(|column| column.name).join(",")
}

fn cells(sample: &Sample) -> String {
    let cell = |value: &f64| if value.is_finite() { format!("{value:.1}") } else { String::new() };
    sample.values.iter().map(cell).collect::<Vec<_>>().join(",")
}

/// Places of a column in the lines that are printed.
fn width(column: &Column) -> usize {
    column.name.len().max(8) + 1
}

/// The head of these lines.
pub(crate) fn head() -> String {
    COLUMNS.iter().map(|column| format!("{:>1$}", column.name, width(column))).collect()
}

/// A sample as such a line.
pub(crate) fn line(sample: &Sample) -> String {
    let cell = |(column, value): (&Column, &f64)| format!("{value:>0$.1}", width(column));
    COLUMNS.iter().zip(&sample.values).map(cell).collect()
}
