//! Checks a request of either era, and passes it to `dispatch`.

use std::sync::Arc;

use mcp_runtime_wire::{Id, Raw};

#[cfg(feature = "auth")]
use super::admission::permit;
use super::{
    admission::{GateStop, admit, check_against_item, enter_gate, reserve},
    call::{CallChannel, Received, RefusalStatus, RefusedRequest, ResponseSink, drive},
    deferred::{Deferral, DeferredCall},
    encode::AnswerScope,
    outbox::ProgressSlot,
    questions::Questioner,
    request::{ClientRequest, Method, unknown_method},
    revision::TaskDialect,
    session::Terms,
    state::PeerState,
    tasks,
};
use crate::{
    ask::{CallBinding, Rounds, StateCodec},
    call::context::{Asker, Caller, Channel, logging, meta_text},
    catalog::{Entry, Snapshot},
    dispatch::{Dispatched, Request},
    error::Error,
    limits::Reservation,
    model::{Done, ToolResult},
    task::{self, LiveTask},
};

/// Runs a request whose method exists in both eras.
pub(super) fn operate(
    state: &Arc<PeerState>,
    method: Method,
    terms: &Terms,
    request: &ClientRequest<'_>,
    received: &mut Received,
) {
    let snapshot = state.snapshot();
    if let Err(refused) = run(state, method, &snapshot, terms, request, received) {
        request.reject(terms.revision, refused, received);
    }
}

/// Checks and runs a request. No handler runs before the request has passed all checks.
fn run(
    state: &Arc<PeerState>,
    method: Method,
    snapshot: &Arc<Snapshot>,
    terms: &Terms,
    request: &ClientRequest<'_>,
    received: &mut Received,
) -> Result<(), RefusedRequest> {
    let revision = terms.revision;
    if !method.is_served(revision, snapshot) {
        return Err(RefusalStatus::UnknownMethod.because(unknown_method(request.method)));
    }
    let mut operation = method.operation(request.params)?;
    let target = operation.target(snapshot);
    operation.respell(target);
    #[cfg(feature = "auth")]
    permit(state, snapshot, target, request, &operation)?;
    let cannot_ask = check_against_item(target, terms, request, &operation)?;
    let live = tasks::open(state, target, snapshot, terms, request, &operation)?;
    if live.is_none()
        && let Some(why) = cannot_ask
    {
        refuse_call(state, terms, request, snapshot, operation.is_tool(), why);
        return Ok(());
    }
    // A call that is a task from its beginning asks its questions through the task, so it needs no asker of its own.
    let asks = live.as_ref().is_none_or(|task| task.begins_later());
    let asker = match target.filter(|entry| entry.can_ask && asks) {
        Some(entry) => Some(asker(state, entry, terms, request, &operation)?),
        None => None,
    };
    admit(state, request, revision)?;
    let body_share = reserve(state, request)?;
    let mut deferral: Option<Box<Deferral>> = None;
    let permit = match target
        .filter(|_| cannot_ask.is_none())
        .map(|entry| enter_gate(state, entry, terms, request))
    {
        None => None,
        Some(Ok(permit)) => permit,
        Some(Err(GateStop::Deferred(entering))) => {
            deferral.get_or_insert_default().entering = Some(entering);
            None
        }
        Some(Err(GateStop::Refused(why))) => {
            let tells_model = tells_model(&operation, live.as_ref(), terms);
            refuse_call(state, terms, request, snapshot, tells_model, why);
            return Ok(());
        }
    };
    if let Some(asker) = &asker {
        asker.begin()?;
        if let Some(beginning) = asker.beginning() {
            deferral.get_or_insert_default().beginning = Some(beginning);
        }
    }
    let mut slot = None;
    let mut caller = caller(terms, request, asker, &mut slot);
    if let Some(live) = &live {
        caller = tasks::route_through(state, live, caller, terms, request);
    }
    let dispatcher = &state.service.dispatcher;
    if let Some(deferral) = deferral {
        let call = DeferredCall {
            service: state.service.clone(),
            snapshot: snapshot.clone(),
            target: target.cloned(),
            tells_model: tells_model(&operation, live.as_ref(), terms),
            always_task: revision.features().tasks == TaskDialect::Core,
            request: operation.into(),
            deferral,
            caller,
            permit,
            body_share,
            live,
        };
        defer(state, terms, request, slot.as_ref(), call, received);
        return Ok(());
    }
    let mut dispatched = match cannot_ask {
        None => dispatcher.dispatch(snapshot, target, caller, operation),
        // The client has requested a task, so it gets one. The result of the task contains the reason.
        Some(why) => Dispatched::Ready(Ok(Done::Tool(ToolResult::failure(why)))),
    };
    dispatched = dispatched.holding(Reservation::new(permit, body_share));
    if let Some(live) = live {
        let always = revision.features().tasks == TaskDialect::Core;
        dispatched = task::follow(&state.service.tasks, dispatcher, live, dispatched, always);
    }
    let is_private = terms.is_private || snapshot.is_guarded;
    let scope = AnswerScope { revision, is_private };
    let (slot, to) = (slot.as_ref(), request.to);
    let sink = ResponseSink { state, snapshot, scope, slot, to };
    drive(dispatched, request.id, request.carrier, sink, received);
    Ok(())
}

