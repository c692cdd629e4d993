//! Request of a client, and its answer by the server that runs at that time.

use std::{ops::ControlFlow, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Body, Incoming},
    header::{
        ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HeaderValue, TRANSFER_ENCODING,
    },
    http::request::Parts,
};
use serde_json::Value;
use tokio::sync::mpsc::Sender;

use super::{
    access,
    answer_stream::EventExchange,
    body::{self, AnswerBody, BodyError},
    hub::Hub,
    session::{SESSION, Session},
    sse::StreamEvent,
    upstream::{OpenExchange, Upstream},
};
use crate::message::{self, Message, MessageKind};

/// Maximum size of a request. The server has a limit of its own, which is lower by default.
const REQUEST: usize = 64 * 1024 * 1024;

const LAST_EVENT: &str = "last-event-id";

/// Request of a client.
struct ClientRequest {
    parts: Parts,
    body: Bytes,
    /// Messages of the protocol in the body.
    messages: Vec<Message>,
    is_batch: bool,
    session: Option<Arc<Session>>,
}

/// Server that gets a message of a client.
enum Route {
    /// To the server that answers now.
    Current,
    /// To the server that the message belongs to.
    Owner(OwnedMessage),
    /// No server: the answered question is unknown, belongs to another session, or comes from a server that has ended.
    Nowhere,
}

/// Message of a client that belongs to a certain server.
struct OwnedMessage {
    upstream: Arc<Upstream>,
    /// The message as this server expects it.
    message: Message,
    /// Id of the question that the message answers.
    question: Option<Value>,
}

