//! Methods, with and without a receiver.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
// These lints are about the functions as written here, not about the code that the attributes generate.
#![allow(
    clippy::many_single_char_names,
    clippy::needless_arbitrary_self_type,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self
)]

use mcp_runtime::prelude::*;
use std::sync::Mutex;

/// State of the server: notes.
#[derive(Default)]
pub(super) struct Notes {
    all: Mutex<Vec<String>>,
}

#[handlers]
impl Notes {
    /// The most there can be.
    const MOST: usize = 100;

    /// Writes one down.
    #[tool(name = "notes.add")]
    fn add(&self, text: String) -> Result<usize> {
        let mut all = self.all.lock().map_err(|error| Error::msg(error.to_string()))?;
        if all.len() >= Self::MOST {
            return Err(Error::msg("there are enough"));
        }
        all.push(text);
        Ok(all.len())
    }

    /// One of them.
    #[resource("notes://{index}")]
    async fn note(self: &Self, index: usize) -> Option<String> {
        self.all.lock().ok()?.get(index).cloned()
    }

    /// Makes one of them.
    #[prompt(name = "notes.write")]
    fn write(#[complete(Self::topics)] topic: &str) -> String {
        format!("Write about {topic}.")
    }

    #[completion]
    fn topics(&self, typed: &str) -> Vec<String> {
        let all = self.all.lock().map(|all| all.clone()).unwrap_or_default();
        all.into_iter().filter(|text| text.starts_with(typed)).collect()
    }

    /// Counts on a thread of its own.
    #[tool(name = "notes.count", blocking, timeout = "5s")]
    fn count(&self, progress: Progress, kind: Option<Kind>) -> usize {
        let _ = (progress, kind);
        self.plain()
    }

    fn plain(&self) -> usize {
        self.all.lock().map_or(0, |all| all.len())
    }
}

/// Which notes.
#[data]
#[derive(Clone, Copy)]
enum Kind {
    /// The old ones
    Old,
    /// The new ones
    New,
}
