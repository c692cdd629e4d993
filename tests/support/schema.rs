//! Validates the messages of a server against the official JSON Schema of its protocol revision.
//!
//! `schema/official/` has the schemas, with their licence and origin. The tasks extension has no official schema;
//! `schema/tasks.json` is written from its text.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use jsonschema::Validator;
use serde_json::{Value, json};

/// The revisions, oldest first.
pub const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The official schemas, in the order of [`REVISIONS`].
const OFFICIAL: [&str; 5] = [
    include_str!("schema/official/2024-11-05/schema.json"),
    include_str!("schema/official/2025-03-26/schema.json"),
    include_str!("schema/official/2025-06-18/schema.json"),
    include_str!("schema/official/2025-11-25/schema.json"),
    include_str!("schema/official/2026-07-28/schema.json"),
];

const V1: usize = 0;
const V3: usize = 2;
const V4: usize = 3;
const V5: usize = 4;

/// A method, its definition in the schema, and the first and last revision that have it.
type Row = (&'static str, &'static str, usize, usize);

/// The results of requests from the client.
const RESULTS: [Row; 22] = [
    ("initialize", "InitializeResult", V1, V4),
    ("ping", "EmptyResult", V1, V4),
    ("server/discover", "DiscoverResult", V5, V5),
    ("tools/list", "ListToolsResult", V1, V5),
    ("tools/call", "CallToolResult", V1, V5),
    ("resources/list", "ListResourcesResult", V1, V5),
    ("resources/templates/list", "ListResourceTemplatesResult", V1, V5),
    ("resources/read", "ReadResourceResult", V1, V5),
    ("resources/subscribe", "EmptyResult", V1, V4),
    ("resources/unsubscribe", "EmptyResult", V1, V4),
    ("prompts/list", "ListPromptsResult", V1, V5),
    ("prompts/get", "GetPromptResult", V1, V5),
    ("completion/complete", "CompleteResult", V1, V5),
    ("logging/setLevel", "EmptyResult", V1, V4),
    ("subscriptions/listen", "SubscriptionsListenResult", V5, V5),
    ("tasks/get", "GetTaskResult", V4, V4),
    ("tasks/result", "GetTaskPayloadResult", V4, V4),
    ("tasks/list", "ListTasksResult", V4, V4),
    ("tasks/cancel", "CancelTaskResult", V4, V4),
    ("tasks/get", "GetTaskResult", V5, V5),
    ("tasks/update", "TaskAcknowledgement", V5, V5),
    ("tasks/cancel", "TaskAcknowledgement", V5, V5),
];

/// The notifications that a server sends.
const NOTIFICATIONS: [Row; 11] = [
    ("notifications/cancelled", "CancelledNotification", V1, V5),
    ("notifications/progress", "ProgressNotification", V1, V5),
    ("notifications/message", "LoggingMessageNotification", V1, V5),
    ("notifications/resources/updated", "ResourceUpdatedNotification", V1, V5),
    ("notifications/resources/list_changed", "ResourceListChangedNotification", V1, V5),
    ("notifications/tools/list_changed", "ToolListChangedNotification", V1, V5),
    ("notifications/prompts/list_changed", "PromptListChangedNotification", V1, V5),
    ("notifications/elicitation/complete", "ElicitationCompleteNotification", V4, V4),
    ("notifications/tasks/status", "TaskStatusNotification", V4, V4),
    ("notifications/tasks", "TaskNotification", V5, V5),
    ("notifications/subscriptions/acknowledged", "SubscriptionsAcknowledgedNotification", V5, V5),
];

/// The requests that a server sends. In 2026-07-28 there are none.
const REQUESTS: [Row; 8] = [
    ("ping", "PingRequest", V1, V4),
    ("roots/list", "ListRootsRequest", V1, V4),
    ("sampling/createMessage", "CreateMessageRequest", V1, V4),
    ("elicitation/create", "ElicitRequest", V3, V4),
    ("tasks/get", "GetTaskRequest", V4, V4),
    ("tasks/result", "GetTaskPayloadRequest", V4, V4),
    ("tasks/list", "ListTasksRequest", V4, V4),
    ("tasks/cancel", "CancelTaskRequest", V4, V4),
];

