//! The program `ebb`. All of it is in the library, which compiles it once.

use std::process::ExitCode;

/// Graphs, requests and pages of jobs are made by one thread and dropped by another, from which the C library's allocator gives little
/// back to the system.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    ebb::program::main()
}
