//! Messages of clients of protocol revision 2024-11-05 that arrive at another node than the node of their stream. That node gets them
//! through the shared store.

use std::{borrow::Cow, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header,
    request::Parts,
};
use serde::{Deserialize, Serialize};

use super::{
    body::HttpBody,
    endpoint::Endpoint,
    reply::{self, HttpAnswer},
    request_body::RequestBytes,
    session::RelayedId,
    session_message::SessionMessage,
    session_table::SessionId,
    shared_copies::unavailable,
    shared_sessions::SharedSessions,
};
#[cfg(feature = "auth")]
use crate::call::context::Authorization;
use crate::{
    call::context::{Carrier, Principal},
    node::Subject,
    storage::{Condition, Rejection, StoreError, StoreOperation},
};

/// Time for which a message is kept for the node of its stream.
pub(super) const KEPT: Duration = Duration::from_secs(60);

/// Rate at which messages of a session are passed on: the time between two messages, and the time by which a message may come early.
/// A client that posts more messages has to wait, so that it does not push messages of other clients out of the log of the nodes.
const INTERVAL: Duration = Duration::from_millis(2);
const SLACK: Duration = Duration::from_millis(512);

/// Maximum number of attempts to pass a message on at this rate. With more attempts, a client that posts many messages could overload the store.
const ATTEMPTS: u32 = 3;

/// Number of messages that wait together for their last attempt.
const TURNS: u32 = 512;

/// Passes a message on to the node that has the stream of a session. The client gets its answer when the message is in the log of the nodes.
#[cold]
pub(super) fn pass_on(
    endpoint: &Arc<Endpoint>,
    session: SessionId,
    carrier: Carrier,
    read: &RequestBytes,
) -> HttpAnswer {
    let (endpoint, read) = (endpoint.clone(), read.held(endpoint));
    HttpAnswer::later(async move {
        let Some(shared) = &endpoint.shared else {
            return reply::no_session(OPEN_AGAIN).into();
        };
        match send(shared, &session, &carrier, &read.bytes).await {
            Ok(()) => reply::empty(StatusCode::ACCEPTED).into(),
            Err(refused) => refused.into(),
        }
    })
}

/// Text of the answer to a message of a session that has ended or never existed.
const OPEN_AGAIN: &str = "open a new stream";

async fn send(
    shared: &SharedSessions,
    session: &SessionId,
    carrier: &Carrier,
    body: &Bytes,
) -> Result<(), Box<Response<HttpBody>>> {
    let owner = shared.sse_owners.find(session).await.map_err(unavailable)?;
    // A stream of this node has ended if it is not in the table of this node.
    let is_reachable = owner.is_some_and(|owner| {
        owner.node != shared.node.id() && owner.principal == carrier.principal()
    });
    if !is_reachable {
        return Err(reply::no_session(OPEN_AGAIN).into());
    }
    let record = write(carrier, body)
        .map_err(|why| Box::new(reply::refuse(StatusCode::MISDIRECTED_REQUEST, why)))?;
    if append(shared, session, body.len(), record).await.map_err(unavailable)? {
        return Ok(());
    }
    Err(reply::busy("this client posts too many messages at once: post again later").into())
}

/// Stores a message and tells the node of the stream, in one transaction. Returns `false` if the client posts too many messages.
///
/// # Errors
/// Fails if the store is unavailable. The message may be handled nevertheless.
async fn append(
    shared: &SharedSessions,
    session: &SessionId,
    size: usize,
    record: Vec<u8>,
) -> Result<bool, StoreError> {
    let (node, number) = (&shared.node, shared.sse_owners.next_message());
    let session = session.to_string();
    let message = SessionMessage::Relayed(&session, number, size).body()?;
    let rate = format!("relayed/{session}");
    for attempt in 0..ATTEMPTS {
        let pass = StoreOperation::Pass { rate: rate.clone(), interval: INTERVAL, slack: SLACK };
        let name = record_name((node.id(), number));
        let put = StoreOperation::put(name, record.clone(), KEPT, Condition::Absent);
        match node.send_with(vec![pass, put], Subject::Sessions, &message).await? {
            Err(Rejection::Wait(_, pause)) if attempt + 1 < ATTEMPTS => {
                // Messages that wait together come at different times.
                let turn = if attempt == 0 { 0 } else { number as u32 % TURNS };
                tokio::time::sleep(pause + INTERVAL * turn).await;
            }
            Err(Rejection::Wait(..)) => return Ok(false),
            // The store has the message already. It has executed a transaction twice.
            Ok(_) | Err(_) => return Ok(true),
        }
    }
    Ok(false)
}

/// Returns the name of the record with a message, in the partition of the nodes.
pub(super) fn record_name((node, number): RelayedId) -> String {
    format!("relayed/{node}/{number}")
}

