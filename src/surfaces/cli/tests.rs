//! The command line as a whole: its definition is sound, its help is what the golden files say.

use super::{Cli, Command, GLOBAL_HELP, with_short_help};
use clap::{CommandFactory, Parser};
use std::fmt::Write;

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
    with_short_help(Cli::command()).debug_assert();
}

/// The long help of a verb and of everything below it. What every verb repeats is shown at the top only.
fn help(command: &mut clap::Command, path: &str, into: &mut String) {
    let path = format!("{path} {}", command.get_name());
    let text = command.render_long_help().to_string();
    let own = text.trim_end().trim_end_matches(GLOBAL_HELP);
    write!(into, "## {}\n{}\n\n", path.trim(), own.trim_end()).unwrap();
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
        help(inner, &path, into);
    }
}

#[test]
fn the_help_of_every_verb() {
    let mut command = with_short_help(Cli::command().term_width(100));
    let mut text = String::new();
    help(&mut command, "", &mut text);
    insta::assert_snapshot!("help", text);
}

#[test]
fn the_help_of_a_verb_names_where_the_options_of_every_verb_are() {
    let mut program = with_short_help(Cli::command());
    let list = program.find_subcommand_mut("job").unwrap().find_subcommand_mut("list").unwrap();
    for text in [list.render_help().to_string(), list.render_long_help().to_string()] {
        assert!(text.trim_end().ends_with(GLOBAL_HELP), "{text}");
        assert!(!text.contains("--color"), "{text}");
    }
    assert!(program.render_help().to_string().contains("--color"));
    let parsed = with_short_help(Cli::command())
        .try_get_matches_from(["ebb", "job", "list", "--color", "never", "--scope", "team"]);
    assert!(parsed.is_ok(), "they are taken after a verb: {}", parsed.unwrap_err());
}

#[test]
fn the_reference_page_of_the_command_line() {
    let page = include_str!("../../../docs/reference/command-line.md");
    let (by_hand, _) = page.split_once("\n## ebb\n").unwrap_or((page, ""));
    let mut command = with_short_help(Cli::command().term_width(100));
    let mut help_of_all = String::new();
    help(&mut command, "", &mut help_of_all);
    let mut text = format!("{}\n", by_hand.trim_end());
    for part in help_of_all.split("\n## ") {
        let (name, body) = part.trim_start_matches("## ").split_once('\n').unwrap();
        write!(text, "\n## {name}\n\n```text\n{}\n```\n", body.trim()).unwrap();
    }
    crate::reference::holds("command-line.md", &text);
}

