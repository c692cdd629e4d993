//! Request of a client, and its answer by the server that runs at that time.

use std::{ops::ControlFlow, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    header::{
        ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HeaderValue, TRANSFER_ENCODING,
    },
    http::request::Parts,
};
use serde_json::Value;
use tokio::sync::mpsc::Sender;

use super::{
    access,
    body::{self, AnswerBody, BodyError},
    hub::Hub,
    session::{SESSION, Session, SessionRequest},
    sse::{EventReader, StreamEvent},
    upstream::{OpenExchange, Upstream},
};
use crate::message::{self, ACKNOWLEDGED, MessageKind, method};

/// Maximum size of a request. The server has a limit of its own, which is lower by default.
const REQUEST: usize = 64 * 1024 * 1024;

const LAST_EVENT: &str = "last-event-id";

/// Request of a client.
struct ClientRequest {
    parts: Parts,
    body: Bytes,
    /// Message of the protocol, if the body is one.
    message: Option<Value>,
    session: Option<Arc<Session>>,
}

/// Answers a request.
pub(crate) async fn answer(hub: Arc<Hub>, request: Request<Incoming>) -> Response<AnswerBody> {
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, REQUEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return plain(StatusCode::BAD_REQUEST, error.to_string()),
    };
    let message = serde_json::from_slice::<Value>(&body).ok();
    let message = message.filter(|message| message.is_array() || message["jsonrpc"] == "2.0");
    let session = header(&parts.headers, SESSION).and_then(|id| hub.session(id));
    let request = ClientRequest { parts, body, message, session };
    match request.answer(&hub).await {
        Ok(response) => response,
        Err(text) => request.failure(&text),
    }
}

impl ClientRequest {
    /// Passes the request on.
    ///
    /// # Errors
    /// Returns the text for the client if no server answers.
    async fn answer(&self, hub: &Arc<Hub>) -> Result<Response<AnswerBody>, String> {
        let message = self.message.as_ref();
        match message.map(message::kind) {
            Some(MessageKind::Response) => return self.pass_answer_on(hub).await,
            Some(MessageKind::Notification) => {
                let id = message::key(&message.unwrap_or(&Value::Null)["params"]["requestId"]);
                let server = self.session.as_ref().and_then(|session| session.server_of(&id));
                if let Some(upstream) = server.and_then(|server| hub.upstream(server)) {
                    return self.exchange(hub, &upstream, &self.body, None).await;
                }
            }
            _ => {}
        }
        let is_stream = self.parts.method == Method::GET
            && self.session.is_some()
            && header(&self.parts.headers, ACCEPT.as_str())
                .is_some_and(|types| types.contains("text/event-stream"));
        if is_stream || message.is_some_and(|message| method(message) == "subscriptions/listen") {
            return self.follow(hub).await;
        }
        let upstream = self.server(hub).await?;
        let open = (self.parts.method != Method::GET).then(|| upstream.open());
        self.exchange(hub, &upstream, &self.body, open).await
    }

    /// Waits for the server that answers this request.
    ///
    /// # Errors
    /// Returns the text for the client if there is none.
    async fn server(&self, hub: &Hub) -> Result<Arc<Upstream>, String> {
        let methods: Vec<&str> = match &self.message {
            Some(Value::Array(batch)) => batch.iter().map(method).collect(),
            message => message.iter().map(method).collect(),
        };
        let runs_code = methods.iter().any(|method| message::runs_code(method));
        let calls_tool = methods.contains(&"tools/call");
        let mut phases = hub.phase.subscribe();
        let settled = phases.wait_for(|phase| match runs_code {
            true => phase.is_settled(),
            false => phase.is_settled() || phase.answering().is_some(),
        });
        let phase = settled.await.map_err(|_| "`dev` ends".to_owned())?.clone();
        match (phase.answering().cloned(), phase.build_error.or(phase.broken)) {
            (_, Some(text)) if calls_tool => Err(text.to_string()),
            (Some(upstream), _) => Ok(upstream),
            (None, text) => Err(text.as_deref().unwrap_or("no server runs").to_owned()),
        }
    }

