use std::sync::Arc;

use crate::{error::Result, random::random};

/// An id that nobody can guess: whoever knows it may look after the task, where nobody knows who calls (TASK4-04, TASK5-12).
///
/// # Errors
/// When the system has no random numbers.
pub(super) fn new_id() -> Result<Arc<str>> {
    let bytes: [u8; 16] = random()?;
    Ok(bytes.iter().map(|it| format!("{it:02x}")).collect::<String>().into())
}
