//! A memory that outlives the conversation: entities, observations about them, and relations between them.
//!
//! `cargo run -p example-memory` keeps the memory in `memory.db` in the working directory. The option `--db` and the environment variable
//! `MEMORY_DB` name another file. A change is on disk before the call is answered, so neither a crash nor a power cut loses it. Several
//! servers may share the file.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use mcp_runtime::prelude::*;
use rusqlite::{Connection, Transaction, TransactionBehavior, params_from_iter};

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
    CREATE TABLE IF NOT EXISTS entity (name TEXT PRIMARY KEY, type TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS observation (
        entity TEXT NOT NULL REFERENCES entity ON DELETE CASCADE,
        text TEXT NOT NULL,
        UNIQUE (entity, text)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS relation (
        source TEXT NOT NULL REFERENCES entity ON DELETE CASCADE,
        type TEXT NOT NULL,
        target TEXT NOT NULL REFERENCES entity ON DELETE CASCADE,
        PRIMARY KEY (source, type, target)
    ) STRICT;";

#[config]
struct Config {
    /// File of the memory, which is created if it is missing
    #[config(file, default = "memory.db")]
    db: PathBuf,
}

/// A person, a project, or anything else that a model remembers.
#[data]
#[serde(rename_all = "camelCase")]
struct Entity {
    /// Name, which no other entity has
    name: String,
    /// Kind of entity: a person, a project, a place
    entity_type: String,
    /// Known facts, each as a text of its own
    #[serde(default)]
    observations: Vec<String>,
}

/// How two entities relate, in active voice.
#[data]
#[serde(rename_all = "camelCase")]
struct Relation {
    /// Name of the entity that does it
    source: String,
    /// A verb: "works at"
    relation_type: String,
    /// Name of the entity it is done to
    target: String,
}

/// Entities, and every relation that one of them has.
#[data]
struct Knowledge {
    entities: Vec<Entity>,
    relations: Vec<Relation>,
}

struct Graph {
    connection: Mutex<Connection>,
    /// Notifies clients of changes.
    server: Handle,
}

#[handlers]
impl Graph {
    /// Remembers entities. One that is known already gets the new type, and the observations it does not have yet.
    #[tool(destructive = false, idempotent, open_world = false, blocking)]
    fn create_entities(
        &self,
        /// Each with its `name`, its `entityType` and its `observations`
        entities: &[Entity],
    ) -> Result<()> {
        let upsert = "INSERT INTO entity VALUES (?1, ?2) ON CONFLICT DO UPDATE SET type = ?2";
        self.write(entities.iter().map(|entity| &entity.name), |graph| {
            each(graph, upsert, entities.iter().map(|entity| [&entity.name, &entity.entity_type]))?;
            entities
                .iter()
                .try_for_each(|entity| observe(graph, &entity.name, &entity.observations).map(drop))
        })
    }

    /// Adds to what is known of an entity. Says how many observations were new.
    #[tool(destructive = false, idempotent, open_world = false, blocking)]
    fn add_observations(
        &self,
        /// Name of the entity
        entity: String,
        /// New facts, each as a text of its own
        observations: &[String],
    ) -> Result<usize> {
        self.write([&entity], |graph| observe(graph, &entity, observations))
    }

    /// Relates entities that are remembered. Says how many relations were new.
    #[tool(destructive = false, idempotent, open_world = false, blocking)]
    fn create_relations(
        &self,
        /// Between entities that are remembered, each with its `source`, `relationType` and `target`
        relations: &[Relation],
    ) -> Result<usize> {
        let sql = "INSERT OR IGNORE INTO relation VALUES (?, ?, ?)";
        self.write([], |graph| {
            let mut ends =
                relations.iter().flat_map(|relation| [&relation.source, &relation.target]);
            ends.try_for_each(|name| known(graph, name))?;
            let rows = relations
                .iter()
                .map(|relation| [&relation.source, &relation.relation_type, &relation.target]);
            each(graph, sql, rows)
        })
    }

    /// Forgets entities, what is known of them, and their relations. Says how many entities there were.
    #[tool(idempotent, open_world = false, blocking)]
    fn delete_entities(
        &self,
        /// Names of entities
        names: &[String],
    ) -> Result<usize> {
        let sql = "DELETE FROM entity WHERE name = ?";
        self.write(names, |graph| each(graph, sql, names.iter().map(|name| [name])))
    }

    /// Forgets some of what is known of an entity. Says how many observations there were.
    #[tool(idempotent, open_world = false, blocking)]
    fn delete_observations(
        &self,
        /// Name of the entity
        entity: String,
        /// Exact texts of the observations, as they were added
        observations: &[String],
    ) -> Result<usize> {
        let sql = "DELETE FROM observation WHERE entity = ? AND text = ?";
        let rows = observations.iter().map(|observation| [&entity, observation]);
        self.write([&entity], |graph| each(graph, sql, rows))
    }

    /// Forgets relations. Says how many there were.
    #[tool(idempotent, open_world = false, blocking)]
    fn delete_relations(
        &self,
        /// Relations as they were created, each with its `source`, `relationType` and `target`
        relations: &[Relation],
    ) -> Result<usize> {
        let sql = "DELETE FROM relation WHERE source = ? AND type = ? AND target = ?";
        let rows = relations
            .iter()
            .map(|relation| [&relation.source, &relation.relation_type, &relation.target]);
        self.write([], |graph| each(graph, sql, rows))
    }

    /// Finds the entities that have every word of the query in their name, their type or their observations.
    #[tool(read_only, open_world = false, blocking)]
    fn search_nodes(
        &self,
        /// Words in any order and any case
        query: &str,
    ) -> Result<Json<Knowledge>> {
        let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
        self.read(|Entity { name, entity_type, observations }| {
            let text = format!("{name}\n{entity_type}\n{}", observations.join("\n")).to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
    }

    /// Recalls entities by their names.
    #[tool(read_only, open_world = false, blocking)]
    fn open_nodes(
        &self,
        /// Names of entities, to the letter
        names: &[String],
    ) -> Result<Json<Knowledge>> {
        self.read(|entity| names.contains(&entity.name))
    }

    /// Everything that is remembered.
    #[resource("memory://graph", mime_type = "application/json", subscribe, blocking)]
    fn graph(&self) -> Result<Json<Knowledge>> {
        self.read(|_| true)
    }

    /// An entity and what is known of it.
    #[resource("memory://entity/{name}", mime_type = "application/json", subscribe, blocking)]
    fn entity(&self, #[complete(Self::names)] name: &str) -> Result<Option<Json<Entity>>> {
        Ok(self.read(|entity| entity.name == name)?.0.entities.pop().map(Json))
    }

    #[completion(blocking)]
    fn names(&self) -> Result<Vec<String>> {
        Ok(self.read(|_| true)?.0.entities.into_iter().map(|entity| entity.name).collect())
    }
}

impl Graph {
    fn open(file: &Path, server: Handle) -> Result<Self> {
        let connection = Connection::open(file)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection: Mutex::new(connection), server })
    }

    /// Runs the work in one transaction, then notifies the subscribers of the graph and of the changed entities.
    fn write<'a, T>(
        &self,
        changed: impl IntoIterator<Item = &'a String>,
        work: impl FnOnce(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let graph = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&graph)?;
        graph.commit()?;
        self.server.updated("memory://graph");
        changed.into_iter().for_each(|name| self.server.updated(format!("memory://entity/{name}")));
        Ok(done)
    }

    fn read(&self, wanted: impl Fn(&Entity) -> bool) -> Result<Json<Knowledge>> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let graph = connection.transaction()?;
        let mut entities: Vec<Entity> = Vec::new();
        let mut found = graph.prepare(
            "SELECT name, type, text FROM entity LEFT JOIN observation ON entity = name
             ORDER BY name, observation.rowid",
        )?;
        let mut rows = found.query([])?;
        while let Some(row) = rows.next()? {
            let (name, entity_type, observation): (_, _, Option<String>) = row.try_into()?;
            if entities.last().is_none_or(|entity| entity.name != name) {
                entities.push(Entity { name, entity_type, observations: Vec::new() });
            }
            if let Some(entity) = entities.last_mut() {
                entity.observations.extend(observation);
            }
        }
        entities.retain(wanted);

        let names: HashSet<_> = entities.iter().map(|entity| &entity.name).collect();
        let mut found = graph.prepare("SELECT source, type, target FROM relation")?;
        let rows = found.query_map([], |row| {
            let (source, relation_type, target) = row.try_into()?;
            Ok(Relation { source, relation_type, target })
        })?;
        let mut relations = rows.collect::<Result<Vec<_>, _>>()?;
        relations.retain(|relation| {
            names.contains(&relation.source) || names.contains(&relation.target)
        });
        Ok(Json(Knowledge { entities, relations }))
    }
}

