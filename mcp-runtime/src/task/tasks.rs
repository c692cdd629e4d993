//! Tasks of a server, and the rules that decide which callers can see a task.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_core::future::BoxFuture;
use tokio::time::timeout;

use super::{
    live::{LiveTask, TaskOrigin},
    message::{TaskMessage, TextAnswers},
    record::{RestoredTask, record_of},
    stored_tasks::{StoredTask, StoredTasks, TaskRecord},
    task_node::{TaskJob, TaskNode},
};
use crate::{
    call::context::Carrier,
    catalog::{Catalog, Entry},
    error::{Error, ErrorKind, Result},
    limits::{CallerKey, Capacity, Limit, Limits, NoShare, Pool, Share, Tenant},
    model::{ClientInfo, TaskEnd, TaskState, TaskSupport, TaskView, Timestamp},
    node::NodeId,
    random::random,
    storage::{Condition, Store, StoreError},
    unwind::{self, Panicked},
};

/// Maximum time for which a client that cancels a task waits until the end is in the store that several nodes share.
const SETTLE_LIMIT: Duration = Duration::from_secs(2);

/// All tasks of a server: the tasks that run in this process, and the tasks in the store.
pub(crate) struct Tasks {
    pub(super) stored: StoredTasks,
    pub(super) catalog: Arc<Catalog>,
    limits: Limits,
    live: Mutex<HashMap<Arc<str>, Arc<LiveTask>>>,
    has_kept: AtomicBool,
    /// This process among the nodes that share the store. Not set if the store is not shared.
    pub(super) node: OnceLock<TaskNode>,
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

/// Time for which this node keeps a task that it has taken, if the task has expired by the clock of this node but not by that of the store.
const SPARE: Duration = Duration::from_secs(60);

impl Tasks {
    pub(crate) fn new(store: Arc<dyn Store>, catalog: Arc<Catalog>, limits: Limits) -> Self {
        let (live, has_kept) = (Mutex::default(), AtomicBool::new(false));
        let (stored, node) = (StoredTasks::new(store), OnceLock::new());
        Self { stored, catalog, limits, live, has_kept, node }
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
        let created = Timestamp::now();
        let origin = TaskOrigin {
            id: new_id()?,
            owner: owner.into(),
            tool: new.entry.name.as_ref().into(),
            was_guarded: new.entry.is_guarded(),
            arguments: may_run_again.then(|| new.arguments.into()),
            caller: may_run_again.then(|| new.carrier.kept_caller()).flatten(),
            client: new.client,
            created,
            ttl: Some(ttl),
            expires: Some(created.after(ttl)),
            poll: new.support.poll.unwrap_or(self.limits.task_poll),
            later: new.support.later,
            is_shared: self.node.get().is_some(),
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

    /// Returns the number of tasks of an owner that may run at all nodes together. An unknown owner may stand for many clients, so its tasks
    /// are not counted.
    fn places(&self, owner: &str) -> Option<u32> {
        (!owner.is_empty()).then(|| u32::try_from(self.limits.owner_tasks).unwrap_or(u32::MAX))
    }

    pub(super) fn enter(&self, live: &Arc<LiveTask>) {
        self.table().insert(live.origin.id.clone(), live.clone());
    }

    pub(super) fn leave(&self, live: &LiveTask) {
        let mut table = self.table();
        // This node may have lost the task and have taken it again.
        if table
            .get(&live.origin.id)
            .is_some_and(|entered| std::ptr::eq(&raw const **entered, live))
        {
            table.remove(&live.origin.id);
        }
        drop(table);
        live.set_share(None);
    }

    /// Returns the task with this id if it runs in this process, for the messages of other nodes.
    pub(super) fn running(&self, id: &str) -> Option<Arc<LiveTask>> {
        self.table().get(id).filter(|task| !task.is_lost()).cloned()
    }

    /// Stores all running tasks again, because the store may have lost its data. Finished tasks that the store has lost stay lost.
    pub(super) async fn store_again(&self) {
        let running: Vec<_> = self.table().values().cloned().collect();
        for live in running.iter().filter(|live| live.is_task()) {
            // If this fails, the next change of the task tries again.
            let _ = self.put(live).await;
        }
    }

    /// Ends the work on all running tasks, and leaves them to the other nodes.
    pub(crate) fn hand_over(&self) {
        let Some(node) = self.node.get() else { return };
        node.stop();
        for live in std::mem::take(&mut *self.table()).into_values() {
            live.lose();
        }
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
            viewer.sees(&origin.owner, &origin.tool, origin.was_guarded)
                && !task.is_expired()
                && !task.is_lost()
        })
    }

