//! The history of a repository, read from the git program: a library that reads repositories would be the largest
//! dependency of the workspace, for one verb.
//!
//! Renames are followed, so a file has its present path in all its commits. Files that the present tree does not have
//! are left out; so are merges, whose changes are those of the merged commits.

use super::GitError;
use crate::store::{GitCommit, GitFile, GitPair};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;

/// Greatest number of commits, the latest.
const COMMITS_MAX: &str = "--max-count=100000";
/// A commit with more files says nothing of any two of them: a move of a folder, a new format, a copied library.
const FILES_OF_PAIRS_MAX: usize = 50;
/// Pairs of one file at most, those with most commits: as many as recall reads.
const PAIRS_EACH_MAX: usize = ebb_engine::temporal::co_change::ROW_MAX;
/// Longest title of a commit, in characters.
const TITLE_MAX: usize = 200;
/// Mark of a commit in the output.
const COMMIT: char = '\u{2}';

/// The history of a repository.
#[derive(Debug, Default, PartialEq)]
pub(super) struct History {
    /// Hash of the first commit, which identifies the repository.
    pub(super) root: String,
    /// By path.
    pub(super) files: Vec<GitFile>,
    /// The oldest first.
    pub(super) commits: Vec<GitCommit>,
    pub(super) pairs: Vec<GitPair>,
}

impl History {
    /// Reads the history of the branch that is checked out.
    pub(super) async fn read(repository: &Path) -> Result<Self, GitError> {
        let log = [
            "log",
            "--reverse",
            "--topo-order",
            "-M",
            "-z",
            "--name-status",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-show-signature",
            COMMITS_MAX,
            "--format=%x02%H%x00%ct%x00%s",
        ];
        let tree = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"];
        let root = ["rev-list", "--max-parents=0", "HEAD"];
        let (log, tree, root) =
            tokio::try_join!(output(repository, &log), output(repository, &tree), output(repository, &root))?;
        let root = root.lines().last().unwrap_or_default().to_owned();
        let tree: BTreeSet<&str> = tree.split('\0').filter(|path| !path.is_empty()).collect();
        Ok(Self::of(root, &log, &tree))
    }

    /// The history in the output of `git log`, of files in the present tree.
    fn of(root: String, log: &str, tree: &BTreeSet<&str>) -> Self {
        let mut walk = Walk::default();
        let mut words = log.split('\0').map(|word| word.trim_start_matches('\n'));
        while let Some(word) = words.next() {
            if let Some(id) = word.strip_prefix(COMMIT) {
                let seconds: i64 = words.next().and_then(|at| at.parse().ok()).unwrap_or(0);
                let title = words.next().unwrap_or_default().chars().take(TITLE_MAX).collect();
                walk.commits.push((id.to_owned(), seconds.saturating_mul(1_000), title, BTreeSet::new()));
                continue;
            }
            let file = match word.chars().next() {
                Some('D') => {
                    words.next().and_then(|path| walk.paths.remove(path));
                    None
                }
                Some('R') => words.next().zip(words.next()).map(|(from, to)| walk.renamed(from, to)),
                // Copies have both paths, too.
                Some('C') => words.next().and(words.next()).map(|path| walk.file(path)),
                Some(_) => words.next().map(|path| walk.file(path)),
                None => None,
            };
            if let (Some(file), Some((.., files))) = (file, walk.commits.last_mut()) {
                files.insert(file);
            }
        }
        walk.ended(root, tree)
    }
}

/// The state of reading: files by number, and the number of the file at each path.
#[derive(Default)]
struct Walk {
    count: usize,
    paths: BTreeMap<String, usize>,
    /// Id, instant, title, and files of each commit.
    commits: Vec<(String, i64, String, BTreeSet<usize>)>,
}

impl Walk {
    fn file(&mut self, path: &str) -> usize {
        if let Some(file) = self.paths.get(path) {
            return *file;
        }
        self.count += 1;
        self.paths.insert(path.to_owned(), self.count);
        self.count
    }

    fn renamed(&mut self, from: &str, to: &str) -> usize {
        match self.paths.remove(from) {
            Some(file) => {
                self.paths.insert(to.to_owned(), file);
                file
            }
            None => self.file(to),
        }
    }

