//! Takes a request of either era to `dispatch`.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll, Waker},
};

use super::{
    call::{PendingCall, ReplyTo, ResponseSink},
    channel::{CallChannel, ProgressSlot},
    encode::AnswerScope,
    method::Method,
    modern::RequestMeta,
    peer::Peer,
    questions::Questioner,
    revision::{Revision, TaskDialect},
    turn::{Received, RefusalStatus, RefusedRequest},
};
use crate::{
    ask::{Bound, Keeper, Rounds},
    call::context::{Asker, Caller, Carrier, logging, meta_text},
    catalog::{Entry, Snapshot},
    dispatch::{Dispatched, Request},
    error::{Error, Kind, shown},
    limits::{LARGE, Limit, NoShare, Permit, Pool, Reservation, Taken},
    model::{Asks, ClientInfo, Done, Level, ToolResult},
    wire::{Id, Params, Raw},
};

/// Request as it came, and destination of its response.
pub(super) struct ClientRequest<'a> {
    pub(super) id: Id<'a>,
    pub(super) method: &'a str,
    /// Empty object if the request has no parameters.
    pub(super) params: &'a Params<'a>,
    pub(super) meta: RequestMeta<'a>,
    pub(super) to: &'a ReplyTo,
    pub(super) carrier: &'a Carrier,
}

/// Terms between client and server for one request, from the handshake or from the request itself.
#[derive(Clone)]
pub(super) struct Terms {
    pub(super) revision: Revision,
    pub(super) client: Arc<ClientInfo>,
    pub(super) log_level: Option<Level>,
    /// Whether the answers are for this client only.
    pub(super) is_private: bool,
}

impl Peer {
    /// Runs a request that both eras have.
    pub(super) fn operate(
        &self,
        method: Method,
        terms: &Terms,
        request: &ClientRequest<'_>,
        received: &mut Received,
    ) {
        let snapshot = self.state.snapshot();
        if let Err(refused) = self.run(method, &snapshot, terms, request, received) {
            self.reject(request, terms.revision, refused, received);
        }
    }

    /// Checks and runs a request. No handler runs before the request has passed all checks.
    fn run(
        &self,
        method: Method,
        snapshot: &Arc<Snapshot>,
        terms: &Terms,
        request: &ClientRequest<'_>,
        received: &mut Received,
    ) -> Result<(), RefusedRequest> {
        let (state, revision) = (&self.state, terms.revision);
        if !method.is_served(revision, snapshot) {
            return Err(RefusalStatus::UnknownMethod.because(unknown_method(request.method)));
        }
        let operation = method.operation(request.params)?;
        let target = operation.target(snapshot);
        #[cfg(feature = "auth")]
        self.permit(snapshot, target, request, &operation)?;
        let unable = judge(target, terms, request, &operation)?;
        let live = self.task(target, snapshot, terms, request, &operation)?;
        if live.is_none()
            && let Some(why) = unable
        {
            self.refuse_call(terms, request, snapshot, operation.is_tool(), why);
            return Ok(());
        }
        // A task that begins at once asks through the task itself.
        let asks = live.as_ref().is_none_or(|it| it.begins_later());
        let asker = match target.filter(|it| it.can_ask && asks) {
            Some(entry) => Some(self.asker(entry, terms, request, &operation)?),
            None => None,
        };
        self.admit(request, revision)?;
        let held = self.reserve(request)?;
        let permit =
            match target.filter(|_| unable.is_none()).map(|it| self.enter(it, terms, request)) {
                None => None,
                Some(Ok(permit)) => permit,
                Some(Err(why)) => {
                    // A client that asks for a task gets one or an error. A refused call is not worth a task.
                    let tells_model = operation.is_tool()
                        && (live.is_none() || revision.features().tasks != TaskDialect::Core);
                    self.refuse_call(terms, request, snapshot, tells_model, why);
                    return Ok(());
                }
            };
        if let Some(asker) = &asker {
            asker.begin()?;
        }
        let (mut caller, slot) = caller(terms, request);
        caller.asker = asker;
        if let Some(live) = &live {
            caller = self.lead(live, caller, terms, request);
        }
        let dispatcher = &state.service.dispatcher;
        let mut dispatched = match unable {
            None => dispatcher.dispatch(snapshot, target, caller, operation),
            // A client that asks for a task gets one, and finds the reason in its result.
            Some(why) => Dispatched::Ready(Ok(Done::Tool(ToolResult::failure(why)))),
        };
        dispatched = dispatched.holding(Reservation::new(permit, held));
        if let Some(live) = live {
            let always = revision.features().tasks == TaskDialect::Core;
            dispatched =
                crate::task::follow(&state.service.tasks, dispatcher, live, dispatched, always);
        }
        let is_private = terms.is_private || snapshot.is_guarded;
        let scope = AnswerScope { revision, is_private };
        let (slot, to) = (slot.as_ref(), request.to);
        self.drive(
            dispatched,
            request,
            ResponseSink { state, snapshot, scope, slot, to },
            received,
        );
        Ok(())
    }

