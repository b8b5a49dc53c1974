//! Fuzz targets for all readers of outside bytes, in one program for libFuzzer: a target of its own for each would be linked
//! with the whole product twenty times.
//!
//! `EBB_FUZZ_TARGET` names the target, `list` prints all names. With `EBB_FUZZ_SEEDS` the program writes the seeds that are
//! made by the product's own writers to that folder and ends. See `tests/fuzz/run`.
//!
//! A target panics if a property of its reader does not hold. For all of them, memory is bounded by the size of the input:
//! a count or a length that an input claims must not be allocated unseen.

#![no_main]
#![expect(clippy::disallowed_methods, reason = "the program of the tests reads its own variables")]

#[path = "../../bench/allocations.rs"]
mod allocations;
mod engine;
mod texts;

use std::path::Path;
use std::process::exit;
use std::sync::OnceLock;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

type Target = fn(&[u8]);

/// All targets. The seeds of each are in the folder of its name in `tests/fuzz/corpus`.
const TARGETS: [(&str, Target); 20] = [
    ("backup", ebb_core::fuzzing::backup),
    ("cron", ebb_core::fuzzing::cron),
    ("embedder", ebb_core::fuzzing::embedder),
    ("events", ebb_core::fuzzing::events),
    ("git_log", ebb_core::fuzzing::git_log),
    ("glob", texts::glob),
    ("http", ebb::fuzzing::http),
    ("instants", texts::instants),
    ("learned", engine::learned),
    ("mapping", ebb::fuzzing::mapping),
    ("mirror_state", ebb_core::fuzzing::mirror_state),
    ("plan", texts::plan),
    ("policies", texts::policies),
    ("questions", ebb_core::fuzzing::questions),
    ("settings_toml", ebb::fuzzing::settings_toml),
    ("settings_variables", ebb::fuzzing::settings_variables),
    ("settings_yaml", ebb::fuzzing::settings_yaml),
    ("snapshot", engine::snapshot),
    ("statement", ebb_core::fuzzing::statement),
    ("tool", ebb::fuzzing::tool),
];

/// Memory that an input may take: buffers of files, and rows for each byte.
const BYTES_MAX: u64 = 16 << 20;
const BYTES_PER_BYTE: u64 = 1 << 10;

static TARGET: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        let target = chosen();
        // What is computed once for all inputs belongs to none.
        target(b"");
        TARGET.get_or_init(|| target);
    },
    |input: &[u8]| {
        if let Some(target) = TARGET.get() {
            let ((), used) = allocations::counted(usize::MAX, || target(input));
            let most = BYTES_MAX + BYTES_PER_BYTE * input.len() as u64;
            assert!(used.peak <= most, "{} bytes are allocated for {} bytes of input", used.peak, input.len());
        }
    }
);

/// The target that the environment names; ends the program if there is nothing to run.
fn chosen() -> Target {
    let name = std::env::var("EBB_FUZZ_TARGET").unwrap_or_default();
    if name == "list" {
        TARGETS.iter().for_each(|(name, _)| println!("{name}"));
        exit(0);
    }
    let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) else {
        eprintln!("there is no target {name:?}; set EBB_FUZZ_TARGET to one that EBB_FUZZ_TARGET=list prints");
        exit(2);
    };
    if let Ok(folder) = std::env::var("EBB_FUZZ_SEEDS") {
        if name == "mirror_state" {
            let seed = Path::new(&folder).join("written");
            if let Err(why) = std::fs::write(&seed, ebb_core::fuzzing::mirror_state_seed()) {
                eprintln!("{}: {why}", seed.display());
                exit(2);
            }
        }
        exit(0);
    }
    *target
}
