//! Measures the ranking by vectors: `cargo run --release -p ebb-engine --example vectors [ROWS.f16 QUERIES.f16]`.
//!
//! 100,000 vectors of 384 dimensions, around 1,000 random centres, or those of two files of little-endian f16 numbers, as
//! often as needed and with noise; the 200 best for each query. Compared in the same run with a scan of f32 vectors,
//! with one sum for each row (plain) and with 16 sums, which the compiler turns into SIMD.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use ebb_engine::graph::Graph;
use ebb_engine::graph::builder::GraphBuilder;
use ebb_engine::graph::columns::NodeRow;
use ebb_engine::graph::kinds::NodeType;
use ebb_engine::random::SplitMix64;
use ebb_engine::vectors::VectorIndex;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 100_000;
const DIMENSIONS: usize = 384;
const MOST: usize = 200;
const QUERIES: usize = 200;
/// Length of the list that is compared with that of f32.
const COMPARED: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut draws = SplitMix64::new(1);
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let (rows, queries) = if let [rows, queries] = paths.as_slice() {
        let (rows, queries) = (read(rows)?, read(queries)?);
        (around(&rows, ROWS, 0.1, &mut draws), around(&queries, QUERIES, 0.0, &mut draws))
    } else {
        let zeros = vec![vec![0.0; DIMENSIONS]];
        let centres = around(&zeros, 1_000, 1.0, &mut draws);
        (around(&centres, ROWS, 1.0, &mut draws), around(&centres, QUERIES, 1.0, &mut draws))
    };
    let ids: Vec<String> = (0..ROWS).map(|n| format!("m{n:06}")).collect();
    let mut index = VectorIndex::new(DIMENSIONS)?;
    let begin = Instant::now();
    index.add(ids.iter().zip(&rows).map(|(id, row)| (id.as_str(), row.as_slice())))?;
    println!("add           {:.0} ms", 1e3 * begin.elapsed().as_secs_f64());
    let graph = graph(&ids)?;
    let begin = Instant::now();
    let nodes = index.nodes(&graph, |_| true);
    println!("nodes         {:.1} ms", 1e3 * begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let copy = black_box(index.clone());
    println!("copy          {:.2} ms", 1e3 * begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let sound = copy.is_sound();
    println!("is_sound      {:.0} ms, {sound}", 1e3 * begin.elapsed().as_secs_f64());
    let bytes = index.bytes();
    println!("bytes         {:.1} MB, {} for each vector", bytes as f64 / 1e6, bytes / ROWS);

    let flat: Vec<f32> = rows.iter().flat_map(|row| normal(row)).collect();
    let flat_queries: Vec<Vec<f32>> = queries.iter().map(|query| normal(query).collect()).collect();
    let mut agreed = 0;
    let mut figures = Vec::new();
    for scan in [plain, in_sums] {
        figures.push(measured(&flat_queries, |query| best_of(&flat, query, scan).len()));
    }
    let ranked = measured(&queries, |query| {
        index.rank((&graph, &nodes), query, MOST, |_| [true]).map_or(0, |[ranked]| ranked.len())
    });
    for (query, flat_query) in queries.iter().zip(&flat_queries) {
        let expected: Vec<f32> = best_of(&flat, flat_query, in_sums).into_iter().map(|(s, _)| s).collect();
        let least = expected.get(COMPARED - 1).copied().unwrap_or(-1.0);
        let [nearest] = index.rank((&graph, &nodes), query, COMPARED, |_| [true])?;
        for one in nearest {
            let n: usize = graph.external_id(one.node)[1..].parse()?;
            let row = &flat[n * DIMENSIONS..(n + 1) * DIMENSIONS];
            agreed += usize::from(in_sums(row, flat_query) >= least);
        }
    }
    figures.push(ranked);
    for (times, name) in figures.into_iter().zip(["f32 plain", "f32 16 sums", "rank"]) {
        let [p50, p99, p99_of_least] = times;
        let ratio = p50 / ranked[0];
        println!(
            "{name:<13} p50 {p50:.2} ms, p99 {p99:.2} ms, p99 of the shortest of 3 {p99_of_least:.2} ms; {ratio:.1} times rank"
        );
    }
    let all = QUERIES * COMPARED;
    println!("of the best {COMPARED} by f32 {:.3} % are ranked", 100.0 * agreed as f64 / all as f64);
    Ok(())
}

/// `count` vectors, each one of `centres` and normal noise, approximately.
fn around(centres: &[Vec<f32>], count: usize, noise: f32, draws: &mut SplitMix64) -> Vec<Vec<f32>> {
    let mut even = || (draws.draw() >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let mut component = |value: &f32| {
        let drawn: f32 = std::iter::repeat_with(&mut even).take(4).sum();
        value + noise * drawn / (DIMENSIONS as f32).sqrt()
    };
    (0..count).map(|n| centres[n % centres.len()].iter().map(&mut component).collect()).collect()
}

/// Reads rows of normal f16 numbers.
fn read(path: &str) -> Result<Vec<Vec<f32>>, std::io::Error> {
    let number = |bytes: &[u8; 2]| {
        let bits = u32::from(u16::from_le_bytes(*bytes));
        f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * 2_f32.powi(112)
    };
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f32> = bytes.as_chunks().0.iter().map(number).collect();
    Ok(numbers.chunks_exact(DIMENSIONS).map(<[f32]>::to_vec).collect())
}

fn graph(ids: &[String]) -> Result<Graph, ebb_engine::graph::Error> {
    let mut builder = GraphBuilder::default();
    for id in ids {
        builder.add_node(NodeRow::new(id, id, NodeType::MEMORY))?;
    }
    builder.finalize()
}

fn normal(vector: &[f32]) -> impl Iterator<Item = f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().map(move |value| value / length)
}

fn best_of(flat: &[f32], query: &[f32], scan: impl Fn(&[f32], &[f32]) -> f32) -> Vec<(f32, usize)> {
    let mut all: Vec<(f32, usize)> =
        flat.chunks_exact(DIMENSIONS).map(|row| scan(row, query)).zip(0..).collect();
    let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    all.select_nth_unstable_by(MOST, order);
    all.truncate(MOST);
    all.sort_unstable_by(order);
    all
}

fn plain(row: &[f32], query: &[f32]) -> f32 {
    row.iter().zip(query).map(|(a, b)| a * b).sum()
}

fn in_sums(row: &[f32], query: &[f32]) -> f32 {
    let mut sums = [0_f32; 16];
    for (row, query) in row.as_chunks::<16>().0.iter().zip(query.as_chunks::<16>().0) {
        (0..16).for_each(|at| sums[at] += row[at] * query[at]);
    }
    sums.iter().sum()
}

/// Times of queries in milliseconds: the 50th and the 99th percentile, and the 99th if each query is measured three times
/// and its shortest time counts, as other processes may use the core.
fn measured(queries: &[Vec<f32>], mut answer: impl FnMut(&[f32]) -> usize) -> [f64; 3] {
    let mut times = || -> Vec<f64> {
        let one = |query: &Vec<f32>| {
            let begin = Instant::now();
            black_box(answer(query));
            1e3 * begin.elapsed().as_secs_f64()
        };
        queries.iter().map(one).collect()
    };
    let runs = [times(), times(), times()];
    let percentile = |mut times: Vec<f64>, share: usize| {
        times.sort_by(f64::total_cmp);
        times[times.len() * share / 100]
    };
    let least = (0..queries.len()).map(|n| runs.iter().map(|run| run[n]).fold(f64::MAX, f64::min)).collect();
    [percentile(runs.concat(), 50), percentile(runs.concat(), 99), percentile(least, 99)]
}