    /// Answers a request, or leaves the call to the transport if its handler has to wait.
    pub(super) fn drive(
        &self,
        dispatched: Dispatched,
        request: &ClientRequest<'_>,
        way: ResponseSink<'_>,
        received: &mut Received,
    ) {
        match dispatched {
            Dispatched::Ready(answer) => way.answer(request.id, &answer),
            Dispatched::Pending(mut pending) => {
                // Polled here once: a handler that is ready at once costs no task and no entry in the table.
                let mut cx = task::Context::from_waker(Waker::noop());
                match Pin::new(&mut pending).poll(&mut cx) {
                    Poll::Ready(Some(answer)) => way.answer(request.id, &answer),
                    Poll::Ready(None) => {}
                    Poll::Pending => {
                        let revision = way.scope.revision;
                        let share =
                            || self.state.tenant(request.carrier, revision).hold(Pool::Calls);
                        match PendingCall::new(pending, request.id.to_owned(), way, share) {
                            Some(call) => received.waiting.push(call),
                            None => way.answer(request.id, &Err(id_in_use())),
                        }
                    }
                }
            }
        }
    }

    /// Returns the asker of a call. In the modern era a call ends with its questions. In the legacy era the server sends them as requests.
    fn asker(
        &self,
        entry: &Entry,
        terms: &Terms,
        request: &ClientRequest<'_>,
        operation: &Request<'_>,
    ) -> Result<Arc<dyn Asker>, Error> {
        if !terms.revision.is_modern() {
            let questioner = Questioner::new(self.state.clone(), request.to, terms.clone());
            return Ok(Arc::new(questioner));
        }
        let keeper = self.keeper(entry, terms, request, operation);
        let [responses, request_state] = request.params.pick(["inputResponses", "requestState"]);
        Ok(Rounds::resume(terms.client.clone(), keeper, responses, request_state)?)
    }