/// Returns whether a refusal by a limit is a tool result with `isError`, for the model. A client that requested a core task expects a task
/// or a JSON-RPC error, so it gets the error.
#[cold]
fn tells_model(operation: &Request<'_>, live: Option<&Arc<LiveTask>>, terms: &Terms) -> bool {
    let is_core = terms.revision.features().tasks == TaskDialect::Core;
    operation.is_tool() && (live.is_none() || !is_core)
}

/// Starts a call that the shared store has to admit.
#[cold]
fn defer(
    state: &Arc<PeerState>,
    terms: &Terms,
    request: &ClientRequest<'_>,
    slot: Option<&Arc<ProgressSlot>>,
    call: DeferredCall,
    received: &mut Received,
) {
    let snapshot = call.snapshot.clone();
    let is_private = terms.is_private || snapshot.is_guarded;
    let scope = AnswerScope { revision: terms.revision, is_private };
    let sink = ResponseSink { state, snapshot: &snapshot, scope, slot, to: request.to };
    drive(call.start(), request.id, request.carrier, sink, received);
}

/// Returns the [`Asker`] of a call. In the modern era, a call ends with a result that contains its open questions. In the legacy era, the
/// server sends each question as a request.
fn asker(
    state: &Arc<PeerState>,
    entry: &Entry,
    terms: &Terms,
    request: &ClientRequest<'_>,
    operation: &Request<'_>,
) -> Result<Arc<dyn Asker>, Error> {
    if !terms.revision.is_modern() {
        let questioner = Questioner::new(state.clone(), request.to, terms.clone());
        return Ok(Arc::new(questioner));
    }
    let keeper = keeper(state, entry, terms, request, operation);
    let [responses, request_state] = request.params.pick(["inputResponses", "requestState"]);
    Ok(Rounds::resume(terms.client.clone(), keeper, responses, request_state)?)
}

fn keeper(
    state: &PeerState,
    entry: &Entry,
    terms: &Terms,
    request: &ClientRequest<'_>,
    operation: &Request<'_>,
) -> StateCodec {
    let (item, arguments) = match operation {
        Request::CallTool { name, arguments } => {
            (&**name, arguments.map(|arguments| arguments.whole))
        }
        Request::GetPrompt { name, arguments } => (&**name, *arguments),
        Request::ReadResource { uri } => (&**uri, None),
        Request::List { .. } | Request::Complete { .. } => ("", None),
    };
    let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT);
    let bound = CallBinding::to(request.method, item, arguments, request.carrier.principal());
    let tenant = state.tenant(request.carrier, terms.revision);
    state.service.round_states.codec(bound, tenant, entry.single_use)
}

/// Refuses a call that the client cannot complete, or that a limit of the item rejects. The reason is a tool result if `tells_model` is
/// set, and an error otherwise.
#[cold]
fn refuse_call(
    state: &Arc<PeerState>,
    terms: &Terms,
    request: &ClientRequest<'_>,
    snapshot: &Arc<Snapshot>,
    tells_model: bool,
    why: String,
) {
    let answer =
        if tells_model { Ok(Done::Tool(ToolResult::failure(why))) } else { Err(Error::msg(why)) };
    let to = request.to;
    let scope = AnswerScope { revision: terms.revision, is_private: terms.is_private };
    ResponseSink { state, snapshot, scope, slot: None, to }.answer(request.id, &answer);
}

/// Returns the [`Caller`] of a call, and puts the slot of its progress reports into `slot`. The `Caller` is made in one piece, because it is
/// large enough that each copy of it counts.
#[inline]
fn caller(
    terms: &Terms,
    request: &ClientRequest<'_>,
    asker: Option<Arc<dyn Asker>>,
    slot: &mut Option<Arc<ProgressSlot>>,
) -> Caller {
    let ClientRequest { meta, to, .. } = request;
    // A progress token is a string or an integer, like an id, so `Id::parse` also validates tokens.
    let token =
        meta.progress_token.filter(|token| Id::parse(*token).is_some() && !to.only_response);
    let log_level = terms.log_level.filter(|_| logging::is_installed() && !to.only_response);
    let channel: Option<Arc<dyn Channel>> = if token.is_some() || log_level.is_some() {
        let outbox = to.outbox.clone();
        let channel = CallChannel::new(outbox, terms.revision, token.map(Raw::as_str), to.resumes);
        *slot = token.map(|_| channel.slot());
        Some(Arc::new(channel))
    } else if to.resumes {
        Some(to.outbox.clone())
    } else {
        None
    };
    Caller {
        client: terms.client.clone(),
        meta: meta_text(meta.whole),
        carrier: request.carrier.clone(),
        channel,
        asker,
        task: None,
        origin: None,
        wants_progress: token.is_some(),
        log_level,
        outer: None,
    }
}
