//! Schema migrations: applied once, in order, recorded in the graph with the checksum of their text.
//!
//! An applied migration never changes: its checksum is compared at each start, and a database of a newer Ebb is
//! rejected. Every statement of a migration has IF NOT EXISTS, so two concurrent initialisations, or one that was
//! killed halfway, are safe: the next run completes it.
//!
//! A constraint or index is recognised by what it is on (see [`shape`]), not by its name: an equal one that somebody
//! else created serves as well, and the server creates no second one. What an uninstallation removes is recognised by
//! its name: each that Ebb creates begins with `ebb_`.

mod shape;

use super::Store;
use super::catalogue::{
    MIGRATION_DUPLICATES, MIGRATION_ENTITIES, MIGRATION_LIST, MIGRATION_MEMORIES, MIGRATION_NODES,
    MIGRATION_PROCESSES, MIGRATION_RECORD, MIGRATION_RELATIONS, SCHEMA_EDGE, SCHEMA_EMBEDDING, SCHEMA_LABEL,
    SCHEMA_PLACE, SCHEMA_V001, SCHEMA_V002, SCHEMA_V003, SCHEMA_V004, SCHEMA_V005, SCHEMA_V006, SCHEMA_V007,
    SCHEMA_V008, SCHEMA_V009, SCHEMA_V010, SCHEMA_V011, SCHEMA_V012, SCHEMA_V013, SCHEMA_V014, SCHEMA_V015,
    SCHEMA_V016, SCHEMA_V017, SERVER_EMBEDDING, SERVER_SCHEMA,
};
use super::error::Error;
use super::restore::{MARKER, loaded};
use super::statement::Statement;
use super::tx::{Mode, Tx};
use crate::domain::ids::hex;
use crate::domain::trail::{Allowed, EdgeType, MirroredLabel, PlaceLabel};
use crate::domain::tunables::ConsolidationConfig;
use crate::domain::units::Timestamp;
use neo4rs::{BoltMap, BoltString, BoltType};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use shape::{Existing, Shape};

static MIGRATIONS: [&Statement; 17] = [
    &SCHEMA_V001,
    &SCHEMA_V002,
    &SCHEMA_V003,
    &SCHEMA_V004,
    &SCHEMA_V005,
    &SCHEMA_V006,
    &SCHEMA_V007,
    &SCHEMA_V008,
    &SCHEMA_V009,
    &SCHEMA_V010,
    &SCHEMA_V011,
    &SCHEMA_V012,
    &SCHEMA_V013,
    &SCHEMA_V014,
    &SCHEMA_V015,
    &SCHEMA_V016,
    &SCHEMA_V017,
];

/// Give rows of an older version the labels and the key that they have since V010, in this order: entities are known by
/// what Ebb attached to them.
static RENAMES: [&Statement; 3] = [&MIGRATION_MEMORIES, &MIGRATION_RELATIONS, &MIGRATION_ENTITIES];

/// Report of an initialisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitReport {
    /// Migrations applied now.
    pub applied: Vec<String>,
    /// Tunables added to the ConsolidationConfig node.
    pub tunables_added: i64,
    /// Whether the vector index of embeddings was created.
    pub vector_index: bool,
}

/// A difference between a database and its migrations.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drift {
    /// A migration that was not applied.
    Pending(String),
    /// A constraint or index of a migration, by its name, that is not there: none is on the same properties.
    Missing(String),
    /// A configured label or relationship type, and its properties without an index.
    Absent(String),
    /// A constraint or index that cannot be created while another index or constraint is there.
    InTheWay(InTheWay),
    /// An index that is not online.
    NotOnline { name: String, state: String },
}

/// An index or constraint in the way of a needed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InTheWay {
    /// Label or relationship type and properties, and what they need.
    pub needed: String,
    /// Constraint or index.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

impl InTheWay {
    /// The statement that removes it.
    #[must_use]
    pub fn remedy(&self) -> String {
        format!("DROP {} {}", self.kind.to_uppercase(), self.name)
    }
}

impl std::fmt::Display for InTheWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, and the {} {} is in its way", self.needed, self.kind, self.name)
    }
}

/// Name of the vector index of memories in reports.
const VECTOR_INDEX: &str = "Memory (embedding), a vector index";

/// The vector index of memories: under any name.
#[derive(Debug, Clone, Deserialize)]
struct VectorIndex {
    name: String,
    dimensions: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct AppliedMigration {
    version: String,
    checksum: String,
    applied: Option<i64>,
    #[serde(rename = "isLoaded")]
    is_loaded: bool,
}

/// The name of the vector index of memories.
pub(super) async fn vector_index(tx: &mut Tx) -> Result<Option<String>, Error> {
    Ok(tx.row::<VectorIndex>(SERVER_EMBEDDING.call()).await?.map(|index| index.name))
}

/// When the database was initialised: no occurrence before that was to run.
pub(super) fn installed(applied: &[AppliedMigration]) -> Option<Timestamp> {
    let first = applied.iter().filter_map(|migration| migration.applied).min()?;
    Timestamp::from_millis(first).ok()
}

impl Store {
    /// Version of the last migration.
    #[must_use]
    pub fn schema_version() -> &'static str {
        MIGRATIONS.last().map_or("", |last| version(last))
    }

