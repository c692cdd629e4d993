//! Conditions that a request has to meet before its handler runs: rights, capabilities, headers, rates, and limits on running calls.

use std::sync::Arc;

#[cfg(feature = "http")]
use mcp_runtime_wire::Raw;

use super::{
    call::{RefusalStatus, RefusedRequest, id_in_use},
    request::ClientRequest,
    revision::Revision,
    service::Service,
    session::Terms,
    state::PeerState,
};
use crate::{
    catalog::Entry,
    dispatch::Request,
    error::{Error, ErrorKind},
    limits::{Closed, EnteringCall, LARGE, Limit, NoShare, Permit, Pool, TakenBytes},
    model::Asks,
};
#[cfg(feature = "auth")]
use crate::{catalog::Snapshot, model::ListKind};

/// Checks that the caller may use the item of the request.
///
/// # Errors
/// Returns the reason for the refusal.
#[cfg(feature = "auth")]
pub(super) fn permit(
    state: &PeerState,
    snapshot: &Snapshot,
    target: Option<&Arc<Entry>>,
    request: &ClientRequest<'_>,
    operation: &Request<'_>,
) -> Result<(), RefusedRequest> {
    if !snapshot.is_guarded {
        return Ok(());
    }
    let dispatcher = &state.service.dispatcher;
    Ok(dispatcher.rights.permit(snapshot, target, request.carrier, operation)?)
}

/// Checks that the caller may subscribe to these resources.
///
/// # Errors
/// Returns a single refusal for all resources, with the scopes that they need together.
#[cfg(feature = "auth")]
pub(super) fn permit_uris<'a>(
    state: &PeerState,
    snapshot: &Snapshot,
    request: &ClientRequest<'_>,
    uris: impl IntoIterator<Item = &'a str>,
) -> Result<(), RefusedRequest> {
    if !snapshot.guards(ListKind::Resources) && !snapshot.guards(ListKind::Templates) {
        return Ok(());
    }
    let dispatcher = &state.service.dispatcher;
    let mut refused: Option<crate::authorization::AccessError> = None;
    for uri in uris {
        if let Err(no) = dispatcher.rights.permit_uri(snapshot, request.carrier, uri) {
            refused = Some(match refused {
                None => no,
                Some(before) => before.and(no),
            });
        }
    }
    refused.map_or(Ok(()), |no| Err(no.into()))
}

/// Checks the capabilities of the client, and then the headers that repeat arguments, against the item of the request (rule C-03). If a client
/// of the legacy era lacks a capability, returns the reason as `Ok(Some(…))` instead of an error, so that a tool call can be answered with a
/// tool result.
#[inline]
pub(super) fn check_against_item(
    target: Option<&Arc<Entry>>,
    terms: &Terms,
    request: &ClientRequest<'_>,
    operation: &Request<'_>,
) -> Result<Option<String>, RefusedRequest> {
    let Some(entry) = target else { return Ok(None) };
    if !terms.revision.is_modern() {
        return Ok(cannot_be_asked(entry, terms));
    }
    let missing = entry.asks.missing(&terms.client);
    if !missing.is_empty() {
        return Err(RefusalStatus::Malformed.because(lacking(entry, missing)));
    }
    #[cfg(feature = "http")]
    if let (Some(http), Some(tool), Request::CallTool { arguments, .. }) =
        (&request.carrier.http, entry.tool(), operation)
    {
        let arguments = arguments.map_or(Raw::EMPTY_OBJECT, |arguments| arguments.whole);
        super::headers::check_arguments(&http.headers, &tool.headers, arguments)
            .map_err(|error| RefusalStatus::Malformed.because(error))?;
    }
    #[cfg(not(feature = "http"))]
    let _ = (request, operation);
    Ok(None)
}

