use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use super::{
    Service,
    call::{Batch, PendingCall, ReplyTo, reply},
    channel::{CallChannel, ProgressSlot},
    encode::{self, Feature},
    legacy::Session,
    listen::Listens,
    modern::{self, Envelopes},
    outbox::Outbox,
    params,
    revision::Revision,
};
use crate::{
    catalog::{Event, Listener, Snapshot},
    context::{Caller, Channel, Context, logging, meta_text},
    dispatch::Dispatched,
    error::{Error, Kind},
    model::{ClientInfo, Level},
    wire::{self, Id, IdBuf, Incoming, Invalid, Message, Raw},
};

/// One connection: its legacy session, if it ever has one, and the calls and streams of both eras.
pub(crate) struct Peer {
    pub(super) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(super) service: Arc<Service>,
    pub(crate) outbox: Arc<Outbox>,
    pub(super) session: Mutex<Session>,
    pub(super) envelopes: Mutex<Envelopes>,
    pub(super) listens: Mutex<Listens>,
    calls: Mutex<HashMap<IdBuf, Context>>,
    /// Calls that may still say something.
    pub(super) busy: AtomicUsize,
    /// Kept until the catalog's epoch moves, so that a request takes no lock other connections take.
    snapshot: Mutex<Arc<Snapshot>>,
}

/// A request as both eras hand it on.
pub(super) struct Asked<'a> {
    pub(super) id: Id<'a>,
    pub(super) method: &'a str,
    pub(super) params: Option<Raw<'a>>,
    pub(super) meta: Option<Raw<'a>>,
}

/// What an era knows of the caller besides the request.
pub(super) struct From {
    pub(super) revision: Revision,
    pub(super) client: Arc<ClientInfo>,
    pub(super) log_level: Option<Level>,
}

impl Shared {
    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<IdBuf, Context>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listens(&self) -> MutexGuard<'_, Listens> {
        self.listens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        let mut kept = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let catalog = &self.service.dispatcher.catalog;
        if kept.epoch != catalog.epoch() {
            *kept = catalog.snapshot();
        }
        kept.clone()
    }

    pub(super) fn error(
        &self,
        revision: Revision,
        id: Option<Id<'_>>,
        error: &Error,
        to: &ReplyTo,
    ) {
        encode::note(error);
        self.write(to, |out| encode::error(out, revision, id, error));
    }

    pub(super) fn write(&self, to: &ReplyTo, write: impl FnOnce(&mut Vec<u8>)) {
        match to {
            ReplyTo::Line => self.outbox.push(write),
            ReplyTo::Batch(batch) => batch.push(write),
        }
    }

    /// The revision to speak where no message says one: that of the session.
    pub(super) fn spoken(&self) -> Revision {
        self.session().revision().unwrap_or(Revision::NEWEST_LEGACY)
    }
}

impl Listener for Shared {
    fn notify(&self, event: &Event) {
        let of_session = self.session().notification(event);
        if let Some(message) = of_session {
            self.outbox.push_event(None, message);
        }
        // Under the lock, so that no stream ends between its message and the outbox.
        let listens = self.listens();
        for (id, message) in listens.notifications(event) {
            self.outbox.push_event(Some(id), message);
        }
    }
}

