//! Requests from clients to mock servers, whose responses the tests write.

use std::{
    convert::Infallible,
    future::{pending, ready},
    pin::pin,
    sync::Arc,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, Response, StatusCode, client::conn::http1 as http1_client,
    server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
    task::yield_now,
};

use super::{
    body::{self, AnswerBody},
    end_all,
    exchange::answer,
    hub::Hub,
    serve,
    session::SESSION,
    sse::{EventReader, StreamEvent},
    start_beside,
    upstream::Upstream,
};
use crate::{
    builds::NEVER_READY,
    copies::ProgramCopy,
    message::{self, Message},
};

/// Request that a server has received.
struct Received {
    message: Value,
    reply: oneshot::Sender<Response<AnswerBody>>,
}

impl Received {
    fn reply(self, status: StatusCode, headers: &[(&'static str, &str)], body: AnswerBody) {
        let mut response = Response::new(body);
        *response.status_mut() = status;
        for (name, value) in headers {
            response.headers_mut().insert(*name, value.parse().unwrap());
        }
        self.reply.send(response).unwrap();
    }

    fn accept(self) {
        self.reply(StatusCode::ACCEPTED, &[], body::whole(""));
    }

    /// Answers with JSON, in a session with this id.
    fn answer(self, message: &Value, session: &str) {
        let headers = [("content-type", "application/json"), (SESSION, session)];
        self.reply(StatusCode::OK, &headers, body::whole(message.to_string()));
    }

    /// Answers with a stream. Returns the sender of its events.
    fn stream(self) -> mpsc::Sender<Bytes> {
        let (events, body) = body::channel();
        self.reply(StatusCode::OK, &[("content-type", "text/event-stream")], body);
        events
    }
}

/// Mock server: the test reads its requests and writes its responses.
struct Played {
    upstream: Arc<Upstream>,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Played {
    /// Starts a server, which takes over.
    async fn start(hub: &Hub, number: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = Upstream::of_test(number, listener.local_addr().unwrap());
        let (sender, received) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sender = sender.clone();
                let service = service_fn(move |request: Request<hyper::body::Incoming>| {
                    let sender = sender.clone();
                    async move {
                        let body = request.into_body().collect().await.unwrap().to_bytes();
                        let message = serde_json::from_slice(&body).unwrap_or_default();
                        let (reply, replied) = oneshot::channel();
                        let received = Received { message, reply };
                        assert!(sender.send(received).is_ok(), "the test has ended");
                        Ok::<_, Infallible>(replied.await.unwrap())
                    }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        hub.take_over(&upstream, &ProgramCopy::of_test(), None);
        Self { upstream, received }
    }

    /// Returns the next request. Accepts the handshake of `dev` before.
    async fn next(&mut self) -> Received {
        loop {
            let received = self.received.recv().await.unwrap();
            let id = &received.message["id"];
            if !message::is_own(id) {
                return received;
            }
            let accepted = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
            received.answer(&accepted, "other");
        }
    }
}

/// Client with a session, or a client of HTTP+SSE that answers at an address of its own.
struct TestClient {
    hub: Arc<Hub>,
    session: &'static str,
    uri: &'static str,
}

impl TestClient {
    /// Begins a session at a server.
    async fn start(hub: &Arc<Hub>, server: &mut Played, session: &'static str) -> Self {
        let client = Self { hub: hub.clone(), session, uri: "/mcp" };
        let initialize = request(0, "initialize", json!({}));
        let begin = async {
            let result = json!({ "jsonrpc": "2.0", "id": 0, "result": { "capabilities": {} } });
            server.next().await.answer(&result, session);
        };
        let (response, ()) = tokio::join!(client.post(&initialize), begin);
        assert_eq!(response.status(), 200);
        client
    }

    async fn send(
        &self,
        method: Method,
        headers: &[(&'static str, &str)],
        body: &str,
    ) -> Response<AnswerBody> {
        let mut request = Request::new(Full::new(Bytes::from(body.to_owned())));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.parse().unwrap();
        let own = [(SESSION, self.session), ("host", "127.0.0.1"), ("accept", "text/event-stream")];
        for (name, value) in own.iter().chain(headers) {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        answer(self.hub.clone(), request).await
    }

    async fn post(&self, message: &Value) -> Response<AnswerBody> {
        self.send(Method::POST, &[], &message.to_string()).await
    }
}

/// Stream of events as a client reads it.
struct ReadStream {
    body: AnswerBody,
    reader: EventReader,
}

impl ReadStream {
    fn of(response: Response<AnswerBody>) -> Self {
        Self { body: response.into_body(), reader: EventReader::default() }
    }

    /// Returns the next message, or `None` at the end.
    async fn next(&mut self) -> Option<Message> {
        loop {
            let frame = self.body.frame().await?.unwrap().into_data().unwrap();
            if let Some(event) = self.reader.take(&frame).pop() {
                return event.message;
            }
        }
    }
}

impl ReadStream {
    /// Returns the next event that has a message.
    async fn message(&mut self) -> Message {
        loop {
            let frame = self.body.frame().await.unwrap().unwrap().into_data().unwrap();
            let events = self.reader.take(&frame).into_iter();
            if let Some(message) = events.filter_map(|event| event.message).next_back() {
                return message;
            }
        }
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn event(message: Value) -> Bytes {
    StreamEvent::of(message.into()).text().into()
}

/// Question of a server with the id 1, as each session counts its questions from 1.
fn question() -> Bytes {
    event(request(1, "elicitation/create", json!({})))
}

fn result(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "accept" } })
}

/// Calls a tool that asks. Returns the events of the server, the stream of the client, and the id of the question.
async fn ask(client: &TestClient, server: &mut Played) -> (mpsc::Sender<Bytes>, ReadStream, Value) {
    let call = request(1, "tools/call", json!({ "name": "ask" }));
    let (response, events) =
        tokio::join!(client.post(&call), async { server.next().await.stream() });
    events.send(question()).await.unwrap();
    let mut stream = ReadStream::of(response);
    let id = stream.next().await.unwrap().id();
    (events, stream, id)
}

#[tokio::test]
async fn an_answer_reaches_only_the_server_that_has_asked() {
    let hub = Arc::<Hub>::default();
    let mut old = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut old, "a").await;
    let (_events, _stream, first) = ask(&client, &mut old).await;
    let mut new = Played::start(&hub, 4).await;
    // The old server still runs.
    let answer = result(&first);
    let (response, received) = tokio::join!(client.post(&answer), async {
        let received = old.next().await;
        let message = received.message.clone();
        received.accept();
        message
    });
    assert_eq!((response.status(), &received["id"]), (StatusCode::ACCEPTED, &json!(1)));
    // An answer that comes twice, answers to no question, and an answer after the end of the server.
    let (_events, _stream, second) = ask(&client, &mut new).await;
    let mut newest = Played::start(&hub, 6).await;
    new.upstream.end();
    for id in [first, json!(1), json!(99), json!("1"), Value::Null, second] {
        for answer in [result(&id), json!([result(&id), result(&id)])] {
            let response = tokio::select! {
                response = client.post(&answer) => response,
                received = old.next() => panic!("the old server gets {}", received.message),
                received = new.next() => panic!("the ended server gets {}", received.message),
                received = newest.next() => panic!("the newest server gets {}", received.message),
            };
            assert_eq!(response.status(), StatusCode::ACCEPTED, "{answer}");
        }
    }
    // The rest of a batch goes on.
    let ping = request(9, "ping", json!({}));
    let batch = json!([result(&json!(99)), ping]);
    let (_, received) = tokio::join!(client.post(&batch), async {
        let received = newest.next().await;
        let message = received.message.clone();
        received.answer(&json!([{ "jsonrpc": "2.0", "id": 9, "result": {} }]), "c");
        message
    });
    assert_eq!(received, json!([ping]));
}

#[tokio::test]
async fn a_page_of_another_site_learns_nothing_about_questions() {
    let hub = Arc::<Hub>::default();
    let mut server = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut server, "a").await;
    let foreign = [("origin", "https://attacker.example")];
    let response = client.send(Method::POST, &foreign, &result(&json!(9)).to_string()).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn sessions_of_one_server_have_questions_of_their_own() {
    let hub = Arc::<Hub>::default();
    let mut server = Played::start(&hub, 2).await;
    let mut asked = Vec::new();
    for session in ["a", "b"] {
        let client = TestClient::start(&hub, &mut server, session).await;
        let (events, stream, id) = ask(&client, &mut server).await;
        asked.push((client, events, stream, id));
    }
    let withdrawn = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    for (_, events, stream, id) in &mut asked {
        // A resumed stream repeats the question.
        events.send(question()).await.unwrap();
        assert_eq!(stream.next().await.unwrap().id(), *id);
        events.send(event(withdrawn.clone())).await.unwrap();
        let told = stream.next().await.unwrap();
        assert_eq!(told.value(message::CANCELLED_ID), *id);
    }
    // Another session cannot answer the question.
    asked[0].1.send(question()).await.unwrap();
    let answer = result(&asked[0].2.next().await.unwrap().id());
    let stray = tokio::select! {
        response = asked[1].0.post(&answer) => response,
        received = server.next() => panic!("the server gets {}", received.message),
    };
    assert_eq!(stray.status(), StatusCode::ACCEPTED);
    let (response, ()) =
        tokio::join!(asked[0].0.post(&answer), async { server.next().await.accept() });
    assert_eq!(response.status(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn the_next_server_gets_only_messages_that_a_server_has_accepted() {
    let hub = Arc::<Hub>::default();
    let mut server = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut server, "a").await;
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    tokio::join!(client.post(&initialized), async { server.next().await.accept() });
    let failed = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": "no" } });
    let level = request(2, "logging/setLevel", json!({ "level": "debug" }));
    let subscribe = |id, uri: &str| request(id, "resources/subscribe", json!({ "uri": uri }));
    for (sent, answer) in [
        (level.clone(), failed(2)),
        (subscribe(3, "refused"), failed(3)),
        (subscribe(4, "json"), result(&json!(4))),
    ] {
        let (response, ()) =
            tokio::join!(client.post(&sent), async { server.next().await.answer(&answer, "a") });
        response.into_body().collect().await.unwrap();
    }
    for (sent, answer) in [
        (subscribe(5, "refused on a stream"), failed(5)),
        (subscribe(6, "stream"), result(&json!(6))),
    ] {
        let (response, events) =
            tokio::join!(client.post(&sent), async { server.next().await.stream() });
        events.send(event(answer)).await.unwrap();
        assert!(ReadStream::of(response).next().await.is_some());
    }
    // The server takes the answer in the batch, and refuses the rest.
    let (_events, _stream, id) = ask(&client, &mut server).await;
    let batch = json!([result(&id), level]);
    let (response, ()) = tokio::join!(client.post(&batch), async {
        server.next().await.accept();
        server.next().await.reply(StatusCode::BAD_REQUEST, &[], body::whole("no batches"));
    });
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let replay = hub.session("a").unwrap().record().replay(|| 0);
    let sent: Vec<_> = replay
        .iter()
        .map(|message| (message.method(), message.value(&["params", "uri"])))
        .collect();
    let expected = [
        ("notifications/initialized", Value::Null),
        ("resources/subscribe", json!("json")),
        ("resources/subscribe", json!("stream")),
    ];
    assert_eq!(sent, expected.map(|(method, uri)| (method.to_owned(), uri)));
}

#[tokio::test]
async fn a_replaced_server_waits_for_a_call_whose_stream_was_resumed() {
    let hub = Arc::<Hub>::default();
    let mut old = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut old, "a").await;
    let resume = client.send(Method::GET, &[("last-event-id", "2.3-1")], "");
    let (response, events) = tokio::join!(resume, async { old.next().await.stream() });
    Played::start(&hub, 4).await;
    let mut stream = ReadStream::of(response);
    {
        let mut retired = pin!(old.upstream.retire());
        tokio::select! {
            biased;
            () = &mut retired => panic!("the server ends before the call"),
            sent = events.send(event(result(&json!(1)))) => sent.unwrap(),
        }
        assert!(stream.next().await.is_some());
        drop(events);
        retired.await;
    }
    assert!(old.upstream.is_stopping());
}

#[tokio::test]
async fn the_next_server_starts_after_the_logins_that_are_under_way() {
    let hub = Arc::<Hub>::default();
    let mut old = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut old, "a").await;
    let upstream = old.upstream.clone();
    let (response, ()) = tokio::join!(client.send(Method::POST, &[], "code=1"), async {
        let received = old.next().await;
        hub.phase.send_modify(|phase| phase.is_starting = true);
        tokio::select! {
            biased;
            () = upstream.logins_end() => panic!("the login is under way"),
            () = ready(()) => {}
        }
        received.reply(StatusCode::OK, &[], body::whole("token"));
    });
    response.into_body().collect().await.unwrap();
    upstream.logins_end().await;
    // A further login waits for the next server.
    let further = client.send(Method::POST, &[], "code=2");
    let further = async { assert_eq!(further.await.status(), StatusCode::ACCEPTED) };
    let received = async {
        let mut new = Played::start(&hub, 4).await;
        tokio::select! {
            _ = old.next() => panic!("the old server gets the login"),
            received = new.next() => received.accept(),
        }
    };
    // The login chooses its server before the new one starts.
    tokio::join!(biased; further, received);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_waits_for_the_lock_of_the_last_one_gets_it() {
    let hub = Arc::<Hub>::default();
    let address = "127.0.0.1:1".parse().unwrap();
    let (last, new) = (Upstream::of_test(2, address), Upstream::of_test(4, address));
    hub.take_over(&last, &ProgramCopy::of_test(), None);
    // The test plays the process of the last server, which holds the lock until it is asked to end.
    let released = async {
        last.stopping().await;
        last.end();
        Ok(new.clone())
    };
    let started = start_beside(Some(&last), true, released).await.unwrap();
    assert_eq!(started.number, 4);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_never_ready_gives_way_to_the_last_good_program() {
    let last = Upstream::of_test(2, "127.0.0.1:1".parse().unwrap());
    let ends = async {
        last.stopping().await;
        last.end();
        pending().await
    };
    let failure = start_beside(Some(&last), true, ends).await.err().unwrap();
    assert_eq!(failure.text(), NEVER_READY);
}

#[tokio::test]
async fn a_client_of_http_sse_answers_only_its_own_questions() {
    let hub = Arc::<Hub>::default();
    let mut server = Played::start(&hub, 2).await;
    let with_session = TestClient::start(&hub, &mut server, "a").await;
    let (_events, _stream, id) = ask(&with_session, &mut server).await;
    let mut asked = vec![(with_session, id)];
    let mut open = Vec::new();
    for uri in ["/message?id=1", "/message?id=2"] {
        let client = TestClient { hub: hub.clone(), session: "", uri };
        let opened = TestClient { hub: hub.clone(), session: "", uri: "/sse" };
        let (response, events) =
            tokio::join!(opened.send(Method::GET, &[], ""), async { server.next().await.stream() });
        let address = uri.trim_start_matches('/');
        events.send(format!("event: endpoint\ndata: {address}\n\n").into()).await.unwrap();
        events.send(question()).await.unwrap();
        let mut stream = ReadStream::of(response);
        let id = stream.message().await.id();
        asked.push((client, id));
        open.push((events, stream));
    }
    for (at, (client, _)) in asked.iter().enumerate() {
        for (_, (_, id)) in asked.iter().enumerate().filter(|(of, _)| *of != at) {
            let answer = result(id);
            let response = tokio::select! {
                response = client.post(&answer) => response,
                received = server.next() => panic!("the server gets {}", received.message),
            };
            assert_eq!(response.status(), StatusCode::ACCEPTED);
        }
    }
    for (client, id) in asked {
        let answer = result(&id);
        let (response, ()) =
            tokio::join!(client.post(&answer), async { server.next().await.accept() });
        assert_eq!(response.status(), StatusCode::ACCEPTED);
    }
}

#[tokio::test(start_paused = true)]
async fn at_the_end_all_servers_are_asked_to_end() {
    let hub = Arc::<Hub>::default();
    let upstreams = [2, 4].map(|number| Upstream::of_test(number, "127.0.0.1:1".parse().unwrap()));
    for upstream in &upstreams {
        hub.take_over(upstream, &ProgramCopy::of_test(), None);
    }
    end_all(&hub, mpsc::channel(1).1).await;
    assert!(upstreams.iter().all(|upstream| upstream.is_stopping()));
}

#[tokio::test]
async fn a_call_whose_server_has_ended_cannot_be_resumed() {
    let hub = Arc::<Hub>::default();
    let mut server = Played::start(&hub, 4).await;
    let client = TestClient::start(&hub, &mut server, "a").await;
    let response = tokio::select! {
        response = client.send(Method::GET, &[("last-event-id", "2.3-1")], "") => response,
        received = server.next() => panic!("the server gets {}", received.message),
    };
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_session_that_its_server_does_not_know_any_longer_is_forgotten() {
    let hub = Arc::<Hub>::default();
    let mut server = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut server, "a").await;
    let ping = request(1, "ping", json!({}));
    let (response, ()) = tokio::join!(client.post(&ping), async {
        server.next().await.reply(StatusCode::NOT_FOUND, &[], body::whole("no session"));
    });
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert!(hub.session("a").is_none());
}

#[tokio::test]
async fn a_replaced_server_waits_for_a_client_that_may_resume_its_call() {
    let hub = Arc::<Hub>::default();
    let mut old = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut old, "a").await;
    let (events, stream, _) = ask(&client, &mut old).await;
    Played::start(&hub, 4).await;
    // The connection of the client breaks.
    drop(stream);
    events.closed().await;
    let upstream = old.upstream.clone();
    let retired = pin!(upstream.retire());
    tokio::select! {
        biased;
        () = retired => panic!("the server ends before the client can resume"),
        () = ready(()) => {}
    }
    let resume = client.send(Method::GET, &[("last-event-id", "2.3-1")], "");
    let (response, _events) = tokio::join!(resume, async { old.next().await.stream() });
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_client_whose_stream_was_closed_during_the_exchange_is_told_of_the_new_lists() {
    let hub = Arc::<Hub>::default();
    let mut old = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut old, "a").await;
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    tokio::join!(client.post(&initialized), async { old.next().await.accept() });
    let mut new = Played::start(&hub, 4).await;
    old.upstream.end();
    for methods in [&message::LISTS.map(|(method, ..)| method)[..], &[]] {
        let resume = client.send(Method::GET, &[("last-event-id", "2.0-1")], "");
        let (response, events) = tokio::join!(resume, async {
            loop {
                let received = new.next().await;
                // The handshake of `dev` ends with a notification.
                match received.message.is_null() {
                    true => break received.stream(),
                    false => received.accept(),
                }
            }
        });
        // The client is told once.
        events.send(question()).await.unwrap();
        let mut stream = ReadStream::of(response);
        for method in methods.iter().chain(&["elicitation/create"]) {
            assert_eq!(stream.next().await.unwrap().method(), *method);
        }
    }
}

#[tokio::test]
async fn calls_that_wait_for_a_build_are_answered_at_the_end() {
    let hub = Arc::<Hub>::default();
    let mut server = Played::start(&hub, 2).await;
    let client = TestClient::start(&hub, &mut server, "a").await;
    hub.phase.send_modify(|phase| phase.is_building = true);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (open, closed) = mpsc::channel(1);
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1_client::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    tokio::spawn(serve(listener.accept().await.unwrap().0, hub.clone(), open));
    let call = request(7, "tools/call", json!({ "name": "a" })).to_string();
    let mut request = Request::new(Full::new(Bytes::from(call)));
    *request.method_mut() = Method::POST;
    request.headers_mut().insert("host", "127.0.0.1".parse().unwrap());
    request.headers_mut().insert(SESSION, client.session.parse().unwrap());
    let end = async {
        // The connection waits for the end, and so does the call.
        while hub.phase.receiver_count() < 2 {
            yield_now().await;
        }
        server.upstream.end();
        end_all(&hub, closed).await;
    };
    let (response, ()) = tokio::join!(biased; sender.send_request(request), end);
    let body = response.unwrap().into_body().collect().await.unwrap().to_bytes();
    let answer = Message::read(&body).unwrap();
    assert_eq!((answer.id(), answer.value(&["result", "isError"])), (json!(7), json!(true)));
}
