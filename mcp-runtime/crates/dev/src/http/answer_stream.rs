//! Answer of a server that is a stream of events, on its way to the client.

use std::{mem, ops::ControlFlow, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::json;
use tokio::{sync::mpsc::Sender, time::sleep};

use super::{
    hub::{Asker, Hub},
    session::{Session, SessionRequest},
    sse::{EventReader, StreamEvent},
    upstream::{OpenExchange, Upstream},
};
use crate::message::{self, ACKNOWLEDGED, Message, MessageKind};

/// Time that a client of a session has to resume the stream of a call after its connection has broken.
const RESUMING: Duration = Duration::from_secs(5);

/// Answer that is a stream of events.
pub(crate) struct EventExchange {
    pub(crate) hub: Arc<Hub>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) asker: Asker,
    /// Requests that are not answered yet.
    pub(crate) requests: Vec<Message>,
    /// Whether the client has seen the beginning of a listen stream.
    pub(crate) is_acknowledged: bool,
    /// Whether the stream goes on at the next server.
    pub(crate) outlasts: bool,
    /// Guards that count the requests as open until the stream ends.
    #[expect(dead_code, reason = "the guards act when they are dropped")]
    pub(crate) open: (Option<OpenExchange>, Option<Vec<SessionRequest>>),
}

impl EventExchange {
    /// Passes all events on. A request whose server ends gets an answer that says so.
    pub(crate) async fn run(mut self, body: Incoming, client: Sender<Bytes>) {
        if self.pass_on(body, &client).await.is_break() {
            if self.session.is_some() && client.is_closed() {
                // The server goes on with the call, and counts as busy meanwhile.
                sleep(RESUMING).await;
            }
            return;
        }
        if self.requests.is_empty() || !self.upstream.has_ended().await {
            return;
        }
        let text = self.upstream.ended().await;
        for request in &self.requests {
            let failure = message::failure(request, &text);
            // A client that has left needs no answer.
            let _ = client.send(StreamEvent::of(failure).text().into()).await;
        }
    }

    /// Passes events on until the server's stream ends. Breaks if the client needs no further events, because it has the answer or has left.
    pub(crate) async fn pass_on(
        &mut self,
        mut body: Incoming,
        client: &Sender<Bytes>,
    ) -> ControlFlow<()> {
        let mut reader = EventReader::default();
        loop {
            let frame = tokio::select! {
                () = client.closed() => return ControlFlow::Break(()),
                frame = body.frame() => frame,
            };
            let Some(Ok(frame)) = frame else { return ControlFlow::Continue(()) };
            let Ok(data) = frame.into_data() else { continue };
            for mut event in reader.take(&data) {
                if let Some(address) = event.endpoint() {
                    self.asker.note_endpoint(address);
                }
                let ends = event.message.as_ref().is_some_and(|message| self.ends(message));
                if ends && self.outlasts && self.upstream.is_stopping() {
                    return ControlFlow::Continue(());
                }
                let is_answer =
                    ends && event.message.as_ref().is_some_and(|message| !message.has(&["method"]));
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

    /// Whether a message ends the exchange. The last answer does, and so does the cancellation of a listen stream, which comes before its answer.
    fn ends(&self, message: &Message) -> bool {
        let cancels = |request: &Message| {
            self.outlasts
                && message.method() == "notifications/cancelled"
                && request.id() == message.value(message::CANCELLED_ID)
        };
        let answers = message.members();
        let is_over = |request: &Message| {
            cancels(request) || answers.iter().any(|answer| answer.answers(request))
        };
        !self.requests.is_empty() && self.requests.iter().all(is_over)
    }

    /// Changes a message or a batch for the client. Returns whether the client gets it.
    fn change(&mut self, message: &mut Message) -> bool {
        let Some(mut batch) = message.batch() else { return self.change_single(message) };
        batch.retain_mut(|message| self.change_single(message));
        *message = Message::of_batch(&batch);
        !batch.is_empty()
    }

    fn change_single(&mut self, message: &mut Message) -> bool {
        let server = self.upstream.number;
        match message.kind() {
            MessageKind::Request => self.hub.ask(server, &self.asker, message),
            MessageKind::Response => {
                if let Some(session) = &self.session {
                    session.note_accepted(&self.requests, message);
                }
                message::adapt(&self.requests, message);
                self.requests.retain(|request| !message.answers(request));
            }
            MessageKind::Notification => match (&*message.method(), self.requests.first()) {
                (ACKNOWLEDGED, Some(listen)) => {
                    message::acknowledge(listen, message);
                    return !mem::replace(&mut self.is_acknowledged, true);
                }
                ("notifications/cancelled", _) => {
                    let id = message.value(message::CANCELLED_ID);
                    if let Some(number) = self.hub.withdraw(server, &self.asker, &id) {
                        message.set(message::CANCELLED_ID, json!(number));
                    }
                }
                _ => {}
            },
        }
        true
    }
}