impl Peer {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        let snapshot = service.dispatcher.catalog.snapshot();
        let shared = Arc::new(Shared {
            service,
            outbox: Arc::default(),
            session: Mutex::default(),
            envelopes: Mutex::default(),
            listens: Mutex::default(),
            calls: Mutex::default(),
            busy: AtomicUsize::new(0),
            snapshot: Mutex::new(snapshot),
        });
        let listener: Arc<dyn Listener> = shared.clone();
        shared.service.dispatcher.catalog.bus.listen(Arc::downgrade(&listener));
        Self { shared }
    }

    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.shared.outbox
    }

    /// Handles one message or batch. What can be answered at once is in the outbox when this returns; calls that have to wait are
    /// added to `waiting`, for the transport to drive.
    pub(crate) fn receive(&self, bytes: &[u8], waiting: &mut Vec<PendingCall>) {
        let shared = &self.shared;
        let limits = shared.service.limits;
        match wire::parse(bytes, wire::Limits { depth: limits.depth, batch: limits.batch }) {
            Err(malformed) => {
                let error = Error::of(Kind::Parse, malformed);
                shared.error(shared.spoken(), None, &error, &ReplyTo::Line);
            }
            Ok(Incoming::One(message)) => self.message(message, &ReplyTo::Line, waiting),
            Ok(Incoming::EmptyBatch) => self.refuse_array("an empty array is no message"),
            Ok(Incoming::Batch(messages)) => {
                let batches = shared.session().revision().is_some_and(|it| it.features().batches);
                if !batches {
                    return self.refuse_array(
                        "one message at a time: this revision has no arrays of messages",
                    );
                }
                let to = ReplyTo::Batch(Batch::new(shared.clone()));
                for message in messages {
                    self.message(message, &to, waiting);
                }
            }
        }
    }

    /// A line that was too long to be kept.
    pub(crate) fn too_long(&self) {
        let limit = self.shared.service.limits.message;
        let error = Error::of(
            Kind::InvalidRequest,
            format_args!("the message is longer than {limit} bytes"),
        );
        self.shared.error(self.shared.spoken(), None, &error, &ReplyTo::Line);
    }

    fn refuse_array(&self, reason: &str) {
        self.shared.error(
            self.shared.spoken(),
            None,
            &Error::of(Kind::InvalidRequest, reason),
            &ReplyTo::Line,
        );
    }

    fn message(
        &self,
        message: Result<Message<'_>, Invalid<'_>>,
        to: &ReplyTo,
        waiting: &mut Vec<PendingCall>,
    ) {
        match message {
            Err(invalid) if !invalid.answer => {
                tracing::debug!("ignored a message: {}", invalid.reason)
            }
            Err(invalid) => {
                let error = Error::of(Kind::InvalidRequest, invalid.reason);
                self.shared.error(self.shared.spoken(), invalid.id, &error, to);
            }
            Ok(Message::Request { id, method, params }) => {
                let meta = params.and_then(|it| it.get("_meta"));
                let request = Asked { id, method: &method, params, meta };
                if modern::claims(&method, meta) {
                    // A session of 2025-03-26 does not bring its arrays to the other era (RPC-11).
                    if matches!(to, ReplyTo::Batch(_)) {
                        let text = "a request of this revision cannot be part of a batch";
                        let error = Error::of(Kind::InvalidRequest, text);
                        return self.shared.error(Revision::MODERN[0], Some(id), &error, to);
                    }
                    self.modern_request(&request, to, waiting);
                } else {
                    self.legacy_request(&request, to, waiting);
                }
            }
            Ok(Message::Notification { method, params }) => match &*method {
                // It carries no envelope in either era, so one table serves both.
                "notifications/cancelled" => self.cancel(params),
                "notifications/initialized" => self.shared.session().set_initialized(),
                // Progress of ours, roots that changed: nothing here asks for them yet. The rest is unknown and stays unanswered.
                _ => {}
            },
            // Nothing was asked of the client.
            Ok(Message::Response { .. }) => {}
        }
    }

    /// Malformed ones, and those that come too late, are ignored (CANC-02).
    fn cancel(&self, params: Option<Raw<'_>>) {
        let Some(id) = params.and_then(|it| it.get("requestId")).and_then(Id::parse) else {
            return;
        };
        let id = id.to_owned();
        if let Some(reason) = params.and_then(|it| it.get("reason")).and_then(Raw::string) {
            tracing::debug!("request {} was cancelled: {reason}", id.as_id().as_str());
        }
        let context = self.shared.calls().remove(&id);
        match context {
            Some(context) => {
                // A blocking handler learns of it late; what it reports until then is not sent (STDIO-05).
                context.close();
                context.set_cancelled();
            }
            None => {
                let mut listens = self.shared.listens();
                listens.remove(&id);
                self.shared.outbox.forget_events(&id);
            }
        }
    }

    /// Whether the id is free and there is room for one more call. Answers when not.
    pub(super) fn admit(&self, revision: Revision, id: Id<'_>, to: &ReplyTo) -> bool {
        let shared = &self.shared;
        let problem = {
            let calls = shared.calls();
            let limit = shared.service.limits.in_flight;
            if self.is_in_flight(&calls, id) {
                Some(Error::of(Kind::InvalidRequest, "a request with this id is still running"))
            } else if calls.len() >= limit {
                let text = format!("{limit} calls are running already: wait for some of them");
                Some(Error::of(Kind::Failed, text))
            } else {
                None
            }
        };
        match problem {
            None => true,
            Some(error) => {
                shared.error(revision, Some(id), &error, to);
                false
            }
        }
    }

    /// Whether a call or a listen stream has this id (RPC-08).
    fn is_in_flight(&self, calls: &HashMap<IdBuf, Context>, id: Id<'_>) -> bool {
        let listens = self.shared.listens();
        if calls.is_empty() && listens.is_empty() {
            return false;
        }
        let id = id.to_owned();
        calls.contains_key(&id) || listens.contains(&id)
    }

    /// Runs a request that both eras have: the items' methods.
    pub(super) fn operate(
        &self,
        from: From,
        request: &Asked<'_>,
        to: &ReplyTo,
        waiting: &mut Vec<PendingCall>,
    ) {
        let shared = &self.shared;
        let (revision, id) = (from.revision, request.id);
        let snapshot = shared.snapshot();
        let Some((feature, operation)) = params::operation(request.method, request.params) else {
            return shared.error(revision, Some(id), &unknown_method(request.method), to);
        };
        // 2024-11-05 has completion without a capability, so any prompt or template may be asked for it.
        let served = feature.is_served(&snapshot)
            || (feature == Feature::Completions
                && !revision.features().completions_capability
                && (Feature::Prompts.is_served(&snapshot)
                    || Feature::Resources.is_served(&snapshot)));
        if !served {
            return shared.error(revision, Some(id), &unknown_method(request.method), to);
        }
        let operation = match operation {
            Ok(operation) => operation,
            Err(error) => return shared.error(revision, Some(id), &error, to),
        };
        if !self.admit(revision, id, to) {
            return;
        }
        let token = request.meta.and_then(|it| it.get("progressToken")).filter(is_token);
        let (caller, slot) = caller(shared, &from, request.meta, token);
        match shared.service.dispatcher.dispatch(&snapshot, caller, operation) {
            Dispatched::Ready(answer) => {
                let id = id.to_owned();
                reply(shared, &snapshot, revision, &id, &answer, slot.as_ref(), to);
            }
            Dispatched::Pending(mut pending) => {
                // Polled where it stands: a handler that is ready at once costs no task and no entry in the table.
                let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                if let Poll::Ready(answer) = Pin::new(&mut pending).poll(&mut cx) {
                    if let Some(answer) = answer {
                        reply(
                            shared,
                            &snapshot,
                            revision,
                            &id.to_owned(),
                            &answer,
                            slot.as_ref(),
                            to,
                        );
                    }
                    return;
                }
                waiting.push(PendingCall::new(
                    pending,
                    shared.clone(),
                    snapshot.clone(),
                    revision,
                    id.to_owned(),
                    slot,
                    to.clone(),
                ));
            }
        }
    }

    pub(crate) fn message_limit(&self) -> usize {
        self.shared.service.limits.message
    }

    /// How many calls wait for their handlers.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.calls().len()
    }

    /// Whether some call may still say something.
    pub(crate) fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Acquire) > 0
    }

    /// Gives up everything that runs; nothing is answered any more.
    pub(crate) fn cancel_all(&self) {
        let calls: Vec<Context> = self.shared.calls().drain().map(|it| it.1).collect();
        for context in calls {
            context.set_cancelled();
        }
    }

    /// Ends the listen streams in the protocol's terms (SUB-04).
    pub(crate) fn close(&self) {
        let messages = self.shared.listens().close(&self.shared.service);
        for message in messages {
            self.shared.outbox.push_after_events(|out| out.extend_from_slice(&message));
        }
    }
}

