use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::store::{BoxFuture, TaskRecord, TaskStore, no_room};
use crate::{error::Result, model::Timestamp};

/// Task store in memory, which loses all tasks when the process ends.
///
/// It is the default of [`Builder::task_store`](crate::Builder::task_store). For tasks that survive a restart, use `SqliteStore` (feature
/// `sqlite`). By default, the store keeps at most 4,096 tasks of 256 MiB together.
///
/// If a new task exceeds a limit, expired tasks are evicted first, and then the oldest finished tasks of the same owner. If that is not
/// enough, the new task is rejected.
///
/// ```
/// use mcp_runtime::tasks::MemoryTasks;
///
/// let server = mcp_runtime::server!().task_store(MemoryTasks::new().most(100).bytes(10 << 20));
/// ```
pub struct MemoryTasks {
    kept: Mutex<TaskTable>,
    most: usize,
    bytes: usize,
}

#[derive(Default)]
struct TaskTable {
    tasks: HashMap<String, TaskRecord>,
    /// Owner, creation time and id of each task, sorted in the order in which tasks are listed.
    places: BTreeMap<(String, u64, String), ()>,
    bytes: usize,
}

impl Default for MemoryTasks {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryTasks {
    /// Creates a store for at most 4,096 tasks of 256 MiB together.
    pub fn new() -> Self {
        Self { kept: Mutex::default(), most: 4096, bytes: 256 << 20 }
    }

    /// Sets the maximum number of tasks. Default: 4,096.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Sets the maximum size of all tasks together, including their results, in bytes. Default: 256 MiB.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    fn kept(&self) -> MutexGuard<'_, TaskTable> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, task: TaskRecord) -> Result<()> {
        let mut kept = self.kept();
        let before = kept.remove(&task.id);
        let size = task.size();
        let has_room = |tasks: usize, bytes: usize| {
            tasks < self.most && bytes.saturating_add(size) <= self.bytes
        };
        if !has_room(kept.tasks.len(), kept.bytes) {
            kept.forget_expired();
        }
        let Some(evictable) = kept.evictable(&task.owner, has_room) else {
            // The previous version of the task stays, and no unexpired task is evicted.
            before.into_iter().for_each(|task| kept.insert(task));
            return Err(no_room());
        };
        for id in evictable {
            kept.remove(&id);
        }
        kept.insert(task);
        Ok(())
    }
}

fn place(task: &TaskRecord) -> (String, u64, String) {
    (task.owner.clone(), task.created, task.id.clone())
}

impl TaskTable {
    fn insert(&mut self, task: TaskRecord) {
        self.bytes += task.size();
        self.places.insert(place(&task), ());
        self.tasks.insert(task.id.clone(), task);
    }

    fn remove(&mut self, id: &str) -> Option<TaskRecord> {
        let task = self.tasks.remove(id)?;
        self.bytes -= task.size();
        self.places.remove(&place(&task));
        Some(task)
    }

    fn forget_expired(&mut self) {
        let now = Timestamp::now().0;
        let expired = self.tasks.values().filter(|task| task.expires.is_some_and(|at| at <= now));
        let expired: Vec<_> = expired.map(|task| task.id.clone()).collect();
        for id in expired {
            self.remove(&id);
        }
    }

    /// Returns the finished tasks of this owner that must be evicted before a new task fits, the oldest first. Returns `None` if the new
    /// task would not fit even then.
    fn evictable(
        &self,
        owner: &str,
        has_room: impl Fn(usize, usize) -> bool,
    ) -> Option<Vec<String>> {
        let from = (owner.to_owned(), 0, String::new());
        let own =
            self.places.range(from..).map(|entry| entry.0).take_while(|entry| entry.0 == owner);
        let own = own.filter_map(|place| self.tasks.get(&place.2));
        let mut finished = own.filter(|task| task.finished);
        let (mut tasks, mut bytes, mut evictable) = (self.tasks.len(), self.bytes, Vec::new());
        while !has_room(tasks, bytes) {
            let oldest = finished.next()?;
            tasks -= 1;
            bytes -= oldest.size();
            evictable.push(oldest.id.clone());
        }
        Some(evictable)
    }
}

impl TaskStore for MemoryTasks {
    fn put(&self, task: TaskRecord) -> BoxFuture<'_, ()> {
        Box::pin(ready(self.keep(task)))
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<TaskRecord>> {
        Box::pin(ready(Ok(self.kept().tasks.get(id).cloned())))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(u64, &'a str)>,
        most: usize,
    ) -> BoxFuture<'a, Vec<TaskRecord>> {
        let kept = self.kept();
        let (created, id) = after.unwrap_or_default();
        let from = (owner.to_owned(), created, id.to_owned());
        let own =
            kept.places.range(from..).map(|entry| entry.0).take_while(|entry| entry.0 == owner);
        let after = own.filter(|place| after != Some((place.1, &*place.2)));
        let found = after.take(most).filter_map(|place| kept.tasks.get(&place.2));
        // The result leaves out `end`, which may be large.
        let head = |task: &TaskRecord| TaskRecord {
            id: task.id.clone(),
            owner: task.owner.clone(),
            json: task.json.clone(),
            end: String::new(),
            ..*task
        };
        let found = found.map(head).collect();
        Box::pin(ready(Ok(found)))
    }

    fn unfinished(&self) -> BoxFuture<'_, Vec<TaskRecord>> {
        let kept = self.kept();
        let found = kept.tasks.values().filter(|task| !task.finished).cloned().collect();
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