    /// Checks that the database has every migration of this program.
    ///
    /// # Errors
    /// [`Error::Schema`] if not, with the remedy.
    pub async fn check_schema(&self) -> Result<(), Error> {
        self.complete(&self.pending().await?)
    }

    pub(super) fn complete(&self, pending: &[&str]) -> Result<(), Error> {
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

    pub(super) fn lacking(&self, applied: &[AppliedMigration]) -> Result<Vec<&'static str>, Error> {
        for row in applied {
            if row.version == MARKER && row.is_loaded {
                return Err(Error::Schema(loaded(self.uri(), &row.checksum)));
            }
            if row.version == MARKER {
                return Err(Error::Schema(format!(
                    "a restore into the database at {} was broken off, so it holds a part of a backup. \
                     A restore of the same backup or of another starts again. Run: ebb restore FILE; or, to delete what it \
                     wrote: ebb restore --abandon",
                    self.uri()
                )));
            }
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
        let is_new = pending.len() == MIGRATIONS.len();
        let due: Vec<&'static Statement> =
            MIGRATIONS.into_iter().filter(|migration| pending.contains(&migration.name)).collect();
        // Each change of the schema makes a server plan every statement anew, so a new database gets all of it first.
        for migrations in due.chunks(if is_new { MIGRATIONS.len() } else { 1 }) {
            self.migrate(migrations, !is_new, now).await?;
        }
        let applied = pending.into_iter().map(str::to_owned).collect();
        Ok(InitReport { applied, ..self.complete_rows(config, now).await? })
    }

    /// Applies migrations, and records them together.
    async fn migrate(
        &self,
        migrations: &[&'static Statement],
        has_rows: bool,
        now: Timestamp,
    ) -> Result<(), Error> {
        let lasting =
            |migration: &Statement| statements(migration).into_iter().filter(|text| is_lasting(text));
        for migration in migrations {
            for text in lasting(migration) {
                self.make(migration, text).await?;
            }
        }
        self.verify(migrations.iter().flat_map(|migration| lasting(migration))).await?;
        if has_rows && migrations.iter().any(|migration| version(migration) == version(&SCHEMA_V010)) {
            for statement in RENAMES {
                self.each_page("migration.rows", statement).await?;
            }
        }
        self.transactions
            .run("migration.record", Mode::Write, async |tx: &mut Tx| {
                for migration in migrations {
                    let call = MIGRATION_RECORD
                        .call()
                        .set("version", version(migration))
                        .set("name", migration.name)
                        .set("checksum", checksum(migration))
                        .set("at", now.millis());
                    tx.run(call).await?;
                }
                Ok(())
            })
            .await
    }

    /// Adds what an initialisation writes besides migrations, where it is missing.
    pub async fn complete_rows(
        &self,
        config: &ConsolidationConfig,
        now: Timestamp,
    ) -> Result<InitReport, Error> {
        let vector_index = self.ensure_embedding_index().await?;
        self.ensure_trail_indexes().await?;
        self.ensure_cycle(now).await?;
        let tunables_added = self.ensure_tunables(config).await?;
        self.accept_before_facts(now).await?;
        Ok(InitReport { applied: Vec::new(), tunables_added, vector_index })
    }

    /// The dimensions of the vector index of embeddings, if they are configured and there is none.
    ///
    /// # Errors
    /// [`Error::Conflict`] if there is one with other dimensions.
    async fn lacking_embedding_index(&self) -> Result<Option<i64>, Error> {
        let Some(wanted) = self.similarity.dimensions.and_then(|d| i64::try_from(d).ok()) else {
            return Ok(None);
        };
        let index: Option<VectorIndex> = self.read_optional(SERVER_EMBEDDING.call()).await?;
        if let Some(VectorIndex { name, dimensions }) = index {
            let found = dimensions.map_or_else(|| "any number of".to_owned(), |number| number.to_string());
            if dimensions == Some(wanted) {
                return Ok(None);
            }
            return Err(Error::Conflict(format!(
                "the vector index {name} is for embeddings of {found} numbers, and embedding.dimensions is \
                 {wanted}. Set it to {found}; or, to begin with other embeddings, in Neo4j Browser: DROP INDEX {name}, \
                 then run: ebb init"
            )));
        }
        Ok(Some(wanted))
    }

    /// Creates the vector index of embeddings, if their dimensions are configured. Returns whether there was none.
    ///
    /// # Errors
    /// [`Error::Conflict`] if there is one with other dimensions.
    pub async fn ensure_embedding_index(&self) -> Result<bool, Error> {
        let Some(wanted) = self.lacking_embedding_index().await? else { return Ok(false) };
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
        made.or_else(|why| if why.is_made_already() { Ok(()) } else { Err(why) })?;
        Ok(true)
    }

    /// Creates the key and the indexes of the labels and relationship types that the configuration adds to those of the
    /// migrations.
    ///
    /// # Errors
    /// [`Error::Query`] if rows violate the key of a label.
    pub async fn ensure_trail_indexes(&self) -> Result<(), Error> {
        let added = self.added_statements();
        for (statement, text) in &added {
            self.make(statement, text).await?;
        }
        if added.is_empty() { Ok(()) } else { self.verify(added.iter().map(|(_, text)| text.as_str())).await }
    }

    /// The statements for the labels and relationship types that the configuration adds.
    fn added_statements(&self) -> Vec<(&'static Statement, String)> {
        let (labels, types) = self.added();
        let places: Vec<(&'static Statement, String)> = labels
            .map(|label| (&SCHEMA_PLACE, SCHEMA_PLACE.text_about(std::slice::from_ref(label), &[])))
            .collect();
        let edges = types.map(|kind| (&SCHEMA_EDGE, SCHEMA_EDGE.text_about(&[], std::slice::from_ref(kind))));
        let split = |(statement, texts): (&'static Statement, String)| {
            let texts = texts.split(';').map(str::trim).filter(|text| !text.is_empty());
            texts.map(|text| (statement, text.to_owned())).collect::<Vec<_>>()
        };
        let labels = self
            .mirrored_labels()
            .map(|label| (&SCHEMA_LABEL, SCHEMA_LABEL.text_about(std::slice::from_ref(label), &[])));
        places.into_iter().chain(edges).chain(labels).flat_map(split).collect()
    }

    /// The checksums of all migrations, and the statements that the configuration adds.
    pub(super) fn schema_texts(&self) -> Vec<String> {
        let added = self.added_statements().into_iter().map(|(_, text)| text);
        MIGRATIONS.iter().map(|migration| checksum(migration)).chain(added).collect()
    }

    /// The report of [`Store::initialise`], without writes.
    pub async fn dry_run_initialise(&self, config: &ConsolidationConfig) -> Result<InitReport, Error> {
        let pending = self.pending().await?;
        self.refuse_upgrade(&pending).await?;
        let tunables_added = self.lacking_tunables(config).await?;
        let vector_index = self.lacking_embedding_index().await?.is_some();
        let applied = pending.into_iter().map(str::to_owned).collect();
        Ok(InitReport { applied, tunables_added, vector_index })
    }

    /// Differences of the constraints and indexes from those of the migrations and of the configuration.
    pub async fn drift(&self) -> Result<Vec<Drift>, Error> {
        let pending = self.pending().await?;
        let there = self.existing().await?;
        let mut drift: Vec<Drift> = pending.iter().map(|name| Drift::Pending((*name).to_owned())).collect();
        let applied = MIGRATIONS.iter().filter(|migration| !pending.contains(&migration.name));
        for text in applied.flat_map(|migration| statements(migration)) {
            let Some(name) = made(text) else { continue };
            let Some(shape) = Shape::of(text) else { continue };
            match there.iter().find(|row| shape.is(row)) {
                None => drift.push(match shape.in_the_way(name, &there) {
                    Some(other) => Drift::InTheWay(other),
                    None => Drift::Missing(name.to_owned()),
                }),
                Some(row) if row.state != "ONLINE" => {
                    drift.push(Drift::NotOnline { name: row.name.clone(), state: row.state.clone() });
                }
                Some(_) => {}
            }
        }
        for (_, text) in self.added_statements() {
            let shape = Shape::of(&text).filter(|shape| !there.iter().any(|row| shape.is(row)));
            let name = named(&text, "CREATE").unwrap_or_default();
            drift.extend(shape.map(|shape| match shape.in_the_way(name, &there) {
                Some(other) => Drift::InTheWay(other),
                None => Drift::Absent(shape.to_string()),
            }));
        }
        if self.lacks_vector_index().await? {
            drift.push(Drift::Absent(VECTOR_INDEX.to_owned()));
        }
        Ok(drift)
    }

    /// The indexes that Ebb created, those of its constraints too: by their names. One without a name may be a person's,
    /// whatever it is on.
    pub(super) async fn own_indexes(&self) -> Result<Vec<Existing>, Error> {
        let mut there = self.existing().await?;
        there.retain(|row| row.name.starts_with("ebb_"));
        Ok(there)
    }

    async fn existing(&self) -> Result<Vec<Existing>, Error> {
        self.read(SERVER_SCHEMA.call()).await
    }

    async fn lacks_vector_index(&self) -> Result<bool, Error> {
        if self.similarity.dimensions.is_none() {
            return Ok(false);
        }
        let index: Option<VectorIndex> = self.read_optional(SERVER_EMBEDDING.call()).await?;
        Ok(index.is_none())
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

    /// Creates missing constraints and indexes, except where another is in the way. Returns their number.
    ///
    /// # Errors
    /// [`Error::Conflict`] with the rows that violate a constraint.
    pub async fn repair_schema(&self) -> Result<usize, Error> {
        let missing: Vec<String> = self
            .drift()
            .await?
            .into_iter()
            .filter_map(|drift| match drift {
                Drift::Missing(name) | Drift::Absent(name) => Some(name),
                Drift::Pending(_) | Drift::InTheWay(_) | Drift::NotOnline { .. } => None,
            })
            .collect();
        if missing.is_empty() {
            return Ok(0);
        }
        self.refuse_duplicates().await?;
        for migration in MIGRATIONS {
            for text in statements(migration) {
                if made(text).is_some_and(|name| missing.iter().any(|other| other == name)) {
                    self.make(migration, text).await?;
                }
            }
        }
        for (statement, text) in self.added_statements() {
            self.make(statement, &text).await?;
        }
        self.ensure_embedding_index().await?;
        Ok(missing.len())
    }

    /// Creates a constraint or index, unless there is an equal one or another is in its way: see [`Store::verify`].
    async fn make(&self, migration: &'static Statement, text: &str) -> Result<(), Error> {
        let made = self
            .transactions
            .run("migration.apply", Mode::Write, async |tx: &mut Tx| tx.run(migration.reading(text)).await)
            .await;
        made.or_else(|why| if why.is_made_already() { Ok(()) } else { Err(why) })
    }

    /// Checks that what statements create is there.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another index or constraint is in the way: an index where a constraint is to be, or one of
    /// the same name.
    async fn verify<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Result<(), Error> {
        let there = self.existing().await?;
        for text in texts {
            let Some(shape) = Shape::of(text).filter(|shape| !there.iter().any(|row| shape.is(row))) else {
                continue;
            };
            let name = named(text, "CREATE").unwrap_or_default();
            return Err(Error::Conflict(match shape.in_the_way(name, &there) {
                Some(other) => {
                    format!("{other}. Run in Neo4j Browser: {}. Then run: ebb init", other.remedy())
                }
                None => format!("{} was dropped meanwhile. Run: ebb init", shape.needed()),
            }));
        }
        Ok(())
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
        let nodes: i64 = self.read_one(MIGRATION_NODES.call()).await?;
        if nodes == 0 {
            return Ok(());
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
    fn what_configuration_adds_has_a_name_of_its_own() {
        let allowed = Allowed::new(&["Den"], &["WAY"]).unwrap();
        let texts = [
            SCHEMA_PLACE.text_about(allowed.labels(), &[]),
            SCHEMA_LABEL.text_about(allowed.labels(), &[]),
            SCHEMA_EDGE.text_about(&[], allowed.types()),
        ];
        let names: Vec<&str> =
            texts.iter().flat_map(|text| text.split(';')).filter_map(|text| named(text, "CREATE")).collect();
        let wanted = [
            "ebb_place_key_Den",
            "ebb_place_find_Den",
            "ebb_place_cycle_Den",
            "ebb_label_key_Den",
            "ebb_edge_cycle_WAY",
        ];
        assert_eq!(names, wanted);
        let others = MIGRATIONS.into_iter().flat_map(statements);
        let prefixes = ["ebb_place_", "ebb_label_", "ebb_edge_"];
        let is_taken = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        assert!(!others.filter_map(|text| named(text, "CREATE")).any(is_taken));
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
        assert_eq!(&checksum(&SCHEMA_V009)[..16], "37a6e6f173e74581");
        assert_eq!(&checksum(&SCHEMA_V010)[..16], "70f08959d5f8611c");
        assert_eq!(&checksum(&SCHEMA_V011)[..16], "7db1f2e17612c639");
        assert_eq!(&checksum(&SCHEMA_V012)[..16], "1c78ea9fb793100e");
        assert_eq!(&checksum(&SCHEMA_V013)[..16], "b69045e4cbeae836");
        assert_eq!(&checksum(&SCHEMA_V014)[..16], "b28e236961ca922b");
        assert_eq!(&checksum(&SCHEMA_V015)[..16], "2e54c949f8eae3b7");
        assert_eq!(&checksum(&SCHEMA_V016)[..16], "406422928cca6a80");
        assert_eq!(&checksum(&SCHEMA_V017)[..16], "5da8ab3b1c2a9876");
    }
}