    fn keeper(
        &self,
        entry: &Entry,
        terms: &Terms,
        request: &ClientRequest<'_>,
        operation: &Request<'_>,
    ) -> Keeper {
        let (item, arguments) = match operation {
            Request::CallTool { name, arguments } => (&**name, arguments.map(|it| it.whole)),
            Request::GetPrompt { name, arguments } => (&**name, *arguments),
            Request::ReadResource { uri } => (&**uri, None),
            Request::List { .. } | Request::Complete { .. } => ("", None),
        };
        let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT);
        let bound = Bound::to(request.method, item, arguments, request.carrier.principal());
        let tenant = self.state.tenant(request.carrier, terms.revision);
        self.state.service.round_states.keeper(bound, tenant, entry.single_use)
    }

    /// Refuses a call that the client could not complete, or that comes too often. With `tells_model` the reason is a tool result.
    #[cold]
    fn refuse_call(
        &self,
        terms: &Terms,
        request: &ClientRequest<'_>,
        snapshot: &Arc<Snapshot>,
        tells_model: bool,
        why: String,
    ) {
        let answer = if tells_model {
            Ok(Done::Tool(ToolResult::failure(why)))
        } else {
            Err(Error::msg(why))
        };
        let (state, to) = (&self.state, request.to);
        let scope = AnswerScope { revision: terms.revision, is_private: terms.is_private };
        ResponseSink { state, snapshot, scope, slot: None, to }.answer(request.id, &answer);
    }

    /// Lets the caller in if the item's limits allow it: the rate of calls, and the number of calls at once.
    ///
    /// # Errors
    /// Returns the reason why the caller has to wait, in words for the model.
    fn enter(
        &self,
        entry: &Entry,
        terms: &Terms,
        request: &ClientRequest<'_>,
    ) -> Result<Option<Permit>, String> {
        let Some(gate) = &entry.gate else { return Ok(None) };
        gate.enter(self.state.who(request, terms.revision)).map_err(|closed| {
            let (kind, name) = (entry.kind_name(), &entry.name);
            let tally = self.state.service.tally();
            tally.refuse_of(closed.limit(), format_args!("the {kind} `{name}`"));
            closed.text(name)
        })
    }

    /// Checks that the id is free and that there is room for one more call.
    pub(super) fn admit(
        &self,
        request: &ClientRequest<'_>,
        revision: Revision,
    ) -> Result<(), RefusedRequest> {
        let (service, id) = (&*self.state.service, request.id);
        let limits = &service.limits;
        let mut in_flight = 0;
        if let Some(ongoing) = self.state.ongoing() {
            let calls = ongoing.calls();
            if calls.contains_key(id.as_str()) || ongoing.listens().contains(id) {
                return Err(RefusalStatus::Malformed.because(id_in_use()));
            }
            in_flight = calls.len();
        }
        let busy = |which: Limit, text: String| {
            let error = service.note(which, Error::of(Kind::Failed, text));
            Err(RefusalStatus::Busy.because(error))
        };
        if in_flight >= limits.calls {
            let text = format!("{} calls are running already: wait for some of them", limits.calls);
            return busy(Limit::Calls, text);
        }
        let all = limits.all_calls;
        if service.shares().has_plenty(Pool::Calls, all) {
            return Ok(());
        }
        match self.state.tenant(request.carrier, revision).admits(Pool::Calls, all.into()) {
            Ok(()) => Ok(()),
            Err(NoShare::Empty) => {
                let text = format!("{all} calls are running already: wait for some of them");
                busy(Limit::AllCalls, text)
            }
            Err(NoShare::Reserved | NoShare::Own) => {
                let text = format!(
                    "this client has its share of the {all} calls that may run: wait for some of them"
                );
                busy(Limit::AllCalls, text)
            }
        }
    }

    /// Reserves room for what a call may hold of a large request until the call ends. Most requests are small, and take none.
    ///
    /// # Errors
    /// Fails if the requests of all running calls are too large for this one to run beside them.
    fn reserve(&self, request: &ClientRequest<'_>) -> Result<Option<Taken>, RefusedRequest> {
        let bytes = request.params.size() + request.id.as_str().len();
        if bytes > LARGE { self.reserve_large(bytes).map(Some) } else { Ok(None) }
    }

    #[cold]
    fn reserve_large(&self, bytes: usize) -> Result<Taken, RefusedRequest> {
        let service = &*self.state.service;
        let mut taken = Taken::default();
        if taken.grow(&service.bodies, bytes, service.limits.all_bodies) {
            return Ok(taken);
        }
        let text =
            "the requests of the calls that run are too large together: wait for some of them";
        let error = service.note(Limit::AllBodies, Error::of(Kind::Failed, text));
        Err(RefusalStatus::Busy.because(error))
    }

    /// Answers a request that is not run.
    pub(super) fn reject(
        &self,
        request: &ClientRequest<'_>,
        revision: Revision,
        refused: impl Into<RefusedRequest>,
        received: &mut Received,
    ) {
        let RefusedRequest { refusal, error } = refused.into();
        received.refusal = refusal.or(received.refusal.take());
        self.state.refuse(request, revision, &error);
    }
}