    /// Returns the state of a task.
    ///
    /// # Errors
    /// Fails if no task has this id, or if the viewer may not see the task. The error is the same in both cases. It also fails if the store
    /// is unavailable.
    pub(crate) async fn view(&self, id: &str, viewer: &Viewer) -> Result<TaskView> {
        if let Some(live) = self.live(id, viewer) {
            return Ok(live.view());
        }
        self.kept(id, viewer).await.map(|(view, _)| view)
    }

    /// Returns whether a stored task has expired. A store that several nodes share decides this by its own clock, because the clocks of the
    /// nodes may differ, and does not return such a task.
    fn has_expired(&self, record: &TaskRecord) -> bool {
        self.node.get().is_none() && record.is_expired()
    }

    /// Returns the stored state of a task, and the node that runs it.
    ///
    /// # Errors
    /// Fails if no task has this id, if the viewer may not see the task, or if the store is unavailable.
    pub(super) async fn kept(
        &self,
        id: &str,
        viewer: &Viewer,
    ) -> Result<(TaskView, Option<NodeId>)> {
        let kept = self.stored.get(viewer.owner(), id).await?;
        let kept = kept.filter(|record| !self.has_expired(record)).ok_or_else(unknown)?;
        let record = kept.read()?;
        let is_seen = viewer.sees(&kept.owner, &record.tool, record.was_guarded);
        if is_seen { Ok((record.view, record.node)) } else { Err(unknown()) }
    }

    /// Cancels a task, and waits until its end has been stored. Returns the task, and whether it had ended before.
    ///
    /// # Errors
    /// Fails if the viewer has no such task, or if the store that several nodes share is unavailable.
    pub(crate) async fn cancel(&self, id: &str, viewer: &Viewer) -> Result<(TaskView, bool)> {
        if let Some(live) = self.live(id, viewer) {
            let was_public = live.has_ended();
            let is_repeated = !live.cancel("the client has cancelled it");
            let ended = live.until(|task| (task.has_ended() || task.is_lost()).then_some(()));
            if !self.is_shared() {
                ended.await;
            } else if timeout(SETTLE_LIMIT, ended).await.is_err() {
                // The task is cancelled, and its end is stored as soon as the store answers.
                return Err(StoreError::unavailable("the end of a task is not stored").into_error());
            }
            if live.has_ended() {
                let view = live.view();
                // With a shared store, a first request to cancel may have failed while the store was unavailable, so the client may repeat it
                // without an error.
                let is_cancelled = matches!(&view.state, TaskState::Ended(end) if matches!(**end, TaskEnd::Cancelled));
                let may_repeat = self.is_shared() && !was_public && is_cancelled;
                return Ok((view, is_repeated && !may_repeat));
            }
        }
        match self.node.get() {
            Some(node) => {
                let watch = node.watch(id);
                let cancelled = self.cancel_elsewhere(node, &watch, id, viewer).await;
                node.unwatch(&watch);
                cancelled
            }
            None => {
                let view = self.view(id, viewer).await?;
                let had_ended = matches!(view.state, TaskState::Ended(_));
                Ok((view, had_ended))
            }
        }
    }

