//! Decides which calls may become tasks.

use std::{sync::Arc, time::Duration};

use super::{Peer, demand_extension};
use crate::{
    call::context::{Caller, Channel},
    catalog::{Entry, Snapshot},
    dispatch::Request,
    error::{Error, Kind},
    protocol::{
        channel::CallChannel,
        method::invalid,
        request::{ClientRequest, Terms},
        revision::TaskDialect,
        service::{Feature, TASKS_EXTENSION},
        turn::{RefusalStatus, RefusedRequest},
    },
    task::{LiveTask, NewTask, TaskRoute},
    wire::{Id, Kind as JsonKind, Raw},
};

impl Peer {
    /// Opens the task that a call may become. Returns `None` if the call stays a call.
    ///
    /// # Errors
    /// Fails if the client and the tool disagree: either demands a task that the other does not have or ask for. Wrong parameters and a lack
    /// of room are errors too.
    pub(in crate::protocol) fn task(
        &self,
        entry: Option<&Arc<Entry>>,
        snapshot: &Snapshot,
        terms: &Terms,
        request: &ClientRequest<'_>,
        operation: &Request<'_>,
    ) -> Result<Option<Arc<LiveTask>>, RefusedRequest> {
        let Request::CallTool { arguments, .. } = operation else { return Ok(None) };
        let Some(entry) = entry else { return Ok(None) };
        let dialect = terms.revision.features().tasks;
        // If no tool has tasks, the parameter is ignored like any unknown parameter (rule TASK4-01).
        let asked = if dialect == TaskDialect::Core && Feature::Tasks.is_served(snapshot) {
            request.params.get("task").filter(|it| !it.is_null())
        } else {
            None
        };
        let refused = |text: String| RefusedRequest::from(Error::of(Kind::MethodNotFound, text));
        let Some(mut support) = entry.task() else {
            return match asked {
                None => Ok(None),
                Some(_) => Err(refused(format!("the tool `{}` has no tasks", entry.name))),
            };
        };
        let mut ttl = None;
        match dialect {
            TaskDialect::None | TaskDialect::Core if asked.is_none() => {
                if !support.required {
                    return Ok(None);
                }
                let needed = if dialect == TaskDialect::Core {
                    "call it with `task`"
                } else {
                    "the client's revision of the protocol has none"
                };
                let name = &entry.name;
                return Err(refused(format!("the tool `{name}` runs as a task only: {needed}")));
            }
            TaskDialect::Extension => {
                if support.required {
                    demand_extension(&terms.client, format_args!("the tool `{}`", entry.name))
                        .map_err(|error| RefusalStatus::Malformed.because(error))?;
                } else if !terms.client.has_extension(TASKS_EXTENSION) {
                    return Ok(None);
                }
                // A call that has begun in rounds continues in rounds.
                let [answers, request_state] =
                    request.params.pick(["inputResponses", "requestState"]);
                if (answers.is_some() || request_state.is_some())
                    && !support.later
                    && !support.required
                {
                    return Ok(None);
                }
            }
            TaskDialect::None | TaskDialect::Core => {
                ttl = asked.map(read_ttl).transpose()?.flatten();
                // A client of this dialect has the task from the first moment, so the tool cannot begin it later.
                support.later = false;
            }
        }
        let new = NewTask {
            entry,
            support,
            arguments: arguments.map_or(Raw::EMPTY_OBJECT, |it| it.whole).as_str(),
            client: terms.client.clone(),
            carrier: request.carrier,
            tenant: self.state.tenant(request.carrier, terms.revision),
            ttl,
        };
        let opened = self.state.service.tasks.open(new);
        opened.map(Some).map_err(|error| {
            let refusal = (error.kind() == Kind::Failed).then_some(RefusalStatus::Busy);
            RefusedRequest { refusal, error }
        })
    }

    /// Sends questions, reports and log messages of the call through its task.
    pub(in crate::protocol) fn lead(
        &self,
        live: &Arc<LiveTask>,
        mut caller: Caller,
        terms: &Terms,
        request: &ClientRequest<'_>,
    ) -> Caller {
        let mut route = TaskRoute::new(live.clone());
        route.asker = caller.asker.take();
        if terms.revision.features().tasks == TaskDialect::Core {
            route.task_channel = self.session_channel(live, &caller, terms, request);
        } else if live.begins_later() {
            route.channel = caller.channel.take();
        }
        route.lead(caller)
    }

    /// Returns the channel of a task in a session. The stream of the call ends at once, so reports go to the session's outbox
    /// (rule PROG-05).
    fn session_channel(
        &self,
        live: &LiveTask,
        caller: &Caller,
        terms: &Terms,
        request: &ClientRequest<'_>,
    ) -> Option<Arc<dyn Channel>> {
        let token = request.meta.progress_token.filter(|it| Id::parse(*it).is_some());
        if token.is_none() && caller.log_level.is_none() {
            return None;
        }
        let outbox = self.state.outbox.clone();
        let channel = CallChannel::new(outbox, terms.revision, token.map(Raw::as_str), false);
        Some(Arc::new(channel.of_task(live.id().clone())))
    }
}

/// Reads how long the client wants its task kept.
fn read_ttl(asked: Raw<'_>) -> Result<Option<Duration>, Error> {
    if asked.kind() != JsonKind::Object {
        return Err(invalid("`task` must be an object"));
    }
    let Some(ttl) = asked.get("ttl").filter(|it| !it.is_null()) else { return Ok(None) };
    let millis =
        ttl.u64().ok_or_else(|| invalid("`task.ttl` must be a whole number of milliseconds"))?;
    Ok(Some(Duration::from_millis(millis)))
}
