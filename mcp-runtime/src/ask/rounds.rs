//! Rounds of one call. A question that the client has already answered resolves at once. A question without an answer ends the round.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_runtime_contract::collect::collect_by_insert;
use mcp_runtime_wire::{JsonKind, Raw};

use super::{
    codec::{RoundState, StateCodec, Texts},
    storage::RoundId,
};
use crate::{
    call::context::{AnswerFuture, Asker, BeginFuture},
    error::{Error, ErrorKind, Result},
    model::{ClientInfo, NeedInput, Question},
};

/// Call of protocol revision 2026-07-28, with the state of its earlier rounds.
pub(crate) struct Rounds {
    client: Arc<ClientInfo>,
    codec: StateCodec,
    /// State of the earlier rounds.
    earlier: RoundState,
    /// Answers that the client sent with this round. They have not been checked yet.
    answers: Texts,
    /// Earlier round whose state the client has sent back with this round.
    resumes: Option<RoundId>,
    round: Mutex<Round>,
}

/// State of the current round.
#[derive(Default)]
struct Round {
    /// Keys of the questions in this round. Each key may be used once.
    keys: BTreeSet<String>,
    /// Questions that have no answer yet.
    open: Vec<(Box<str>, Question)>,
    /// Number of running `once` operations. The round does not end before they have finished, because later rounds need their results.
    held: usize,
    /// State for later rounds.
    state: RoundState,
    /// Error that makes a later round impossible.
    fault: Option<Error>,
}

impl Rounds {
    /// Resumes a call from the state of its earlier rounds.
    ///
    /// # Errors
    /// Fails if the answers are not an object, if the state does not belong to this call, or if the state has expired or was evicted.
    pub(crate) fn resume(
        client: Arc<ClientInfo>,
        codec: StateCodec,
        responses: Option<Raw<'_>>,
        state: Option<Raw<'_>>,
    ) -> Result<Arc<Self>> {
        let (earlier, resumes) = codec.open(state)?;
        let responses = responses.filter(|json| !json.is_null()).unwrap_or(Raw::EMPTY_OBJECT);
        if responses.kind() != JsonKind::Object {
            return Err(Error::invalid_params("`inputResponses` must be an object"));
        }
        let members = responses.members().map(|(key, json)| (key.into(), json.as_str().into()));
        let takes_answers = codec.takes_answers(resumes);
        let answers = if takes_answers { collect_by_insert(members) } else { Texts::new() };
        let round = Round { state: earlier.clone(), ..Round::default() };
        Ok(Arc::new(Self { client, codec, earlier, answers, resumes, round: Mutex::new(round) }))
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the client gave the answer under this key to a question with exactly this text. The first round accepts every
    /// answer, because there is no earlier question to compare it with. A client may send answers in the first round if it already knows
    /// the questions.
    fn is_same(&self, key: &str, words: &str) -> bool {
        if self.resumes.is_none() {
            return true;
        }
        let asked = self.earlier.asked.get(key);
        let is_same = asked.is_some_and(|digest| self.codec.is_digest(digest, words));
        if asked.is_some() && !is_same {
            tracing::warn!(
                "`{key}` is asked again, because its question differs from the one in the last round: compute the values in the question with `once`"
            );
        }
        is_same
    }

    fn answer(&self, key: &str, question: Question) -> Option<Result<Box<str>>> {
        let mut round = self.round();
        let is_new = round.keys.insert(key.into());
        if !is_new && !matches!(question, Question::Roots) {
            return Some(Err(asked_twice(key)));
        }
        if let Some(error) = missing_capability(&self.client, &question) {
            return Some(Err(error));
        }
        let words = question.words();
        let is_same = self.is_same(key, &words);
        if !is_same {
            round.state.answers.remove(key);
        }
        // Each round computes the digest again with the newest key, because an older key may be removed before the next round.
        match self.codec.digest(&words) {
            Ok(digest) => {
                round.state.asked.insert(key.into(), digest);
            }
            Err(error) => return Some(Err(error)),
        }
        // The client is asked again if its answer has the wrong kind or an invalid value, or belongs to a question with a different text. A
        // question that the user has declined stays declined, even if its text changes. An answer that an earlier round accepted is not
        // replaced.
        let said = [self.earlier.answers.get(key), self.answers.get(key)];
        let counts = |json: &&str| is_same || question.is_declined(Raw::trusted(json));
        let mut said = said.into_iter().flatten().map(|json| &**json).filter(counts);
        match said.find(|json: &&str| question.check(Raw::trusted(json)).is_ok()) {
            Some(json) => {
                round.state.answers.insert(key.into(), json.into());
                Some(Ok(json.into()))
            }
            None => {
                if is_new {
                    let misfit = self.answers.get(key).filter(|_| is_same);
                    let question = match misfit {
                        Some(json) => question.after(Raw::trusted(json)),
                        None => question,
                    };
                    round.open.push((key.into(), question));
                }
                None
            }
        }
    }
}

impl Asker for Rounds {
    fn ask(&self, key: &str, question: Question) -> AnswerFuture {
        match self.answer(key, question) {
            Some(answer) => Box::pin(std::future::ready(answer)),
            // `PendingHandler` checks for open questions after each poll, and then ends the round.
            None => Box::pin(std::future::pending()),
        }
    }