    /// Passes a client's answers to the task, by the keys of their questions. Answers without an open question are ignored.
    ///
    /// # Errors
    /// Fails if the viewer has no such task, or if the store is unavailable.
    pub(crate) async fn update(
        &self,
        id: &str,
        viewer: &Viewer,
        answers: TaskAnswers,
    ) -> Result<()> {
        if let Some(live) = self.live(id, viewer) {
            for (key, json) in answers {
                live.answer(&key, Ok(json));
            }
            if live.origin.is_shared {
                // The client may look at the task at another node as soon as it has its response.
                let _ = self.put(&live).await;
            }
            return Ok(());
        }
        match self.node.get() {
            Some(node) => {
                let watch = node.watch(id);
                let updated = self.update_elsewhere(&watch, id, viewer, answers).await;
                node.unwatch(&watch);
                updated
            }
            None => self.view(id, viewer).await.map(drop),
        }
    }

    /// Sends answers to the node that runs the task. Answers may be large, so the message names a record with them. `asked` is true if this
    /// node has asked the client.
    pub(super) async fn send_answers(
        &self,
        owner: &str,
        id: &str,
        answers: &TextAnswers,
        asked: bool,
    ) -> Result<()> {
        let Some(node) = self.node.get() else { return Ok(()) };
        let text = serde_json::to_vec(answers).unwrap_or_default();
        let name = self.stored.put_message(owner, id, text).await?;
        let (owner, id, name) = (owner.into(), id.into(), name.into());
        node.send(&TaskMessage::Answers { owner, id, name, asked }).await
    }

    /// Returns those of the named tasks that other nodes run.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(crate) async fn running_elsewhere(
        &self,
        ids: &[Box<str>],
        viewer: &Viewer,
    ) -> Result<Vec<TaskView>> {
        let mut found = Vec::new();
        for id in ids {
            match self.view(id, viewer).await {
                Ok(view) if matches!(view.state, TaskState::Ended(_)) => {}
                Ok(view) => found.push(view),
                Err(why) if why.kind() == ErrorKind::InvalidParams => {}
                Err(why) => return Err(why),
            }
        }
        Ok(found)
    }

    /// Notifies the clients of this node of the current state of a task that another node runs, except clients that already know this state.
    pub(crate) fn tell(&self, id: &str, viewer: &Viewer) {
        if let Some(node) = self.node.get() {
            let (owner, id) = (viewer.owner().into(), id.into());
            let _ = node.jobs.send(TaskJob::News { owner, id });
        }
    }

    /// Returns whether several nodes share the store.
    pub(crate) fn is_shared(&self) -> bool {
        self.node.get().is_some()
    }

