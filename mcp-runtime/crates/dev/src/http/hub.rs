//! State that all requests share: the server that answers, and the sessions and questions that outlast a server.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{session::Session, upstream::Upstream};
use crate::{message::Message, process::ProgramCopy};

/// State of the build and of the servers.
#[derive(Clone, Default)]
pub(crate) struct Phase {
    /// Whether the sources have changed since the last build.
    pub(crate) is_building: bool,
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
    /// Requests of servers, by the id that the client sees: the server, and its own id.
    questions: HashMap<u64, (u64, Value)>,
    last_question: u64,
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

    pub(crate) fn upstream(&self, number: u64) -> Option<Arc<Upstream>> {
        self.tables().upstreams.get(&number).and_then(Weak::upgrade)
    }

    pub(crate) fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.tables().sessions.get(id).cloned()
    }

    pub(crate) fn add_session(&self, id: String, session: Session) {
        self.tables().sessions.insert(id, Arc::new(session));
    }

    pub(crate) fn remove_session(&self, id: &str) {
        self.tables().sessions.remove(id);
    }

    /// Gives a question of a server an id that no other server uses.
    pub(crate) fn ask(&self, server: u64, question: &mut Message) {
        let mut tables = self.tables();
        tables.last_question += 1;
        let number = tables.last_question;
        tables.questions.insert(number, (server, question.id()));
        question.set(&["id"], json!(number));
    }

    /// Returns the server that has asked the question with this id, and its own id of the question.
    pub(crate) fn asked(&self, id: &Value) -> Option<(u64, Value)> {
        self.tables().questions.get(&id.as_u64()?).cloned()
    }

    /// Forgets a question whose answer the server has accepted.
    pub(crate) fn answered(&self, id: &Value) {
        if let Some(number) = id.as_u64() {
            self.tables().questions.remove(&number);
        }
    }

    /// Removes a question that a server withdraws. Returns the id that the client knows.
    pub(crate) fn withdraw(&self, server: u64, id: &Value) -> Option<u64> {
        let mut tables = self.tables();
        let asked = tables.questions.iter().find(|(_, asked)| asked.0 == server && asked.1 == *id);
        let number = *asked?.0;
        tables.questions.remove(&number);
        Some(number)
    }
}