/// A string or an integer.
fn is_token(token: &Raw<'_>) -> bool {
    Id::parse(*token).is_some()
}

fn caller(
    shared: &Arc<Shared>,
    from: &From,
    meta: Option<Raw<'_>>,
    token: Option<Raw<'_>>,
) -> (Caller, Option<Arc<ProgressSlot>>) {
    let log_level = from.log_level.filter(|_| logging::is_installed());
    let mut caller = Caller {
        client: from.client.clone(),
        meta: meta_text(meta),
        log_level,
        ..Caller::default()
    };
    let mut slot = None;
    if token.is_some() || log_level.is_some() {
        let channel =
            CallChannel::new(shared.outbox.clone(), from.revision, token.map(Raw::as_str));
        slot = token.map(|_| channel.slot());
        caller.wants_progress = token.is_some();
        caller.channel = Some(Arc::new(channel) as Arc<dyn Channel>);
    }
    (caller, slot)
}

pub(super) fn unknown_method(method: &str) -> Error {
    Error::of(Kind::MethodNotFound, format_args!("method not found: {method}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        builder::{Identity, builder, items},
        catalog::Tool,
    };

    /// Polls a future that is ready at once, without any runtime.
    fn now<F: Future>(future: F) -> F::Output {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut cx) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("it had to wait"),
        }
    }

    fn peer() -> Peer {
        let server =
            builder(Identity::new("test", None, "1.0.0", "")).items(items(&[])).build().unwrap();
        let echo = Tool::new("echo").handler(async |_: Context| "hello");
        server.handle().add(echo).unwrap();
        Peer::new(Service::new(&now(server.start()).unwrap()))
    }

    fn answers(peer: &Peer) -> String {
        let mut out = Vec::new();
        peer.outbox().take(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// Invariant 2: no I/O and no runtime between a message and its answer.
    #[test]
    fn receive_needs_no_runtime() {
        let peer = peer();
        let mut waiting = Vec::new();
        let envelope = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"echo",{envelope}}}}}"#
        );
        peer.receive(call.as_bytes(), &mut waiting);
        assert!(waiting.is_empty(), "a handler that is ready at once is not kept");
        let answer = answers(&peer);
        assert!(
            answer.starts_with(r#"{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete""#),
            "{answer}"
        );
        assert!(answer.contains("hello") && answer.ends_with("}\n"), "{answer}");
    }

    #[test]
    fn what_cannot_be_read_is_answered_and_harms_nobody() {
        let peer = peer();
        let mut waiting = Vec::new();
        peer.receive(b"{\"jsonrpc\":", &mut waiting);
        peer.receive(b"\xff\xfe", &mut waiting);
        assert_eq!(answers(&peer).matches("-32700").count(), 2);
        peer.receive(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, &mut waiting);
        assert_eq!(answers(&peer), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    }

    /// A server whose catalog changes, and a connection to it that listens as stream 7.
    fn listening() -> (crate::catalog::Handle, Peer) {
        let server =
            builder(Identity::new("test", None, "1.0.0", "")).items(items(&[])).build().unwrap();
        let handle = server.handle();
        handle.add(Tool::new("echo").handler(async |_: Context| "hello")).unwrap();
        let peer = Peer::new(Service::new(&now(server.start()).unwrap()));
        let listen = r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}"#;
        peer.receive(listen.as_bytes(), &mut Vec::new());
        assert!(answers(&peer).contains("acknowledged"));
        (handle, peer)
    }

    fn all_answers(peer: &Peer) -> String {
        std::iter::from_fn(|| Some(answers(peer)).filter(|it| !it.is_empty())).collect()
    }

    /// What a slow reader has not been told comes before the end of the stream, or never.
    #[test]
    fn nothing_follows_the_end_of_a_stream() {
        fn check(end: impl Fn(&Peer), expected: &[&str]) {
            let (handle, peer) = listening();
            peer.outbox().push(|out| out.resize(100_000, b'x'));
            assert!(handle.disable("echo"));
            end(&peer);
            let said = all_answers(&peer);
            let said: Vec<_> =
                said.lines().skip(1).map(|it| it.split('"').nth(7).unwrap_or_default()).collect();
            assert_eq!(said, expected);
        }
        let changed = "notifications/tools/list_changed";
        check(Peer::close, &[changed, "notifications/cancelled", "result"]);
        let cancel =
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        check(|peer| peer.receive(cancel, &mut Vec::new()), &[]);
    }

    /// A subscriber may do what it likes with an event, also change the server.
    #[test]
    fn an_internal_error_is_logged_outside_of_the_locks() {
        struct Telling(crate::catalog::Handle);
        impl tracing::Subscriber for Telling {
            fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
                true
            }
            fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
                tracing::span::Id::from_u64(1)
            }
            fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
            fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
            fn event(&self, _: &tracing::Event<'_>) {
                self.0.disable("echo");
            }
            fn enter(&self, _: &tracing::span::Id) {}
            fn exit(&self, _: &tracing::span::Id) {}
        }
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (handle, peer) = listening();
            let error = Error::internal("hunter2");
            tracing::subscriber::with_default(Telling(handle), || {
                peer.shared.error(Revision::MODERN[0], None, &error, &ReplyTo::Line);
            });
            done.send(all_answers(&peer)).unwrap();
        });
        let said = is_done.recv_timeout(std::time::Duration::from_secs(5)).expect("a deadlock");
        assert_eq!(said.matches("list_changed").count(), 1, "{said}");
        assert!(said.contains("internal error") && !said.contains("hunter2"), "{said}");
    }

    /// On a runtime with threads, a cancellation can arrive while the handler is on its last stretch.
    #[test]
    fn an_answer_that_comes_after_the_cancellation_is_not_sent() {
        let peer = Arc::new(std::sync::OnceLock::<Peer>::new());
        let server =
            builder(Identity::new("test", None, "1.0.0", "")).items(items(&[])).build().unwrap();
        let to_be_cancelled = peer.clone();
        let tool = Tool::new("overtaken").handler(move |_: Context| {
            let peer = to_be_cancelled.clone();
            async move {
                let mut waited = false;
                std::future::poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
                let cancel = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
                peer.get().unwrap().receive(cancel, &mut Vec::new());
                "too late"
            }
        });
        server.handle().add(tool).unwrap();
        let peer = peer.get_or_init(|| Peer::new(Service::new(&now(server.start()).unwrap())));
        let mut waiting = Vec::new();
        let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"overtaken","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        peer.receive(call, &mut waiting);
        now(waiting.pop().unwrap());
        assert_eq!(answers(peer), "");
        assert!(!peer.is_busy());
    }
}
