//! Tasks in a store: which records, indexes and partitions hold them.

use std::{sync::Arc, time::Duration};

use futures_core::future::BoxFuture;

use crate::{
    error::{Error, Result},
    model::Timestamp,
    random::random,
    storage::{
        Condition, IndexEntry, Output, Record, Rejection, Store, StoreError, StoreOperation,
        Transaction, TransactionResult,
    },
};

/// Partition with the index of all owners of tasks.
const ALL: &str = "tasks";

/// Index of [`ALL`] that names the owners. Its entries are the owners with [`OWNER`] in front, because a name may be empty.
const OWNERS: &str = "owners";

/// Prefix of an owner's partition.
const OWNER: &str = "tasks:";

/// Index of an owner's tasks, in the order of their creation.
const CREATED: &str = "created";

/// Index of an owner's tasks that have not ended.
const UNFINISHED: &str = "unfinished";

/// Places of an owner's tasks that have not ended.
const PLACES: &str = "running";

/// Suffix of the record with a task's outcome, which is separate because it may be large.
const END: &str = "/end";

/// Number of entries that are read from an index at once.
const PAGE: usize = 100;

/// Time after which a message that no node has read expires.
const MESSAGE_TTL: Duration = Duration::from_secs(60);

/// Tasks in a store.
///
/// Each owner has a partition, with two records for each task: a record of the task, and a record of its outcome. The name of the first
/// record is the id of the task, so that an index of ids also lists the tasks.
pub(super) struct StoredTasks(Arc<dyn Store>);

/// Result of an attempt to store a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StoredTask {
    /// The task is stored, in this version.
    Version(u64),
    /// The condition does not hold.
    Changed,
    /// The owner has too many tasks that have not ended.
    NoPlace,
}

/// Task in the form in which a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskRecord {
    pub(super) id: String,
    /// Name of the principal that owns the task, empty if the caller is unknown.
    pub(super) owner: String,
    /// Time at which the task was created, in milliseconds since 1970.
    pub(super) created: u64,
    /// Time at which the task expires, in milliseconds since 1970. `None` if the task never expires.
    pub(super) expires: Option<u64>,
    /// Whether the task has ended. The record of an ended task does not change again.
    pub(super) finished: bool,
    /// Version of the record. Zero in a record that was not read from the store.
    pub(super) version: u64,
    /// All other properties, as JSON text.
    pub(super) json: String,
    /// Outcome of the task, as JSON text. Empty while the task runs, and in lists.
    pub(super) end: String,
}

impl TaskRecord {
    /// Returns whether the task has expired.
    pub(super) fn is_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= Timestamp::now().0)
    }

    /// Returns the time until the task expires.
    fn ttl(&self) -> Duration {
        self.expires.map_or(Duration::MAX, |expires| Timestamp(expires).remaining())
    }

    /// Returns the record of the task: a head of numbers, and then `json`.
    fn value(&self) -> Vec<u8> {
        let expires = self.expires.map(|expires| expires.to_string()).unwrap_or_default();
        let finished = u8::from(self.finished);
        format!("{} {expires} {finished} {}", self.created, self.json).into_bytes()
    }

    /// Reads a record that [`value`](Self::value) has written. Returns `None` if the text has another form.
    fn of(owner: &str, id: &str, record: &Record) -> Option<Self> {
        let mut parts = str::from_utf8(&record.value).ok()?.splitn(4, ' ');
        let mut part = || parts.next();
        let (created, expires) = (part()?.parse().ok()?, part()?);
        let expires = if expires.is_empty() { None } else { Some(expires.parse().ok()?) };
        let finished = part()? == "1";
        Some(Self {
            id: id.to_owned(),
            owner: owner.to_owned(),
            created,
            expires,
            finished,
            version: record.version,
            json: part()?.to_owned(),
            end: String::new(),
        })
    }
}

fn partition(owner: &str) -> String {
    format!("{OWNER}{owner}")
}

