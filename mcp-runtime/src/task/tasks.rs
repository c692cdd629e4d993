//! Tasks of a server, and the rules that decide which callers can see a task.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{
    live::{LiveTask, TaskOrigin},
    record::{RestoredTask, record_of},
    stored_tasks::StoredTasks,
};
use crate::{
    call::context::Carrier,
    catalog::{Catalog, Entry},
    error::{Error, ErrorKind, Result},
    limits::{CallerKey, Capacity, Limit, Limits, NoShare, Pool, Share, Tenant},
    model::{ClientInfo, TaskState, TaskSupport, TaskView, Timestamp},
    random::random,
    storage::Store,
    unwind::{self, Panicked},
};

/// All tasks of a server: the tasks that run in this process, and the tasks in the store.
pub(crate) struct Tasks {
    pub(super) stored: StoredTasks,
    pub(super) catalog: Arc<Catalog>,
    limits: Limits,
    live: Mutex<HashMap<Arc<str>, Arc<LiveTask>>>,
    has_kept: AtomicBool,
}

/// A call that may become a task.
pub(crate) struct NewTask<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) support: TaskSupport,
    /// Arguments of the call, as JSON text.
    pub(crate) arguments: &'a str,
    pub(crate) client: Arc<ClientInfo>,
    pub(crate) carrier: &'a Carrier,
    pub(crate) tenant: Arc<Tenant>,
    /// Time to live that the client requests.
    pub(crate) ttl: Option<Duration>,
}

/// Answers of a client, as JSON texts by the keys of the questions.
pub(crate) type TaskAnswers = Vec<(Box<str>, Box<str>)>;

/// Caller of a method about tasks. A caller sees only its own tasks, and of these only the tasks of tools that it may use.
#[derive(Clone)]
pub(crate) struct Viewer {
    owner: Box<str>,
    /// Names of the tools with restricted access, in two sets: tools that the caller may not use, and tools that it may use. `None` if
    /// callers are not checked.
    judged: Option<Arc<[BTreeSet<String>; 2]>>,
}

impl Viewer {
    pub(crate) fn of(owner: &str, judged: Option<[BTreeSet<String>; 2]>) -> Self {
        Self { owner: owner.into(), judged: judged.map(Arc::new) }
    }

    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns whether the caller sees a task of this owner and this tool. Tasks of a restricted tool that was removed are hidden, because
    /// the callers that may use the tool are not known.
    pub(super) fn sees(&self, owner: &str, tool: &str, was_guarded: bool) -> bool {
        *self.owner == *owner
            && self.judged.as_ref().is_none_or(|judged| {
                let [barred, open] = &**judged;
                !barred.contains(tool) && (!was_guarded || open.contains(tool))
            })
    }
}

/// Maximum number of tasks in a page of a list.
const PAGE: usize = 100;

/// Shortest time to live that a client can request. With a shorter one, the task could expire before the client polls it.
const SHORTEST: Duration = Duration::from_secs(1);

