//! The planted bugs of `tests/kill`: patches that must go on applying to sources that change.

use crate::none;
use crate::source::below;
use std::path::Path;
use std::process::Command;

#[test]
fn each_bug_still_applies() {
    let check = |path: &str| {
        let mut git = Command::new("git");
        git.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).args(["apply", "--check", path]);
        let output = git.output().expect("git applies patches; install it");
        (!output.status.success())
            .then(|| format!("{path}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    };
    let offences: Vec<String> =
        below("tests/kill/planted", "patch").iter().filter_map(|file| check(&file.path)).collect();
    none("each patch applies; see tests/kill/planted.rs for how to renew one", &offences);
}
