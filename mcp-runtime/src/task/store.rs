//! Interface of the stores that keep tasks.

use std::{future::Future, pin::Pin, sync::Arc};

use crate::{
    error::{Error, Result},
    model::Timestamp,
};

/// Future that the methods of a [`TaskStore`] return. Create one with `Box::pin(async { … })`. See [`TaskStore`] for an example.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Store that keeps tasks. Set it with [`Builder::task_store`](crate::Builder::task_store).
///
/// The server stores a task when the task begins, before the client gets the id. It stores the task again when the task ends, before any
/// client can see the end. Progress in between is not stored. Which tasks survive a restart depends on the store.
/// [`MemoryTasks`](crate::tasks::MemoryTasks) is the default, and loses all tasks. `SqliteStore` (feature `sqlite`) keeps them.
///
/// If a client cancels its call, the server may drop the future of a method before that future has finished. The store must remain usable
/// in that case.
///
/// Specification: Base protocol, Utilities, Tasks.
///
/// ```
/// use std::{collections::BTreeMap, sync::Mutex};
///
/// use mcp_runtime::tasks::{BoxFuture, TaskRecord, TaskStore};
///
/// /// A store that never evicts.
/// #[derive(Default)]
/// struct Hoard(Mutex<BTreeMap<String, TaskRecord>>);
///
/// impl TaskStore for Hoard {
///     fn put(&self, task: TaskRecord) -> BoxFuture<'_, ()> {
///         self.0.lock().unwrap().insert(task.id.clone(), task);
///         Box::pin(async { Ok(()) })
///     }
///
///     fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>> {
///         let found = self.0.lock().unwrap().get(id).cloned();
///         Box::pin(async { Ok(found) })
///     }
///
///     fn list<'a>(&'a self, owner: &'a str, after: Option<(u64, &'a str)>, most: usize) -> BoxFuture<'a, Vec<TaskRecord>> {
///         let mut found: Vec<_> = self.0.lock().unwrap().values().filter(|task| task.owner == owner).cloned().collect();
///         found.sort_by(|a, b| a.place().cmp(&b.place()));
///         found.retain(|task| after.is_none_or(|last| task.place() > last));
///         found.truncate(most);
///         Box::pin(async { Ok(found) })
///     }
///
///     fn unfinished(&self) -> BoxFuture<'_, Vec<TaskRecord>> {
///         let found = self.0.lock().unwrap().values().filter(|task| !task.finished).cloned().collect();
///         Box::pin(async { Ok(found) })
///     }
/// }
///
/// let server = mcp_runtime::server!().task_store(Hoard::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot keep tasks",
    label = "does not implement `TaskStore`",
    note = "`MemoryTasks::new()` keeps them in memory, `SqliteStore` (feature `sqlite`) in a file; a store of your own is a type with `impl TaskStore`"
)]
pub trait TaskStore: Send + Sync + 'static {
    /// Prepares the store. The server calls this method once when it starts, before any other method. The default implementation does
    /// nothing.
    ///
    /// # Errors
    /// Fails if the store cannot be used. The server does not start then.
    fn open(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Stores a task, and replaces its previous version. Once the future has finished, the other methods must find the task.
    ///
    /// # Errors
    /// Fails if the task cannot be stored. If this happens when a task begins, the call is rejected. If this happens when a task ends, the
    /// server logs the error. Clients then get the result from memory until the process ends or the task expires.
    fn put(&self, task: TaskRecord) -> BoxFuture<'_, ()>;

    /// Returns the task with this id, or `None` if there is no such task.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>>;

    /// Returns the tasks of one owner that come after this [`place`](TaskRecord::place), in the order of their places, at most `most` of
    /// them. `None` means that the list begins with the first task. The server does not read [`end`](TaskRecord::end) of these tasks, so
    /// the store may leave `end` empty.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> BoxFuture<'a, Vec<TaskRecord>>;

    /// Returns the unfinished tasks of all owners. The server calls this method once when it starts, and ends these tasks or runs them
    /// again.
    ///
    /// Therefore two servers must not share tasks. A store that several servers use has to keep the tasks of each server separate.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn unfinished(&self) -> BoxFuture<'_, Vec<TaskRecord>>;
}

/// Task in the form in which a [`TaskStore`] keeps it.
///
/// The server creates these values. See [`TaskStore`] for a store that uses them.
///
/// ```
/// use mcp_runtime::tasks::TaskRecord;
///
/// /// Whether the store may evict the task. `now` is in milliseconds since 1970.
/// fn may_evict(task: &TaskRecord, now: u64) -> bool {
///     task.expires.is_some_and(|expires| expires <= now)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// Id of the task.
    pub id: String,
    /// Owner of the task: the name of a [`Principal`](crate::auth::Principal), empty if the caller is unknown.
    pub owner: String,
    /// Time at which the task was created, in milliseconds since 1970.
    pub created: u64,
    /// Time at which the task expires, in milliseconds since 1970. From then on, the store may evict the task, and the server does not
    /// return the task to clients. `None` if the task never expires.
    pub expires: Option<u64>,
    /// Whether the task has ended. The record of an ended task does not change again.
    pub finished: bool,
    /// All other properties, as JSON text that only the server reads.
    pub json: String,
    /// Outcome of the task, as JSON text that only the server reads. It may be large, and is empty while the task runs.
    pub end: String,
}

impl TaskRecord {
    /// Returns the sort key of the task: its creation time and id. Tasks of an owner are listed in ascending order of this key.
    pub fn place(&self) -> (u64, &str) {
        (self.created, &self.id)
    }

    /// Returns whether the task has expired.
    pub(super) fn is_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= Timestamp::now().0)
    }

    /// Returns the size in bytes that counts towards the limit of a store. Id and owner count twice, because an index contains them as
    /// well.
    pub(crate) fn size(&self) -> usize {
        self.json.len() + self.end.len() + 2 * (self.id.len() + self.owner.len())
    }
}

/// Returns the error for a task that does not fit into a full store.
#[cold]
pub(crate) fn no_room() -> Error {
    Error::msg("there is no room for another task: wait until some of them have finished")
}

impl<T: TaskStore + ?Sized> TaskStore for Arc<T> {
    fn open(&self) -> BoxFuture<'_, ()> {
        (**self).open()
    }

    fn put(&self, task: TaskRecord) -> BoxFuture<'_, ()> {
        (**self).put(task)
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>> {
        (**self).get(id)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> BoxFuture<'a, Vec<TaskRecord>> {
        (**self).list(owner, after, most)
    }

    fn unfinished(&self) -> BoxFuture<'_, Vec<TaskRecord>> {
        (**self).unfinished()
    }
}
