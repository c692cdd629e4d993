//! Calls that begin only after a store that several servers share has admitted them. Without such a store, no call is deferred.

use std::sync::Arc;

use super::{admission::refusal_text, service::Service};
use crate::{
    call::context::{BeginFuture, Caller, Context},
    catalog::{Entry, Snapshot},
    dispatch::{Dispatched, OwnedRequest, PendingHandler},
    error::{Error, ErrorKind},
    limits::{Closed, EnteringCall, Permit, Reservation, TakenBytes},
    model::{Done, OperationResult, ToolResult},
    task::{self, LiveTask},
};

/// Conditions for which a call waits before its handler runs.
#[derive(Default)]
pub(super) struct Deferral {
    /// Admission by the rate and the concurrency of the item, unless this server counts them alone.
    pub(super) entering: Option<EnteringCall>,
    /// Check that the state with which the client continues the call was not used before.
    pub(super) beginning: Option<BeginFuture>,
}

/// Call that has passed all checks of this server.
pub(super) struct DeferredCall {
    pub(super) service: Arc<Service>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) target: Option<Arc<Entry>>,
    pub(super) request: OwnedRequest,
    pub(super) caller: Caller,
    pub(super) deferral: Box<Deferral>,
    pub(super) permit: Option<Permit>,
    pub(super) body_share: Option<TakenBytes>,
    pub(super) live: Option<Arc<LiveTask>>,
    /// Whether a call that ends without becoming a task is turned into an ended task.
    pub(super) always_task: bool,
    /// Whether a refusal by a limit is a tool result instead of an error.
    pub(super) tells_model: bool,
}

impl DeferredCall {
    pub(super) fn start(mut self) -> Dispatched {
        let dispatcher = &self.service.dispatcher;
        let (environment, settings) = (dispatcher.environment.clone(), dispatcher.settings);
        // The handler gets a context of its own. This context ends together with the context of the request, unless the call may go on as a
        // task.
        let context = if self.live.is_some() {
            Context::new(environment, Caller::default(), None)
        } else {
            let caller = Caller { asker: None, task: None, meta: None, ..self.caller.clone() };
            let context = Context::new(environment, caller, None);
            self.caller.outer = Some(context.clone());
            context
        };
        Dispatched::Pending(PendingHandler::bare(Box::pin(self.run()), context, settings))
    }

    async fn run(mut self) -> OperationResult {
        let mut place_end = None;
        if let Some(entering) = self.deferral.entering.take() {
            match entering.enter().await {
                Ok(None) => {}
                Ok(Some((permit, end))) => {
                    self.permit = Some(permit);
                    place_end = Some(end);
                }
                Err(closed) => return self.refuse(&closed),
            }
        }
        if let Some(beginning) = self.deferral.beginning.take() {
            beginning.await?;
        }
        let Self { service, snapshot, target, request, caller, live, .. } = self;
        let dispatcher = &service.dispatcher;
        let reservation = Reservation::new(self.permit, self.body_share);
        let mut dispatched = dispatcher
            .dispatch(&snapshot, target.as_ref(), caller, request.borrow())
            .holding(reservation);
        if let Some(live) = live {
            let (tasks, always) = (&service.tasks, self.always_task);
            dispatched = task::follow(tasks, dispatcher, live, dispatched, always);
        }
        let answer = match dispatched {
            Dispatched::Ready(answer) => answer,
            Dispatched::Pending(pending) => {
                pending.await.unwrap_or_else(|| Err(Error::msg("cancelled")))
            }
        };
        if let Some(end) = place_end {
            end.wait().await;
        }
        answer
    }

    #[cold]
    fn refuse(&self, closed: &Closed) -> OperationResult {
        let Some(entry) = &self.target else {
            return Err(Error::internal("only items have limits"));
        };
        let why = refusal_text(&self.service, entry, closed);
        match closed {
            Closed::Uncounted => Err(Error::of(ErrorKind::Unavailable, why)),
            _ if self.tells_model => Ok(Done::Tool(ToolResult::failure(why))),
            _ => Err(Error::msg(why)),
        }
    }
}
