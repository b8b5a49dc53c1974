//! The house rules: what reads better as a test than as a remark in a review. No server, milliseconds.
//!
//! Each rule is a table of names and a loop over files. The files are read as text, with comments and quotations blanked
//! where they would mislead: that is exact enough for code which the compiler and the linter have already accepted, and
//! a stranger sees at once what is checked. A rule that makes a file worse is broken there, with the reason in the
//! file's docs, and mended here.

#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/floors.rs"]
mod floors;
#[path = "tidy/pages.rs"]
mod pages;
#[path = "tidy/planted.rs"]
mod planted;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/statements.rs"]
mod statements;

/// Fails with every offence at once: a list is mended in one go.
fn none(rule: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{rule}\n  {}\n", offences.join("\n  "));
}
