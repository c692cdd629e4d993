//! Questions of the legacy era (elicitation, sampling and roots requests): the server sends a request, which the client answers while the
//! call continues.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime_wire::{self as wire, Id, ObjectWriter, Raw};
use tokio::sync::oneshot;

use super::{
    call::ReplyTo,
    encode,
    outbox::Outbox,
    session::Terms,
    state::{PeerState, QuestionAnswer},
};
use crate::{
    ask::asked_twice,
    call::context::{AnswerFuture, Asker},
    catalog::Topic,
    error::{Error, ErrorKind, Result, truncated},
    limits::Limit,
    model::{NeedInput, Question},
};

/// Passes a response to the question that waits for it.
pub(super) fn receive_answer(state: &PeerState, id: Id<'_>, result: Result<Raw<'_>, Raw<'_>>) {
    let waiting = state.ongoing().and_then(|ongoing| ongoing.questions().take(id));
    let Some(waiting) = waiting else { return };
    let answer = result.map(|result| result.as_str().into()).map_err(|error| {
        let message = error.get("message").and_then(Raw::string).unwrap_or_default();
        // Limits the length of the text, because the handler often returns it to the client.
        truncated(&message, 1000).to_owned()
    });
    // Sends the answer while no lock is held, because sending wakes the tokio task that waits for it.
    let _ = waiting.send(answer);
}

/// Stops waiting for all answers, because no more answers will arrive.
pub(super) fn give_up(state: &PeerState) {
    let waiting = state.ongoing().map(|ongoing| std::mem::take(&mut ongoing.questions().waiting));
    drop(waiting);
}

/// Drops the stored roots, because the roots of the client have changed. Without ongoing work there is nothing to drop, because roots are
/// stored only after a question.
pub(super) fn forget_roots(state: &PeerState) {
    if let Some(ongoing) = state.ongoing() {
        ongoing.questions().forget_roots();
    }
}

/// [`Asker`] of one call in the legacy era. It sends each question as a request.
pub(super) struct Questioner {
    state: Arc<PeerState>,
    outbox: Arc<Outbox>,
    /// Whether the client accepts only the response, so that no questions can be sent.
    only_response: bool,
    terms: Terms,
    timeout: Duration,
    keys: Mutex<BTreeSet<String>>,
    waiting: Arc<AtomicUsize>,
    /// Task that the questions belong to, if any.
    task: Option<Arc<str>>,
    /// Roots that the client has sent to this call.
    roots: Arc<Mutex<Option<Box<str>>>>,
}

impl Questioner {
    pub(super) fn new(state: Arc<PeerState>, to: &ReplyTo, terms: Terms) -> Self {
        let timeout = state.service.limits.question_time;
        Self {
            state,
            outbox: to.outbox.clone(),
            only_response: to.only_response,
            terms,
            timeout,
            keys: Mutex::default(),
            waiting: Arc::default(),
            task: None,
            roots: Arc::default(),
        }
    }

