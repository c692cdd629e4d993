//! Requests, notifications and raw lines, below the methods with types.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{
    Client, Ongoing, RpcError,
    client::{info, typed},
};

/// Maximum number of rounds of questions in one call.
const MOST_ROUNDS: usize = 100;

impl Client {
    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if the server does not answer within ten seconds, or still asks after 100 rounds.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        let mut round = params.clone();
        for _ in 0..MOST_ROUNDS {
            let ongoing = self.start(method, round);
            let result = self.wait(ongoing).await?;
            match self.next_round(&params, &result) {
                Some(next) => round = next,
                None => return Ok(result),
            }
            // A caller's timeout can fire only if this future yields.
            tokio::task::yield_now().await;
        }
        Err(RpcError {
            code: 0,
            message: format!("the server still asks after {MOST_ROUNDS} rounds"),
            data: None,
        })
    }

    /// Sends a request without waiting for its result. A `progressToken` in `_meta` asks for progress reports.
    pub fn start(&mut self, method: &str, params: Value) -> Ongoing {
        self.next_id += 1;
        let id = self.next_id;
        let params = self.enveloped(params);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        Ongoing(id)
    }

    /// Waits for the result of a request that was started.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if the server does not answer within ten seconds.
    pub async fn wait(&mut self, ongoing: Ongoing) -> Result<Value, RpcError> {
        self.pump_until(|it| it.responses.contains_key(&ongoing.0)).await;
        let silence = || {
            Err(RpcError { code: 0, message: "the server did not answer".to_owned(), data: None })
        };
        self.responses.remove(&ongoing.0).unwrap_or_else(silence)
    }

    /// Cancels a request, or ends a stream.
    pub fn cancel(&mut self, ongoing: Ongoing) {
        self.notify("notifications/cancelled", json!({ "requestId": ongoing.0 }));
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Returns the next notification from the server, or `None` if none comes within `patience`.
    pub async fn notification(&mut self, patience: Duration) -> Option<Value> {
        let before = std::mem::replace(&mut self.patience, patience);
        self.pump_until(|it| !it.notifications.is_empty()).await;
        self.patience = before;
        self.notifications.pop_front()
    }

    /// Sends a line as it is.
    pub fn send_raw(&self, line: &[u8]) {
        self.memory.send(line);
    }

    /// Returns the next line from the server as it is, or `None` if none comes within `patience`.
    pub async fn receive_raw(&mut self, patience: Duration) -> Option<Vec<u8>> {
        self.memory.receive(patience).await
    }

    /// Waits for all later responses without a time limit.
    #[cfg(feature = "stdio")]
    pub(crate) fn wait_without_end(&mut self) {
        self.patience = Duration::MAX;
    }

    /// Returns the number of calls that the server is working on.
    pub fn in_flight(&self) -> usize {
        self.memory.peer().in_flight()
    }

    /// Stops the server and runs its `on_shutdown`. Returns the lines that have not been received, including those with which the server
    /// ended its streams.
    pub async fn close(mut self) -> Vec<Vec<u8>> {
        self.memory.peer().close();
        let mut rest = Vec::new();
        while let Some(line) = self.memory.receive(Duration::ZERO).await {
            rest.push(line);
        }
        drop(self.memory);
        self.started.stop().await;
        rest
    }

    pub(super) fn send(&self, message: &Value) {
        self.memory.send(message.to_string().as_bytes());
    }

    /// Adds the client's description and capabilities to `params` in the modern era, where each request carries them.
    fn enveloped(&self, mut params: Value) -> Value {
        if !self.revision.is_modern() {
            return params;
        }
        let Some(object) = params.as_object_mut() else { return params };
        let meta = object.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(
                "io.modelcontextprotocol/protocolVersion".to_owned(),
                self.revision.name().into(),
            );
            meta.insert(
                "io.modelcontextprotocol/clientCapabilities".to_owned(),
                self.capabilities.clone(),
            );
            meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), info());
            if let Some(level) = self.log_level {
                meta.insert("io.modelcontextprotocol/logLevel".to_owned(), level.into());
            }
        }
        params
    }

    /// Sorts incoming messages until `enough` holds, or until no message arrives within the client's `patience`.
    pub(super) async fn pump_until(&mut self, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            let Some(line) = self.memory.receive(self.patience).await else { return };
            let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { continue };
            match message["id"].as_u64() {
                Some(id) if message.get("method").is_none() => {
                    let result = match message.get_mut("error") {
                        Some(error) => Err(typed(error.take()).unwrap_or_else(|error| error)),
                        None => Ok(message["result"].take()),
                    };
                    self.responses.insert(id, result);
                }
                _ if self.respond(&message) => {}
                _ => self.notifications.push_back(message),
            }
        }
    }
}
