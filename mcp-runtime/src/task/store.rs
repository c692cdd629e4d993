use std::{future::Future, pin::Pin, sync::Arc};

use crate::error::{Error, Result};

/// What a [`TaskStore`] gives when it is done.
pub type Keeping<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Where tasks are kept: [`Builder::task_store`](crate::Builder::task_store).
///
/// The server puts a task when it begins, before the client gets its id, and once more when it ends, before any client can see the end.
/// Progress in between stays in the process. The store decides which tasks are left after a restart: [`MemoryTasks`](crate::MemoryTasks)
/// forgets all, `SqliteTasks` (feature `sqlite`) none.
///
/// ```
/// use std::{collections::BTreeMap, sync::Mutex};
///
/// use mcp_runtime::{Keeping, KeptTask, TaskStore};
///
/// /// Keeps everything for ever.
/// #[derive(Default)]
/// struct Hoard(Mutex<BTreeMap<String, KeptTask>>);
///
/// impl TaskStore for Hoard {
///     fn put(&self, task: KeptTask) -> Keeping<'_, ()> {
///         self.0.lock().unwrap().insert(task.id.clone(), task);
///         Box::pin(async { Ok(()) })
///     }
///
///     fn get<'a>(&'a self, id: &'a str) -> Keeping<'a, Option<KeptTask>> {
///         let found = self.0.lock().unwrap().get(id).cloned();
///         Box::pin(async { Ok(found) })
///     }
///
///     fn list<'a>(&'a self, owner: &'a str, after: Option<(u64, &'a str)>, most: usize) -> Keeping<'a, Vec<KeptTask>> {
///         let mut found: Vec<_> = self.0.lock().unwrap().values().filter(|it| it.owner == owner).cloned().collect();
///         found.sort_by(|a, b| a.place().cmp(&b.place()));
///         found.retain(|it| after.is_none_or(|last| it.place() > last));
///         found.truncate(most);
///         Box::pin(async { Ok(found) })
///     }
///
///     fn unfinished(&self) -> Keeping<'_, Vec<KeptTask>> {
///         let found = self.0.lock().unwrap().values().filter(|it| !it.finished).cloned().collect();
///         Box::pin(async { Ok(found) })
///     }
/// }
///
/// let server = mcp_runtime::server!().task_store(Hoard::default());
/// # let _ = server;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot keep tasks",
    label = "does not implement `TaskStore`",
    note = "`MemoryTasks::new()` keeps them in memory, `SqliteTasks` (feature `sqlite`) in a file; a store of your own is a type with `impl TaskStore`"
)]
pub trait TaskStore: Send + Sync + 'static {
    /// Makes the store ready: asked once, before anything else, when a server starts.
    ///
    /// # Errors
    /// When it cannot be used. The server does not start then.
    fn open(&self) -> Keeping<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Keeps a task, in place of what has been kept of it. When this is done the task must be found.
    ///
    /// # Errors
    /// The task cannot be kept. If that happens at the begin of a task, the call is refused. If it happens at the end, the server logs the
    /// error, and clients get the result from memory until the process ends or the task expires.
    fn put(&self, task: KeptTask) -> Keeping<'_, ()>;

    /// The task of this id.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn get<'a>(&'a self, id: &'a str) -> Keeping<'a, Option<KeptTask>>;

    /// The tasks of one owner that come after this [`place`](KeptTask::place), at most `most` of them, in the order of their places.
    /// Nobody looks at their [`end`](KeptTask::end): it may be left empty.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> Keeping<'a, Vec<KeptTask>>;

    /// Everybody's tasks that have not finished: asked once, when the server starts, which ends them or runs them again. Two servers
    /// must therefore not share what they keep; a store that several can reach gives each its own part.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn unfinished(&self) -> Keeping<'_, Vec<KeptTask>>;
}

/// What a [`TaskStore`] keeps of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTask {
    /// Which task it is.
    pub id: String,
    /// Whose it is: the name of a [`Principal`](crate::Principal), empty where nobody knows who calls.
    pub owner: String,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// When it may be forgotten, in milliseconds since 1970; the server gives it to nobody after that.
    pub expires: Option<u64>,
    /// Whether it has ended, and will never change again.
    pub finished: bool,
    /// Everything else, JSON text that only the server reads.
    pub json: String,
    /// What it ended with, JSON text that only the server reads; it may be large. Empty while it runs.
    pub end: String,
}

impl KeptTask {
    /// Where it stands among the tasks of its owner: those made first come first.
    pub fn place(&self) -> (u64, &str) {
        (self.created, &self.id)
    }

    /// What counts against the bytes of a store: an index has the names again.
    pub(crate) fn size(&self) -> usize {
        self.json.len() + self.end.len() + 2 * (self.id.len() + self.owner.len())
    }
}

/// Why a store that is full keeps no task.
#[cold]
pub(crate) fn no_room() -> Error {
    Error::msg("there is no room for another task: wait until some of them have finished")
}

impl<T: TaskStore + ?Sized> TaskStore for Arc<T> {
    fn open(&self) -> Keeping<'_, ()> {
        (**self).open()
    }

    fn put(&self, task: KeptTask) -> Keeping<'_, ()> {
        (**self).put(task)
    }

    fn get<'a>(&'a self, id: &'a str) -> Keeping<'a, Option<KeptTask>> {
        (**self).get(id)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> Keeping<'a, Vec<KeptTask>> {
        (**self).list(owner, after, most)
    }

    fn unfinished(&self) -> Keeping<'_, Vec<KeptTask>> {
        (**self).unfinished()
    }
}
