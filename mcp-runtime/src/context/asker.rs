use std::{future::Future, pin::Pin};

use crate::{
    error::{Error, Result},
    model::{NeedInput, Question},
};

/// The result of a question as the client gave it, JSON text.
pub(crate) type Asking = Pin<Box<dyn Future<Output = Result<Box<str>>> + Send>>;

/// Who puts the questions of one call to its client: by a request that the client answers while the call goes on, or by ending the
/// call, to be called again with the answer.
pub(crate) trait Asker: Send + Sync {
    /// Asks. The future waits for ever when the call ends with its questions.
    fn ask(&self, key: &str, question: Question) -> Asking;

    /// What an earlier round of the call has got done under this key, JSON text.
    fn done(&self, key: &str) -> Option<Box<str>>;

    /// Keeps what has been done for later rounds.
    fn set_done(&self, key: &str, json: Box<str>);

    /// Something runs that is to be kept: until it is released, the round goes on, where there are rounds.
    fn hold(&self) {}

    /// It runs no longer.
    fn release(&self) {}

    /// The call cannot go on into another round.
    fn fail(&self, error: Error);

    /// The call has been let in, and runs now.
    ///
    /// # Errors
    /// When it must not run again.
    fn begin(&self) -> Result<(), Error>;

    /// What the client must be asked before the handler can go on, when there is something.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn need_input(&self) -> Result<Option<NeedInput>, Error>;

    /// Whether the call goes on with answers of its client's: what it gives back then is for nobody else (MRTR-10).
    fn is_resumed(&self) -> bool;

    /// Whether a person may be thinking: meanwhile no time of the handler's runs out.
    fn is_waiting(&self) -> bool;
}