/// The errors whose data has a definition of its own, by code.
const ERRORS: [(i64, &str, usize); 4] = [
    (-32042, "URLElicitationRequiredError", V4),
    (-32020, "HeaderMismatchError", V5),
    (-32021, "MissingRequiredClientCapabilityError", V5),
    (-32022, "UnsupportedProtocolVersionError", V5),
];

/// Schema of the tasks extension.
const TASKS: &str = include_str!("schema/tasks.json");

/// The methods of 2026-07-28 whose result may be an `InputRequiredResult`.
const ASKING: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

fn definition(rows: &[Row], method: &str, revision: usize) -> Option<&'static str> {
    let mut rows = rows.iter().filter(|row| (row.2..=row.3).contains(&revision));
    rows.find(|row| row.0 == method).map(|row| row.1)
}

/// Requests that the client has sent so far. The method of its request selects the schema of a response.
#[derive(Clone, Debug, Default)]
pub struct Asked(BTreeMap<String, String>);

impl Asked {
    /// Records the requests in a message of the client, and ignores all other messages.
    pub fn note(&mut self, sent: &Value) {
        if let Value::Array(batch) = sent {
            batch.iter().for_each(|sent| self.note(sent));
        } else if let (Some(id), Some(method)) = (sent.get("id"), sent["method"].as_str()) {
            self.0.insert(id.to_string(), method.into());
        }
    }

    fn method(&self, id: &Value) -> Option<&str> {
        self.0.get(&id.to_string()).map(String::as_str)
    }
}

/// The official schema of one revision.
#[derive(Debug)]
pub struct Schema {
    revision: usize,
    document: Value,
    compiled: Mutex<BTreeMap<String, Arc<Validator>>>,
}