    /// Makes the questions belong to a task. They are sent to a client that waits for the result of the task.
    pub(super) fn of_task(mut self, task: Arc<str>) -> Self {
        self.task = Some(task);
        self
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the protocol revision has this kind of question, and that the client has declared the capability for it.
    fn check_support(&self, question: &Question) -> Result<()> {
        let revision = self.terms.revision;
        let features = revision.features();
        let missing = match question {
            Question::Form { .. } if !features.forms => Some("no forms"),
            Question::Url { .. } if !features.url_mode => Some("no pages to send a user to"),
            _ => None,
        };
        if let Some(what) = missing {
            return Err(Error::msg(format_args!(
                "the client speaks {revision}, which has {what}: nobody can be asked"
            )));
        }
        let missing = question.missing(&self.terms.client, features.sampling_tools);
        if !missing.is_empty() {
            return Err(Error::msg(format_args!(
                "the client has not declared `{}`: it cannot be asked",
                missing.join("` and `")
            )));
        }
        Ok(())
    }

    /// Checks that the question can be sent.
    fn check(&self, question: &Question) -> Result<()> {
        self.check_support(question)?;
        if self.only_response {
            return Err(Error::msg(
                "the client accepts no stream of events, so it cannot be asked",
            ));
        }
        Ok(())
    }

    /// Returns the `elicitationId` for a URL-mode elicitation, which the session remembers until the user has finished. Returns `None` for
    /// other questions.
    fn elicitation_id(&self, question: &Question) -> Option<String> {
        let url = question.page_url()?;
        self.state.register(Topic::Pages);
        Some(self.state.session().send_to(&url))
    }

    /// Returns the error that sends the user to a URL before the client repeats the call (rule ELIC-09).
    fn url_required(&self, page: &Question) -> Error {
        let Question::Url { message, url, .. } = page else { return Error::internal("no page") };
        if let Err(why) = self.check_support(page) {
            return Error::msg(format_args!(
                "{message}: the user must go to {url} first, and tell you when to try again ({why})"
            ));
        }
        let mut data = Vec::new();
        let mut object = ObjectWriter::begin(&mut data);
        let mut pages = object.array("elicitations");
        let id = self.elicitation_id(page);
        let written =
            encode::question(&mut pages.object(), self.terms.revision, page, id.as_deref());
        pages.end();
        object.end();
        match (written, String::from_utf8(data)) {
            (Ok(()), Ok(data)) => Error::of(ErrorKind::UrlRequired, message).with_json(data),
            _ => Error::internal("the page cannot be written"),
        }
    }

    /// Sends the question on the stream of the request that it belongs to (rule C-26).
    fn send(&self, question: &Question) -> Result<SentQuestion> {
        let first = self.state.service.first_question;
        let (id, answer) = self.state.ongoing_or_new().questions().open(first);
        let (state, outbox, task) = (self.state.clone(), self.outbox.clone(), self.task.clone());
        let open = SentQuestion { id, state, outbox, task, answer };
        let text = id.to_string();
        let Some(id) = Id::parse(Raw::trusted(&text)) else { return Err(Error::internal("no id")) };
        let page = self.elicitation_id(question);
        let mut written = Ok(());
        let mut message = Vec::new();
        wire::request(&mut message, id, question.method(), |params| {
            written = encode::question(params, self.terms.revision, question, page.as_deref());
            if let Some(task) = &self.task {
                encode::related(&mut params.object("_meta"), task);
            }
        });
        if let Err(why) = written {
            // The question was never sent, so there is nothing to cancel.
            self.state.ongoing_or_new().questions().remove(open.id);
            return Err(Error::msg(why));
        }
        self.outbox.push(|out| out.extend_from_slice(&message));
        Ok(open)
    }
}

/// Question that has been sent. If it is dropped before the answer arrives, the server sends a cancellation to the client.
struct SentQuestion {
    id: u64,
    state: Arc<PeerState>,
    outbox: Arc<Outbox>,
    task: Option<Arc<str>>,
    answer: oneshot::Receiver<QuestionAnswer>,
}

impl Drop for SentQuestion {
    fn drop(&mut self) {
        if self.state.ongoing_or_new().questions().remove(self.id).is_some() {
            self.outbox.push(|out| {
                wire::notification(out, "notifications/cancelled", |params| {
                    params
                        .u64("requestId", self.id)
                        .str("reason", "nobody waits for the answer any more");
                    if let Some(task) = &self.task {
                        encode::related(&mut params.object("_meta"), task);
                    }
                });
            });
        }
    }
}

/// Guard that counts an open question.
struct QuestionGuard(Arc<AtomicUsize>);

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Asker for Questioner {
    fn ask(&self, key: &str, question: Question) -> AnswerFuture {
        let own = self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let known = own.or_else(|| self.state.ongoing_or_new().questions().roots.clone());
        if let Some(roots) = known.filter(|_| question.is_roots()) {
            return Box::pin(std::future::ready(Ok(roots)));
        }
        if let Question::Url { must_visit: true, .. } = &question {
            return Box::pin(std::future::ready(Err(self.url_required(&question))));
        }
        let keeps = question.is_roots() && self.terms.client.can("roots.listChanged");
        let is_new = || self.keys().insert(key.to_owned());
        let opened = if question.is_roots() || is_new() {
            self.check(&question).and_then(|()| self.send(&question))
        } else {
            Err(asked_twice(key))
        };
        let waiting = opened.is_ok().then(|| {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            QuestionGuard(self.waiting.clone())
        });
        let timeout = self.timeout;
        let roots = self.roots.clone();
        let changes = self.state.ongoing_or_new().questions().changes;
        Box::pin(async move {
            let _waiting = waiting;
            let mut open = opened?;
            let answer = tokio::time::timeout(timeout, &mut open.answer).await;
            if answer.is_err() {
                open.state.service.tally().refuse(Limit::QuestionTime);
            }
            match answer {
                Ok(Ok(Ok(json))) => {
                    if let Err(why) = question.check(Raw::trusted(&json)) {
                        let text = format!("the client's answer cannot be used: {why}");
                        return Err(Error::msg(text));
                    }
                    if question.is_roots() {
                        *roots.lock().unwrap_or_else(PoisonError::into_inner) = Some(json.clone());
                    }
                    // Long lists of roots are not stored. Every session whose client announces changes may store its own list, so long
                    // lists would use much memory.
                    if keeps && json.len() <= open.state.service.limits.client {
                        let mut questions = open.state.ongoing_or_new().questions();
                        if questions.changes == changes {
                            questions.roots = Some(json.clone());
                        }
                    }
                    Ok(json)
                }
                Ok(Ok(Err(message))) => {
                    Err(Error::msg(format_args!("the client refused: {message}")))
                }
                // The question stays open, because it belongs to the task: another request that waits for the task may send it again.
                Ok(Err(_)) if open.task.is_some() => std::future::pending().await,
                Ok(Err(_)) => Err(Error::msg("the client disconnected without an answer")),
                Err(_) => {
                    Err(Error::msg(format_args!("the client has not answered within {timeout:?}")))
                }
            }
        })
    }

    fn done(&self, _: &str) -> Option<Box<str>> {
        None
    }

    fn set_done(&self, _: &str, _: Box<str>) {}

    fn fail(&self, _: Error) {}

    fn begin(&self) -> Result<()> {
        Ok(())
    }

    fn need_input(&self) -> Result<Option<NeedInput>> {
        Ok(None)
    }

    fn is_resumed(&self) -> bool {
        false
    }

    fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }
}
