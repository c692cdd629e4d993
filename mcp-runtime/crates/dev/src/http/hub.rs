//! State that all requests share: the server that answers, and the sessions and questions that outlast a server.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use hyper::Uri;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{session::Session, upstream::Upstream};
use crate::{copies::ProgramCopy, message::Message};

/// State of the build and of the servers.
#[derive(Clone, Default)]
pub(crate) struct Phase {
    /// Whether the sources have changed since the last build.
    pub(crate) is_building: bool,
    /// Whether `dev` ends, so that no further server answers.
    pub(crate) is_ending: bool,
    /// Whether a server has started and does not listen yet.
    pub(crate) is_starting: bool,
    /// Why the newest sources cannot be built. A server that starts meanwhile does not change this.
    pub(crate) build_error: Option<Arc<str>>,
    /// Why calls cannot be answered by the newest program.
    pub(crate) broken: Option<Arc<str>>,
    /// Server that answers.
    pub(crate) current: Option<Arc<Upstream>>,
}

impl Phase {
    pub(crate) fn is_settled(&self) -> bool {
        !self.is_building && !self.is_starting
    }

    /// Server that answers, unless it ends so that the next one can start.
    pub(crate) fn answering(&self) -> Option<&Arc<Upstream>> {
        self.current.as_ref().filter(|current| !current.is_stopping())
    }

    /// Number of the server that answers.
    pub(crate) fn number(&self) -> Option<u64> {
        self.current.as_ref().map(|upstream| upstream.number)
    }
}

/// Shared state.
#[derive(Default)]
pub(crate) struct Hub {
    pub(crate) phase: watch::Sender<Phase>,
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    /// Servers that run, by their numbers.
    upstreams: HashMap<u64, Weak<Upstream>>,
    /// Program of the last server that has started.
    good: Option<Arc<ProgramCopy>>,
    sessions: HashMap<String, Arc<Session>>,
    /// Requests of servers that run, by the id that the client sees.
    questions: HashMap<u64, OpenQuestion>,
    /// Last number of a question or of an asking stream.
    last: u64,
}

/// Request of a server that no client has answered yet.
#[derive(PartialEq)]
struct OpenQuestion {
    server: u64,
    asker: Asker,
    /// Id that the server has chosen.
    id: Value,
}

/// Part of a server that asks questions. Each part counts its questions by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asker {
    /// Session with this id.
    Session(String),
    /// Stream of a client without a session, which uses HTTP+SSE. The server tells the client in the first event where it takes answers.
    Stream { number: u64, endpoint: Option<String> },
}

impl Asker {
    /// Notes the address that the first event of a stream names.
    pub(crate) fn note_endpoint(&mut self, address: &str) {
        if let Self::Stream { endpoint, .. } = self {
            *endpoint = Some(address.to_owned());
        }
    }
}

impl Tables {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns the id by which the client knows an open question.
    fn number_of(&self, question: &OpenQuestion) -> Option<u64> {
        let mut open = self.questions.iter();
        open.find(|(_, open)| *open == question).map(|(number, _)| *number)
    }

    fn upstream(&self, number: u64) -> Option<Arc<Upstream>> {
        let upstream = self.upstreams.get(&number).and_then(Weak::upgrade);
        upstream.filter(|upstream| !upstream.is_gone())
    }
}

impl Hub {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a server answer from now on. `broken` is the reason why its program is not the newest. Returns the server that has
    /// answered before.
    pub(crate) fn take_over(
        &self,
        upstream: &Arc<Upstream>,
        program: &Arc<ProgramCopy>,
        broken: Option<String>,
    ) -> Option<Arc<Upstream>> {
        let mut tables = self.tables();
        tables.upstreams.insert(upstream.number, Arc::downgrade(upstream));
        tables.good = Some(program.clone());
        drop(tables);
        let mut last = None;
        self.phase.send_modify(|phase| {
            phase.is_starting = false;
            phase.broken = broken.map(Into::into);
            last = phase.current.replace(upstream.clone());
        });
        last
    }

