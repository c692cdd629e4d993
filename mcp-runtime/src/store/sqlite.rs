use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::Mutex, task::spawn_blocking};

use super::file::{Amount, TaskFile};
use crate::{
    error::{Error, Result, ServeError},
    task::{Keeping, KeptTask, TaskStore, no_room},
};

/// How long a server that is ending may take to let go of its file: calls have five seconds to finish.
const WAIT: Duration = Duration::from_secs(6);

/// Keeps tasks in a SQLite file (feature `sqlite`), at most so many and of so many bytes. Those that have expired are forgotten when
/// another is kept; when there is no room then, the oldest of the same owner that have finished; when that does not help, there is no
/// new task.
///
/// What has been kept is on the disk: neither the end of the process, `kill -9` too, nor a power cut takes it back, if the disk
/// holds what it says it has written.
///
/// **One server for a file.** A server that starts ends the tasks, or runs them again, that were left unfinished, so nobody else can
/// open the file while it runs, not even to read it. Each server of a fleet has a file of its own.
///
/// **Who can read it.** On Unix the file is made for the user alone whom the process runs as; one that is there already keeps its
/// permissions. It is not encrypted, and what was forgotten may stay in it until the space is used again. It does not shrink.
///
/// ```
/// # fn main() -> Result<(), mcp_runtime::ServeError> {
/// use mcp_runtime::SqliteTasks;
///
/// # let directory = std::env::temp_dir().join(format!("sqlite-tasks-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory).unwrap();
/// # let path = directory.join("tasks.db");
/// let store = SqliteTasks::open(path)?.most(10_000).bytes(1 << 30);
/// let server = mcp_runtime::server!().task_store(store);
/// # drop(server);
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok(())
/// # }
/// ```
pub struct SqliteTasks {
    path: PathBuf,
    file: Arc<Mutex<TaskFile>>,
    most: Amount,
}

impl SqliteTasks {
    /// Opens the file, or makes it: at most 65,536 tasks, of 1 GiB. Blocks, for six seconds where another process has it open, which
    /// may be about to end.
    ///
    /// # Errors
    /// When the file cannot be read and written, another server has it open, it is no SQLite database or one of something else, or it
    /// comes from another version of this crate. Nothing that is not its own is written to.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ServeError> {
        Self::open_within(path.as_ref(), WAIT)
    }

    pub(super) fn open_within(path: &Path, wait: Duration) -> Result<Self, ServeError> {
        let file = TaskFile::open(path, wait).map_err(|why| {
            ServeError::TaskStore(format!("cannot keep tasks in `{}`: {why}", path.display()))
        })?;
        let most = Amount { tasks: 65_536, bytes: 1 << 30 };
        Ok(Self { path: path.to_owned(), file: Arc::new(Mutex::new(file)), most })
    }

    /// At most so many tasks.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most.tasks = most as u64;
        self
    }

    /// Of so many bytes together, results counted. The file needs somewhat more.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.most.bytes = bytes as u64;
        self
    }

    /// Works on the file where that may take its time. What is asked for first is done first, since the lock is fair; once begun
    /// it is done even if nobody waits for it any more.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut TaskFile) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut file = self.file.clone().lock_owned().await;
        let done = spawn_blocking(move || work(&mut file)).await;
        let done = done.map_err(|why| self.failed(&why))?;
        done.map_err(|why| self.failed(&why))
    }

    /// Clients need not know where a server has its files.
    fn failed(&self, why: &dyn std::error::Error) -> Error {
        Error::internal(format!("the tasks in `{}`: {why}", self.path.display()))
    }
}

impl TaskStore for SqliteTasks {
    fn put(&self, task: KeptTask) -> Keeping<'_, ()> {
        let most = self.most;
        Box::pin(async move {
            let has_room = self.with(move |file| file.put(&task, most)).await?;
            if has_room { Ok(()) } else { Err(no_room()) }
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> Keeping<'a, Option<KeptTask>> {
        let id = id.to_owned();
        Box::pin(self.with(move |file| file.get(&id)))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> Keeping<'a, Vec<KeptTask>> {
        let owner = owner.to_owned();
        let after = after.map(|(created, id)| (created, id.to_owned()));
        Box::pin(self.with(move |file| {
            let after = after.as_ref().map(|(created, id)| (*created, &**id));
            file.list(&owner, after, most)
        }))
    }

    fn unfinished(&self) -> Keeping<'_, Vec<KeptTask>> {
        Box::pin(self.with(|file| file.unfinished()))
    }
}

impl fmt::Debug for SqliteTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTasks").field("path", &self.path).finish_non_exhaustive()
    }
}
