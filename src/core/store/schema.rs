//! Schema migrations: applied once, in order, recorded in the graph with the checksum of their text.
//!
//! An applied migration never changes: its checksum is compared at each start, and a database of a newer Ebb is
//! rejected. Every statement of a migration has IF NOT EXISTS, so two concurrent initialisations, or one that was
//! killed halfway, are safe: the next run completes it.

use super::Store;
use super::catalogue::{
    MIGRATION_DUPLICATES, MIGRATION_LIST, MIGRATION_PROCESSES, MIGRATION_RECORD, SCHEMA_EDGE,
    SCHEMA_EMBEDDING, SCHEMA_LABEL, SCHEMA_PLACE, SCHEMA_V001, SCHEMA_V002, SCHEMA_V003, SCHEMA_V004,
    SCHEMA_V005, SCHEMA_V006, SCHEMA_V007, SCHEMA_V008, SCHEMA_V009, SERVER_EMBEDDING, SERVER_PING,
    SERVER_SCHEMA, SERVER_WRITE,
};
use super::error::Error;
use super::statement::Statement;
use super::tx::{Mode, Tx};
use crate::domain::ids::hex;
use crate::domain::trail::{Allowed, EdgeType, MirroredLabel, PlaceLabel};
use crate::domain::tunables::ConsolidationConfig;
use crate::domain::units::Timestamp;
use neo4rs::{BoltMap, BoltString, BoltType};
use serde::Deserialize;
use sha2::{Digest, Sha256};

static MIGRATIONS: [&Statement; 9] = [
    &SCHEMA_V001,
    &SCHEMA_V002,
    &SCHEMA_V003,
    &SCHEMA_V004,
    &SCHEMA_V005,
    &SCHEMA_V006,
    &SCHEMA_V007,
    &SCHEMA_V008,
    &SCHEMA_V009,
];

/// Report of an initialisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitReport {
    /// Migrations applied now.
    pub applied: Vec<String>,
    /// Tunables added to the ConsolidationConfig node.
    pub tunables_added: i64,
}

/// A difference between a database and its migrations.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drift {
    /// A migration that was not applied.
    Pending(String),
    /// A constraint or index that was dropped.
    Missing(String),
    /// A configured label or relationship type of trails, and its properties without an index.
    Absent(String),
    /// An index that is not online.
    NotOnline { name: String, state: String },
}

/// Property of each index that `schema/place` creates.
const PLACE_INDEXES: [&[&str]; 3] = [&["scope", "id"], &["id"], EDGE_INDEX];
/// Properties of the index that `schema/label` creates.
const LABEL_INDEX: &[&str] = &["scope", "id"];
/// Properties of the index that `schema/edge` creates.
const EDGE_INDEX: &[&str] = &["pheromone_cycle"];

#[derive(Deserialize)]
struct AppliedMigration {
    version: String,
    checksum: String,
}

/// The server's clock.
async fn server_now(tx: &mut Tx) -> Result<Timestamp, Error> {
    let now = tx.only(SERVER_PING.call()).await?;
    Ok(Timestamp::from_millis(now).unwrap_or(Timestamp::EPOCH))
}

impl Store {
    /// Checks that the database has every migration of this program.
    ///
    /// # Errors
    /// [`Error::Schema`] if not, with the remedy.
    pub async fn check_schema(&self) -> Result<(), Error> {
        self.complete(&self.pending().await?)
    }

    /// As [`Store::check_schema`], without retries. Returns the server's clock.
    pub async fn probe(&self) -> Result<Timestamp, Error> {
        let probe = async |tx: &mut Tx| Ok((tx.rows(MIGRATION_LIST.call()).await?, server_now(tx).await?));
        let (applied, now) = self.transactions.run_once("migration.probe", Mode::Read, probe).await?;
        self.complete(&self.lacking(&applied)?)?;
        Ok(now)
    }

    /// Checks without retries that the server responds. Returns its clock.
    pub async fn ping(&self) -> Result<Timestamp, Error> {
        self.transactions.run_once("server.ping", Mode::Read, async |tx: &mut Tx| server_now(tx).await).await
    }

    /// Writes one value to a fixed node, and commits: checks whether writes are possible now.
    ///
    /// # Errors
    /// An [`Error::refusal`] if the server accepts no writes; a connection error at the first failure.
    pub async fn probe_write(&self) -> Result<(), Error> {
        let write = async |tx: &mut Tx| tx.run(SERVER_WRITE.call()).await;
        self.transactions.run_once("server.write", Mode::Write, write).await
    }

    fn complete(&self, pending: &[&str]) -> Result<(), Error> {
        match pending.first() {
            None => Ok(()),
            Some(_) => Err(Error::Schema(format!(
                "the database at {} is not initialised for this version of Ebb. Run: ebb init",
                self.uri()
            ))),
        }
    }

