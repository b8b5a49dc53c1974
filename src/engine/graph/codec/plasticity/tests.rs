//! Files of learned weights against the written state, intact and corrupted.

use super::{SynapticRow, SynapticState, read, write};
use crate::graph::Error;
use crate::mutated::{MANY, mutated};
use proptest::prelude::*;

fn written(state: &SynapticState) -> String {
    let mut bytes = Vec::new();
    write(state, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A file without its checksum, so that it can be changed.
fn plain(state: &SynapticState) -> String {
    written(state).split(",\"checksum\"").next().unwrap().to_owned() + "}"
}

fn small() -> SynapticState {
    let row = |source: &str, target: &str| SynapticRow {
        source_id: source.to_owned(),
        relation: "HALL".to_owned(),
        target_id: target.to_owned(),
        original_weight: 0.5,
        current_weight: 0.732,
        delta: 0.082,
        perm: 0.15,
        strengthen_count: 6,
        ltp_applied: true,
        ..SynapticRow::default()
    };
    let back = SynapticRow { perm: -0.15, weaken_count: 5, ltd_applied: true, ..row("b \"é\"\n", "a") };
    SynapticState { generation: 7, tick: 12, synapses: vec![row("a", "b \"é\"\n"), back] }
}

#[track_caller]
fn fault(file: &str) -> String {
    read(file.as_bytes()).unwrap_err().to_string()
}

/// Strings of characters that a file must escape, and of others.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,6}", "\\PC{0,6}", "[\"\\\\/\u{0}-\u{1f}\u{7f}\u{2028}é𝄞]{0,4}"]
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![4 => 0.0_f32..4.0, 1 => Just(f32::from_bits(1)), 1 => Just(f32::MAX)]
}

fn row() -> impl Strategy<Value = SynapticRow> {
    let numbers = (number(), number(), number(), -0.15_f32..0.15);
    let runs = (any::<u32>(), any::<u32>(), any::<bool>(), any::<bool>());
    (text(), text(), numbers, runs).prop_map(|(source_id, target_id, numbers, runs)| {
        let (original_weight, current_weight, delta, perm) = numbers;
        let (strengthen_count, weaken_count, ltp_applied, ltd_applied) = runs;
        SynapticRow {
            source_id,
            relation: String::new(),
            target_id,
            original_weight,
            current_weight,
            delta,
            perm,
            strengthen_count,
            weaken_count,
            ltp_applied,
            ltd_applied,
        }
    })
}

fn state() -> impl Strategy<Value = SynapticState> {
    let rows = proptest::collection::vec(row(), 0..8);
    (any::<u64>(), any::<u64>(), rows).prop_map(|(generation, tick, mut synapses)| {
        // This makes every slot unique.
        synapses.iter_mut().zip(0..).for_each(|(row, at): (_, u32)| row.relation = format!("R{at}"));
        SynapticState { generation, tick, synapses }
    })
}

proptest! {
    #[test]
    fn written_state_is_read_back(state in state()) {
        let file = written(&state);
        let again = read(file.as_bytes()).unwrap();
        prop_assert_eq!(&again, &state);
        prop_assert_eq!(written(&again), file);
    }
}

/// The example in the docs is a valid file, except for the checksum.
#[test]
fn the_documented_example_is_exact() {
    let docs = include_str!("../plasticity.rs");
    let example = docs.split("```json\n").nth(1).and_then(|rest| rest.split("\n//! ```").next()).unwrap();
    let lines: Vec<&str> = example.lines().map(|line| line.trim_start_matches("//! ")).collect();
    let example = lines.join("\n");
    assert_eq!(plain(&read(example.as_bytes()).unwrap()), example);
}

#[test]
fn flips_and_cuts_are_refused() {
    let file = written(&small());
    for end in 0..file.len() {
        let cut = read(&file.as_bytes()[..end]);
        assert!(matches!(cut, Err(Error::CorruptSnapshot { .. })), "cut at {end}");
    }
    let mut bytes = file.clone().into_bytes();
    for at in 0..bytes.len() {
        let was = bytes[at];
        for bit in 0..8 {
            bytes[at] = was ^ 1 << bit;
            let flipped = read(bytes.as_slice());
            assert!(flipped.is_err(), "bit {bit} of byte {at}: {}", String::from_utf8_lossy(&bytes));
        }
        bytes[at] = was;
    }
    assert_eq!(read(file.as_bytes()).unwrap(), small());
}

/// Nearly valid files are refused, or are valid.
#[test]
fn accepted_files_roundtrip() {
    let (summed, plain) = (written(&small()), plain(&small()));
    let mut read_at_all = 0;
    for file in mutated(&[&summed, &plain], 1).take(MANY / 4) {
        if let Ok(state) = read(file.as_bytes()) {
            read_at_all += 1;
            assert_eq!(read(written(&state).as_bytes()).unwrap(), state, "{file}");
        }
    }
    assert!(read_at_all > MANY / 400, "{read_at_all}");
}

#[test]
fn invalid_numbers_are_reported_with_their_paths() {
    let file = plain(&small());
    for (field, value) in
        [("original_weight", "0.5"), ("current_weight", "0.732"), ("delta", "0.082"), ("perm", "-0.15")]
    {
        let bad_number = |bad: &str| {
            let (before, last) = file.split_at(file.rfind(&format!("\"{field}\":{value}")).unwrap());
            format!("{before}{}", last.replacen(value, bad, 1))
        };
        let why = read(bad_number("null").as_bytes()).unwrap_err();
        assert_eq!(why, Error::NonFinite { field, owner: "synapses[1]".to_owned() });
        for bad in ["NaN", "Infinity", "-Infinity", "1e39", "-1e39", "1e400", "\"1\"", "true", "[]"] {
            let told = fault(&bad_number(bad));
            assert!(told.starts_with("synapses[1]"), "{field} {bad}: {told}");
        }
        // The permanent part may be negative, all else is at least 0.
        assert_eq!(read(bad_number("-0.1").as_bytes()).is_ok(), field == "perm");
        assert!(fault(&bad_number(&format!("{value},\"{field}\":{value}"))).contains("duplicate field"));
    }
    let negative = fault(&file.replacen("0.082", "-0.5", 1));
    assert!(negative.starts_with("synapses[0].delta: -0.5 is not 0e0 to"), "{negative}");
    let zero = read(file.replacen("0.082", "-0.0", 1).as_bytes()).unwrap();
    assert_eq!(zero.synapses[0].delta.to_bits(), 0);
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut state = small();
        state.synapses[1].delta = number;
        assert_eq!(write(&state, Vec::<u8>::new()).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    }
}

#[test]
fn nothing_is_skipped() {
    let file = plain(&small());
    for (from, to, told) in [
        ("\"tick\":12,", "", "the file: synapses found instead of tick"),
        ("\"tick\":12,", "\"tick\":12,\"tick\":12,", "the file: tick found instead of synapses"),
        ("{\"generation\"", "{\"version\":3,\"generation\"", "the file: version found instead of"),
        ("\"tick\":12", "\"tick\":-1", "tick: invalid value"),
        ("\"tick\":12", "\"tick\":1.5", "tick: invalid type"),
        ("{\"source_id\":\"a\",", "{", "synapses[0]: missing field `source_id`"),
        ("\"perm\":0.15,", "", "synapses[0]: missing field `perm`"),
        ("\"perm\":0.15,", "\"perm\":0.15,\"tier\":1,", "synapses[0]: unknown field `tier`"),
        ("\"strengthen_count\":6", "\"strengthen_count\":4294967296", "synapses[0]: invalid value"),
        ("{\"generation\"", "[{\"generation\"", "the file: invalid type: sequence"),
        ("\"HALL\",\"target_id\":\"a\"", "\"HALL\",\"target_id\":1", "synapses[1]: invalid type"),
    ] {
        let why = fault(&file.replacen(from, to, 1));
        assert!(why.starts_with(told), "{why}");
    }
    let later = file.replacen("\n]}", "\n],\"checksum\":\"0\",\"more\":1}", 1);
    assert!(fault(&later).starts_with("the file: more found after the checksum"), "{}", fault(&later));
    let wrong = file.replacen("\n]}", "\n],\"checksum\":\"0\"}", 1);
    assert!(fault(&wrong).starts_with("checksum: it is 0, but"), "{}", fault(&wrong));
    let none = file.replacen("\n]}", "\n],\"checksum\":null}", 1);
    assert!(fault(&none).starts_with("checksum: "), "{}", fault(&none));
    let mut twice = small();
    twice.synapses[1] = twice.synapses[0].clone();
    assert!(
        fault(&written(&twice)).starts_with("synapses: duplicate slot a -HALL-> "),
        "{}",
        fault(&written(&twice))
    );
    for text in ["", " ", "null", "{}", "3", "{\"generation\":3}", &(file.clone() + "x"), &(file + "{}")] {
        assert!(matches!(read(text.as_bytes()), Err(Error::CorruptSnapshot { .. })), "{text}");
    }
}
