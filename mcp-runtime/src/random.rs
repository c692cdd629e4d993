//! Random bytes from the operating system, for ids and keys that must not be guessable.

use crate::error::{Error, Result};

/// Returns random bytes for an id or a key that must not be guessable.
///
/// # Errors
/// Fails if the operating system provides no random numbers, or if no enabled feature has a generator for wasm.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(any(not(target_family = "wasm"), feature = "http", feature = "state-key"))]
fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|why| Error::internal(format!("the system provides no random numbers: {why}")))
}

/// Always fails. On wasm, `getrandom` needs a backend that the embedding application has to choose, so the crate is a dependency there only
/// with the features `http` and `state-key`.
#[cfg(not(any(not(target_family = "wasm"), feature = "http", feature = "state-key")))]
fn fill(_: &mut [u8]) -> Result<()> {
    let text = "no random numbers: on wasm, tasks and questions over several rounds need the feature `state-key` or `http`";
    Err(Error::internal(text))
}