    fn done(&self, key: &str) -> Option<Box<str>> {
        self.earlier.done.get(key).map(|json| json.as_str().into())
    }

    fn set_done(&self, key: &str, json: Box<str>) {
        self.round().state.done.insert(key.into(), json.into());
    }

    fn hold(&self) {
        self.round().held += 1;
    }

    fn release(&self) {
        self.round().held -= 1;
    }

    fn fail(&self, error: Error) {
        self.round().fault.get_or_insert(error);
    }

    fn begin(&self) -> Result<()> {
        self.resumes.map_or(Ok(()), |round| self.codec.spend(round))
    }

    fn beginning(&self) -> Option<BeginFuture> {
        self.resumes.and_then(|round| self.codec.spending(round))
    }

    fn need_input(&self) -> Result<Option<NeedInput>> {
        let mut round = self.round();
        if round.open.is_empty() || round.held > 0 {
            return Ok(None);
        }
        if let Some(fault) = round.fault.take() {
            return Err(fault);
        }
        let questions = std::mem::take(&mut round.open);
        // Keeps the answers to questions that this round has not reached. Otherwise a later round would ask these questions again.
        for (key, json) in &self.answers {
            if !round.keys.contains(key) && self.earlier.asked.contains_key(key) {
                round.state.answers.entry(key.clone()).or_insert_with(|| json.clone());
            }
        }
        let state = self.codec.close(&round.state)?;
        Ok(Some(NeedInput { questions, state }))
    }

    fn is_resumed(&self) -> bool {
        !self.answers.is_empty() || !self.earlier.answers.is_empty()
    }

    fn is_waiting(&self) -> bool {
        false
    }
}

/// Returns the error for a key used for two questions of one call.
pub(crate) fn asked_twice(key: &str) -> Error {
    Error::internal(format!(
        "the key `{key}` is used for two questions of one call: give each its own, such as `format!(\"{key}-{{i}}\")` in a loop"
    ))
}

/// Returns an error if the client has not declared the capabilities that a question needs.
pub(crate) fn missing_capability(client: &ClientInfo, question: &Question) -> Option<Error> {
    let missing = question.missing(client, true);
    let outer = missing.first()?.split('.').next().unwrap_or_default();
    let parts: Vec<String> = match question {
        Question::Form { .. } => vec![r#""form":{}"#.to_owned()],
        _ => {
            let parts = missing.iter().filter_map(|capability| capability.split_once('.'));
            parts.map(|(_, part)| format!(r#""{part}":{{}}"#)).collect()
        }
    };
    let data = format!(r#"{{"requiredCapabilities":{{"{outer}":{{{}}}}}}}"#, parts.join(","));
    let text = format!("this needs a client with `{}`", missing.join("` and `"));
    Some(Error::of(ErrorKind::MissingCapability, text).with_json(data))
}
