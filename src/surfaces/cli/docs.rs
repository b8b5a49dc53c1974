//! `ebb completions` and `ebb man`: made from the same definition as the help, so that they cannot say anything else.

use super::exit::CliError;
use super::output::Output;
use clap::Command;
pub use clap_complete::Shell;
use clap_mangen::Man as Page;
use std::path::Path;

/// Prints the completion script of a shell.
pub fn completions(shell: Shell, mut command: Command, output: &Output) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "ebb", &mut script);
    output.raw(&script)
}

/// Prints the first page of the manual, or writes all pages into a folder, which is made if it is missing.
pub fn man(dir: Option<&Path>, command: Command, output: &Output) -> Result<(), CliError> {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        Page::new(command).render(&mut page)?;
        return output.raw(&page);
    };
    std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir)).map_err(|error| {
        CliError::failed(format!("the manual cannot be written into {}", dir.display()))
            .why(error)
            .try_this("ebb man --dir FOLDER, with a folder that you may write")
    })
}