impl StoredTasks {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// Stores a task, and replaces its previous version. If the store of a single server is full, the oldest ended tasks of the same owner
    /// make room. A shared store removes nothing, because other records may have filled it. `places` is the maximum number of tasks of the
    /// owner that have not ended, if the store counts them.
    ///
    /// # Errors
    /// Fails if the store cannot be used, is shared and full, or is full of other records.
    pub(super) fn put<'a>(
        &'a self,
        task: &'a TaskRecord,
        condition: Condition,
        places: Option<u32>,
    ) -> BoxFuture<'a, Result<StoredTask>> {
        // Boxed, so that the compiler does not repeat the code in each caller.
        Box::pin(async move {
            let mut evicted = 1;
            loop {
                match self.0.execute(changes(task, condition, places)).await {
                    Err(why) if why.is_full() && !self.0.is_shared() => {
                        if self.evict(&task.owner, &task.id, evicted).await? == 0 {
                            let text = "there is no room for another task: wait until some of them have finished";
                            return Err(Error::msg(text));
                        }
                        // Twice as many each time, so that a large task needs few rounds.
                        evicted *= 2;
                    }
                    Err(why) => return Err(why.into_error()),
                    Ok(mut results) => {
                        return Ok(match results.pop() {
                            Some(Ok(outputs)) => match outputs.first() {
                                Some(Output::Version(version)) => StoredTask::Version(*version),
                                _ => StoredTask::Changed,
                            },
                            Some(Err(Rejection::NoPlace(_))) => StoredTask::NoPlace,
                            _ => StoredTask::Changed,
                        });
                    }
                }
            }
        })
    }

    /// Stores a message for the node that runs a task, and returns its name. The message expires after a minute.
    ///
    /// # Errors
    /// Fails if the store cannot be used, or if the system has no random numbers.
    pub(super) async fn put_message(&self, owner: &str, id: &str, text: Vec<u8>) -> Result<String> {
        let name = format!("{id}/{:032x}", u128::from_ne_bytes(random()?));
        let put = StoreOperation::put(&*name, text, MESSAGE_TTL, Condition::Any);
        self.run(Transaction::on(partition(owner)).then(put)).await?;
        Ok(name)
    }

    /// Reads a message. The message stays in the store, because the answer of the store may be lost.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub(super) async fn message(&self, owner: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let read = Transaction::on(partition(owner)).then(StoreOperation::get(name));
        Ok(match self.run(read).await?.into_iter().next() {
            Some(Output::Record(record)) => record.map(|record| record.value),
            _ => None,
        })
    }

    /// Removes a message that was handled. If the store cannot be used, the message expires.
    pub(super) async fn remove_message(&self, owner: &str, name: &str) {
        let remove = StoreOperation::remove(name, Condition::Any);
        let _ = self.run(Transaction::on(partition(owner)).then(remove)).await;
    }

    /// Removes up to `most` ended tasks of an owner, the oldest first, but not the task `except`. Returns their number.
    async fn evict(&self, owner: &str, except: &str, most: usize) -> Result<usize> {
        let mut removal = Transaction::on(partition(owner));
        let (mut after, mut found) = (None, 0);
        while found < most {
            let page = self.page(owner, CREATED, after).await?;
            let Some(last) = page.last() else { break };
            after = Some((last.order, last.name.clone()));
            for entry in page {
                // An entry without a record belongs to a task that has expired.
                let record =
                    entry.record.and_then(|record| TaskRecord::of(owner, &entry.name, &record));
                if entry.name == except
                    || found == most
                    || record.is_some_and(|task| !task.finished)
                {
                    continue;
                }
                found += 1;
                removal = removal
                    .then(StoreOperation::remove(format!("{}{END}", entry.name), Condition::Any))
                    .then(StoreOperation::remove(&*entry.name, Condition::Any))
                    .then(StoreOperation::delist(CREATED, entry.name));
            }
        }
        if found > 0 {
            self.run(removal).await?;
        }
        Ok(found)
    }

    /// Returns the task of this owner with this id.
    pub(super) fn get<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>>> {
        // Boxed, so that the compiler does not repeat the code in each caller.
        Box::pin(async move {
            // The name of an outcome is not the id of a task.
            if id.contains('/') {
                return Ok(None);
            }
            let end = format!("{id}{END}");
            let read = Transaction::on(partition(owner))
                .then(StoreOperation::get(id))
                .then(StoreOperation::get(end));
            let mut outputs = self.run(read).await?.into_iter();
            let (Some(Output::Record(Some(record))), Some(Output::Record(end))) =
                (outputs.next(), outputs.next())
            else {
                return Ok(None);
            };
            let mut task = TaskRecord::of(owner, id, &record).ok_or_else(|| unreadable(id))?;
            if let Some(end) = end {
                task.end = String::from_utf8(end.value).map_err(|_| unreadable(id))?;
            }
            Ok(Some(task))
        })
    }

    /// Returns up to `most` tasks of an owner, without their outcomes, in the order of their creation. `after` is the creation time and the
    /// id of the task after which the list begins.
    pub(super) async fn list(
        &self,
        owner: &str,
        after: Option<(u64, &str)>,
        most: usize,
    ) -> Result<Vec<TaskRecord>> {
        let mut after = after.map(|(created, id)| (created, id.to_owned()));
        let mut tasks = Vec::new();
        while tasks.len() < most {
            let page = self.page(owner, CREATED, after).await?;
            let Some(last) = page.last() else { break };
            after = Some((last.order, last.name.clone()));
            tasks.extend(page.into_iter().filter_map(|entry| task_of(owner, entry)));
        }
        tasks.truncate(most);
        Ok(tasks)
    }

    /// Returns the tasks of all owners that have not ended.
    pub(super) async fn unfinished(&self) -> Result<Vec<TaskRecord>> {
        let (mut after, mut tasks) = (None, Vec::new());
        loop {
            let owners = Transaction::on(ALL).then(StoreOperation::list(OWNERS, after, PAGE));
            let owners = entries(self.run(owners).await?);
            let Some(last) = owners.last() else { return Ok(tasks) };
            after = Some((last.order, last.name.clone()));
            // The tasks of all these owners are read together, page by page.
            let names = owners.iter().filter_map(|entry| entry.name.strip_prefix(OWNER));
            let mut places: Vec<_> = names.map(|owner| (owner, None)).collect();
            while !places.is_empty() {
                let read =
                    |(owner, after): &(&str, _)| listed(owner, UNFINISHED, Clone::clone(after));
                let results = self.0.execute(places.iter().map(read).collect()).await;
                let results = results.map_err(StoreError::into_error)?;
                let mut next = Vec::new();
                for ((owner, _), result) in places.into_iter().zip(results) {
                    let page = entries(outputs(vec![result])?);
                    let Some(last) = page.last() else { continue };
                    next.push((owner, Some((last.order, last.name.clone()))));
                    tasks.extend(page.into_iter().filter_map(|entry| task_of(owner, entry)));
                }
                places = next;
            }
        }
    }

    async fn page(
        &self,
        owner: &str,
        index: &str,
        after: Option<(u64, String)>,
    ) -> Result<Vec<IndexEntry>> {
        Ok(entries(self.run(listed(owner, index, after)).await?))
    }

    /// Executes a transaction that has no conditions.
    async fn run(&self, transaction: Transaction) -> Result<Vec<Output>> {
        let results = self.0.execute(vec![transaction]).await.map_err(StoreError::into_error)?;
        outputs(results)
    }
}