/// Returns the error for a client that lacks capabilities that the item may use (rule META-04).
#[cold]
fn lacking(entry: &Entry, missing: Asks) -> Error {
    let names = missing.names().collect::<Vec<_>>().join(" and ");
    let text = format!("the {} `{}` needs a client with {names}", entry.kind_name(), entry.name);
    Error::of(ErrorKind::MissingCapability, text)
        .with_json(format!(r#"{{"requiredCapabilities":{}}}"#, missing.required_json()))
}

/// Returns the reason why a client of the legacy era cannot answer the requests that the item declares with `asks`. Returns `None` if the
/// client can.
fn cannot_be_asked(entry: &Entry, terms: &Terms) -> Option<String> {
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

/// Reason why the gate of an item has not admitted a call.
pub(super) enum GateStop {
    /// The caller has to wait. The text tells the model why.
    Refused(String),
    /// The store has to admit the call, because other servers share it.
    Deferred(EnteringCall),
}

/// Admits a call if the limits of the item allow it: the rate of calls, and the number of concurrent calls.
///
/// # Errors
/// Returns `Refused` if a limit does not admit the call now. Returns `Deferred` if the store has to decide, because other servers share it.
#[inline]
pub(super) fn enter_gate(
    state: &PeerState,
    entry: &Entry,
    terms: &Terms,
    request: &ClientRequest<'_>,
) -> Result<Option<Permit>, GateStop> {
    let Some(gate) = &entry.gate else { return Ok(None) };
    let who = state.who(request.carrier, terms.revision);
    if let Some(entering) = gate.entering(who) {
        return Err(GateStop::Deferred(entering));
    }
    let entered = gate.enter(who);
    entered.map_err(|closed| GateStop::Refused(refusal_text(&state.service, entry, &closed)))
}

/// Counts a call that the gate of its item has refused, and returns the reason as a text for the model.
#[cold]
pub(super) fn refusal_text(service: &Service, entry: &Entry, closed: &Closed) -> String {
    let (kind, name) = (entry.kind_name(), &entry.name);
    if let Some(limit) = closed.limit() {
        service.tally().refuse_of(limit, format_args!("the {kind} `{name}`"));
    }
    closed.text(name)
}

/// Checks that the id is not in use, and that the limits allow one more call.
pub(super) fn admit(
    state: &PeerState,
    request: &ClientRequest<'_>,
    revision: Revision,
) -> Result<(), RefusedRequest> {
    let (service, id) = (&*state.service, request.id);
    let limits = &service.limits;
    let mut in_flight = 0;
    if let Some(ongoing) = state.ongoing() {
        let calls = ongoing.calls();
        if calls.contains_key(id.as_str()) || ongoing.listens().contains(id) {
            return Err(RefusalStatus::Malformed.because(id_in_use()));
        }
        in_flight = calls.len();
    }
    let busy = |which: Limit, text: String| {
        let error = service.count_refusal(which, Error::of(ErrorKind::Failed, text));
        Err(RefusalStatus::Busy.because(error))
    };
    if in_flight >= limits.calls {
        let text = format!("{} calls are running already: wait for some of them", limits.calls);
        return busy(Limit::Calls, text);
    }
    let all = limits.max_total_calls;
    if service.shares().has_plenty(Pool::Calls, all) {
        return Ok(());
    }
    match state.tenant(request.carrier, revision).admits(Pool::Calls, all.into()) {
        Ok(()) => Ok(()),
        Err(NoShare::Empty) => {
            let text = format!("{all} calls are running already: wait for some of them");
            busy(Limit::MaxTotalCalls, text)
        }
        Err(NoShare::Reserved | NoShare::Own) => {
            let text = format!(
                "this client already uses its share of the {all} calls that may run: wait for some of them to finish"
            );
            busy(Limit::MaxTotalCalls, text)
        }
    }
}

/// Reserves bytes for a large request, because its handler may keep parts of the request in memory until the call ends. Most requests are
/// small and need no reservation.
///
/// # Errors
/// Fails if this request is too large together with those of all running calls and with the bodies that are being read.
#[inline]
pub(super) fn reserve(
    state: &PeerState,
    request: &ClientRequest<'_>,
) -> Result<Option<TakenBytes>, RefusedRequest> {
    let bytes = request.params.size() + request.id.as_str().len();
    if bytes > LARGE { reserve_large(state, bytes).map(Some) } else { Ok(None) }
}

#[cold]
fn reserve_large(state: &PeerState, bytes: usize) -> Result<TakenBytes, RefusedRequest> {
    let service = &*state.service;
    let mut taken = TakenBytes::default();
    if taken.grow(&service.bodies, bytes, service.limits.all_bodies) {
        return Ok(taken);
    }
    let text =
        "the requests of the running calls are too large together: wait for some calls to finish";
    let error = service.count_refusal(Limit::AllBodies, Error::of(ErrorKind::Failed, text));
    Err(RefusalStatus::Busy.because(error))
}