    /// Returns a page of the viewer's tasks, and the cursor of the next page.
    ///
    /// # Errors
    /// Fails if the cursor is invalid, or if the store is unavailable.
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
        for kept in found.iter().take(PAGE).filter(|record| !self.has_expired(record)) {
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
    /// end until the process exits or the task expires. Otherwise clients would keep waiting for a result that already exists. If several
    /// nodes share the store, clients of other nodes cannot see such an end. The method then returns `false`, and has to be called again.
    pub(super) async fn settle(&self, live: &LiveTask) -> bool {
        match self.put(live).await {
            Ok(is_own) => {
                if is_own {
                    live.publish_end();
                }
                self.leave(live);
            }
            Err(_) if live.origin.is_shared && !live.is_expired() => return false,
            Err(_) => live.publish_end(),
        }
        true
    }

    /// Stores the current state of the task. Returns `false` if another node has taken the task.
    pub(super) fn put<'a>(&'a self, live: &'a LiveTask) -> BoxFuture<'a, Result<bool>> {
        // Boxed, so that the compiler does not repeat the code in each caller.
        Box::pin(async move {
            self.set_kept();
            let put = unwind::catch_async(|| {
                Box::pin(async {
                    let Some(node) = self.node.get() else {
                        let record = record_of(live, &live.latest_view(), None);
                        return self.stored.put(&record, Condition::Any, None).await.map(|_| true);
                    };
                    self.put_shared(node, live).await
                })
            })
            .await;
            // A panic counts as an error. Otherwise clients would never see the end of the task, and the task would keep its share.
            let put = put.unwrap_or_else(|Panicked| Err(Error::internal("the store panicked")));
            if let Err(why) = put.as_ref()
                && !matches!(why.kind(), ErrorKind::Failed | ErrorKind::Unavailable)
            {
                tracing::error!(
                    "task `{}` of `{}` cannot be stored: {}",
                    live.origin.id,
                    live.origin.tool,
                    why.message()
                );
            }
            put
        })
    }

    /// Stores the current state of the task, unless another node has taken the task.
    async fn put_shared(&self, node: &TaskNode, live: &LiveTask) -> Result<bool> {
        let mut version = live.stored.lock().await;
        while !live.is_lost() && !node.is_stopped() {
            if self.put_version(node, live, &mut version).await? {
                return Ok(true);
            }
            // An earlier write may have been applied although the store reported an error.
            let is_own = |found: &TaskRecord| {
                *version != Some(found.version)
                    && found.read().is_ok_and(|record| record.node == Some(node.id()))
            };
            match self.stored.get(&live.origin.owner, &live.origin.id).await? {
                Some(found) if is_own(&found) => *version = Some(found.version),
                Some(_) => {
                    tracing::warn!("task `{}` is continued by another server", live.origin.id);
                    live.lose();
                }
                // The store has lost its data, but this node still has the task.
                None if version.is_some() && !live.is_expired() => *version = None,
                None => live.lose(),
            }
        }
        live.lose();
        Ok(false)
    }

    /// Stores the current state of the task if the record has this version, and tells the other nodes.
    async fn put_version(
        &self,
        node: &TaskNode,
        live: &LiveTask,
        version: &mut Option<u64>,
    ) -> Result<bool> {
        let mut view = live.view_to_store();
        let record = record_of(live, &view, Some(&node.shared));
        let condition = version.map_or(Condition::Absent, Condition::Version);
        let new = match self.stored.put(&record, condition, self.places(&live.origin.owner)).await?
        {
            StoredTask::Version(new) => new,
            StoredTask::Changed => return Ok(false),
            StoredTask::NoPlace => {
                self.catalog.tally.refuse(Limit::OwnerTasks);
                return Err(Error::msg(already(self.limits.owner_tasks)));
            }
        };
        view.version = new;
        live.show(view);
        // No client knows a new task yet.
        if version.replace(new).is_some() {
            let (owner, id) = ((&*live.origin.owner).into(), (&*live.origin.id).into());
            node.post(&TaskMessage::Changed { owner, id, version: new });
        }
        Ok(true)
    }

    /// Takes a task whose node is gone. Returns `None` if another node was faster.
    pub(super) async fn take(
        &self,
        node: &TaskNode,
        kept: &TaskRecord,
        record: RestoredTask,
    ) -> Result<Option<Arc<LiveTask>>> {
        let mut expires = kept.expires.map(Timestamp);
        if kept.is_expired() {
            // The task has not expired in the store, so the clocks differ. Clients need time to read the end of the task.
            let spare = record.view.ttl.map_or(SPARE, |ttl| ttl.min(SPARE));
            expires = Some(Timestamp::now().after(spare));
        }
        let live = self.reopen(&kept.owner, record, expires);
        let mut version = live.stored.lock().await;
        *version = Some(kept.version);
        let is_taken = self.put_version(node, &live, &mut version).await?;
        drop(version);
        Ok(is_taken.then_some(live))
    }

    /// Opens a stored task that was left unfinished, so that it can be run or ended.
    pub(super) fn reopen(
        &self,
        owner: &str,
        record: RestoredTask,
        expires: Option<Timestamp>,
    ) -> Arc<LiveTask> {
        let RestoredTask { view, tool, was_guarded, arguments, caller, client, .. } = record;
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
            expires,
            poll: view.poll,
            later: false,
            is_shared: self.node.get().is_some(),
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
            live.lose();
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
pub(super) fn unknown() -> Error {
    Error::of(ErrorKind::InvalidParams, "there is no task of this id: it may have expired")
}
