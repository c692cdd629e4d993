use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use tokio::{sync::Mutex, task::spawn_blocking};

use super::{
    advice,
    file::{Amount, TaskFile},
};
use crate::{
    error::{Error, Result},
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
/// open the file while it runs, not even to read it. Each server of a fleet has a file of its own, and so has each process that a client
/// starts for itself over stdio: where several clients may start one, give each another path, or serve them all over HTTP.
///
/// The file is opened, or made, when the server starts, and a server whose file cannot be opened does not start. The commands of the
/// binary leave it alone.
///
/// **Who can read it.** On Unix the file is made for the user alone whom the process runs as; one that is there already keeps its
/// permissions. It is not encrypted, and what was forgotten may stay in it until the space is used again. It does not shrink.
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
    /// Opened when it is needed first.
    file: Arc<Mutex<Option<TaskFile>>>,
    most: Amount,
}

impl SqliteTasks {
    /// In this file: at most 65,536 tasks, of 1 GiB.
    ///
    /// A server with it does not start when the file cannot be read and written, is no SQLite database or one of something else, or
    /// comes from another version of this crate; nothing that is not its own is written to. The error names the file, the cause and the
    /// fix. The process must be able to make files in the directory, because SQLite keeps its journals there. If another process has the
    /// file open, the server waits six seconds for that process to end.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::waiting(path, WAIT)
    }

    pub(super) fn waiting(path: impl Into<PathBuf>, wait: Duration) -> Self {
        let most = Amount { tasks: 65_536, bytes: 1 << 30 };
        Self { path: path.into(), wait, file: Arc::default(), most }
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
        // Clients need not know where a server has its files.
        let done = done.await.map_err(Error::internal)?;
        done.map_err(Error::internal)
    }
}

impl TaskStore for SqliteTasks {
    fn open(&self) -> Keeping<'_, ()> {
        Box::pin(self.with(|_| Ok(())))
    }

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