/// Message that another node has received.
pub(super) struct RelayedMessage {
    pub(super) carrier: Carrier,
    /// Whether the stream may stay open as long as the token of the request is valid.
    pub(super) shows_token: bool,
    pub(super) body: Bytes,
}

/// Sender of a message.
#[derive(Serialize, Deserialize)]
struct RelayedSender<'a> {
    principal: Cow<'a, str>,
    /// Authorization of the caller, without its token.
    authorization: Option<Cow<'a, str>>,
    /// Whether the token may be revoked before it expires. Only the node that has verified the token notices a revocation.
    is_revocable: bool,
    address: Option<IpAddr>,
}

/// Headers that may have credentials, which are never stored.
const SECRET: [HeaderName; 3] =
    [header::AUTHORIZATION, header::PROXY_AUTHORIZATION, header::COOKIE];

/// Writes a message: the sender as a line of JSON, the headers, an empty line and the body.
///
/// # Errors
/// Fails if a handler may need data that cannot be stored. Returns the text for the client.
fn write(carrier: &Carrier, body: &[u8]) -> Result<Vec<u8>, String> {
    let none = HeaderMap::new();
    let headers = carrier.http.as_ref().map_or(&none, |head| &head.headers);
    // If no layer before the handlers has checked the credentials in this header, they are meant for the handlers.
    let is_unchecked = |value: &HeaderValue| value.is_sensitive() || carrier.principal().is_empty();
    if headers.get(header::AUTHORIZATION).is_some_and(is_unchecked) {
        return Err(misdirected("the header `Authorization` is for the handlers"));
    }
    let (authorization, is_revocable) = kept_authorization(carrier)?;
    let principal = carrier.principal().into();
    let sender = RelayedSender { principal, authorization, is_revocable, address: carrier.address };
    let mut record = serde_json::to_vec(&sender).map_err(|why| why.to_string())?;
    record.push(b'\n');
    for (name, value) in headers {
        if !value.is_sensitive() && !SECRET.contains(name) {
            let parts = [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"];
            parts.iter().for_each(|part| record.extend_from_slice(part));
        }
    }
    record.push(b'\n');
    record.extend_from_slice(body);
    Ok(record)
}

/// Returns the authorization of a caller, and whether its token may be revoked.
///
/// # Errors
/// Fails if the authorization has data that cannot be stored. Returns the text for the client.
#[cfg(feature = "auth")]
fn kept_authorization(carrier: &Carrier) -> Result<(Option<Cow<'static, str>>, bool), String> {
    let Some(authorization) = carrier.authorization() else { return Ok((None, false)) };
    if !authorization.can_be_kept() {
        return Err(misdirected("the claims of this caller cannot be stored"));
    }
    let kept = authorization.keep().into_string();
    Ok((Some(kept.into()), authorization.revoked().is_some()))
}

#[cfg(not(feature = "auth"))]
fn kept_authorization(_: &Carrier) -> Result<(Option<Cow<'static, str>>, bool), String> {
    Ok((None, false))
}

fn misdirected(why: &str) -> String {
    format!(
        "{why}, so this message must arrive at the node that has the stream: the load balancer needs sticky sessions"
    )
}

/// Reads what [`write`] has written. Returns `None` if the record has another form.
pub(super) fn read(endpoint: &Endpoint, record: Vec<u8>) -> Option<RelayedMessage> {
    let record = Bytes::from(record);
    let mut lines = record.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next()?;
    let sender: RelayedSender<'_> = serde_json::from_slice(first).ok()?;
    let (mut head, ()) = Request::new(()).into_parts();
    head.method = Method::POST;
    let mut at = first.len();
    for line in lines {
        at += line.len();
        let Some(colon) = line.windows(2).position(|pair| pair == b": ") else { break };
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        let value = HeaderValue::from_bytes(&line[colon + 2..line.len() - 1]).ok()?;
        head.headers.append(name, value);
    }
    head.extensions.insert(Principal::new(&*sender.principal));
    authorize(endpoint, &sender, &mut head)?;
    Some(RelayedMessage {
        carrier: Carrier::of_request(&Arc::new(head), sender.address),
        shows_token: !sender.is_revocable,
        body: record.slice(at..),
    })
}

/// Adds the authorization of the sender to the head of a request. Returns `None` if it has another form.
#[cfg(feature = "auth")]
fn authorize(endpoint: &Endpoint, sender: &RelayedSender<'_>, head: &mut Parts) -> Option<()> {
    let Some(kept) = &sender.authorization else { return Some(()) };
    let authorization = Authorization::kept(kept)?;
    head.extensions.insert(match &endpoint.settings.protected {
        Some(protected) => protected.completed(authorization),
        None => authorization,
    });
    Some(())
}

#[cfg(not(feature = "auth"))]
fn authorize(_: &Endpoint, sender: &RelayedSender<'_>, _: &mut Parts) -> Option<()> {
    // A node with the feature has verified a token whose rights this node cannot check.
    sender.authorization.is_none().then_some(())
}