/// Returns the transaction that reads a page of an index of an owner.
fn listed(owner: &str, index: &str, after: Option<(u64, String)>) -> Transaction {
    Transaction::on(partition(owner)).then(StoreOperation::list(index, after, PAGE))
}

/// Returns the transactions that store a task.
///
/// The client gets the id of a task after both of them. If the process ends in between, no client knows the task, and it expires.
///
/// The last transaction writes the record, as its first operation.
fn changes(task: &TaskRecord, condition: Condition, places: Option<u32>) -> Vec<Transaction> {
    let ttl = task.ttl();
    let put = StoreOperation::put(&*task.id, task.value(), ttl, condition);
    let own = Transaction::on(partition(&task.owner)).then(put).then(StoreOperation::enlist(
        CREATED,
        &*task.id,
        task.created,
        ttl,
    ));
    if task.finished {
        let end = StoreOperation::put(format!("{}{END}", task.id), &*task.end, ttl, Condition::Any);
        let own = own.then(end).then(StoreOperation::delist(UNFINISHED, &*task.id));
        let (places_of_owner, holder) = (PLACES.to_owned(), task.id.clone());
        let leave = StoreOperation::Leave { places: places_of_owner, holder };
        return vec![if places.is_some() { own.then(leave) } else { own }];
    }
    let own = own.then(StoreOperation::enlist(UNFINISHED, &*task.id, task.created, ttl));
    // The transaction with the first version of the record has added the owner.
    if matches!(condition, Condition::Version(_)) {
        return vec![own];
    }
    let owner = StoreOperation::enlist(OWNERS, partition(&task.owner), 0, ttl);
    let own = match places {
        None => own,
        // A task whose node dies keeps its place, because another node takes the task.
        Some(most) => own.then(StoreOperation::Enter {
            places: PLACES.to_owned(),
            holder: task.id.clone(),
            most,
            lease: ttl,
        }),
    };
    vec![Transaction::on(ALL).then(owner), own]
}