/// Checks the capabilities of the client, and then the headers that repeat arguments, against the item of the request (rule C-02). Returns
/// the reason if a client of the legacy era lacks a capability.
fn judge(
    target: Option<&Arc<Entry>>,
    terms: &Terms,
    request: &ClientRequest<'_>,
    operation: &Request<'_>,
) -> Result<Option<String>, RefusedRequest> {
    let Some(entry) = target else { return Ok(None) };
    if !terms.revision.is_modern() {
        return Ok(unable(entry, terms));
    }
    let missing = entry.asks.missing(&terms.client);
    if !missing.is_empty() {
        return Err(RefusalStatus::Malformed.because(lacking(entry, missing)));
    }
    #[cfg(feature = "http")]
    if let (Some(http), Request::CallTool { arguments, .. }) = (&request.carrier.http, operation) {
        let arguments = arguments.map_or(Raw::EMPTY_OBJECT, |it| it.whole);
        super::mirrored::check_arguments(&http.headers, entry.headers(), arguments)
            .map_err(|error| RefusalStatus::Malformed.because(error))?;
    }
    #[cfg(not(feature = "http"))]
    let _ = (request, operation);
    Ok(None)
}

/// Returns the error for a client that lacks capabilities of which the item may make use (rule META-04).
#[cold]
fn lacking(entry: &Entry, missing: Asks) -> Error {
    let names = missing.names().collect::<Vec<_>>().join(" and ");
    let text = format!("the {} `{}` needs a client with {names}", entry.kind_name(), entry.name);
    Error::of(Kind::MissingCapability, text)
        .with_json(format!(r#"{{"requiredCapabilities":{}}}"#, missing.required_json()))
}

/// Returns why a client of the legacy era cannot be asked what the item declares to ask.
fn unable(entry: &Entry, terms: &Terms) -> Option<String> {
    if entry.asks.is_empty() {
        return None;
    }
    let (kind, name, revision) = (entry.kind_name(), &entry.name, terms.revision);
    if entry.asks.elicits() && !revision.features().forms {
        return Some(format!(
            "the {kind} `{name}` asks the user, and the client speaks {revision}, which has no way to do that (elicitation)"
        ));
    }
    let missing = entry.asks.missing(&terms.client);
    let names = missing.names().collect::<Vec<_>>().join(" and ");
    (!missing.is_empty()).then(|| {
        format!("the {kind} `{name}` needs a client with {names}, which this one has not declared")
    })
}

#[inline]
fn caller(terms: &Terms, request: &ClientRequest<'_>) -> (Caller, Option<Arc<ProgressSlot>>) {
    let ClientRequest { meta, to, .. } = request;
    // A progress token is a string or an integer, like an id.
    let token = meta.progress_token.filter(|it| Id::parse(*it).is_some() && !to.quiet);
    let log_level = terms.log_level.filter(|_| logging::is_installed() && !to.quiet);
    let mut caller = Caller {
        meta: meta_text(meta.whole),
        carrier: request.carrier.clone(),
        log_level,
        ..Caller::new(terms.client.clone())
    };
    let mut slot = None;
    if token.is_some() || log_level.is_some() {
        let outbox = to.outbox.clone();
        let channel = CallChannel::new(outbox, terms.revision, token.map(Raw::as_str), to.resumes);
        slot = token.map(|_| channel.slot());
        caller.wants_progress = token.is_some();
        caller.channel = Some(Arc::new(channel));
    } else if to.resumes {
        caller.channel = Some(to.outbox.clone());
    }
    (caller, slot)
}

/// Returns the error for an id that a running call or a listen stream has (rule RPC-08).
pub(super) fn id_in_use() -> Error {
    Error::of(Kind::InvalidRequest, "a request with this id is still running")
}

pub(super) fn unknown_method(method: &str) -> Error {
    Error::of(Kind::MethodNotFound, format_args!("method not found: {}", shown(method)))
}
