use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{Keeping, KeptTask, TaskStore};
use crate::{
    error::{Error, Result},
    model::Instant,
};

/// Keeps tasks as long as the process runs, at most so many and of so many bytes. When there is no room, tasks that have expired go
/// first, then the oldest of the same owner that have finished; when that does not help, there is no new task.
///
/// ```
/// use mcp_runtime::MemoryTasks;
///
/// let server = mcp_runtime::server!().task_store(MemoryTasks::new().most(100).bytes(10 << 20));
/// # let _ = server;
/// ```
pub struct MemoryTasks {
    kept: Mutex<Kept>,
    most: usize,
    bytes: usize,
}

#[derive(Default)]
struct Kept {
    tasks: HashMap<String, KeptTask>,
    /// By owner, then by place.
    places: BTreeMap<(String, u64, String), ()>,
    bytes: usize,
}

impl Default for MemoryTasks {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryTasks {
    /// At most 4,096 tasks, of 256 MiB.
    pub fn new() -> Self {
        Self { kept: Mutex::default(), most: 4096, bytes: 256 << 20 }
    }

    /// At most so many tasks.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Of so many bytes together, results counted.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, task: KeptTask) -> Result<()> {
        let mut kept = self.kept();
        let before = kept.remove(&task.id);
        let size = size(&task);
        let is_full = |kept: &Kept| kept.tasks.len() >= self.most || kept.bytes + size > self.bytes;
        if is_full(&kept) {
            kept.forget_expired();
        }
        while is_full(&kept) && kept.forget_oldest(&task.owner) {}
        if is_full(&kept) {
            // What there was of it stays.
            before.into_iter().for_each(|it| kept.insert(it));
            let text = "there is no room for another task: wait until some of them have finished";
            return Err(Error::msg(text));
        }
        kept.insert(task);
        Ok(())
    }
}

fn size(task: &KeptTask) -> usize {
    task.json.len() + 2 * (task.id.len() + task.owner.len())
}

fn place(task: &KeptTask) -> (String, u64, String) {
    (task.owner.clone(), task.created, task.id.clone())
}

impl Kept {
    fn insert(&mut self, task: KeptTask) {
        self.bytes += size(&task);
        self.places.insert(place(&task), ());
        self.tasks.insert(task.id.clone(), task);
    }

    fn remove(&mut self, id: &str) -> Option<KeptTask> {
        let task = self.tasks.remove(id)?;
        self.bytes -= size(&task);
        self.places.remove(&place(&task));
        Some(task)
    }

    fn forget_expired(&mut self) {
        let now = Instant::now().0;
        let expired = self.tasks.values().filter(|it| it.expires.is_some_and(|it| it <= now));
        let expired: Vec<_> = expired.map(|it| it.id.clone()).collect();
        for id in expired {
            self.remove(&id);
        }
    }

    /// Forgets the oldest task of this owner that has finished. Returns whether there was one.
    fn forget_oldest(&mut self, owner: &str) -> bool {
        let from = (owner.to_owned(), 0, String::new());
        let own = self.places.range(from..).map(|it| it.0).take_while(|it| it.0 == owner);
        let mut finished = own.filter(|it| self.tasks.get(&it.2).is_some_and(|it| it.finished));
        let Some(id) = finished.next().map(|it| it.2.clone()) else { return false };
        self.remove(&id).is_some()
    }
}

impl TaskStore for MemoryTasks {
    fn put(&self, task: KeptTask) -> Keeping<'_, ()> {
        Box::pin(ready(self.keep(task)))
    }

    fn get<'a>(&'a self, id: &'a str) -> Keeping<'a, Option<KeptTask>> {
        Box::pin(ready(Ok(self.kept().tasks.get(id).cloned())))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> Keeping<'a, Vec<KeptTask>> {
        let kept = self.kept();
        let (created, id) = after.unwrap_or_default();
        let from = (owner.to_owned(), created, id.to_owned());
        let own = kept.places.range(from..).map(|it| it.0).take_while(|it| it.0 == owner);
        let after = own.filter(|it| after != Some((it.1, &*it.2)));
        let found = after.take(most).filter_map(|it| kept.tasks.get(&it.2)).cloned().collect();
        Box::pin(ready(Ok(found)))
    }

    fn unfinished(&self) -> Keeping<'_, Vec<KeptTask>> {
        let kept = self.kept();
        let found = kept.tasks.values().filter(|it| !it.finished).cloned().collect();
        Box::pin(ready(Ok(found)))
    }
}

impl fmt::Debug for MemoryTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTasks")
            .field("tasks", &self.kept().tasks.len())
            .finish_non_exhaustive()
    }
}