    /// Program of the last server that has started.
    pub(crate) fn good(&self) -> Option<Arc<ProgramCopy>> {
        self.tables().good.clone()
    }

    /// Returns the server with this number. `None` if it has ended.
    pub(crate) fn upstream(&self, number: u64) -> Option<Arc<Upstream>> {
        self.tables().upstream(number)
    }

    /// Servers that have not ended.
    pub(crate) fn running(&self) -> Vec<Arc<Upstream>> {
        let tables = self.tables();
        tables.upstreams.keys().filter_map(|number| tables.upstream(*number)).collect()
    }

    /// Forgets a server that has ended, and its questions, which no answer can reach any more.
    pub(crate) fn forget(&self, server: u64) {
        let mut tables = self.tables();
        tables.upstreams.remove(&server);
        tables.questions.retain(|_, question| question.server != server);
    }

    pub(crate) fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.tables().sessions.get(id).cloned()
    }

    pub(crate) fn add_session(&self, id: String, session: Session) {
        self.tables().sessions.insert(id, Arc::new(session));
    }

    pub(crate) fn remove_session(&self, id: &str) {
        let mut tables = self.tables();
        tables.sessions.remove(id);
        tables.questions.retain(|_, question| question.asker != Asker::Session(id.to_owned()));
    }

    /// Returns the asker on a stream of a server.
    pub(crate) fn asker(&self, session: Option<&Session>) -> Asker {
        match session {
            Some(session) => Asker::Session(session.id().to_owned()),
            None => Asker::Stream { number: self.tables().number(), endpoint: None },
        }
    }

    /// Gives a question of a server an id that no other server and no other session uses. A question that a resumed stream repeats keeps its id.
    pub(crate) fn ask(&self, server: u64, asker: &Asker, question: &mut Message) {
        let mut tables = self.tables();
        let asked = OpenQuestion { server, asker: asker.clone(), id: question.id() };
        let number = tables.number_of(&asked).unwrap_or_else(|| tables.number());
        // The last bytes of a server may arrive after its end. Nothing waits for an answer then.
        if tables.upstream(server).is_some() {
            tables.questions.insert(number, asked);
        }
        question.set(&["id"], json!(number));
    }

    /// Returns the server that waits for the answer with this id at this address, and its own id of the question. A client cannot answer for another
    /// session, or for the stream of another client.
    pub(crate) fn asked(
        &self,
        id: &Value,
        session: Option<&Session>,
        uri: &Uri,
    ) -> Option<(Arc<Upstream>, Value)> {
        let tables = self.tables();
        let question = tables.questions.get(&id.as_u64()?)?;
        let is_foreign = match (&question.asker, session) {
            (Asker::Session(asker), Some(session)) => *asker != session.id(),
            // The server itself refuses an answer without a session id. The client may then send the answer again, with the id. At the address of another stream, the
            // server would take it as the answer to a question of that stream.
            (Asker::Session(asker), None) => {
                tables.sessions.get(asker).is_none_or(|session| session.path() != uri.path())
            }
            // Only the owner of the stream knows the secret in its address. The address is relative.
            (Asker::Stream { endpoint, .. }, _) => {
                let secret = endpoint.as_deref().and_then(|address| address.split_once('?'));
                secret.map(|(_, secret)| secret) != uri.query() || secret.is_none()
            }
        };
        let upstream = tables.upstream(question.server).filter(|_| !is_foreign)?;
        Some((upstream, question.id.clone()))
    }

    /// Forgets a question whose answer the server has accepted.
    pub(crate) fn answered(&self, id: &Value) {
        if let Some(number) = id.as_u64() {
            self.tables().questions.remove(&number);
        }
    }

    /// Removes a question that a server withdraws. Returns the id that the client knows.
    pub(crate) fn withdraw(&self, server: u64, asker: &Asker, id: &Value) -> Option<u64> {
        let mut tables = self.tables();
        let number =
            tables.number_of(&OpenQuestion { server, asker: asker.clone(), id: id.clone() })?;
        tables.questions.remove(&number);
        Some(number)
    }
}