impl Tasks {
    pub(crate) fn new(store: Arc<dyn Store>, catalog: Arc<Catalog>, limits: Limits) -> Self {
        let (live, has_kept) = (Mutex::default(), AtomicBool::new(false));
        Self { stored: StoredTasks::new(store), catalog, limits, live, has_kept }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<LiveTask>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a task, and reserves its share of the limit on tasks. The client does not know the task yet.
    ///
    /// # Errors
    /// Fails if a limit on tasks is reached, or the system has no random numbers.
    pub(crate) fn open(&self, new: NewTask<'_>) -> Result<Arc<LiveTask>> {
        let owner = new.carrier.principal();
        let share = self.share(&new.tenant)?;
        let longest = new.support.ttl.unwrap_or(self.limits.task_ttl);
        let ttl = new.ttl.map_or(longest, |ttl| ttl.clamp(SHORTEST.min(longest), longest));
        let may_run_again = new.entry.is_idempotent();
        let origin = TaskOrigin {
            id: new_id()?,
            owner: owner.into(),
            tool: new.entry.name.as_ref().into(),
            was_guarded: new.entry.is_guarded(),
            arguments: may_run_again.then(|| new.arguments.into()),
            caller: may_run_again.then(|| new.carrier.kept_caller()).flatten(),
            client: new.client,
            created: Timestamp::now(),
            ttl: Some(ttl),
            poll: new.support.poll.unwrap_or(self.limits.task_poll),
            later: new.support.later,
        };
        let live = LiveTask::new(origin, self.catalog.clone());
        live.set_share(Some(share));
        Ok(live)
    }

    /// Reserves the share of a task in the limit on tasks. A call that may become a task reserves the share when it starts, because a call
    /// that already runs can no longer be rejected.
    fn share(&self, tenant: &Arc<Tenant>) -> Result<Share> {
        let Limits { tasks, owner_tasks, .. } = self.limits;
        let is_principal = !tenant.principal().is_empty();
        let capacity =
            Capacity { all: tasks, each: if is_principal { owner_tasks } else { usize::MAX } };
        let take = || tenant.take(Pool::Tasks, 1, capacity);
        // If the store failed to save the end of a task, the task stays in memory and keeps its share. The share is released here once the
        // task has expired.
        let free = || self.table().retain(|_, task| !task.has_ended() || !task.is_expired());
        let taken = take().or_else(|_| {
            free();
            take()
        });
        taken.map_err(|why| {
            let (limit, text) = match why {
                NoShare::Own => (Limit::OwnerTasks, already(owner_tasks)),
                NoShare::Empty => (Limit::Tasks, already(tasks)),
                NoShare::Reserved => (
                    Limit::Tasks,
                    format!("this client already uses its share of the {tasks} tasks that may run: wait for some of them to finish"),
                ),
            };
            self.catalog.tally.refuse(limit);
            Error::msg(text)
        })
    }

    pub(super) fn enter(&self, live: &Arc<LiveTask>) {
        self.table().insert(live.origin.id.clone(), live.clone());
    }

    pub(super) fn leave(&self, live: &LiveTask) {
        self.table().remove(&live.origin.id);
        live.set_share(None);
    }

    /// Returns whether the task runs in this process.
    pub(crate) fn runs(&self, id: &str) -> bool {
        self.table().get(id).is_some_and(|task| !task.has_ended())
    }

    /// Returns whether any call has become a task so far. If so, the server accepts requests about tasks even after all tools with tasks
    /// were removed.
    pub(crate) fn has_kept(&self) -> bool {
        self.has_kept.load(Ordering::Acquire)
    }

    pub(super) fn set_kept(&self) {
        self.has_kept.store(true, Ordering::Release);
    }

    /// Returns the task with this id that runs in this process, if the viewer may see it.
    pub(crate) fn live(&self, id: &str, viewer: &Viewer) -> Option<Arc<LiveTask>> {
        let found = self.table().get(id).cloned();
        found.filter(|task| {
            let origin = &task.origin;
            viewer.sees(&origin.owner, &origin.tool, origin.was_guarded) && !task.is_expired()
        })
    }

    /// Returns the state of a task.
    ///
    /// # Errors
    /// Fails if no task has this id, or if the viewer may not see the task. The error is the same in both cases.
    pub(crate) async fn view(&self, id: &str, viewer: &Viewer) -> Result<TaskView> {
        if let Some(live) = self.live(id, viewer) {
            return Ok(live.view());
        }
        let kept = self.stored.get(viewer.owner(), id).await?;
        let kept = kept.filter(|record| !record.is_expired());
        let kept = kept.ok_or_else(unknown)?;
        let record = kept.read()?;
        let is_seen = viewer.sees(&kept.owner, &record.tool, record.was_guarded);
        if is_seen { Ok(record.view) } else { Err(unknown()) }
    }

    /// Cancels a task, and waits until its end has been stored. Returns the task, and whether it had ended before.
    ///
    /// # Errors
    /// Fails if the viewer has no such task.
    pub(crate) async fn cancel(&self, id: &str, viewer: &Viewer) -> Result<(TaskView, bool)> {
        if let Some(live) = self.live(id, viewer) {
            let had_ended = !live.cancel("the client has cancelled it");
            live.until(|task| task.has_ended().then_some(())).await;
            return Ok((live.view(), had_ended));
        }
        let view = self.view(id, viewer).await?;
        let had_ended = matches!(view.state, TaskState::Ended(_));
        Ok((view, had_ended))
    }

    /// Passes a client's answers to the task, by the keys of their questions. Answers without an open question are ignored.
    ///
    /// # Errors
    /// Fails if the viewer has no such task.
    pub(crate) async fn update(
        &self,
        id: &str,
        viewer: &Viewer,
        answers: TaskAnswers,
    ) -> Result<()> {
        let Some(live) = self.live(id, viewer) else {
            return self.view(id, viewer).await.map(drop);
        };
        for (key, json) in answers {
            live.answer(&key, Ok(json));
        }
        Ok(())
    }

    /// Returns a page of the viewer's tasks, and the cursor of the next page.
    ///
    /// # Errors
    /// Fails if the cursor is invalid.
    pub(crate) async fn list(
        &self,
        viewer: &Viewer,
        cursor: Option<&str>,
    ) -> Result<(Vec<TaskView>, Option<String>)> {
        let after = match cursor {
            None => None,
            Some(text) => {
                let place = text
                    .split_once('-')
                    .and_then(|(created, id)| Some((u64::from_str_radix(created, 16).ok()?, id)));
                Some(place.ok_or_else(|| {
                    Error::invalid_params("the cursor is not one this server gave for this list")
                })?)
            }
        };
        let found = self.stored.list(viewer.owner(), after, PAGE + 1).await?;
        let next = found.get(PAGE).is_some().then(|| &found[PAGE - 1]);
        let next = next.map(|last| format!("{:x}-{}", last.created, last.id));
        let mut views = Vec::new();
        for kept in found.iter().take(PAGE).filter(|record| !record.is_expired()) {
            if let Some(live) = self.live(&kept.id, viewer) {
                views.push(live.view());
                continue;
            }
            let outline = kept.read_outline()?;
            if viewer.sees(&kept.owner, &outline.tool, outline.was_guarded) {
                views.push(outline.view);
            }
        }
        Ok((views, next))
    }

    /// Stores the end of a task, and then shows the end to clients. If the store fails, the task stays in memory, so that clients see its
    /// end until the process exits or the task expires. Otherwise clients would keep waiting for a result that already exists.
    pub(super) async fn settle(&self, live: &LiveTask) {
        let is_stored = self.put(live).await.is_ok();
        live.publish_end();
        if is_stored {
            self.leave(live);
        }
    }

    /// Stores the current state of the task.
    pub(super) async fn put(&self, live: &LiveTask) -> Result<()> {
        self.set_kept();
        let put =
            unwind::catch_async(|| Box::pin(async { self.stored.put(&record_of(live)).await }))
                .await;
        // A panic counts as an error. Otherwise clients would never see the end of the task, and the task would keep its share.
        let put = put.unwrap_or_else(|Panicked| Err(Error::internal("the store panicked")));
        if let Err(why) = &put {
            tracing::error!(
                "task `{}` of `{}` cannot be stored: {}",
                live.origin.id,
                live.origin.tool,
                why.message()
            );
        }
        put
    }

    /// Opens a stored task that was left unfinished, so that it can be run or ended.
    pub(super) fn reopen(&self, owner: &str, record: RestoredTask) -> Arc<LiveTask> {
        let RestoredTask { view, tool, was_guarded, arguments, caller, client } = record;
        let origin = TaskOrigin {
            id: view.id,
            owner: owner.into(),
            tool: tool.into(),
            was_guarded,
            arguments: arguments.map(Into::into),
            caller: caller.map(Into::into),
            client: Arc::new(client),
            created: view.created,
            ttl: view.ttl,
            poll: view.poll,
            later: false,
        };
        let live = LiveTask::new(origin, self.catalog.clone());
        let tenant = self.catalog.shares.tenant(CallerKey::of_principal(owner));
        live.set_share(self.share(&tenant).ok());
        live
    }
}

impl Drop for Tasks {
    /// Cancels the running tasks. Clients do not see the cancellation. In the store, the tasks remain unfinished, so that the next process
    /// can recover them.
    fn drop(&mut self) {
        for live in std::mem::take(&mut *self.table()).into_values() {
            live.cancel("the server has stopped");
        }
    }
}

/// Returns a task id that cannot be guessed. If callers are not authenticated, a client that knows the id may use the task (rules TASK4-04
/// and TASK5-12).
///
/// # Errors
/// Fails if the system has no random numbers.
fn new_id() -> Result<Arc<str>> {
    let bytes: [u8; 16] = random()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
}

fn already(most: usize) -> String {
    format!("{most} tasks are running already: wait for some of them")
}

#[cold]
fn unknown() -> Error {
    Error::of(ErrorKind::InvalidParams, "there is no task of this id: it may have expired")
}
