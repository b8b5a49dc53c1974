//! The program `ebb`. All of it is in the library, which compiles it once.

use std::process::ExitCode;

fn main() -> ExitCode {
    ebb::program::main()
}
