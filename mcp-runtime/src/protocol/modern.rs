//! Requests of the modern era, each of which is self-contained: protocol revision 2026-07-28.

use std::sync::Arc;

use mcp_runtime_wire::{JsonKind, response};

use super::{
    call::{Received, RefusalStatus},
    encode,
    listen::listen,
    operate::operate,
    request::{ClientRequest, LOG_LEVEL, Method, check_client, parse_level, unknown_method},
    revision::Revision,
    session::Terms,
    state::PeerState,
    tasks::{self, TaskMethod},
};
use crate::{
    call::context::logging,
    error::{Error, ErrorKind, shown},
    limits::Limit,
};

/// Checks and handles a request. Clients can observe the order of the checks, so it is fixed (rule C-02).
pub(super) fn answer_request(
    state: &Arc<PeerState>,
    request: &ClientRequest<'_>,
    received: &mut Received,
) {
    let terms = match terms(state, request) {
        Ok(terms) => terms,
        Err(error) => {
            let refused = RefusalStatus::Malformed.because(error);
            return request.reject(Revision::MODERN[0], refused, received);
        }
    };
    let revision = terms.revision;
    match request.method {
        "server/discover" => discover(state, &terms, request),
        "subscriptions/listen" => listen(state, &terms, request, received),
        name => {
            if let Some(method) = Method::parse(name) {
                operate(state, method, &terms, request, received);
            } else if let Some(method) = TaskMethod::parse(name, revision) {
                tasks::answer_request(state, method, &terms, request, received);
            } else {
                let refused = RefusalStatus::UnknownMethod.because(unknown_method(name));
                request.reject(revision, refused, received);
            }
        }
    }
}

fn terms(state: &PeerState, request: &ClientRequest<'_>) -> Result<Terms, Error> {
    let meta = &request.meta;
    let (version, capabilities) =
        meta.envelope().map_err(|error| unknown_header(request).unwrap_or(error))?;
    let version = version.string().unwrap_or_default();
    #[cfg(feature = "http")]
    if let Some(http) = &request.carrier.http {
        super::headers::check(&http.headers, &version, request)?;
    }
    let Some(revision) = Revision::parse(&version).filter(|revision| revision.is_modern()) else {
        return Err(unsupported(&version, ""));
    };
    let log_level = match meta.log_level {
        None => None,
        Some(level) => {
            let name = level.string().ok_or_else(|| {
                Error::invalid_params(format_args!("`{LOG_LEVEL}` must be a string"))
            })?;
            Some(parse_level(&name)?)
        }
    };
    if let Some(level) = log_level {
        logging::listen(level);
    }
    let info = meta.client.filter(|info| info.kind() == JsonKind::Object);
    let service = &state.service;
    check_client(&service.limits, info, Some(capabilities))
        .map_err(|error| service.count_refusal(Limit::Client, error))?;
    let client = state.client(info, capabilities);
    let is_private = request.carrier.is_authenticated();
    Ok(Terms { revision, client, log_level, is_private })
}

fn discover(state: &PeerState, terms: &Terms, request: &ClientRequest<'_>) {
    let (service, snapshot) = (&state.service, state.snapshot());
    let Terms { revision, is_private, .. } = *terms;
    request.to.write(|out| {
        response(out, request.id, |result| {
            encode::discover(result, service, revision, &snapshot, is_private)
        });
    });
}

/// Returns an error about the revision if only the version header claims the modern era, and names no revision. The client may be one of
/// another era, which knows nothing of `_meta`.
#[cold]
fn unknown_header(request: &ClientRequest<'_>) -> Option<Error> {
    #[cfg(feature = "http")]
    if let (true, Some(http)) = (request.meta.is_bare(), &request.carrier.http) {
        let version = super::headers::unknown_version(&http.headers)?;
        let legacy = Revision::ALL.iter().rev().filter(|revision| !revision.is_modern());
        let legacy: Vec<_> = legacy.map(|revision| revision.name()).collect();
        return Some(unsupported(
            &version,
            &format!(", after `initialize` also {}", legacy.join(", ")),
        ));
    }
    let _ = request;
    None
}

/// Returns the error for a revision that is not served. Its data names only revisions that `_meta` can name. `others` is a text about the
/// other revisions.
#[cold]
fn unsupported(version: &str, others: &str) -> Error {
    let version = shown(version);
    let supported: Vec<_> = Revision::MODERN.iter().map(|revision| revision.name()).collect();
    let served = supported.join(", ");
    let text = format!("revision `{version}` is not served; served: {served}{others}");
    let data = serde_json::json!({ "supported": supported, "requested": version });
    Error::of(ErrorKind::UnsupportedVersion, text).with_data(data)
}
