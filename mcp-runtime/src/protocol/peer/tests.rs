use std::task::Poll;

use super::*;
use crate::{
    builder::{builder, items},
    catalog::Tool,
    server::Identity,
};

/// Returns the output of a future that is ready at its first poll, without any runtime.
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

/// Returns `_meta` of a request of the modern era.
fn envelope() -> String {
    let version = Revision::MODERN[0].name();
    format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
    )
}

fn answers(peer: &Peer) -> String {
    let mut out = Vec::new();
    peer.outbox().take(&mut out);
    String::from_utf8(out).unwrap()
}

/// Handling a message needs no I/O and no runtime.
#[test]
fn receive_needs_no_runtime() {
    let peer = peer();
    let mut received = Received::default();
    let envelope = envelope();
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"echo",{envelope}}}}}"#
    );
    peer.receive(call.as_bytes(), &mut received);
    assert!(received.waiting.is_empty(), "a handler that is ready at once is not kept");
    let answer = answers(&peer);
    assert!(
        answer.starts_with(r#"{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete""#),
        "{answer}"
    );
    assert!(answer.contains("hello") && answer.ends_with("}\n"), "{answer}");
}

#[test]
fn an_unreadable_message_gets_an_error_and_the_next_request_is_served() {
    let peer = peer();
    let mut received = Received::default();
    peer.receive(b"{\"jsonrpc\":", &mut received);
    peer.receive(b"\xff\xfe", &mut received);
    assert_eq!(answers(&peer).matches("-32700").count(), 2);
    peer.receive(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, &mut received);
    assert_eq!(answers(&peer), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

/// Creates a server with a dynamic catalog, and a connection with an open listen stream, whose id is 7.
fn listening() -> (crate::catalog::Handle, Peer) {
    let server =
        builder(Identity::new("test", None, "1.0.0", "")).items(items(&[])).build().unwrap();
    let handle = server.handle();
    handle.add(Tool::new("echo").handler(async |_: Context| "hello")).unwrap();
    let peer = Peer::new(Service::new(&now(server.start()).unwrap()));
    let listen = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{{{},"notifications":{{"toolsListChanged":true}}}}}}"#,
        envelope()
    );
    peer.receive(listen.as_bytes(), &mut Received::default());
    assert!(answers(&peer).contains("acknowledged"));
    (handle, peer)
}

fn all_answers(peer: &Peer) -> String {
    std::iter::from_fn(|| Some(answers(peer)).filter(|batch| !batch.is_empty())).collect()
}

/// Events that still wait for a slow reader are sent before the end of the stream, or dropped if the client has cancelled the stream.
#[test]
fn nothing_follows_the_end_of_a_stream() {
    fn check(end: impl Fn(&Peer), expected: &[&str]) {
        let (handle, peer) = listening();
        peer.outbox().push(|out| out.resize(100_000, b'x'));
        assert!(handle.disable("echo"));
        end(&peer);
        let said = all_answers(&peer);
        let said: Vec<_> =
            said.lines().skip(1).map(|line| line.split('"').nth(7).unwrap_or_default()).collect();
        assert_eq!(said, expected);
    }
    let changed = "notifications/tools/list_changed";
    check(Peer::close, &[changed, "notifications/cancelled", "result"]);
    let cancel =
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    check(|peer| peer.receive(cancel, &mut Received::default()), &[]);
}

/// The `tracing` subscriber of this test changes the server during the log event. If the server held one of its locks while logging, this
/// would be a deadlock.
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
            ReplyTo::each(peer.outbox().clone()).error(Revision::MODERN[0], None, &error);
        });
        done.send(all_answers(&peer)).unwrap();
    });
    let said = is_done.recv_timeout(std::time::Duration::from_secs(60)).expect("a deadlock");
    assert_eq!(said.matches("list_changed").count(), 1, "{said}");
    assert!(said.contains("internal error") && !said.contains("hunter2"), "{said}");
}

/// On a multi-thread runtime, a cancellation can arrive during the last poll of the handler. The test cancels the call from within its
/// handler.
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
            std::future::poll_fn(|_| {
                if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            let cancel =
                br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
            peer.get().unwrap().receive(cancel, &mut Received::default());
            "too late"
        }
    });
    server.handle().add(tool).unwrap();
    let peer = peer.get_or_init(|| Peer::new(Service::new(&now(server.start()).unwrap())));
    let mut received = Received::default();
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"overtaken",{}}}}}"#,
        envelope()
    );
    peer.receive(call.as_bytes(), &mut received);
    now(received.waiting.pop().unwrap());
    assert_eq!(answers(peer), "");
    assert!(!peer.is_busy());
}

#[test]
fn an_error_does_not_grow_with_the_number_of_unknown_arguments() {
    let peer = peer();
    let mut received = Received::default();
    let envelope = envelope();
    let unknown: Vec<String> =
        (0..10_000).map(|number| format!(r#""{}{number}":1"#, "x".repeat(500))).collect();
    let arguments = unknown.join(",");
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{{arguments}}},{envelope}}}}}"#
    );
    peer.receive(call.as_bytes(), &mut received);
    let answer = answers(&peer);
    assert!(answer.contains("and 9990 more unknown arguments"), "{answer}");
    assert!(answer.len() < 4000, "{}", answer.len());
}

/// Only the client whose user was sent to a URL is notified when the user has finished there (rule ELIC-08).
#[test]
fn only_the_client_that_was_sent_to_a_url_is_notified_of_its_completion() {
    let server =
        builder(Identity::new("test", None, "1.0.0", "")).items(items(&[])).build().unwrap();
    const PAGE: &str = "https://pay.example.com/orders/7";
    let book = Tool::new("book").handler(async |ctx: Context| -> Result<(), Error> {
        Err(ctx.require_url("pay", "Pay", PAGE).await.into())
    });
    let handle = server.handle();
    handle.add(book).unwrap();
    let service = Service::new(&now(server.start()).unwrap());
    let peers = [Peer::new(service.clone()), Peer::new(service)];
    let mut received = Received::default();
    let revision = Revision::NEWEST_LEGACY.name();
    for peer in &peers {
        let open = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","clientInfo":{{"name":"c","version":"1"}},"capabilities":{{"elicitation":{{"url":{{}}}}}}}}}}"#
        );
        peer.receive(open.as_bytes(), &mut received);
        peer.receive(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &mut received);
        answers(peer);
    }
    let call = br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book"}}"#;
    peers[0].receive(call, &mut received);
    assert!(answers(&peers[0]).contains("-32042"));
    handle.url_completed(PAGE);
    assert_eq!(answers(&peers[0]).matches("notifications/elicitation/complete").count(), 1);
    assert_eq!(answers(&peers[1]), "");
}