    /// Answers instead of the server. Only pages of this machine may read the text.
    fn failure(&self, text: &str) -> Response<AnswerBody> {
        if let Err(problem) = access::check(&self.parts.headers) {
            return plain(StatusCode::FORBIDDEN, problem);
        }
        let Some(message) = &self.message else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, text.to_owned());
        };
        let is_request = |message: &&Value| message::kind(message) == MessageKind::Request;
        let answer = match message {
            Value::Array(batch) => {
                let requests = batch.iter().filter(is_request);
                requests.map(|request| message::failure(request, text)).collect()
            }
            message if is_request(&message) => message::failure(message, text),
            _ => return plain(StatusCode::SERVICE_UNAVAILABLE, text.to_owned()),
        };
        let mut response = Response::new(body::whole(answer.to_string()));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        access::allow_page(&self.parts.headers, response.headers_mut());
        response
    }

    /// Passes the answer to a question on to the server that has asked.
    async fn pass_answer_on(&self, hub: &Arc<Hub>) -> Result<Response<AnswerBody>, String> {
        let mut answer = self.message.clone().unwrap_or_default();
        let asked = hub.asked(&answer["id"]);
        let asked = asked.and_then(|(server, id)| Some((hub.upstream(server)?, id)));
        match asked {
            Some((upstream, id)) => {
                let number = std::mem::replace(&mut answer["id"], id);
                let body = answer.to_string().into();
                let response = self.exchange(hub, &upstream, &body, None).await?;
                // The client may send the answer again, with another token for example.
                if response.status().is_success() {
                    hub.answered(&number);
                }
                Ok(response)
            }
            // No question has this id. The current server decides about such an answer.
            None => self.exchange(hub, &self.server(hub).await?, &self.body, None).await,
        }
    }

    /// Sends the request to a server.
    async fn send(
        &self,
        upstream: &Upstream,
        body: &Bytes,
        last_event: Option<&str>,
    ) -> Result<Response<Incoming>, String> {
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = self.parts.uri.clone();
        let headers = request.headers_mut();
        *headers = self.parts.headers.clone();
        for own in [CONNECTION, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING] {
            headers.remove(own);
        }
        headers.remove(LAST_EVENT);
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
        if let Some(id) = last_event {
            headers.insert(LAST_EVENT, value(id)?);
        }
        if let Some(session) = &self.session {
            // If the server has refused the handshake, it gets the id of the client, and answers that there is no such session.
            if let Some(id) = session.id_at(upstream, &self.parts.headers).await {
                headers.insert(SESSION, value(&id)?);
            }
        }
        match upstream.send(request).await {
            Ok(mut response) => {
                // Both headers belong to a single connection.
                for own in [CONNECTION, TRANSFER_ENCODING] {
                    response.headers_mut().remove(own);
                }
                Ok(response)
            }
            Err(error) => Err(lost(upstream, &error.to_string()).await),
        }
    }

    /// Sends the request to a server, and returns its answer.
    async fn exchange(
        &self,
        hub: &Arc<Hub>,
        upstream: &Arc<Upstream>,
        body: &Bytes,
        open: Option<OpenExchange>,
    ) -> Result<Response<AnswerBody>, String> {
        let request =
            self.message.as_ref().filter(|message| message::kind(message) == MessageKind::Request);
        let begun = self.session.as_ref().zip(request);
        let begun = begun
            .map(|(session, request)| session.begin(message::key(&request["id"]), upstream.number));
        let response = self.send(upstream, body, None).await?;
        let response = self.known(hub, upstream, response);
        let (mut parts, body) = response.into_parts();
        match content_type(&parts.headers) {
            "text/event-stream" => {
                let (sender, answer) = body::channel();
                let exchange = EventExchange {
                    hub: hub.clone(),
                    upstream: upstream.clone(),
                    request: request.cloned(),
                    is_acknowledged: false,
                    outlasts: false,
                    _open: (open, begun),
                };
                tokio::spawn(exchange.run(body, sender));
                Ok(Response::from_parts(parts, answer))
            }
            "application/json" if request.is_some() => {
                let body = body.collect().await.map(http_body_util::Collected::to_bytes);
                let body = match body {
                    Ok(body) => body,
                    Err(error) => return Err(lost(upstream, &error.to_string()).await),
                };
                let mut answer: Value = serde_json::from_slice(&body).unwrap_or_default();
                let Some(request) = request.filter(|_| answer.is_object()) else {
                    return Ok(Response::from_parts(parts, body::whole(body)));
                };
                let has_failed = answer.get("error").is_some();
                message::adapt(request, &mut answer);
                if has_failed && answer.get("error").is_none() {
                    parts.status = StatusCode::OK;
                }
                parts.headers.remove(CONTENT_LENGTH);
                Ok(Response::from_parts(parts, body::whole(answer.to_string())))
            }
            _ => {
                let body = body.map_err(BodyError::from).map_frame(move |frame| {
                    // The request is open as long as its body is.
                    let _ = (&open, &begun);
                    frame
                });
                Ok(Response::from_parts(parts, body.boxed_unsync()))
            }
        }
    }

    /// Remembers a request that the server has accepted, for the handshake at the next server. The server has checked the user by now.
    fn note(&self, status: StatusCode) {
        if let (Some(session), Some(message), true) =
            (&self.session, &self.message, status.is_success())
        {
            session.note_headers(&self.parts.headers);
            session.record().note(message);
        }
    }

    /// Notes the beginning and the end of a session, and gives the client the id that it knows.
    fn known(
        &self,
        hub: &Hub,
        upstream: &Upstream,
        mut response: Response<Incoming>,
    ) -> Response<Incoming> {
        self.note(response.status());
        let request = self.message.as_ref();
        let id = header(response.headers(), SESSION).map(str::to_owned);
        let own = header(&self.parts.headers, SESSION);
        match (request, id) {
            (Some(request), Some(id)) if method(request) == "initialize" => {
                let (uri, headers) = (self.parts.uri.clone(), &self.parts.headers);
                hub.add_session(
                    id.clone(),
                    Session::new(uri, headers, request, upstream.number, &id),
                );
            }
            (_, Some(_)) => {
                if let Some(own) = own.and_then(|own| HeaderValue::from_str(own).ok()) {
                    response.headers_mut().insert(SESSION, own);
                }
            }
            _ if self.parts.method == Method::DELETE && response.status().is_success() => {
                own.iter().for_each(|id| hub.remove_session(id))
            }
            _ => {}
        }
        response
    }

    /// Answers with a stream that outlasts its server.
    async fn follow(&self, hub: &Arc<Hub>) -> Result<Response<AnswerBody>, String> {
        let last_event = header(&self.parts.headers, LAST_EVENT).and_then(|id| id.split_once('.'));
        let last =
            last_event.and_then(|(server, id)| Some((hub.upstream(server.parse().ok()?)?, id)));
        let (upstream, last_event) = match last {
            Some((upstream, id)) => (upstream, Some(id)),
            None => (self.server(hub).await?, None),
        };
        let response = self.send(&upstream, &self.body, last_event).await?;
        if content_type(response.headers()) != "text/event-stream" {
            let response = self.known(hub, &upstream, response);
            return Ok(response.map(|body| body.map_err(BodyError::from).boxed_unsync()));
        }
        self.note(response.status());
        let (parts, body) = response.into_parts();
        let (sender, answer) = body::channel();
        // Stream 0 belongs to the session. All other streams belong to calls, which end at their server.
        if last_event.is_some_and(|id| !id.starts_with("0-")) {
            let exchange = EventExchange {
                hub: hub.clone(),
                upstream,
                request: None,
                is_acknowledged: false,
                outlasts: false,
                _open: (None, None),
            };
            tokio::spawn(exchange.run(body, sender));
            return Ok(Response::from_parts(parts, answer));
        }
        let follower = Self {
            parts: self.parts.clone(),
            body: self.body.clone(),
            message: self.message.clone(),
            session: self.session.clone(),
        };
        tokio::spawn(follower.follow_on(hub.clone(), upstream, body, sender));
        Ok(Response::from_parts(parts, answer))
    }

    /// Passes the events of a stream on, and opens the stream again at each further server.
    async fn follow_on(
        self,
        hub: Arc<Hub>,
        upstream: Arc<Upstream>,
        body: Incoming,
        client: Sender<Bytes>,
    ) {
        let mut phases = hub.phase.subscribe();
        let (mut upstream, mut body, mut is_acknowledged) = (upstream, body, false);
        loop {
            let mut exchange = EventExchange {
                hub: hub.clone(),
                upstream: upstream.clone(),
                request: self.message.clone(),
                is_acknowledged,
                outlasts: true,
                _open: (None, None),
            };
            let number = upstream.number;
            let end = tokio::select! {
                end = exchange.pass_on(body, &client) => end,
                _ = phases.wait_for(|phase| phase.number().is_some_and(|current| current > number)) => {
                    ControlFlow::Continue(())
                }
            };
            is_acknowledged = exchange.is_acknowledged;
            if end.is_break() {
                return;
            }
            // The stream has ended without a response. Either its server has ended, or the server has ended only the stream.
            let is_over = phases.borrow().number() == Some(number) && !has_ended(&upstream).await;
            if is_over {
                return;
            }
            let next = tokio::select! {
                () = client.closed() => return,
                next = phases.wait_for(|phase| phase.number().is_some_and(|current| current > number)) => {
                    next.ok().and_then(|phase| phase.current.clone())
                }
            };
            let Some(next) = next else { return };
            upstream = next;
            let Ok(response) = self.send(&upstream, &self.body, None).await else { return };
            if content_type(response.headers()) != "text/event-stream" {
                return;
            }
            body = response.into_body();
            // If an older program has been started again, its lists are those that the client knows.
            let has_changed = phases.borrow().broken.is_none();
            for change in self.changes().into_iter().filter(|_| has_changed) {
                if client.send(StreamEvent::of(change).text().into()).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Returns the notifications that the lists have changed.
    fn changes(&self) -> Vec<Value> {
        match (&self.session, &self.message) {
            (Some(session), None) => session.record().changes(),
            (_, Some(listen)) => message::wanted_lists(listen),
            _ => Vec::new(),
        }
    }
}

/// Whether the process has ended, which it does soon after it has closed its connections.
async fn has_ended(upstream: &Upstream) -> bool {
    tokio::time::timeout(std::time::Duration::from_secs(1), upstream.ended()).await.is_ok()
}

/// Returns the text for a client whose request has lost its server.
async fn lost(upstream: &Upstream, error: &str) -> String {
    match has_ended(upstream).await {
        true => upstream.ended().await,
        false => format!("the server has closed the connection: {error}"),
    }
}

/// Answer that is a stream of events.
struct EventExchange {
    hub: Arc<Hub>,
    upstream: Arc<Upstream>,
    request: Option<Value>,
    /// Whether the client has seen the beginning of a listen stream.
    is_acknowledged: bool,
    /// Whether the stream goes on at the next server.
    outlasts: bool,
    _open: (Option<OpenExchange>, Option<SessionRequest>),
}

impl EventExchange {
    /// Passes all events on. A request whose server ends gets an answer that says so.
    async fn run(mut self, body: Incoming, client: Sender<Bytes>) {
        if self.pass_on(body, &client).await.is_break() {
            return;
        }
        let Some(request) = &self.request else { return };
        if has_ended(&self.upstream).await {
            let failure = message::failure(request, &self.upstream.ended().await);
            // A client that has left needs no answer.
            let _ = client.send(StreamEvent::of(failure).text().into()).await;
        }
    }

    /// Passes events on until the stream ends. Breaks if it has ended for the client, too: with the answer, or because the client has left.
    async fn pass_on(&mut self, mut body: Incoming, client: &Sender<Bytes>) -> ControlFlow<()> {
        let mut reader = EventReader::default();
        loop {
            let frame = tokio::select! {
                () = client.closed() => return ControlFlow::Break(()),
                frame = body.frame() => frame,
            };
            let Some(Ok(frame)) = frame else { return ControlFlow::Continue(()) };
            let Ok(data) = frame.into_data() else { continue };
            for mut event in reader.take(&data) {
                let ends = event.message.as_ref().is_some_and(|message| self.ends(message));
                if ends && self.outlasts && self.upstream.is_stopping() {
                    return ControlFlow::Continue(());
                }
                let is_answer = ends
                    && event.message.as_ref().map(message::kind) == Some(MessageKind::Response);
                if let Some(id) = &mut event.id {
                    *id = format!("{}.{id}", self.upstream.number);
                }
                if event.message.as_mut().is_none_or(|message| self.change(message))
                    && client.send(event.text().into()).await.is_err()
                {
                    return ControlFlow::Break(());
                }
                if is_answer {
                    return ControlFlow::Break(());
                }
            }
        }
    }

    /// Whether a message ends the request: with its answer, or with the cancellation of a listen stream, which comes before the answer.
    fn ends(&self, message: &Value) -> bool {
        let Some(request) = &self.request else { return false };
        match message::kind(message) {
            MessageKind::Response => request["id"] == message["id"],
            _ => {
                self.outlasts
                    && method(message) == "notifications/cancelled"
                    && request["id"] == message["params"]["requestId"]
            }
        }
    }

    /// Changes a message for the client. Returns whether the client gets it.
    fn change(&mut self, message: &mut Value) -> bool {
        let server = self.upstream.number;
        match (message::kind(message), &self.request) {
            (MessageKind::Request, _) => self.hub.ask(server, message),
            (MessageKind::Response, Some(request)) => message::adapt(request, message),
            (MessageKind::Notification, Some(listen)) if method(message) == ACKNOWLEDGED => {
                message::acknowledge(listen, message);
                return !std::mem::replace(&mut self.is_acknowledged, true);
            }
            (MessageKind::Notification, _) if method(message) == "notifications/cancelled" => {
                let number = self.hub.withdraw(server, &message["params"]["requestId"]);
                if let Some(number) = number {
                    message["params"]["requestId"] = number.into();
                }
            }
            _ => {}
        }
        true
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn content_type(headers: &HeaderMap) -> &str {
    let value = header(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim()
}

fn plain(status: StatusCode, text: String) -> Response<AnswerBody> {
    let mut response = Response::new(body::whole(text));
    *response.status_mut() = status;
    response
}