    /// Lists the migrations that are not applied yet.
    ///
    /// # Errors
    /// [`Error::Schema`] if an applied one was changed, or a newer Ebb has used the database.
    pub async fn pending(&self) -> Result<Vec<&'static str>, Error> {
        let applied: Vec<AppliedMigration> = self.read(MIGRATION_LIST.call()).await?;
        self.lacking(&applied)
    }

    fn lacking(&self, applied: &[AppliedMigration]) -> Result<Vec<&'static str>, Error> {
        for row in applied {
            match MIGRATIONS.iter().find(|migration| version(migration) == row.version) {
                None => {
                    return Err(Error::Schema(format!(
                        "the database at {} carries migration {}, which this version of Ebb does not know: a newer \
                         one has been here. Use that version",
                        self.uri(),
                        row.version
                    )));
                }
                Some(migration) if checksum(migration) != row.checksum => {
                    return Err(Error::Schema(format!(
                        "migration {} at {} has the checksum {}, and this version of Ebb has {}: the two were built \
                         from different texts. Use the version that initialised the database",
                        row.version,
                        self.uri(),
                        row.checksum,
                        checksum(migration)
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(MIGRATIONS
            .iter()
            .filter(|migration| applied.iter().all(|row| row.version != version(migration)))
            .map(|migration| migration.name)
            .collect())
    }

    /// Applies pending migrations and adds missing tunables to the graph. If rows would violate a constraint, lists
    /// them and writes nothing.
    ///
    /// # Errors
    /// [`Error::Conflict`] with the rows; [`Error::Schema`] as in [`Store::pending`].
    pub async fn initialise(
        &self,
        config: &ConsolidationConfig,
        now: Timestamp,
    ) -> Result<InitReport, Error> {
        let pending = self.pending().await?;
        self.refuse_upgrade(&pending).await?;
        for migration in MIGRATIONS.iter().filter(|migration| pending.contains(&migration.name)) {
            for text in statements(migration).into_iter().filter(|text| is_lasting(text)) {
                self.make(migration, text).await?;
            }
            self.transactions
                .run("migration.record", Mode::Write, async |tx: &mut Tx| {
                    let call = MIGRATION_RECORD
                        .call()
                        .set("version", version(migration))
                        .set("name", migration.name)
                        .set("checksum", checksum(migration))
                        .set("at", now.millis());
                    tx.run(call).await
                })
                .await?;
        }
        self.ensure_embedding_index().await?;
        self.ensure_trail_indexes().await?;
        self.ensure_cycle(now).await?;
        let tunables_added = self.ensure_tunables(config).await?;
        Ok(InitReport { applied: pending.into_iter().map(str::to_owned).collect(), tunables_added })
    }

    /// Creates the vector index of embeddings, if their dimensions are configured.
    ///
    /// # Errors
    /// [`Error::Conflict`] if there is one with other dimensions.
    pub async fn ensure_embedding_index(&self) -> Result<(), Error> {
        let Some(wanted) = self.similarity.dimensions.and_then(|d| i64::try_from(d).ok()) else {
            return Ok(());
        };
        let dimensions: Option<Option<i64>> = self.read_optional(SERVER_EMBEDDING.call()).await?;
        match dimensions.flatten() {
            Some(found) if found == wanted => return Ok(()),
            Some(found) => {
                return Err(Error::Conflict(format!(
                    "the vector index ebb_memory_embedding is for embeddings of {found} numbers, and \
                     similarity.embedding_dimensions is {wanted}. Set it to {found}; or, to begin with other \
                     embeddings, in Neo4j Browser: DROP INDEX ebb_memory_embedding, then run: ebb init"
                )));
            }
            None => {}
        }
        let entry = |name: &str, value: BoltType| (BoltString::from(name), value);
        let config: BoltMap =
            [entry("vector.dimensions", wanted.into()), entry("vector.similarity_function", "cosine".into())]
                .into_iter()
                .collect();
        let options: BoltMap = [entry("indexConfig", BoltType::Map(config))].into_iter().collect();
        let made = self
            .transactions
            .run("migration.embedding", Mode::Write, async |tx: &mut Tx| {
                tx.run(SCHEMA_EMBEDDING.call().set("options", BoltType::Map(options.clone()))).await
            })
            .await;
        made.or_else(|why| if why.is_made_already() { Ok(()) } else { Err(why) })
    }

    /// Creates the key and the indexes of the labels and relationship types that the configuration adds to those of the
    /// migrations.
    ///
    /// # Errors
    /// [`Error::Query`] if rows violate the key of a label.
    pub async fn ensure_trail_indexes(&self) -> Result<(), Error> {
        let (labels, types) = self.added();
        let places =
            labels.map(|label| (&SCHEMA_PLACE, SCHEMA_PLACE.text_about(std::slice::from_ref(label), &[])));
        let edges = types.map(|kind| (&SCHEMA_EDGE, SCHEMA_EDGE.text_about(&[], std::slice::from_ref(kind))));
        let labels = self
            .mirrored_labels()
            .map(|label| (&SCHEMA_LABEL, SCHEMA_LABEL.text_about(std::slice::from_ref(label), &[])));
        for (statement, text) in places.chain(edges).chain(labels) {
            for text in text.split(';').map(str::trim).filter(|text| !text.is_empty()) {
                self.make(statement, text).await?;
            }
        }
        Ok(())
    }

    /// The report of [`Store::initialise`], without writes.
    pub async fn dry_run_initialise(&self, config: &ConsolidationConfig) -> Result<InitReport, Error> {
        let pending = self.pending().await?;
        self.refuse_upgrade(&pending).await?;
        let tunables_added = self.lacking_tunables(config).await?;
        Ok(InitReport { applied: pending.into_iter().map(str::to_owned).collect(), tunables_added })
    }

    /// Differences of the constraints and indexes from those of the migrations.
    pub async fn drift(&self) -> Result<Vec<Drift>, Error> {
        #[derive(Deserialize)]
        struct Row {
            name: String,
            state: String,
            about: Option<Vec<String>>,
            properties: Option<Vec<String>>,
        }
        let pending = self.pending().await?;
        let there: Vec<Row> = self.read(SERVER_SCHEMA.call()).await?;
        let mut drift: Vec<Drift> = pending.iter().map(|name| Drift::Pending((*name).to_owned())).collect();
        for migration in MIGRATIONS.iter().filter(|migration| !pending.contains(&migration.name)) {
            for name in statements(migration).into_iter().filter_map(made) {
                match there.iter().find(|row| row.name == name) {
                    None => drift.push(Drift::Missing(name.to_owned())),
                    Some(row) if row.state != "ONLINE" => {
                        drift.push(Drift::NotOnline { name: name.to_owned(), state: row.state.clone() });
                    }
                    Some(_) => {}
                }
            }
        }
        let is_there = |about: &str, properties: &[&str]| {
            let is = |row: &Row| {
                row.about.as_deref().is_some_and(|names| names == [about])
                    && row.properties.as_deref().is_some_and(|names| names == properties)
            };
            there.iter().any(is)
        };
        let (labels, types) = self.added();
        let labels = labels.flat_map(|label| PLACE_INDEXES.map(|of| (label.as_str(), of)));
        let labels = labels.chain(self.mirrored_labels().map(|label| (label.as_str(), LABEL_INDEX)));
        let types = types.map(|kind| (kind.as_str(), EDGE_INDEX));
        for (name, properties) in labels.chain(types).filter(|(name, of)| !is_there(name, of)) {
            drift.push(Drift::Absent(format!("{name} ({})", properties.join(", "))));
        }
        Ok(drift)
    }

    /// Labels and relationship types that the configuration adds to those of the migrations.
    fn added(&self) -> (impl Iterator<Item = &PlaceLabel>, impl Iterator<Item = &EdgeType>) {
        let allowed = &self.trails.allowed;
        (
            allowed.labels().iter().filter(|label| !Allowed::LABELS.contains(&label.as_str())),
            allowed.types().iter().filter(|kind| !Allowed::TYPES.contains(&kind.as_str())),
        )
    }

    /// Labels that mirrors hold and that are no places, whose constraints have indexes.
    fn mirrored_labels(&self) -> impl Iterator<Item = &PlaceLabel> {
        let labels = self.trails.mirrored.iter().map(MirroredLabel::label);
        labels.filter(|label| !self.trails.allowed.labels().contains(label))
    }

    /// Creates dropped constraints and indexes again. Returns their number.
    pub async fn repair_schema(&self) -> Result<usize, Error> {
        let (mut missing, mut absent) = (Vec::new(), 0);
        for drift in self.drift().await? {
            match drift {
                Drift::Missing(name) => missing.push(name),
                Drift::Absent(_) => absent += 1,
                Drift::Pending(_) | Drift::NotOnline { .. } => {}
            }
        }
        if absent > 0 {
            self.ensure_trail_indexes().await?;
        }
        if missing.is_empty() {
            return Ok(absent);
        }
        self.refuse_duplicates().await?;
        for migration in MIGRATIONS {
            let texts = statements(migration);
            for text in texts
                .into_iter()
                .filter(|text| made(text).is_some_and(|name| missing.iter().any(|m| m == name)))
            {
                self.make(migration, text).await?;
            }
        }
        Ok(missing.len() + absent)
    }

    async fn make(&self, migration: &'static Statement, text: &str) -> Result<(), Error> {
        let made = self
            .transactions
            .run("migration.apply", Mode::Write, async |tx: &mut Tx| tx.run(migration.reading(text)).await)
            .await;
        made.or_else(|why| if why.is_made_already() { Ok(()) } else { Err(why) })
    }

    /// Rejects pending migrations while rows would violate a constraint, or while other programs are active: a process
    /// of an older version, which checked the schema when it started, would continue by outdated rules.
    async fn refuse_upgrade(&self, pending: &[&str]) -> Result<(), Error> {
        if pending.is_empty() {
            return Ok(());
        }
        if pending.len() < MIGRATIONS.len() {
            let processes: Vec<String> = self.read_one(MIGRATION_PROCESSES.call()).await?;
            if !processes.is_empty() {
                return Err(Error::Conflict(format!(
                    "the database at {} cannot be upgraded while other processes of Ebb work on it: {} (one that was \
                     killed is seen for another minute). Stop them all, then run: ebb init",
                    self.uri(),
                    processes.join(", ")
                )));
            }
        }
        self.refuse_duplicates().await
    }

    async fn refuse_duplicates(&self) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Row {
            what: String,
            name: String,
            count: i64,
        }
        let rows: Vec<Row> = self.read(MIGRATION_DUPLICATES.call()).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = rows
            .iter()
            .map(|row| format!("  {} {:?} is used {} times", row.what, row.name, row.count))
            .collect();
        Err(Error::Conflict(format!(
            "rows in this database would break a constraint, so nothing was written:\n{}\nRename or merge them in Neo4j \
             Browser, then run: ebb init",
            list.join("\n")
        )))
    }
}

fn version(migration: &Statement) -> &'static str {
    let stem = migration.name.trim_start_matches("schema/");
    stem.split_once("__").map_or(stem, |(version, _)| version)
}

fn checksum(migration: &Statement) -> String {
    hex(&Sha256::digest(migration.body().as_bytes()))
}

fn statements(migration: &Statement) -> Vec<&'static str> {
    migration.body().split(';').map(str::trim).filter(|text| !text.is_empty()).collect()
}

/// Name of the constraint or index that a statement creates and no later one drops.
fn made(text: &str) -> Option<&str> {
    named(text, "CREATE").filter(|_| is_lasting(text))
}

/// Whether no later statement undoes a statement, which would make it pointless.
fn is_lasting(text: &str) -> bool {
    let dropped = |name: &str| {
        let texts = MIGRATIONS.iter().flat_map(|migration| statements(migration));
        texts.filter_map(|text| named(text, "DROP")).any(|other| other == name)
    };
    named(text, "CREATE").is_none_or(|name| !dropped(name))
}

/// Name of the constraint or index of a statement with that verb.
fn named<'t>(text: &'t str, verb: &str) -> Option<&'t str> {
    let mut words = text.split_whitespace();
    words.next().filter(|word| *word == verb)?;
    words.find(|word| matches!(*word, "CONSTRAINT" | "INDEX"))?;
    words.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_of_a_migration_can_be_repeated_and_names_what_it_makes() {
        for migration in MIGRATIONS {
            for text in statements(migration) {
                let is_repeatable = text.contains(" IF NOT EXISTS ") || text.ends_with(" IF EXISTS");
                assert!(is_repeatable, "{text}");
                let name = named(text, "CREATE").or(named(text, "DROP"));
                assert!(name.is_some_and(|name| name.starts_with("ebb_")), "{text}");
            }
        }
        assert_eq!(version(&SCHEMA_V001), "V001");
    }

    #[test]
    fn a_migration_that_was_applied_never_changes() {
        assert_eq!(&checksum(&SCHEMA_V001)[..16], "f2077514a4b23ef7");
        assert_eq!(&checksum(&SCHEMA_V002)[..16], "8324bfe52f2a2e5a");
        assert_eq!(&checksum(&SCHEMA_V003)[..16], "e4ba2dfb9ca951ab");
        assert_eq!(&checksum(&SCHEMA_V004)[..16], "eb9d5a6e0f7bdd39");
        assert_eq!(&checksum(&SCHEMA_V005)[..16], "587d00fc3a7fae7c");
        assert_eq!(&checksum(&SCHEMA_V006)[..16], "7dd85a26845bfd3c");
        assert_eq!(&checksum(&SCHEMA_V007)[..16], "3269fda0c36047dc");
        assert_eq!(&checksum(&SCHEMA_V008)[..16], "5f6ebed8281a92ec");
    }
}