fn outputs(results: Vec<TransactionResult>) -> Result<Vec<Output>> {
    let first = results.into_iter().next();
    let applied = first.and_then(std::result::Result::ok);
    applied
        .ok_or_else(|| Error::internal("the store has rejected a transaction without conditions"))
}

fn entries(outputs: Vec<Output>) -> Vec<IndexEntry> {
    match outputs.into_iter().next() {
        Some(Output::Entries(entries)) => entries,
        _ => Vec::new(),
    }
}

/// Returns the task of an entry. A task that has expired has no record, and a damaged record is logged and skipped, so that the others are
/// still listed.
fn task_of(owner: &str, entry: IndexEntry) -> Option<TaskRecord> {
    let record = entry.record?;
    let task = TaskRecord::of(owner, &entry.name, &record);
    if task.is_none() {
        tracing::error!("{}", unreadable(&entry.name).message());
    }
    task
}

#[cold]
pub(super) fn unreadable(id: &str) -> Error {
    Error::internal(format_args!("the record of task `{id}` in the store cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStore;

    fn tasks(bytes: usize) -> StoredTasks {
        StoredTasks::new(Arc::new(MemoryStore::new().bytes(bytes)))
    }

    fn task(id: &str, owner: &str, created: u64) -> TaskRecord {
        TaskRecord {
            id: id.to_owned(),
            owner: owner.to_owned(),
            created,
            expires: None,
            finished: false,
            version: 0,
            json: format!(r#"{{"of": "{id} 1 2"}}"#),
            end: String::new(),
        }
    }

    fn finished(id: &str, owner: &str, created: u64) -> TaskRecord {
        TaskRecord { finished: true, end: format!("\"{id}\""), ..task(id, owner, created) }
    }

    /// Returns the task without its version, which depends on the store.
    fn unversioned(task: TaskRecord) -> TaskRecord {
        TaskRecord { version: 0, ..task }
    }

    async fn put_all(stored: &StoredTasks, tasks: impl IntoIterator<Item = TaskRecord>) {
        for task in tasks {
            stored.put(&task, Condition::Any, None).await.unwrap();
        }
    }

    async fn ids(stored: &StoredTasks, owner: &str) -> Vec<String> {
        let found = stored.list(owner, None, usize::MAX).await.unwrap();
        found.into_iter().map(|task| task.id).collect()
    }

    async fn check_no_room(stored: &StoredTasks, task: TaskRecord) {
        let error = stored.put(&task, Condition::Any, None).await.unwrap_err();
        assert!(error.message().contains("no room"), "{error:?}");
    }

    #[tokio::test]
    async fn a_stored_task_is_read_as_it_was_written() {
        let stored = tasks(1 << 20);
        let plain = task("a", "", 0);
        let odd = TaskRecord {
            expires: Some(u64::MAX),
            created: 1 << 53,
            json: "{\"text\":\"' \\\" ; -- \u{1F980}\\u0000\"}".to_owned(),
            ..finished("b'\u{0}\u{fc}", "o'\u{0}wner", 0)
        };
        put_all(&stored, [plain.clone(), odd.clone()]).await;
        for kept in [plain, odd] {
            let owner = kept.owner.clone();
            let found = stored.get(&owner, &kept.id).await.unwrap().unwrap();
            let listed = stored.list(&owner, None, 10).await.unwrap();
            assert!(found.version > 0 && listed[0].version == found.version);
            assert_eq!(unversioned(found), kept);
            let head = TaskRecord { end: String::new(), ..kept };
            assert_eq!(listed.into_iter().map(unversioned).collect::<Vec<_>>(), [head]);
        }
        for (owner, id) in [("", "A"), ("", ""), ("o'\u{0}wner", "a"), ("", "a/end"), ("a", "a")] {
            assert_eq!(stored.get(owner, id).await.unwrap(), None, "{owner} {id}");
        }
        let unfinished = stored.unfinished().await.unwrap().into_iter().map(unversioned);
        assert_eq!(unfinished.collect::<Vec<_>>(), [task("a", "", 0)]);
    }

    #[tokio::test]
    async fn a_task_is_stored_only_if_its_version_is_the_expected_one() {
        let stored = tasks(1 << 20);
        let put = async |task: &TaskRecord, condition| match stored
            .put(task, condition, None)
            .await
            .unwrap()
        {
            StoredTask::Version(version) => Some(version),
            other => {
                assert_eq!(other, StoredTask::Changed);
                None
            }
        };
        let first = put(&task("a", "x", 1), Condition::Absent).await.unwrap();
        assert_eq!(put(&finished("a", "x", 1), Condition::Absent).await, None);
        let second = put(&task("a", "x", 1), Condition::Version(first)).await.unwrap();
        assert_eq!(put(&finished("a", "x", 1), Condition::Version(first)).await, None);
        assert!(!stored.get("x", "a").await.unwrap().unwrap().finished);
        put(&finished("a", "x", 1), Condition::Version(second)).await.unwrap();
        assert_eq!(stored.get("x", "a").await.unwrap().unwrap().end, "\"a\"");
        assert_eq!(stored.unfinished().await.unwrap(), []);
    }

    #[tokio::test]
    async fn an_owner_has_a_bounded_number_of_tasks_that_have_not_ended() {
        let stored = tasks(1 << 20);
        let put = async |task: &TaskRecord, condition| {
            stored.put(task, condition, Some(2)).await.unwrap()
        };
        let StoredTask::Version(first) = put(&task("a", "x", 1), Condition::Absent).await else {
            panic!("a version");
        };
        for (id, owner) in [("b", "x"), ("c", "y")] {
            let done = put(&task(id, owner, 1), Condition::Absent).await;
            assert!(matches!(done, StoredTask::Version(_)), "{done:?}");
        }
        assert_eq!(put(&task("d", "x", 1), Condition::Absent).await, StoredTask::NoPlace);
        assert_eq!(stored.get("x", "d").await.unwrap(), None);
        put(&finished("a", "x", 1), Condition::Version(first)).await;
        let done = put(&task("d", "x", 1), Condition::Absent).await;
        assert!(matches!(done, StoredTask::Version(_)), "{done:?}");
    }

    #[tokio::test]
    async fn a_message_is_read_until_it_is_removed_and_is_no_task() {
        let stored = tasks(1 << 20);
        let name = stored.put_message("x", "a", b"text".to_vec()).await.unwrap();
        assert_eq!(stored.get("x", &name).await.unwrap(), None);
        assert_eq!(ids(&stored, "x").await, [""; 0]);
        assert_eq!(stored.message("y", &name).await.unwrap(), None);
        for _ in 0..2 {
            assert_eq!(stored.message("x", &name).await.unwrap(), Some(b"text".to_vec()));
        }
        stored.remove_message("x", &name).await;
        assert_eq!(stored.message("x", &name).await.unwrap(), None);
    }

    #[tokio::test]
    async fn owners_have_their_own_tasks_in_the_order_of_creation() {
        let stored = tasks(1 << 20);
        let owners = ["", "al", "alice", "al\u{0}", "Al", "tasks:"];
        for owner in owners {
            let own = |n: u64| task(&format!("{n} {owner}"), owner, 500 - n);
            put_all(&stored, (0..250).map(own)).await;
        }
        for owner in owners {
            let expected: Vec<_> = (0..250).rev().map(|n| format!("{n} {owner}")).collect();
            assert_eq!(ids(&stored, owner).await, expected);
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let after_place = after.as_ref().map(|task: &TaskRecord| (task.created, &*task.id));
                let page = stored.list(owner, after_place, 99).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(last.clone());
                seen.extend(page.into_iter().map(|task| task.id));
            }
            assert_eq!(seen, expected);
        }
        assert_eq!(ids(&stored, "bob").await, [""; 0]);
        assert_eq!(stored.unfinished().await.unwrap().len(), 250 * owners.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_has_expired_is_not_listed() {
        let stored = tasks(1 << 20);
        let soon = Timestamp::now().after(Duration::from_secs(60)).0;
        let expires = |task| TaskRecord { expires: Some(soon), ..task };
        put_all(
            &stored,
            [expires(task("a", "", 1)), expires(finished("b", "", 2)), task("c", "", 3)],
        )
        .await;
        assert_eq!(ids(&stored, "").await, ["a", "b", "c"]);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(ids(&stored, "").await, ["c"]);
        assert_eq!(stored.get("", "b").await.unwrap(), None);
        assert_eq!(stored.unfinished().await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn the_oldest_finished_tasks_make_room_for_their_owner() {
        let stored = tasks(7400);
        let sized = |task: TaskRecord| TaskRecord { json: "x".repeat(1000), ..task };
        put_all(
            &stored,
            [
                sized(finished("foreign", "y", 0)),
                sized(task("running", "x", 1)),
                sized(finished("third", "x", 4)),
                sized(finished("first", "x", 2)),
                sized(finished("second", "x", 3)),
            ],
        )
        .await;
        put_all(&stored, [sized(task("new", "x", 5))]).await;
        assert_eq!(ids(&stored, "x").await, ["running", "second", "third", "new"]);
        put_all(&stored, [sized(task("newer", "x", 6)), sized(task("newest", "x", 7))]).await;
        assert_eq!(ids(&stored, "x").await, ["running", "new", "newer", "newest"]);
        check_no_room(&stored, sized(task("a", "x", 8))).await;
        check_no_room(&stored, sized(task("a", "z", 8))).await;
        assert_eq!(stored.get("x", "a").await.unwrap(), None);
        assert_eq!(ids(&stored, "y").await, ["foreign"]);
        // A task that is in the store can still end.
        put_all(&stored, [finished("running", "x", 1)]).await;
        assert_eq!(stored.unfinished().await.unwrap().len(), 3);
    }

    #[cfg(feature = "store-suite")]
    #[tokio::test]
    async fn the_unfinished_tasks_of_many_owners_are_read_together() {
        let store = crate::testing::FaultyStore::new(MemoryStore::new());
        let stored = StoredTasks::new(Arc::new(store.clone()));
        for owner in 0..PAGE as u64 {
            let own = |n: u64| task(&format!("{owner} {n}"), &owner.to_string(), n);
            put_all(&stored, (0..owner % 3).map(own)).await;
        }
        let before = store.requests();
        assert_eq!(stored.unfinished().await.unwrap().len(), PAGE - 1);
        assert!(store.requests() - before < 5, "{}", store.requests() - before);
    }
}
