//! What of the benches gates every commit: counters, which are the same on every machine, and the file of results.
//!
//! `expected/counters.json` holds what each query class and each tick reads, writes and allocates on each data set. A
//! counter that rose fails, and so does one that fell: what is cheaper is committed as the new value. To write these files,
//! the schema of the results and the page of figures anew:
//!
//! ```sh
//! EBB_UPDATE=1 cargo test --test gates
//! ```

#![expect(clippy::print_stdout, reason = "what is written anew is told")]

mod agreement;
mod allocations;
mod counters;
mod figures;
mod mechanisms;
mod outcomes;
mod plain;
mod random;
mod record;
mod reference;
mod results;
mod sets;

use allocations::Counting;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Whether files are to be written and not compared.
#[expect(clippy::disallowed_methods, reason = "a switch of this program alone")]
fn updates() -> bool {
    std::env::var("EBB_UPDATE").is_ok_and(|value| value == "1")
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Holds a file to what it must be, or makes it that.
#[track_caller]
fn holds(path: &str, wanted: &str) {
    if updates() {
        std::fs::write(file(path), wanted).expect("written");
        println!("{path} is written anew");
    } else {
        let held = std::fs::read_to_string(file(path)).unwrap_or_default();
        assert!(
            held == wanted,
            "{path} is not what it must be; EBB_UPDATE=1 cargo test --test gates makes it so"
        );
    }
}