    fn ended(self, root: String, tree: &BTreeSet<&str>) -> History {
        let present = self.paths.into_iter().filter(|(path, _)| tree.contains(path.as_str()));
        let path_of: BTreeMap<usize, String> = present.map(|(path, file)| (file, path)).collect();
        let mut files: BTreeMap<&str, GitFile> = BTreeMap::new();
        let mut pairs: BTreeMap<(&str, &str), (i64, i64, i64)> = BTreeMap::new();
        let mut commits = Vec::new();
        for (id, at, title, changed) in self.commits {
            let is_of_pairs = changed.len() <= FILES_OF_PAIRS_MAX;
            let mut paths: Vec<&str> =
                changed.iter().filter_map(|file| path_of.get(file)).map(String::as_str).collect();
            if paths.is_empty() {
                continue;
            }
            paths.sort_unstable();
            for (nth, path) in paths.iter().enumerate() {
                let new = || GitFile { path: (*path).to_owned(), commits: 0, created: at, modified: at };
                let file = files.entry(path).or_insert_with(new);
                file.commits += 1;
                file.created = file.created.min(at);
                file.modified = file.modified.max(at);
                for other in paths[nth + 1..].iter().filter(|_| is_of_pairs) {
                    let (count, first, last) = pairs.entry((path, other)).or_insert((0, at, at));
                    *count += 1;
                    *first = at.min(*first);
                    *last = at.max(*last);
                }
            }
            let files = paths.into_iter().map(str::to_owned).collect();
            commits.push(GitCommit { id: format!("git:{id}"), title, at, files });
        }
        let pairs = most_frequent(pairs);
        History { root, files: files.into_values().collect(), commits, pairs }
    }
}

/// The pairs that are among the most frequent of either file.
fn most_frequent(pairs: BTreeMap<(&str, &str), (i64, i64, i64)>) -> Vec<GitPair> {
    let mut all: Vec<_> = pairs.into_iter().collect();
    all.sort_by(|(a, (many, ..)), (b, (more, ..))| more.cmp(many).then_with(|| a.cmp(b)));
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    all.retain(|((from, to), _)| {
        let counts = [from, to].map(|path| {
            let count = taken.entry(path).or_default();
            *count += 1;
            *count
        });
        counts.iter().any(|count| *count <= PAIRS_EACH_MAX)
    });
    let pair = |((from, to), (commits, first, last)): ((&str, &str), (i64, i64, i64))| GitPair {
        from: from.to_owned(),
        to: to.to_owned(),
        commits,
        first,
        last,
    };
    all.into_iter().map(pair).collect()
}

