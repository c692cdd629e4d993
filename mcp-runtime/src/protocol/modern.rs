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
    let (version, capabilities) = meta.envelope()?;
    let version = version.string().unwrap_or_default();
    #[cfg(feature = "http")]
    if let Some(http) = &request.carrier.http {
        super::headers::check(&http.headers, &version, request)?;
    }
    let Some(revision) = Revision::parse(&version).filter(|revision| revision.is_modern()) else {
        return Err(unsupported(&version));
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

#[cold]
fn unsupported(version: &str) -> Error {
    let version = shown(version);
    let supported: Vec<_> = Revision::MODERN.iter().map(|revision| revision.name()).collect();
    let text = format!("revision `{version}` is not served; served: {}", supported.join(", "));
    let data = serde_json::json!({ "supported": supported, "requested": version });
    Error::of(ErrorKind::UnsupportedVersion, text).with_data(data)
}
