//! Checks the messages of a server in a replay, first against their pattern and then against the schema.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    pattern::{Captures, Difference, Pattern},
    schema::{Asked, Schema},
};

/// Judges messages by the values that were captured and the requests that were sent earlier in the replay.
pub(crate) struct Judge {
    pub(crate) captures: Captures,
    asked: Asked,
}

impl Judge {
    pub(crate) fn new() -> Self {
        Self { captures: Captures::new(), asked: Asked::default() }
    }

    /// Records a message that the client sends, if it is JSON.
    pub(crate) fn note(&mut self, sent: &[u8]) {
        if let Ok(sent) = serde_json::from_slice(sent) {
            self.asked.note(&sent);
        }
    }

    /// Compares `received` with `pattern`. The captures are kept if it matches.
    pub(crate) fn compare(&mut self, pattern: &Pattern, received: &Value) -> Vec<Difference> {
        pattern.differences(received, &mut self.captures)
    }

    /// Validates `received` against the official schema. Without a schema every message passes.
    pub(crate) fn conforms(
        &self,
        schema: Option<&'static Schema>,
        received: &Value,
    ) -> Result<(), String> {
        schema.map_or(Ok(()), |schema| {
            schema
                .check(received, &self.asked)
                .map_err(|error| format!("against the schema: {error}\n  received: {received}"))
        })
    }
}

/// Lists every difference on a line of its own, and the message that was received.
pub(crate) fn report(what: &str, differences: &[Difference], received: &Value) -> String {
    let mut report = format!("{what} differs\n");
    for difference in differences {
        let _ = writeln!(report, "  {difference}");
    }
    let _ = write!(report, "  received: {received}");
    report
}
