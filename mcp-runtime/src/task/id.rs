use std::sync::Arc;

use crate::error::{Error, Result};

/// An id that nobody can guess: whoever knows it may look after the task, where nobody knows who calls (TASK4-04, TASK5-12).
///
/// # Errors
/// When the system has no random numbers.
pub(super) fn new_id() -> Result<Arc<str>> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(bytes.iter().map(|it| format!("{it:02x}")).collect::<String>().into())
}

#[cfg(any(not(target_family = "wasm"), feature = "http", feature = "ask"))]
fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|why| Error::internal(format!("no random numbers: {why}")))
}

/// The browser's generator has to be chosen by whoever builds for it.
#[cfg(not(any(not(target_family = "wasm"), feature = "http", feature = "ask")))]
fn fill(_: &mut [u8]) -> Result<()> {
    Err(Error::internal("no random numbers: on wasm, tasks need the feature `ask` or `http`"))
}