/// What git prints. A repository may be of others, so nothing that its configuration names is run: no program for signatures
/// or for changed files, and no transport for missing objects.
async fn output(repository: &Path, args: &[&str]) -> Result<String, GitError> {
    let mut command = Command::new("git");
    command.args(["-c", "core.fsmonitor=false"]).arg("-C").arg(repository).args(args);
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let done = command.output().await.map_err(GitError::Start)?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&done.stderr);
    let line = why.lines().find_map(|line| line.strip_prefix("fatal: ")).or(why.lines().next());
    let mut line = line.unwrap_or("it ended with an error").to_owned();
    if line.starts_with("unable to read") || why.contains("promisor") {
        line += ". Objects are missing, as in a partial clone, and Ebb fetches none: `git fetch --refetch --no-filter` does";
    }
    Err(GitError::Read { path: repository.display().to_string(), why: line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(log: &[(&str, i64, &str, &[&str])], tree: &[&str]) -> History {
        let mut text = String::new();
        for (id, at, title, words) in log {
            text += &format!("{COMMIT}{id}\0{at}\0{title}\0");
            if !words.is_empty() {
                text += &format!("\n{}\0", words.join("\0"));
            }
        }
        History::of("r".to_owned(), &text, &tree.iter().copied().collect())
    }

    fn counts(history: &History) -> Vec<(&str, &str, i64)> {
        history.pairs.iter().map(|pair| (pair.from.as_str(), pair.to.as_str(), pair.commits)).collect()
    }

    #[test]
    fn files_have_their_present_paths_and_pairs_count_commits() {
        let log: [(&str, i64, &str, &[&str]); 6] = [
            ("1", 10, "begin", &["A", "a", "A", "b", "A", "gone"]),
            ("2", 20, "more", &["M", "a", "M", "b"]),
            ("3", 30, "rename", &["R100", "b", "c"]),
            ("4", 40, "merge", &[]),
            ("5", 50, "after", &["M", "a", "M", "c", "D", "gone"]),
            ("6", 60, "again", &["M", "a"]),
        ];
        let history = history(&log, &["a", "c"]);
        let file = |path: &str, commits, created: i64, modified: i64| GitFile {
            path: path.to_owned(),
            commits,
            created: created * 1_000,
            modified: modified * 1_000,
        };
        assert_eq!(history.files, [file("a", 4, 10, 60), file("c", 4, 10, 50)]);
        assert_eq!(counts(&history), [("a", "c", 3)]);
        let ids: Vec<&str> = history.commits.iter().map(|commit| commit.id.as_str()).collect();
        assert_eq!(ids, ["git:1", "git:2", "git:3", "git:5", "git:6"]);
        assert_eq!(history.commits[2].files, ["c"]);
        assert_eq!((history.pairs[0].first, history.pairs[0].last), (10_000, 50_000));
    }

    /// Runs git in a folder and returns what it printed.
    fn git(folder: &Path, words: &[&str]) -> String {
        let done = std::process::Command::new("git").arg("-C").arg(folder).args(words).output().unwrap();
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    #[tokio::test]
    async fn a_repository_of_others_runs_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let (program, ran) = (folder.path().join("program"), folder.path().join("ran"));
        // It signs what git asks it to sign, and must have read it before git takes the signature.
        let text = format!(
            "#!/bin/sh\necho \"$0 $*\" >>'{}'\ncase $* in *-bsau*) cat >/dev/null ;; esac\necho '[GNUPG:] SIG_CREATED ' >&2\n\
             printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n",
            ran.display()
        );
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let program = program.to_str().unwrap();
        let repository = folder.path().join("repository");
        git(folder.path(), &["init", "-q", "repository"]);
        let git = |words: &[&str]| git(&repository, words);
        git(&["config", "user.name", "a"]);
        git(&["config", "user.email", "a@example.org"]);
        git(&["config", "gpg.program", program]);
        std::fs::write(repository.join("one"), "a\nb\nc\nd\n").unwrap();
        std::fs::write(repository.join(".gitattributes"), "* diff=x\n").unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-S", "-m", "first"]);
        git(&["mv", "one", "two"]);
        std::fs::write(repository.join("two"), "a\nb\nc\nd\ne\n").unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "second"]);
        let programs = [
            "core.fsmonitor",
            "core.sshCommand",
            "core.pager",
            "diff.external",
            "diff.x.command",
            "diff.x.textconv",
        ];
        for key in programs {
            git(&["config", key, program]);
        }
        let remote = format!("ext::{program}");
        for (key, value) in [
            ("log.showSignature", "true"),
            ("protocol.ext.allow", "always"),
            ("remote.origin.url", &remote),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialclonefilter", "blob:none"),
            ("extensions.partialClone", "origin"),
            ("core.repositoryformatversion", "1"),
        ] {
            git(&["config", key, value]);
        }
        let has_run = || std::fs::remove_file(&ran).is_ok();
        assert!(has_run(), "git did not sign");
        git(&["log"]);
        assert!(has_run(), "git shows no signature, so this test holds nothing");
        let history = History::read(&repository).await.unwrap();
        assert_eq!((history.commits.len(), history.files[1].path.as_str()), (2, "two"));
        assert!(!has_run(), "reading the history ran the program");

        // Whether a file was renamed cannot be told without its content, which nobody fetches.
        let object = git(&["rev-parse", "HEAD:two"]);
        let (begin, end) = object.split_at(2);
        std::fs::remove_file(repository.join(".git/objects").join(begin).join(end)).unwrap();
        let read = History::read(&repository).await;
        assert!(matches!(&read, Err(GitError::Read { why, .. }) if why.contains("--refetch")), "{read:?}");
        assert!(!has_run(), "a missing object was fetched");
        git(&["log", "-M", "--name-status"]);
        assert!(has_run(), "git fetches no object, so this test holds nothing");
    }

    #[test]
    fn a_commit_of_everything_pairs_nothing() {
        let names: Vec<String> = (0..=FILES_OF_PAIRS_MAX).map(|n| format!("f{n:03}")).collect();
        let words: Vec<&str> = names.iter().flat_map(|name| ["A", name.as_str()]).collect();
        let tree: Vec<&str> = names.iter().map(String::as_str).collect();
        let all = history(&[("1", 1, "all", &words)], &tree);
        assert_eq!((all.files.len(), all.pairs.len()), (FILES_OF_PAIRS_MAX + 1, 0));
        let few = history(&[("1", 1, "few", &words[2..])], &tree);
        assert_eq!(few.pairs.len(), FILES_OF_PAIRS_MAX * (FILES_OF_PAIRS_MAX - 1) / 2);
    }

    #[test]
    fn nothing_that_git_may_print_stops_the_reading() {
        for text in ["", "\0\0", "M\0", "R100\0a\0", "\u{2}", "\u{2}x\0never\0", "D\0nothing\0M\0x\0"] {
            let history = History::of(String::new(), text, &BTreeSet::from(["x"]));
            assert!(history.files.len() <= 1, "{text:?}");
        }
    }
}
