//! A request on its way from either era to `dispatch`.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll, Waker},
};

use super::{
    call::{PendingCall, ReplyTo, WayBack},
    channel::{CallChannel, ProgressSlot},
    method::Method,
    modern::RequestMeta,
    peer::Peer,
    revision::Revision,
    shared::Shared,
};
use crate::{
    context::{Caller, Channel, logging, meta_text},
    dispatch::Dispatched,
    error::{Error, Kind, shown},
    model::{ClientInfo, Level},
    wire::{Id, Raw},
};

/// A request as it came, and where its response goes.
pub(super) struct ClientRequest<'a> {
    pub(super) id: Id<'a>,
    pub(super) method: &'a str,
    /// An empty object when there were none.
    pub(super) params: Raw<'a>,
    pub(super) meta: RequestMeta<'a>,
    pub(super) to: &'a ReplyTo,
}

/// What holds between the client and us for one request: said in the handshake, or in the request itself.
pub(super) struct Terms {
    pub(super) revision: Revision,
    pub(super) client: Arc<ClientInfo>,
    pub(super) log_level: Option<Level>,
}

impl Peer {
    /// Runs a request that both eras have.
    pub(super) fn operate(
        &self,
        method: Method,
        terms: &Terms,
        request: &ClientRequest<'_>,
        waiting: &mut Vec<PendingCall>,
    ) {
        let shared = &self.shared;
        let revision = terms.revision;
        let snapshot = shared.snapshot();
        if !method.is_served(revision, &snapshot) {
            return shared.refuse(request, revision, &unknown_method(request.method));
        }
        let operation = method
            .operation(request.params)
            .and_then(|operation| self.admit(request.id).map(|()| operation));
        let operation = match operation {
            Ok(operation) => operation,
            Err(error) => return shared.refuse(request, revision, &error),
        };
        let (caller, slot) = caller(shared, terms, &request.meta);
        let dispatched = shared.service.dispatcher.dispatch(&snapshot, caller, operation);
        let to = request.to.clone();
        let way = WayBack { shared: shared.clone(), snapshot, revision, slot, to };
        match dispatched {
            Dispatched::Ready(answer) => way.answer(request.id, &answer),
            Dispatched::Pending(mut pending) => {
                // Polled where it stands: a handler that is ready at once costs no task and no entry in the table.
                let mut cx = task::Context::from_waker(Waker::noop());
                match Pin::new(&mut pending).poll(&mut cx) {
                    Poll::Ready(Some(answer)) => way.answer(request.id, &answer),
                    Poll::Ready(None) => {}
                    Poll::Pending => {
                        waiting.push(PendingCall::new(pending, request.id.to_owned(), way));
                    }
                }
            }
        }
    }

    /// Whether the id is free and there is room for one more call.
    fn admit(&self, id: Id<'_>) -> Result<(), Error> {
        let calls = self.shared.calls();
        let limit = self.shared.service.limits.in_flight;
        if calls.contains_key(id.as_str()) || self.shared.listens().contains(id) {
            Err(id_in_use())
        } else if calls.len() >= limit {
            let text = format!("{limit} calls are running already: wait for some of them");
            Err(Error::of(Kind::Failed, text))
        } else {
            Ok(())
        }
    }
}

fn caller(
    shared: &Shared,
    terms: &Terms,
    meta: &RequestMeta<'_>,
) -> (Caller, Option<Arc<ProgressSlot>>) {
    // A string or an integer, as ids are.
    let token = meta.progress_token.filter(|it| Id::parse(*it).is_some());
    let log_level = terms.log_level.filter(|_| logging::is_installed());
    let mut caller = Caller {
        client: terms.client.clone(),
        meta: meta_text(meta.whole),
        log_level,
        ..Caller::default()
    };
    let mut slot = None;
    if token.is_some() || log_level.is_some() {
        let outbox = shared.outbox.clone();
        let channel = CallChannel::new(outbox, terms.revision, token.map(Raw::as_str));
        slot = token.map(|_| channel.slot());
        caller.wants_progress = token.is_some();
        caller.channel = Some(Arc::new(channel) as Arc<dyn Channel>);
    }
    (caller, slot)
}

/// A call or a listen stream has this id (RPC-08).
pub(super) fn id_in_use() -> Error {
    Error::of(Kind::InvalidRequest, "a request with this id is still running")
}

pub(super) fn unknown_method(method: &str) -> Error {
    Error::of(Kind::MethodNotFound, format_args!("method not found: {}", shown(method)))
}
