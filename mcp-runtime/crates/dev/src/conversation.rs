//! The conversation of one client over stdio with servers that follow each other. No I/O.

use std::{
    collections::{HashMap, HashSet},
    mem,
};

use serde_json::{Value, json};

use crate::{
    message::{self, ACKNOWLEDGED, CANCELLED_ID, Message, MessageKind, key},
    record::SessionRecord,
};

/// Number of a server, in the order of their starts.
pub(crate) type ServerNumber = u64;

/// Step that the conversation asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    ToClient(Message),
    ToServer(ServerNumber, Message),
    /// A newer server has taken over. The calls of this server may end within a limit.
    Retire(ServerNumber),
    /// The server has nothing left to do.
    Close(ServerNumber),
}

/// Request of the client at a server.
struct OpenRequest {
    server: ServerNumber,
    request: Message,
}

/// State of the conversation.
#[derive(Default)]
pub(crate) struct Conversation {
    record: SessionRecord,
    /// Server that answers the client.
    current: Option<ServerNumber>,
    starting: Option<StartingServer>,
    /// Whether the sources have changed since the last build.
    is_building: bool,
    /// Whether the last server is ending, so that the next server starts alone.
    is_held: bool,
    /// Why the newest sources cannot be built. A server that starts meanwhile does not change this.
    build_error: Option<String>,
    /// Why calls cannot be answered by the newest program.
    broken: Option<String>,
    /// Messages that wait for a server, or for the end of a build.
    waiting: Vec<Message>,
    open: HashMap<String, OpenRequest>,
    /// Requests of servers, by the id that the client sees: the server, and its own id.
    questions: HashMap<u64, (ServerNumber, Value)>,
    /// Listen streams whose acknowledgement the client has seen.
    acknowledged: HashSet<String>,
    retired: HashSet<ServerNumber>,
    has_served: bool,
    numbers: u64,
    steps: Vec<Step>,
}

/// Server that has not answered its first request yet.
struct StartingServer {
    number: ServerNumber,
    greeting: Message,
    /// Whether the greeting is the handshake of the client.
    has_session: bool,
    /// Reason why this server does not run the newest program. `None` if it does.
    broken: Option<String>,
}

impl Conversation {
    /// Returns the steps since the last call.
    pub(crate) fn steps(&mut self) -> Vec<Step> {
        mem::take(&mut self.steps)
    }

    /// Whether requests of the client wait for a build, or for a server that starts.
    pub(crate) fn is_waiting(&self) -> bool {
        let mut waiting = self.waiting.iter();
        !self.is_settled() && waiting.any(|message| message.kind() == MessageKind::Request)
    }

    fn is_settled(&self) -> bool {
        !self.is_building && !self.is_held && self.starting.is_none()
    }

