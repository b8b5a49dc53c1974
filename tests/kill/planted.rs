//! Planted bugs: the protocol broken in one place, to see that the checker notices.
//!
//! A bug is a patch of the sources, `tests/kill/planted/<name>.patch`; its first line says what it breaks. The harness copies
//! the repository below the target folder, applies one patch, builds the copy, and runs the campaign of the copy: clients
//! also call the store in the harness's own process, so they have the bug as well as the workers. The copy has a target folder of
//! its own, which all bugs share; in the repository's own, Cargo could take an artefact with a bug for one without.
//!
//! That each patch still applies is held by `planted::each_bug_still_applies` in `tests/tidy.rs`. To renew one: make the
//! change, `git diff` into the file, below its first line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The names of all bugs.
pub(crate) fn names() -> Result<Vec<String>, String> {
    let folder = Path::new(ROOT).join("tests/kill/planted");
    let entries = std::fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        files.filter_map(|file| file.strip_suffix(".patch").map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

/// Builds a copy of the repository with this bug, and runs its campaign with these arguments. Whether the bug was caught.
pub(crate) fn is_caught(bug: &str, arguments: impl Iterator<Item = String>) -> Result<bool, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("planted");
    let copy = folder.join("ebb");
    copy_sources(&copy)?;
    run(git_in(&copy).args(["apply", &format!("tests/kill/planted/{bug}.patch")]))?;
    let cargo = |verb: &str| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(&copy).env("CARGO_TARGET_DIR", folder.join("target"));
        command.args([verb, "--locked", "--test", "kill"]);
        command
    };
    println!("planted {bug}: building {}", copy.display());
    let built = cargo("build").arg("--bins").status().map_err(|why| why.to_string())?;
    if !built.success() {
        return Err(format!("the sources do not compile with the bug {bug}"));
    }
    let status = cargo("test").arg("--").args(arguments).args(["--in-copy-with", bug]).status();
    Ok(status.map_err(|why| why.to_string())?.success())
}

/// Makes `copy` equal to the repository, without ignored files. What is equal already keeps its time, so that Cargo builds
/// again only what depends on a change.
fn copy_sources(copy: &Path) -> Result<(), String> {
    let failed = |path: &Path, why: std::io::Error| format!("{}: {why}", path.display());
    let listed =
        run(git_in(Path::new(ROOT)).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))?;
    let listed = String::from_utf8(listed.stdout).map_err(|why| why.to_string())?;
    let wanted: BTreeSet<PathBuf> = listed.split_terminator('\0').map(|path| copy.join(path)).collect();
    for to in &wanted {
        let from = Path::new(ROOT).join(to.strip_prefix(copy).unwrap_or(to));
        // A file that git lists and that is deleted in the work tree.
        let Ok(content) = std::fs::read(&from) else { continue };
        if std::fs::read(to).is_ok_and(|present| present == content) {
            continue;
        }
        let parent = to.parent().unwrap_or(copy);
        std::fs::create_dir_all(parent).map_err(|why| failed(parent, why))?;
        std::fs::write(to, content).map_err(|why| failed(to, why))?;
    }
    Ok(())
}

/// Git in a folder that need not be a repository, whatever lies above it.
fn git_in(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    command
}

fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|why| format!("{command:?}: {why}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}
