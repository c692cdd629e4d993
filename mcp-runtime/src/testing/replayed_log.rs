//! Log messages in the comparison of a recorded session.

use std::collections::HashSet;

use mcp_runtime_workbench::{Sender, Transcript, TranscriptLine};
use serde_json::Value;

use crate::call::context::logging;

/// Whether a replay compares the log messages for clients. The program of the server installs a subscriber, and that of a test may have another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogComparison {
    /// Log messages and the capability `logging` are compared like everything else.
    Full,
    /// Neither is compared, nor are the requests for a level.
    LeftOut,
}

impl LogComparison {
    /// Installs the subscriber of `.run()` if the recorded server has sent its log to clients. Returns [`LogComparison::LeftOut`] if the
    /// recorded server had the layer for this and the test has not, or the reverse.
    pub(crate) fn in_test(transcript: &Transcript) -> Self {
        let was_installed = has_log(transcript);
        #[cfg(feature = "client-log")]
        if was_installed {
            crate::observe::install_in_test();
        }
        if was_installed == logging::is_installed() { Self::Full } else { Self::LeftOut }
    }

    /// Returns the lines that are replayed.
    pub(crate) fn compared(self, lines: &[TranscriptLine]) -> Vec<TranscriptLine> {
        let mut requests = HashSet::new();
        let compared = |line: &TranscriptLine| {
            let mut line = line.clone();
            let id = line.message.get("id").map(Value::to_string);
            let method = line.message["method"].as_str();
            match line.sender {
                _ if self == Self::Full => {}
                Sender::Client if method == Some("logging/setLevel") => {
                    requests.extend(id);
                    return None;
                }
                Sender::Client => {}
                Sender::Server if method.is_none() && id.is_some_and(|id| requests.remove(&id)) => {
                    return None;
                }
                Sender::Server => line.message = self.compared_message(line.message)?,
            }
            Some(line)
        };
        lines.iter().filter_map(compared).collect()
    }

    /// Returns the part of a server's message that is compared.
    pub(crate) fn compared_message(self, mut message: Value) -> Option<Value> {
        if self == Self::Full {
            return Some(message);
        }
        if is_log(&message) {
            return None;
        }
        if let Some(Value::Object(capabilities)) = message.pointer_mut(CAPABILITIES) {
            capabilities.remove("logging");
        }
        Some(message)
    }
}

const CAPABILITIES: &str = "/result/capabilities";

fn is_log(message: &Value) -> bool {
    message["method"] == "notifications/message"
}

/// Returns whether the recorded server sends its log to clients.
fn has_log(transcript: &Transcript) -> bool {
    let mut of_server = transcript.lines.iter().filter(|line| line.sender == Sender::Server);
    of_server.any(|TranscriptLine { message, .. }| {
        let capabilities = message.pointer(CAPABILITIES);
        is_log(message) || capabilities.is_some_and(|them| them.get("logging").is_some())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use mcp_macros::tool;

    use super::*;
    use crate::testing::{Revision, replay::replay};

    /// Returns the text.
    #[tool(crate = crate, group = "replayed log")]
    fn replayed_echo(text: String) -> String {
        text
    }

    /// Works with each subscriber, because the tests of a program share one.
    #[tokio::test]
    async fn a_session_is_replayed_without_its_log_messages() {
        for capabilities in [json!({ "tools": {} }), json!({ "tools": {}, "logging": {} })] {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": Revision::V2026_07_28.name(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let discovered = json!({
                "resultType": "complete", "supportedVersions": "<removed>", "capabilities": capabilities,
                "ttlMs": "<removed>", "cacheScope": "<removed>", "_meta": "<removed>",
            });
            let lines = [
                json!({ "client": { "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } } }),
                json!({ "server": { "jsonrpc": "2.0", "method": "notifications/message", "params": {} } }),
                json!({ "server": { "jsonrpc": "2.0", "id": 1, "result": discovered } }),
                json!({ "client": { "jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": { "level": "info" } } }),
                json!({ "server": { "jsonrpc": "2.0", "id": 2, "result": {} } }),
            ];
            let text = lines.map(|line| format!("{line}\n")).concat();
            let transcript = Transcript::parse(&text).unwrap();
            assert!(has_log(&transcript));
            let server = crate::server!(crate = crate, group = "replayed log");
            let differences = replay(server, &transcript, LogComparison::LeftOut).await.unwrap();
            assert_eq!(differences, [""; 0]);
        }
    }
}
