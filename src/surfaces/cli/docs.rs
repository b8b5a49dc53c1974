//! `ebb completions` and `ebb man`: made from the same definition as the help, so that they cannot say anything else.

use super::exit::CliError;
use super::output::Output;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man as Page;
use std::path::PathBuf;

/// `ebb completions`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  ebb completions bash > ~/.local/share/bash-completion/completions/ebb
  ebb completions zsh > \"${fpath[1]}/_ebb\"
  ebb completions fish > ~/.config/fish/completions/ebb.fish")]
pub struct Completions {
    /// Shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `ebb man`
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  ebb man | man -l -\n  ebb man --dir ~/.local/share/man/man1")]
pub struct Man {
    /// Write the pages of all verbs into this folder instead of the first page to stdout
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

/// Prints the completion script of a shell.
pub fn completions(args: &Completions, mut command: Command, output: &Output) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "ebb", &mut script);
    output.raw(&script)
}

/// Prints the first page of the manual, or writes all pages into a folder, which is made if it is missing.
pub fn man(args: &Man, command: Command, output: &Output) -> Result<(), CliError> {
    let Some(dir) = &args.dir else {
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