impl Schema {
    /// Returns the schema of `revision`, which is parsed once per process.
    ///
    /// # Panics
    ///
    /// When there is no such revision.
    pub fn of(revision: &str) -> &'static Self {
        static READ: [OnceLock<Schema>; 5] = [const { OnceLock::new() }; 5];
        let index = REVISIONS.iter().position(|known| *known == revision);
        let index = index.unwrap_or_else(|| panic!("no such revision: {revision}"));
        READ[index].get_or_init(|| {
            let mut document: Value =
                serde_json::from_str(OFFICIAL[index]).expect("a schema is JSON");
            if index == V5 {
                let tasks: serde_json::Map<String, Value> =
                    serde_json::from_str(TASKS).expect("a schema is JSON");
                let definitions = document["$defs"].as_object_mut();
                definitions.expect("the schema has definitions").extend(tasks);
            }
            Self { revision: index, document, compiled: Mutex::default() }
        })
    }

    /// Judges one message from the server. `asked` tells which request a response answers.
    ///
    /// # Errors
    ///
    /// The violations of the first definition that the message does not match, one a line.
    pub fn check(&self, message: &Value, asked: &Asked) -> Result<(), String> {
        match message {
            Value::Array(batch) if REVISIONS[self.revision] == "2025-03-26" => {
                if batch.is_empty() {
                    return Err("an empty batch".into());
                }
                batch.iter().try_for_each(|message| self.check_one(message, asked))
            }
            _ => self.check_one(message, asked),
        }
    }

    fn check_one(&self, message: &Value, asked: &Asked) -> Result<(), String> {
        let member = |name| message.get(name).is_some();
        match (message["method"].as_str(), member("id"), member("result"), member("error")) {
            (Some(method), true, false, false) => {
                self.conform("JSONRPCRequest", message)?;
                let request = definition(&REQUESTS, method, self.revision)
                    .ok_or_else(|| self.unknown("request", method))?;
                self.conform(request, message)
            }
            (Some(method), false, false, false) => {
                self.conform("JSONRPCNotification", message)?;
                let notification = definition(&NOTIFICATIONS, method, self.revision)
                    .ok_or_else(|| self.unknown("notification", method))?;
                self.conform(notification, message)
            }
            (None, true, true, false) => self.check_result(message, asked),
            (None, _, false, true) => self.check_error(message, asked),
            _ => Err(format!("neither request, notification nor response: {message}")),
        }
    }

    fn unknown(&self, kind: &str, method: &str) -> String {
        format!("servers send no {kind} `{method}` in {}", REVISIONS[self.revision])
    }

    fn check_result(&self, message: &Value, asked: &Asked) -> Result<(), String> {
        let modern = self.revision == V5;
        let response =
            if self.revision >= V4 { "JSONRPCResultResponse" } else { "JSONRPCResponse" };
        self.conform(response, message)?;
        let id = &message["id"];
        let method = asked.method(id).ok_or_else(|| format!("nothing was asked as {id}"))?;
        let usual = definition(&RESULTS, method, self.revision)
            .ok_or_else(|| format!("`{method}` cannot succeed in {}", REVISIONS[self.revision]))?;
        let result = &message["result"];
        let name = match result["resultType"].as_str() {
            Some("complete") if modern => usual,
            Some("input_required") if modern && ASKING.contains(&method) => "InputRequiredResult",
            Some("task") if modern && method == "tools/call" => "CreatedTaskResult",
            kind if modern => return Err(format!("`{method}` cannot have resultType {kind:?}")),
            _ if self.revision == V4 && method == "tools/call" && result.get("task").is_some() => {
                "CreateTaskResult"
            }
            _ => usual,
        };
        self.conform(name, result)
    }

    fn check_error(&self, message: &Value, asked: &Asked) -> Result<(), String> {
        let id = message.get("id");
        let unread = id.is_none_or(Value::is_null);
        if !unread && id.is_some_and(|id| asked.method(id).is_none()) {
            return Err(format!("nothing was asked as {}", message["id"]));
        }
        if self.revision >= V4 {
            self.conform("JSONRPCErrorResponse", message)?;
        } else if id == Some(&Value::Null) {
            // If a request could not be read, JSON-RPC requires the id null in the response. Schemas before 2025-11-25 do not allow null,
            // so another id replaces it here.
            let mut message = message.clone();
            message["id"] = json!(0);
            self.conform("JSONRPCError", &message)?;
        } else {
            self.conform("JSONRPCError", message)?;
        }
        let code = message["error"]["code"].as_i64();
        let special = ERRORS.iter().find(|row| Some(row.0) == code && row.2 == self.revision);
        special.map_or(Ok(()), |row| self.conform(row.1, message))
    }

    /// Validates `value` against the definition `name` alone.
    ///
    /// # Errors
    ///
    /// Every violation, one a line.
    ///
    /// # Panics
    ///
    /// When the schema of this revision has no such definition.
    pub fn conform(&self, name: &str, value: &Value) -> Result<(), String> {
        let errors: Vec<_> = self
            .validator(name)
            .iter_errors(value)
            .map(|error| format!("{name}{}: {error}", error.instance_path()))
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }

    fn validator(&self, name: &str) -> Arc<Validator> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || {
            // The schemas up to 2025-06-18 use JSON Schema draft-07, which has `definitions`. The later schemas use 2020-12, which has
            // `$defs`.
            let key = if self.revision >= V4 { "$defs" } else { "definitions" };
            let definitions = &self.document[key];
            assert!(definitions.get(name).is_some(), "no definition {name}");
            let schema = json!({
                "$schema": self.document["$schema"],
                key: definitions,
                "$ref": format!("#/{key}/{name}"),
            });
            let options = jsonschema::options().should_validate_formats(true);
            Arc::new(options.build(&schema).expect("an official schema compiles"))
        };
        Arc::clone(compiled.entry(name.into()).or_insert_with(compile))
    }
}

#[cfg(test)]
mod tests;