/// Answers a request.
pub(crate) async fn answer<B>(hub: Arc<Hub>, request: Request<B>) -> Response<AnswerBody>
where
    B: Body<Error: Into<BodyError>>,
{
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, REQUEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return plain(StatusCode::BAD_REQUEST, error.to_string()),
    };
    let message = Message::read(&body);
    let batch = message.as_ref().and_then(Message::batch);
    let is_batch = batch.is_some();
    let single = message.filter(|message| message.value(&["jsonrpc"]) == "2.0");
    let messages = batch.unwrap_or_else(|| single.into_iter().collect());
    let session = header(&parts.headers, SESSION).and_then(|id| hub.session(id));
    let request = ClientRequest { parts, body, messages, is_batch, session };
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
        let mut rest = Vec::new();
        let mut last = None;
        for message in &self.messages {
            let response = match self.route(hub, message) {
                Route::Current => {
                    rest.push(message.clone());
                    continue;
                }
                Route::Owner(owned) => self.pass_on(hub, owned).await?,
                Route::Nowhere => self.dropped(),
            };
            if !response.status().is_success() {
                return Ok(response);
            }
            last = Some(response);
        }
        // Each message has reached its own server, so no message is left.
        if let Some(response) = last.take_if(|_| rest.is_empty()) {
            return Ok(response);
        }
        let is_stream = self.parts.method == Method::GET
            && self.session.is_some()
            && header(&self.parts.headers, ACCEPT.as_str())
                .is_some_and(|types| types.contains("text/event-stream"));
        let single = self.single();
        if is_stream || single.is_some_and(|message| message.method() == "subscriptions/listen") {
            return self.follow(hub).await;
        }
        let body = match last {
            Some(_) => Message::of_batch(&rest).to_string().into(),
            None => self.body.clone(),
        };
        let (upstream, open) = self.server(hub).await?;
        let open = Some(open).filter(|_| self.parts.method != Method::GET);
        self.exchange(hub, &upstream, &body, &rest, open).await
    }

    /// Returns the message of a body that is no batch.
    fn single(&self) -> Option<&Message> {
        self.messages.first().filter(|_| !self.is_batch)
    }

    fn requests(&self) -> Vec<Message> {
        requests_of(&self.messages)
    }

    /// Returns the destination of a message: the server whose question it answers or whose request it cancels, or else the current server.
    fn route(&self, hub: &Hub, message: &Message) -> Route {
        let mut message = message.clone();
        let session = self.session.as_deref();
        match message.kind() {
            MessageKind::Notification => {
                let key = message::key(&message.value(message::CANCELLED_ID));
                let server = session.and_then(|session| session.server_of(&key));
                match server.and_then(|server| hub.upstream(server)) {
                    Some(upstream) => {
                        Route::Owner(OwnedMessage { upstream, message, question: None })
                    }
                    None => Route::Current,
                }
            }
            // The current server never gets the answer to another question: it may use this id for a question of its own.
            MessageKind::Response if message.has(&["result"]) || message.has(&["error"]) => {
                let number = message.id();
                let Some((upstream, id)) = hub.asked(&number, session, &self.parts.uri) else {
                    return Route::Nowhere;
                };
                message.set(&["id"], id);
                Route::Owner(OwnedMessage { upstream, message, question: Some(number) })
            }
            // A message without `method`, `result` and `error` also counts as a response. The server reports what is wrong with it.
            MessageKind::Request | MessageKind::Response => Route::Current,
        }
    }

    /// Answers a message that no server gets.
    fn dropped(&self) -> Response<AnswerBody> {
        match access::check(&self.parts.headers) {
            Ok(()) => plain(StatusCode::ACCEPTED, String::new()),
            Err(problem) => plain(StatusCode::FORBIDDEN, problem),
        }
    }

    /// Passes a message on to its server.
    async fn pass_on(
        &self,
        hub: &Arc<Hub>,
        owned: OwnedMessage,
    ) -> Result<Response<AnswerBody>, String> {
        let body = owned.message.to_string().into();
        let sent = std::slice::from_ref(&owned.message);
        let response = match self.exchange(hub, &owned.upstream, &body, sent, None).await {
            Err(_) if owned.question.is_some() && owned.upstream.is_gone() => self.dropped(),
            response => response?,
        };
        // After a refusal, the question stays known: the client may send the answer again, for example with another token.
        if let (Some(number), true) = (owned.question, response.status().is_success()) {
            hub.answered(&number);
        }
        Ok(response)
    }

    /// Waits for the server that answers this request, and counts the request there.
    ///
    /// # Errors
    /// Returns the text for the client if there is none.
    async fn server(&self, hub: &Hub) -> Result<(Arc<Upstream>, OpenExchange), String> {
        let methods: Vec<_> = self.messages.iter().map(Message::method).collect();
        let runs_code = methods.iter().any(|method| message::runs_code(method));
        let calls_tool = methods.iter().any(|method| method == "tools/call");
        // A server reads the kept logins when it starts, so it would not know a login that the last server completes after that.
        let may_log_in = self.messages.is_empty() && self.parts.method == Method::POST;
        let mut phases = hub.phase.subscribe();
        let settled = phases.wait_for(|phase| {
            let waits = runs_code || may_log_in && phase.is_starting;
            phase.is_ending || phase.is_settled() || phase.answering().is_some() && !waits
        });
        // The phase cannot change before the request is counted, because it is borrowed.
        let phase = settled.await.ok().filter(|phase| !phase.is_ending);
        let phase = phase.ok_or("`dev` has ended before the newest server was ready")?;
        match (phase.answering(), phase.build_error.as_ref().or(phase.broken.as_ref())) {
            (_, Some(text)) if calls_tool => Err(text.to_string()),
            (Some(upstream), _) => Ok((upstream.clone(), upstream.open(may_log_in))),
            (None, text) => Err(text.map_or("no server runs", |text| text).to_owned()),
        }
    }

    /// Answers instead of the server. Only pages of this machine may read the text.
    fn failure(&self, text: &str) -> Response<AnswerBody> {
        if let Err(problem) = access::check(&self.parts.headers) {
            return plain(StatusCode::FORBIDDEN, problem);
        }
        let failures: Vec<_> =
            self.requests().iter().map(|request| message::failure(request, text)).collect();
        let answer = match &failures[..] {
            [] => return plain(StatusCode::SERVICE_UNAVAILABLE, text.to_owned()),
            [failure] if !self.is_batch => failure.clone(),
            failures => Message::of_batch(failures),
        };
        let mut response = Response::new(body::whole(answer.to_string()));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        access::allow_page(&self.parts.headers, response.headers_mut());
        response
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
        sent: &[Message],
        open: Option<OpenExchange>,
    ) -> Result<Response<AnswerBody>, String> {
        let requests = requests_of(sent);
        let keys = requests.iter().map(|request| message::key(&request.id()));
        let begun = self
            .session
            .as_ref()
            .map(|session| keys.map(|key| session.begin(key, upstream.number)).collect::<Vec<_>>());
        let response = self.send(upstream, body, None).await?;
        let response = self.known(hub, upstream, response);
        if let Some(session) = self.session.as_ref().filter(|_| response.status().is_success()) {
            let others = sent.iter().filter(|message| message.kind() == MessageKind::Notification);
            others.for_each(|notification| session.record().note(notification));
        }
        let (mut parts, body) = response.into_parts();
        match content_type(&parts.headers) {
            "text/event-stream" => {
                let (sender, answer) = body::channel();
                let exchange = EventExchange {
                    hub: hub.clone(),
                    upstream: upstream.clone(),
                    session: self.session.clone(),
                    asker: hub.asker(self.session.as_deref()),
                    requests,
                    is_acknowledged: false,
                    outlasts: false,
                    open: (open, begun),
                };
                tokio::spawn(exchange.run(body, sender));
                Ok(Response::from_parts(parts, answer))
            }
            "application/json" if !requests.is_empty() => {
                let body = body.collect().await.map(http_body_util::Collected::to_bytes);
                let body = match body {
                    Ok(body) => body,
                    Err(error) => return Err(lost(upstream, &error.to_string()).await),
                };
                let Some(mut answer) = Message::read(&body) else {
                    return Ok(Response::from_parts(parts, body::whole(body)));
                };
                if let Some(session) = &self.session {
                    session.note_accepted(&requests, &answer);
                }
                let has_failed = answer.has(&["error"]);
                message::adapt(&requests, &mut answer);
                if has_failed && !answer.has(&["error"]) {
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

    /// Notes the beginning and the end of a session, and gives the client the id that it knows.
    fn known(
        &self,
        hub: &Hub,
        upstream: &Upstream,
        mut response: Response<Incoming>,
    ) -> Response<Incoming> {
        if let Some(session) = &self.session
            && response.status().is_success()
            && !self.messages.is_empty()
        {
            // The server has checked the user by now.
            session.note_headers(&self.parts.headers);
        }
        let request = self.single();
        let id = header(response.headers(), SESSION).map(str::to_owned);
        let own = header(&self.parts.headers, SESSION);
        match (request, id) {
            (Some(request), Some(id)) if request.method() == "initialize" => {
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
        let answers = hub.phase.borrow().number() == Some(upstream.number);
        match &self.session {
            // The session has expired. The client begins another one.
            Some(session)
                if answers
                    && response.status() == StatusCode::NOT_FOUND
                    && self.parts.uri.path() == session.path() =>
            {
                hub.remove_session(session.id());
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
        if last.is_none() && last_event.is_some_and(|(_, id)| !id.starts_with("0-")) {
            return Err("the server of this call has ended: call again".to_owned());
        }
        let (upstream, last_event) = match last {
            Some((upstream, id)) => (upstream, Some(id)),
            None => (self.server(hub).await?.0, None),
        };
        // Stream 0 belongs to the session. All other streams belong to calls, which end at their server.
        let is_of_call = last_event.is_some_and(|id| !id.starts_with("0-"));
        let open = is_of_call.then(|| upstream.open(false));
        let response = self.send(&upstream, &self.body, last_event).await?;
        if content_type(response.headers()) != "text/event-stream" {
            let response = self.known(hub, &upstream, response);
            return Ok(response.map(|body| body.map_err(BodyError::from).boxed_unsync()));
        }
        let (parts, body) = response.into_parts();
        let (sender, answer) = body::channel();
        if is_of_call {
            let exchange = EventExchange {
                hub: hub.clone(),
                upstream,
                session: self.session.clone(),
                asker: hub.asker(self.session.as_deref()),
                requests: Vec::new(),
                is_acknowledged: false,
                outlasts: false,
                open: (open, None),
            };
            tokio::spawn(exchange.run(body, sender));
            return Ok(Response::from_parts(parts, answer));
        }
        let follower = Self {
            parts: self.parts.clone(),
            body: self.body.clone(),
            messages: self.messages.clone(),
            is_batch: self.is_batch,
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
        let asker = hub.asker(self.session.as_deref());
        // Without a stream during an exchange, the client has not been told yet.
        let session = self.session.as_ref().filter(|_| self.single().is_none());
        let is_told = session.is_none_or(|session| session.is_told(upstream.number));
        if !is_told && self.tell_changes(&hub, &upstream, &client).await.is_break() {
            return;
        }
        loop {
            let mut exchange = EventExchange {
                hub: hub.clone(),
                upstream: upstream.clone(),
                session: self.session.clone(),
                asker: asker.clone(),
                requests: self.requests(),
                is_acknowledged,
                outlasts: true,
                open: (None, None),
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
            let is_over = phases.borrow().number() == Some(number) && !upstream.has_ended().await;
            if is_over {
                return;
            }
            let next = tokio::select! {
                () = client.closed() => return,
                next = phases.wait_for(|phase| phase.is_ending || phase.number().is_some_and(|current| current > number)) => {
                    next.ok().filter(|phase| !phase.is_ending).and_then(|phase| phase.current.clone())
                }
            };
            let Some(next) = next else { return };
            upstream = next;
            let Ok(response) = self.send(&upstream, &self.body, None).await else { return };
            if content_type(response.headers()) != "text/event-stream" {
                return;
            }
            body = response.into_body();
            if self.tell_changes(&hub, &upstream, &client).await.is_break() {
                return;
            }
        }
    }

    /// Tells the client that the lists have changed, if it knows those of an older server. Breaks if the client has left.
    async fn tell_changes(
        &self,
        hub: &Hub,
        upstream: &Upstream,
        client: &Sender<Bytes>,
    ) -> ControlFlow<()> {
        // If an older program has been started again, its lists are those that the client knows.
        if hub.phase.borrow().broken.is_some() {
            return ControlFlow::Continue(());
        }
        for change in self.changes() {
            if client.send(StreamEvent::of(change).text().into()).await.is_err() {
                return ControlFlow::Break(());
            }
        }
        if let Some(session) = &self.session {
            session.told(upstream.number);
        }
        ControlFlow::Continue(())
    }

    /// Returns the notifications that the lists have changed.
    fn changes(&self) -> Vec<Message> {
        match (&self.session, self.single()) {
            (Some(session), None) => session.record().changes(),
            (_, Some(listen)) => message::wanted_lists(listen),
            _ => Vec::new(),
        }
    }
}

fn requests_of(messages: &[Message]) -> Vec<Message> {
    let requests = messages.iter().filter(|message| message.kind() == MessageKind::Request);
    requests.cloned().collect()
}

/// Returns the text for a client whose request has lost its server.
async fn lost(upstream: &Upstream, error: &str) -> String {
    match upstream.has_ended().await {
        true => upstream.ended().await,
        false => format!("the server has closed the connection: {error}"),
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
