//! The history of a git repository as rows of a scope.

use super::Store;
use super::catalogue::{
    GIT_FILES, GIT_REMOVE_FILES, GIT_WRITE_ACCESSES, GIT_WRITE_COMMITS, GIT_WRITE_FILES, GIT_WRITE_PAIRS,
};
use super::encode::list;
use super::error::Error;
use super::import::{Progress, advance};
use super::statement::Call;
use super::tx::{Mode, Tx};
use crate::domain::ids::Scope;
use std::collections::BTreeSet;

/// Rows of one transaction.
const PAGE: usize = 2_000;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFile {
    /// Its present path.
    pub path: String,
    /// Number of commits that changed it.
    pub commits: i64,
    /// Instant of the first of them, epoch milliseconds.
    pub created: i64,
    /// Instant of the last of them, epoch milliseconds.
    pub modified: i64,
}

/// A commit that changed files of the present tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommit {
    /// Id of its session: `git:` and its hash.
    pub id: String,
    /// First line of its message.
    pub title: String,
    /// Instant, epoch milliseconds.
    pub at: i64,
    /// Paths of the changed files.
    pub files: Vec<String>,
}

/// Two files that commits changed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitPair {
    /// The path that comes first.
    pub from: String,
    /// The other path.
    pub to: String,
    /// Number of such commits.
    pub commits: i64,
    /// Instant of the first, epoch milliseconds.
    pub first: i64,
    /// Instant of the last, epoch milliseconds.
    pub last: i64,
}

/// A history.
#[derive(Debug, Clone, Copy)]
pub struct GitRows<'a> {
    /// Hash of the first commit, which identifies the repository.
    pub repository: &'a str,
    pub files: &'a [GitFile],
    pub commits: &'a [GitCommit],
    pub pairs: &'a [GitPair],
}

impl Store {
    /// Brings the files, commits and pairs of a scope to a history. Returns the numbers of rows written and of files
    /// removed.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the scope holds another repository; [`Error::Fenced`] if another import of the scope began.
    pub async fn import_git(&self, scope: &Scope, rows: GitRows<'_>) -> Result<(i64, i64), Error> {
        let GitRows { repository, files, commits, pairs } = rows;
        let key = format!("git:{}", scope.as_str());
        let progress = self.open_import(&key, repository, scope).await?;
        if !progress.digest.is_empty() && progress.digest != repository {
            return Err(Error::Conflict(format!(
                "the scope {scope} holds the files of another repository. Run the same command with --scope and another \
                 name"
            )));
        }
        let import = Import { store: self, key: &key, lines: progress.lines, scope, repository };
        import.begin().await?;
        let known: Vec<String> = self.read(import.of(GIT_FILES.call())).await?;
        let present: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let gone: Vec<&str> =
            known.iter().map(String::as_str).filter(|path| !present.contains(path)).collect();
        let removed =
            import.write(&gone, |page| GIT_REMOVE_FILES.call().set("id", list(page.iter().copied()))).await?;
        let mut written = import
            .write(files, |page| {
                GIT_WRITE_FILES
                    .call()
                    .set("id", list(page.iter().map(|file| file.path.as_str())))
                    .set("commits", list(page.iter().map(|file| file.commits)))
                    .set("created", list(page.iter().map(|file| file.created)))
                    .set("modified", list(page.iter().map(|file| file.modified)))
            })
            .await?;
        written += import
            .write(commits, |page| {
                GIT_WRITE_COMMITS
                    .call()
                    .set("id", list(page.iter().map(|commit| commit.id.as_str())))
                    .set("title", list(page.iter().map(|commit| commit.title.as_str())))
                    .set("at", list(page.iter().map(|commit| commit.at)))
            })
            .await?;
        let accesses: Vec<(&str, &str)> = commits
            .iter()
            .flat_map(|commit| commit.files.iter().map(|file| (file.as_str(), commit.id.as_str())))
            .collect();
        written += import
            .write(&accesses, |page| {
                GIT_WRITE_ACCESSES
                    .call()
                    .set("file", list(page.iter().map(|(file, _)| *file)))
                    .set("commit", list(page.iter().map(|(_, commit)| *commit)))
            })
            .await?;
        written += import
            .write(pairs, |page| {
                GIT_WRITE_PAIRS
                    .call()
                    .set("from", list(page.iter().map(|pair| pair.from.as_str())))
                    .set("to", list(page.iter().map(|pair| pair.to.as_str())))
                    .set("commits", list(page.iter().map(|pair| pair.commits)))
                    .set("first", list(page.iter().map(|pair| pair.first)))
                    .set("last", list(page.iter().map(|pair| pair.last)))
            })
            .await?;
        Ok((written, removed))
    }
}

/// An import that holds its lock.
struct Import<'a> {
    store: &'a Store,
    key: &'a str,
    lines: i64,
    scope: &'a Scope,
    repository: &'a str,
}

impl Import<'_> {
    /// A call about the rows of this import.
    fn of(&self, call: Call) -> Call {
        call.set("scope", self.scope.as_str()).set("repository", self.repository)
    }

    /// Records the repository of the scope, before any row of it.
    async fn begin(&self) -> Result<(), Error> {
        let progress = Progress { lines: self.lines, digest: self.repository.to_owned(), at: None };
        let body = async |tx: &mut Tx| {
            self.store.hold_import(tx, self.key, self.lines).await?;
            advance(tx, self.key, &progress).await
        };
        self.store.transactions.run("git.begin", Mode::Write, body).await
    }

    /// Writes rows in pages, each a transaction. Returns the number of changed ones.
    async fn write<T>(&self, rows: &[T], call: impl Fn(&[T]) -> Call) -> Result<i64, Error> {
        let mut changed = 0;
        for page in rows.chunks(PAGE) {
            let body = async |tx: &mut Tx| {
                self.store.hold_import(tx, self.key, self.lines).await?;
                let changed: i64 = tx.only(self.of(call(page))).await?;
                if changed > 0 {
                    tx.touch_scope(self.scope.as_str());
                }
                Ok(changed)
            };
            changed += self.store.transactions.run("git.rows", Mode::Write, body).await?;
        }
        Ok(changed)
    }
}