/// Runs the statement with each of the rows, and returns the number of rows that it changed.
fn each<'a, const N: usize>(
    graph: &Transaction<'_>,
    sql: &str,
    rows: impl IntoIterator<Item = [&'a String; N]>,
) -> Result<usize> {
    let mut statement = graph.prepare(sql)?;
    rows.into_iter().try_fold(0, |count, row| Ok(count + statement.execute(params_from_iter(row))?))
}

fn observe(graph: &Transaction<'_>, entity: &String, observations: &[String]) -> Result<usize> {
    known(graph, entity)?;
    let rows = observations.iter().map(|observation| [entity, observation]);
    each(graph, "INSERT OR IGNORE INTO observation VALUES (?, ?)", rows)
}

/// Checks that the entity exists. Otherwise the model would get the error of a violated foreign key, which does not tell it what to do.
fn known(graph: &Transaction<'_>, entity: &str) -> Result<()> {
    let known = graph.prepare("SELECT 1 FROM entity WHERE name = ?")?.exists([entity])?;
    let unknown = || format!("there is no entity `{entity}`: create it, or search for its name");
    if known { Ok(()) } else { Err(Error::msg(unknown())) }
}

fn main() -> Exit {
    server!()
        .setup(async |config: State<Config>, server: Handle| Graph::open(&config.db, server))
        .run()
}
