use std::sync::Arc;

use crate::{error::Result, random::random};

/// Returns a task id that cannot be guessed. If callers are not authenticated, a client that knows the id may use the task (rules TASK4-04
/// and TASK5-12).
///
/// # Errors
/// Fails if the system has no random numbers.
pub(super) fn new_id() -> Result<Arc<str>> {
    let bytes: [u8; 16] = random()?;
    Ok(bytes.iter().map(|it| format!("{it:02x}")).collect::<String>().into())
}
