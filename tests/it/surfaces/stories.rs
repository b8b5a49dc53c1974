//! The stories of docs/explanation and docs/guide: every command whose answer a page shows is run, without a server, and answers what the page
//! shows.
//!
//! A page shows a command, then a mark with the same command, then the answer in a fence; a line `…` stands for lines that are left out.
//! To write stale answers anew, as a whole:
//!
//! ```sh
//! EBB_UPDATE=1 cargo test --test it stories
//! ```

use super::CliOutput;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What stands before a command whose answer follows, after it, and around the answer.
const MARK: &str = "<!-- answer: ";
const MARK_END: &str = " -->\n";
const FENCE: &str = "```text\n";
const FENCE_END: &str = "```\n";
const LEFT_OUT: &str = "…\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether answers are to be written and not compared.
#[expect(clippy::disallowed_methods, reason = "a switch of these tests alone")]
pub(super) fn updates() -> bool {
    std::env::var("EBB_UPDATE").is_ok_and(|value| value == "1")
}

/// The pages, by name.
fn pages() -> Vec<PathBuf> {
    let all = ["docs/explanation", "docs/guide"].map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let all = all.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

/// Runs the program in the root of the repository, where no database answers.
pub(super) fn alone(args: &[&str]) -> CliOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ebb"));
    command.args(args).current_dir(root()).env_clear().env("NEO4J_URI", "bolt://127.0.0.1:1");
    command.stdin(Stdio::null()).output().unwrap().into()
}

/// What a command prints for a person.
fn answered(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').chain(["--output", "table"]).collect();
    assert_eq!(words[0], "ebb", "{command}");
    let said = alone(&words[1..]);
    assert_eq!(said.code, Some(0), "{command}: {}", said.err);
    said.out
}

/// Whether an answer leaves lines out of what is said, and is otherwise the same.
fn is_in_part(shown: &str, said: &str) -> bool {
    let mut rest = Some(said);
    for part in shown.split(LEFT_OUT) {
        rest = rest.and_then(|rest| rest.split_once(part.trim_matches('\n'))).map(|(_, after)| after);
    }
    shown.contains(LEFT_OUT) && rest.is_some()
}

/// A page as it is to be, and the commands in it.
fn retold(page: &str) -> (String, Vec<String>) {
    let (mut told, mut rest, mut commands) = (String::new(), page, Vec::new());
    while let Some((before, after)) = rest.split_once(MARK) {
        let (command, after) = after.split_once(MARK_END).expect("a mark ends on its line");
        let answer = after.strip_prefix(FENCE).expect("a fence follows a mark");
        let (shown, after) = answer.split_once(FENCE_END).expect("a fence ends");
        let mut said = answered(command);
        if is_in_part(shown, &said) {
            said = shown.to_owned();
        }
        told += &[before, MARK, command, MARK_END, FENCE, &said, FENCE_END].concat();
        assert!(page.contains(&format!("```sh\n{command}\n```")), "the page shows {command} itself");
        commands.push(command.to_owned());
        rest = after;
    }
    told += rest;
    (told, commands)
}

#[test]
fn every_answer_of_a_story_is_what_its_command_says() {
    let (mut told, mut stale) = (Vec::new(), Vec::new());
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let (wanted, commands) = retold(&page);
        told.extend(commands);
        if page == wanted {
            continue;
        }
        if updates() {
            fs::write(&path, wanted).unwrap();
        } else {
            stale.push(format!("{} is to be\n{wanted}", path.display()));
        }
    }
    let hint = "EBB_UPDATE=1 cargo test --test it stories writes them anew";
    assert!(stale.is_empty(), "stories have gone stale; {hint}\n{}", stale.join("\n"));
    for verb in ["activate", "xlr", "causal", "resonate", "harmonics", "communities"] {
        let begin = format!("ebb engine {verb} ");
        assert!(told.iter().any(|command| command.starts_with(&begin)), "no story of {verb}");
    }
}
