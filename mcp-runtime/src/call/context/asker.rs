use std::{future::Future, pin::Pin};

use crate::{
    error::{Error, Result},
    model::{NeedInput, Question},
};

/// Future of the answer to a question: the client's result as JSON text.
pub(crate) type Asking = Pin<Box<dyn Future<Output = Result<Box<str>>> + Send>>;

/// Asks the client the questions of one call. Implementations either send a request that the client answers during the call, or end the
/// call, which the client then repeats with the answer.
pub(crate) trait Asker: Send + Sync {
    /// Asks a question. The future never resolves if the call ends with its questions.
    fn ask(&self, key: &str, question: Question) -> Asking;

    /// Returns the value that an earlier round of the call has kept under this key, as JSON text.
    fn done(&self, key: &str) -> Option<Box<str>>;

    /// Keeps a value for later rounds.
    fn set_done(&self, key: &str, json: Box<str>);

    /// Keeps the round from ending until `release`, because work runs whose value is to be kept. Does nothing without rounds.
    fn hold(&self) {}

    /// Ends a `hold`, because the work runs no longer.
    fn release(&self) {}

    /// Records that the call cannot continue in another round.
    fn fail(&self, error: Error);

    /// Records that the call was accepted and runs now.
    ///
    /// # Errors
    /// Fails if the call must not run again.
    fn begin(&self) -> Result<(), Error>;

    /// Returns the questions that the client must answer before the handler can continue, if there are any.
    ///
    /// # Errors
    /// Fails if the client cannot be asked.
    fn need_input(&self) -> Result<Option<NeedInput>, Error>;

    /// Returns whether the call continues with answers of its client. Its result is then for no other client (rule MRTR-10).
    fn is_resumed(&self) -> bool;

    /// Returns whether the user may be thinking about a question. The timeout of the handler does not run meanwhile.
    fn is_waiting(&self) -> bool;
}