    /// Answers the requests that still wait, because `dev` ends.
    pub(crate) fn give_up_waiting(&mut self) {
        let waiting = mem::take(&mut self.waiting).into_iter();
        for request in waiting.filter(|message| message.kind() == MessageKind::Request) {
            let text = "the client has left before the newest server was ready";
            self.steps.push(Step::ToClient(message::failure(&request, text)));
        }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Takes a line of the client.
    pub(crate) fn client_sent(&mut self, message: &Message) {
        // Clients that send batches accept single answers.
        for message in message.members() {
            match message.kind() {
                MessageKind::Request => self.request(message),
                MessageKind::Notification => self.notification(message),
                MessageKind::Response => self.answer(message),
            }
        }
    }

    fn request(&mut self, request: Message) {
        let method = request.method();
        let runs_code = message::runs_code(&method);
        let is_settled = self.is_settled();
        match (self.current, self.build_error.as_ref().or(self.broken.as_ref())) {
            _ if runs_code && !is_settled => self.waiting.push(request),
            (_, Some(text)) if method == "tools/call" => {
                let answer = message::failure(&request, text);
                self.steps.push(Step::ToClient(answer));
            }
            (Some(server), _) => self.forward(server, request),
            (None, _) if !is_settled => self.waiting.push(request),
            (None, text) => {
                let text = text.map_or("no server runs", String::as_str);
                let answer = message::failure(&request, text);
                self.steps.push(Step::ToClient(answer));
            }
        }
    }

    fn forward(&mut self, server: ServerNumber, request: Message) {
        let id = request.id();
        if message::is_request_id(&id) {
            self.record.note_sent(&request);
            self.open.insert(key(&id), OpenRequest { server, request: request.clone() });
        }
        self.steps.push(Step::ToServer(server, request));
    }

    /// Notes that a line that is no message goes to a server. If it has an id, the answer of the server has this id, too.
    pub(crate) fn sent_as_it_is(&mut self, server: ServerNumber, line: &Message) {
        let id = line.id();
        if message::is_request_id(&id) {
            let open = OpenRequest { server, request: line.clone() };
            self.open.entry(key(&id)).or_insert(open);
        }
    }

    fn notification(&mut self, notification: Message) {
        if notification.method() == "notifications/cancelled" {
            let id = key(&notification.value(CANCELLED_ID));
            let count = self.waiting.len();
            self.waiting.retain(|waiting| {
                waiting.kind() != MessageKind::Request || key(&waiting.id()) != id
            });
            if self.waiting.len() < count {
                return;
            }
            self.end_listen(&id);
            // No server answers a cancelled request.
            let Some(open) = self.open.remove(&id) else { return };
            self.steps.push(Step::ToServer(open.server, notification));
            return self.close_if_done(open.server);
        }
        // A server ignores a notification that comes before the handshake.
        if self.waiting.iter().any(|waiting| waiting.method() == "initialize") {
            return self.waiting.push(notification);
        }
        self.record.note(&notification);
        self.steps.extend(self.current.map(|server| Step::ToServer(server, notification)));
    }

    /// Passes the answer to a question on to the server that has asked.
    fn answer(&mut self, mut answer: Message) {
        let asked = answer.id().as_u64().and_then(|id| self.questions.remove(&id));
        let Some((server, id)) = asked else { return };
        answer.set(&["id"], id);
        self.steps.push(Step::ToServer(server, answer));
    }

    /// Takes a line of a server.
    pub(crate) fn server_sent(&mut self, server: ServerNumber, message: &Message) {
        for message in message.members() {
            match message.kind() {
                MessageKind::Response => self.response(server, message),
                MessageKind::Request => self.question(server, message),
                MessageKind::Notification => self.news(server, message),
            }
        }
    }

    fn response(&mut self, server: ServerNumber, mut answer: Message) {
        let id = answer.id();
        // The answer to a line that is no message has no id.
        if id.is_null() && answer.has(&["error"]) {
            self.steps.push(Step::ToClient(answer));
            return;
        }
        if message::is_own(&id) {
            let starting = self
                .starting
                .take_if(|starting| starting.number == server && starting.greeting.id() == id);
            if let Some(starting) = starting {
                self.greeted(starting);
            }
            return;
        }
        let id = key(&id);
        // If a newer server has taken over the stream of this request, the response of this server does not count.
        if self.open.get(&id).is_none_or(|open| open.server != server) || self.goes_on(&id, server)
        {
            return;
        }
        if let Some(OpenRequest { request, .. }) = self.open.remove(&id) {
            self.note_answer(server, &request, !answer.has(&["error"]));
            message::adapt(&[request], &mut answer);
        }
        self.end_listen(&id);
        self.steps.push(Step::ToClient(answer));
        self.close_if_done(server);
    }

    fn note_answer(&mut self, server: ServerNumber, request: &Message, is_accepted: bool) {
        let method = request.method();
        if is_accepted {
            self.record.note(request);
        } else if method == "initialize" {
            self.record.refused();
        }
        // The new server has taken over without this request, because the last server had not accepted it yet.
        let newer = self.current.filter(|current| *current != server);
        if let (Some(newer), true) = (newer, is_accepted && SessionRecord::has_method(&method)) {
            let params = request.part(&["params"]).unwrap_or(json!({}).into());
            let own = message::own_request(self.number(), &method, &params);
            self.steps.push(Step::ToServer(newer, own));
        }
    }

    /// Whether a request is a listen stream that the next server takes over when `server` ends.
    fn goes_on(&self, id: &str, server: ServerNumber) -> bool {
        self.current != Some(server) && self.record.listen(id).is_some()
    }

    fn end_listen(&mut self, id: &str) {
        self.record.forget_listen(id);
        self.acknowledged.remove(id);
    }

    /// Passes a question on with an id that no other server uses.
    fn question(&mut self, server: ServerNumber, mut question: Message) {
        let number = self.number();
        self.questions.insert(number, (server, question.id()));
        question.set(&["id"], json!(number));
        self.steps.push(Step::ToClient(question));
    }

    fn news(&mut self, server: ServerNumber, mut notification: Message) {
        match &*notification.method() {
            "notifications/cancelled" => {
                let id = notification.value(CANCELLED_ID);
                let asked =
                    self.questions.iter().find(|(_, asked)| asked.0 == server && asked.1 == id);
                if let Some((&number, _)) = asked {
                    self.questions.remove(&number);
                    notification.set(CANCELLED_ID, json!(number));
                } else if self.open.get(&key(&id)).is_none_or(|open| open.server != server)
                    || self.goes_on(&key(&id), server)
                {
                    return;
                }
            }
            ACKNOWLEDGED => {
                let id = key(&notification.value(&["params", "_meta", message::SUBSCRIPTION]));
                let listen = self.record.listen(&id);
                match listen {
                    Some(listen) if self.acknowledged.insert(id) => {
                        message::acknowledge(listen, &mut notification);
                    }
                    _ => return,
                }
            }
            _ if self.current == Some(server) || message::belongs_to_call(&notification) => {}
            _ => return,
        }
        self.steps.push(Step::ToClient(notification));
    }

    /// Notes that the sources have changed.
    pub(crate) fn changed(&mut self) {
        self.is_building = true;
    }

    /// Notes that the last build has failed.
    pub(crate) fn build_failed(&mut self, text: String) {
        self.is_building = false;
        self.build_error = Some(text);
        self.settle();
    }

    /// Notes that the system cannot start any server. `text` is for the client.
    pub(crate) fn cannot_start(&mut self, text: String) {
        self.is_held = false;
        self.broken = Some(text);
        self.settle();
    }

    /// Notes that the first build has changed nothing. The program may have failed to start meanwhile.
    pub(crate) fn fresh(&mut self) {
        self.is_building = false;
        self.settle();
    }

    /// Notes that the last build has led to the program that runs already.
    pub(crate) fn nothing_new(&mut self) {
        self.is_building = false;
        self.build_error = None;
        self.broken = None;
        self.settle();
    }

    /// Greets the server of a new program, which takes over as soon as it answers. A server that has not answered yet is dropped.
    pub(crate) fn start(&mut self, server: ServerNumber) {
        self.is_building = false;
        self.build_error = None;
        let last = self.starting.take();
        self.steps.extend(last.map(|last| Step::Close(last.number)));
        self.start_again(server, None);
    }

    /// Greets a server of a program that has been started before. `broken` is the reason why the program is not the newest.
    pub(crate) fn start_again(&mut self, server: ServerNumber, broken: Option<String>) {
        self.is_held = false;
        let number = self.number();
        let greeting = self.record.greeting(number);
        self.steps.push(Step::ToServer(server, greeting.clone()));
        let has_session = self.record.has_session();
        self.starting = Some(StartingServer { number: server, greeting, has_session, broken });
    }

    /// Server that answers the client.
    pub(crate) fn current(&self) -> Option<ServerNumber> {
        self.current
    }

    pub(crate) fn is_starting(&self, server: ServerNumber) -> bool {
        self.starting.as_ref().is_some_and(|starting| starting.number == server)
    }

    /// Drops a server that could not start, and lets the last server end, so that another server can start alone.
    pub(crate) fn hold(&mut self) {
        self.starting = None;
        self.is_held = true;
        self.make_room();
    }

    /// Lets the last server end while the new server still starts.
    pub(crate) fn make_room(&mut self) {
        if let Some(last) = self.current.take() {
            self.retire(last);
        }
    }

    fn retire(&mut self, server: ServerNumber) {
        self.retired.insert(server);
        self.steps.push(Step::Retire(server));
        self.close_if_done(server);
    }

    /// Lets the new server take over.
    fn greeted(&mut self, starting: StartingServer) {
        let server = starting.number;
        // The client may have begun its session while the server started.
        if self.record.has_session() && !starting.has_session {
            return self.start_again(server, starting.broken);
        }
        let mut numbers = self.numbers;
        let replay = self.record.replay(|| {
            numbers += 1;
            numbers
        });
        self.numbers = numbers;
        self.steps.extend(replay.into_iter().map(|message| Step::ToServer(server, message)));
        for (id, listen) in self.record.listens() {
            let request = listen.clone();
            self.open.insert(id.clone(), OpenRequest { server, request: request.clone() });
            self.steps.push(Step::ToServer(server, request));
        }
        let last = self.current.replace(server);
        self.broken = starting.broken;
        // If an older program has been started again, its lists are those that the client knows.
        if mem::replace(&mut self.has_served, true) && self.broken.is_none() {
            self.steps.extend(self.record.changes().into_iter().map(Step::ToClient));
        }
        self.settle();
        if let Some(last) = last {
            self.retire(last);
        }
    }

    /// Handles the messages that have waited.
    fn settle(&mut self) {
        for message in mem::take(&mut self.waiting) {
            self.client_sent(&message);
        }
    }

    fn close_if_done(&mut self, server: ServerNumber) {
        let mut open = self.open.iter();
        let is_busy =
            open.any(|(id, open)| open.server == server && self.record.listen(id).is_none());
        if !is_busy && self.retired.remove(&server) {
            self.steps.push(Step::Close(server));
        }
    }

    /// Ends a retired server whose calls take too long.
    pub(crate) fn give_up(&mut self, server: ServerNumber) {
        if self.retired.remove(&server) {
            self.fail_open(
                server,
                "a newer version of the server has taken over, and this call has not ended in time: call again",
            );
            self.steps.push(Step::Close(server));
        }
    }

    /// Notes that a server has ended. `report` is the text for the client.
    pub(crate) fn ended(&mut self, server: ServerNumber, report: &str) {
        self.retired.remove(&server);
        let has_failed = self.starting.take_if(|starting| starting.number == server).is_some();
        let is_current = self.current == Some(server);
        if is_current {
            self.current = None;
        }
        self.fail_open(server, report);
        self.questions.retain(|_, asked| asked.0 != server);
        self.is_held &= !has_failed;
        if has_failed || is_current {
            self.broken = Some(report.to_owned());
        }
        if has_failed {
            self.settle();
        }
    }

    /// Answers the open requests of a server. The next server takes over the listen streams.
    fn fail_open(&mut self, server: ServerNumber, text: &str) {
        let ids = self
            .open
            .iter()
            .filter(|(id, open)| open.server == server && self.record.listen(id).is_none());
        let ids: Vec<_> = ids.map(|(id, _)| id.clone()).collect();
        for id in ids {
            let Some(OpenRequest { request, .. }) = self.open.remove(&id) else { continue };
            self.steps.push(Step::ToClient(message::failure(&request, text)));
        }
    }
}

#[cfg(test)]
mod tests;