#[test]
fn every_verb_of_the_issue_parses() {
    for line in [
        "demo",
        "init --write-config --dry-run",
        "init --write-config my.toml",
        "backup b.ndjson",
        "restore b.ndjson --dry-run",
        "doctor --fix",
        "status",
        "adopted rerank --query text a 4:x:1",
        "adopted hide a b --at now --dry-run --request-id r",
        "adopted hidden",
        "neo4j start",
        "neo4j stop",
        "neo4j status",
        "neo4j browser",
        "neo4j keep --home .ebb/neo4j",
        "job list",
        "job run decay --at -3h --dry-run --limit 10",
        "job run --all",
        "job history decay --limit 3",
        "memory add text --id a --session s --instance i --mention x --mention y --pinned --at now --dry-run --request-id r",
        "memory add -",
        "memory access a b --session s --no-revive --at 2026-03-01 --dry-run --request-id r",
        "memory show a --at +2d",
        "memory list --tier working --session s --limit 5 --at now",
        "memory pin a",
        "memory unpin a --request-id r",
        "memory forget a --yes",
        "memory explain a",
        "session end s --threshold 1.5 --at now --dry-run",
        "import f.ndjson --skip-bad --dry-run",
        "replay f.ndjson --until 2026-03-01T10:00Z --step 1h --skip-bad",
        "eval q.ndjson --compare before.json --max-loss 0.1",
        "eval e.ndjson q.ndjson --after-jobs --top 5,10 --without words,links --resamples 100 --svg f.svg",
        "config show -o json",
        "config validate",
        "inspect",
        "inspect tiers",
        "plot energy a --svg f.svg --at now",
        "plot tiers --svg f.svg",
        "recall x --prime --dimension causal,semantic --xlr report",
        "recall --seed x --no-prime",
        "outcome answer.json --used m1 --used Alex --reward 0.5 --at now --dry-run --request-id r",
        "engine xlr --seed a --seed b=0.5 --top 5 --graph f.json",
        "engine causal --seed a --direction causes --depth 3 --graph f.json",
        "engine resonate --seed a --frequency 5.25 --wavelength 8 --hops 4 --pulses 100 --sympathetic",
        "engine harmonics --seed a=0.5 --top 3",
        "engine communities --node a --resolution 2 --members 50",
        "engine communities --all -o ndjson",
        "graph refresh --dry-run",
        "graph load f.json",
        "graph export --format graphml",
        "completions zsh",
        "man --dir d",
        "-vv --scope team status --color never --config e.toml",
    ] {
        let parsed = Cli::try_parse_from(std::iter::once("ebb").chain(line.split(' ')));
        assert!(parsed.is_ok(), "ebb {line}: {}", parsed.unwrap_err());
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for (line, says) in [
        ("memory show a --at yesterday", "not an instant; write RFC 3339 such as"),
        ("memory list --tier mid", "[possible values: working, shortTerm,"),
        ("job run", "required arguments were not provided"),
        ("job run decay --all", "cannot be used with"),
        ("job run decay --limit 0", "0 is not in 1.."),
        ("session end s --threshold NaN", "an energy is a finite number"),
        ("replay f --step 0s", "not a span of time"),
        ("adopted pin", "<KEY>"),
        ("key create --name  --right read --scope a", "the name of a key is empty"),
        ("engine xlr", "--seed"),
        ("engine causal --seed a --depth 7", "7 is not in 1..=6"),
        ("engine resonate --seed a --frequency 0", "a number above 0"),
        ("engine resonate --seed a --wavelength inf", "a number above 0"),
        ("engine harmonics --seed a --hops 11", "11 is not in 1..=10"),
        ("engine harmonics --seed a --pulses 1000001", "1000001 is not in 1..=1000000"),
        ("engine communities --all --top 3", "cannot be used with"),
        ("memory acess a", "a similar subcommand exists: 'access'"),
        ("outcome answer.json", "--used <ID>"),
        ("-q -v status", "cannot be used with"),
        ("recall x --prime --no-prime", "cannot be used with"),
    ] {
        let error = Cli::try_parse_from(std::iter::once("ebb").chain(line.split(' '))).unwrap_err();
        assert_eq!(error.exit_code(), 2, "ebb {line}");
        assert!(error.to_string().contains(says), "ebb {line}: {error}");
    }
}

#[test]
fn counted_flags_and_insecure_become_keys_of_the_configuration() {
    let cli = Cli::try_parse_from(["ebb", "-vv", "--insecure", "status"]).unwrap();
    let own = |key, value: &str, flag: &str| (key, value.to_owned(), flag.to_owned());
    assert_eq!(
        cli.global.keys(Some("info")),
        [own("log.filter", "info", "-vv"), own("neo4j.insecure", "true", "--insecure")]
    );
    assert!(matches!(cli.command, Command::Status(_)));
}

#[test]
fn content_is_the_argument_or_standard_input() {
    let add = |content: &str| {
        let cli = Cli::try_parse_from(["ebb", "memory", "add", content]).unwrap();
        let Command::Memory(super::memory::Verb::Add(add)) = cli.command else { unreachable!() };
        add
    };
    assert_eq!(add("text").content(&mut "ignored".as_bytes()).unwrap(), "text");
    assert_eq!(add("-").content(&mut "two\nlines\r\n".as_bytes()).unwrap(), "two\nlines");
    assert_eq!(add("-").content(&mut [0xff].as_slice()).unwrap_err().exit().code(), 2);
}
