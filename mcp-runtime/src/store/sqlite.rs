use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use tokio::{sync::Mutex, task::spawn_blocking};

use super::{
    advice,
    file::{Amount, TaskFile},
};
use crate::{
    error::{Error, Result},
    task::{BoxFuture, TaskRecord, TaskStore, no_room},
};

/// Time to wait for another server to release the file. A server that ends gives its calls five seconds to finish.
const WAIT: Duration = Duration::from_secs(6);

/// Task store in a SQLite file (feature `sqlite`), with a maximum number and a maximum size of tasks.
///
/// When a task is stored, expired tasks are deleted. If there is still no room, the oldest finished tasks of the same owner are deleted
/// too. If that does not help, the new task is refused.
///
/// A stored task is on the disk: neither a power cut nor the end of the process, `kill -9` included, can take it back. That holds as far as
/// the disk keeps what it reports as written.
///
/// **Each server needs its own file.** When a server starts, it ends the unfinished tasks in the file, or runs them again. No other process
/// can open the file while the server runs, not even to read it. So each server of a fleet has its own file. Over stdio each client starts
/// its own process: give each client another path, or serve all of them over HTTP.
///
/// The server opens or creates the file when it starts, and does not start if that fails. The commands of the binary do not touch the file.
///
/// **Permissions.** On Unix a new file can be accessed only by the user that runs the process. An existing file keeps its permissions. The
/// file is not encrypted, and deleted tasks may stay in it until the space is used again. It does not shrink.
///
#[cfg_attr(feature = "stdio", doc = "```no_run")]
// Without the feature there is no `run`, so there is nothing to compile.
#[cfg_attr(not(feature = "stdio"), doc = "```ignore")]
/// use mcp_runtime::{Exit, SqliteTasks};
///
/// fn main() -> Exit {
///     let store = SqliteTasks::new("tasks.db").most(10_000).bytes(1 << 30);
///     mcp_runtime::server!().task_store(store).run()
/// }
/// ```
pub struct SqliteTasks {
    path: PathBuf,
    wait: Duration,
    /// `None` until the file is first needed.
    file: Arc<Mutex<Option<TaskFile>>>,
    most: Amount,
}

impl SqliteTasks {
    /// Creates a store in the file at `path`, for at most 65,536 tasks of 1 GiB together.
    ///
    /// The server does not start if the file cannot be read and written, or is no SQLite database. Nor does it start with a database of
    /// something else, or with the format of another version of this crate. Such a file is not written to. The error names the file, the
    /// cause and the fix.
    /// The process must be able to create files in the directory, because SQLite keeps its journals there. If another process has the file
    /// open, the server waits six seconds for that process to end.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::waiting(path, WAIT)
    }

    pub(super) fn waiting(path: impl Into<PathBuf>, wait: Duration) -> Self {
        let most = Amount { tasks: 65_536, bytes: 1 << 30 };
        Self { path: path.into(), wait, file: Arc::default(), most }
    }

    /// Sets the maximum number of tasks. Default: 65,536.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most.tasks = most as u64;
        self
    }

    /// Sets the maximum size of all tasks together, results included, in bytes. Default: 1 GiB. The file needs somewhat more.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.most.bytes = bytes as u64;
        self
    }

    /// Runs `work` on the file, on a thread that may block. Calls run in the order in which they come, since the lock is fair. Work that
    /// has begun is finished even if its caller is cancelled.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut TaskFile) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut file = self.file.clone().lock_owned().await;
        let (path, wait) = (self.path.clone(), self.wait);
        let done = spawn_blocking(move || {
            let file = match &mut *file {
                Some(file) => file,
                empty => {
                    let opened = TaskFile::open(&path, wait);
                    let opened = opened.map_err(|why| {
                        format!("cannot keep tasks in `{}`: {why}", path.display())
                    })?;
                    empty.insert(opened)
                }
            };
            work(file).map_err(|why| {
                let advice = advice::for_open_file(&path, &why);
                format!("the tasks in `{}`: {advice}", path.display())
            })
        });
        // The error is internal, because clients need not know where a server has its files.
        let done = done.await.map_err(Error::internal)?;
        done.map_err(Error::internal)
    }
}

impl TaskStore for SqliteTasks {
    fn open(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.with(|_| Ok(())))
    }

    fn put(&self, task: TaskRecord) -> BoxFuture<'_, ()> {
        let most = self.most;
        Box::pin(async move {
            let has_room = self.with(move |file| file.put(&task, most)).await?;
            if has_room { Ok(()) } else { Err(no_room()) }
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>> {
        let id = id.to_owned();
        Box::pin(self.with(move |file| file.get(&id)))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> BoxFuture<'a, Vec<TaskRecord>> {
        let owner = owner.to_owned();
        let after = after.map(|(created, id)| (created, id.to_owned()));
        Box::pin(self.with(move |file| {
            let after = after.as_ref().map(|(created, id)| (*created, &**id));
            file.list(&owner, after, most)
        }))
    }

    fn unfinished(&self) -> BoxFuture<'_, Vec<TaskRecord>> {
        Box::pin(self.with(|file| file.unfinished()))
    }
}

impl fmt::Debug for SqliteTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTasks").field("path", &self.path).finish_non_exhaustive()
    }
}
