//! Stored form of a task: how it is written and read.

use std::{sync::Arc, time::Duration};

use super::{live::LiveTask, result, store::TaskRecord};
use crate::{
    error::{Error, Kind},
    model::{ClientInfo, Content, Instant, Meta, TaskEnd, TaskState, TaskView, ToolResult, millis},
    wire::{Object, Raw, validate, write},
};

/// A task as it is read from the store.
pub(super) struct RestoredTask {
    pub(super) view: TaskView,
    pub(super) tool: String,
    pub(super) was_guarded: bool,
    /// Arguments, if the tool may run again.
    pub(super) arguments: Option<String>,
    pub(super) caller: Option<String>,
    pub(super) client: ClientInfo,
}

impl LiveTask {
    /// Returns the task as it is now, for the store.
    pub(super) fn kept(&self) -> TaskRecord {
        let view = self.latest_view();
        let mut json = Vec::new();
        let mut object = Object::begin(&mut json);
        if self.origin.was_guarded {
            object.bool("guarded", true);
        }
        object.str("tool", &self.origin.tool).u64("updated", view.updated.0);
        object.opt_str("message", view.message.as_deref());
        object.u64("poll", millis(view.poll));
        if let Some(ttl) = view.ttl {
            object.u64("ttl", millis(ttl));
        }
        let mut end = Vec::new();
        let finished = match &view.state {
            TaskState::Ended(it) => {
                outline(&mut object, it);
                self::end(&mut end, it);
                true
            }
            TaskState::Working | TaskState::InputRequired(_) => {
                if let Some(arguments) = &self.origin.arguments {
                    object.raw("arguments", arguments);
                }
                if let Some(caller) = &self.origin.caller {
                    object.raw("caller", caller);
                }
                client(&mut object.object("client"), &self.origin.client);
                false
            }
        };
        object.end();
        TaskRecord {
            id: view.id.to_string(),
            owner: self.origin.owner.to_string(),
            created: view.created.0,
            expires: view.ttl.map(|ttl| view.created.after(ttl).0),
            finished,
            json: String::from_utf8(json).unwrap_or_default(),
            end: String::from_utf8(end).unwrap_or_default(),
        }
    }
}

/// Writes the part of an end that lists show.
fn outline(object: &mut Object<'_>, end: &TaskEnd) {
    match end {
        TaskEnd::Result(it) if it.is_error => {
            let why = it.content.first().map_or("", |it| match it {
                Content::Text(text) => text.as_str(),
                _ => "",
            });
            let short: String = why.chars().take(500).collect();
            object.str("ended", "failed").str("why", &short);
        }
        TaskEnd::Result(_) => drop(object.str("ended", "completed")),
        TaskEnd::Error(_) => drop(object.str("ended", "error")),
        TaskEnd::Cancelled => drop(object.str("ended", "cancelled")),
    }
}

fn read_outline(raw: Raw<'_>) -> Option<TaskEnd> {
    let why = || raw.get("why").and_then(Raw::string).unwrap_or_default().into_owned();
    Some(match &*raw.get("ended")?.string()? {
        "failed" => TaskEnd::Result(ToolResult::failure(why())),
        "completed" => TaskEnd::Result(ToolResult::default()),
        "error" => TaskEnd::Error(Error::msg("")),
        _ => TaskEnd::Cancelled,
    })
}

fn end(out: &mut Vec<u8>, end: &TaskEnd) {
    let object = &mut Object::begin(out);
    match end {
        TaskEnd::Result(it) => result::write(&mut object.object("result"), it),
        TaskEnd::Error(error) => {
            let mut it = object.object("error");
            it.i64("kind", number(error.kind())).str("message", error.message());
            if let Some(data) = error.data() {
                it.raw("data", data);
            }
        }
        TaskEnd::Cancelled => {
            object.bool("cancelled", true);
        }
    }
}

/// Kinds of errors, which are stored as numbers of their own, because codes differ between protocol revisions. An author's code is stored
/// as it is.
const KINDS: [Kind; 11] = [
    Kind::Failed,
    Kind::Parse,
    Kind::InvalidRequest,
    Kind::MethodNotFound,
    Kind::InvalidParams,
    Kind::ResourceNotFound,
    Kind::Internal,
    Kind::UnsupportedVersion,
    Kind::HeaderMismatch,
    Kind::MissingCapability,
    Kind::UrlRequired,
];

/// Number of the first kind. It lies in the range that JSON-RPC reserves, where no author's code lies.
const FIRST: i64 = -32_768;

fn number(kind: Kind) -> i64 {
    match kind {
        Kind::Custom(code) => code.into(),
        kind => {
            let at = KINDS.iter().position(|it| *it == kind).unwrap_or(6);
            FIRST + i64::try_from(at).unwrap_or_default()
        }
    }
}

fn kind(number: i64) -> Kind {
    let own = number
        .checked_sub(FIRST)
        .and_then(|at| usize::try_from(at).ok())
        .and_then(|at| KINDS.get(at));
    let code = || i32::try_from(number).map_or(Kind::Internal, Kind::Custom);
    own.copied().unwrap_or_else(code)
}

fn client(object: &mut Object<'_>, client: &ClientInfo) {
    object.str("name", &client.name).str("version", &client.version);
    object.opt_str("title", client.title.as_deref());
    let _ = write::value(object.key("capabilities"), &client.capabilities.0);
}

fn read_client(raw: Raw<'_>) -> ClientInfo {
    let text = |name: &str| raw.get(name).and_then(Raw::string).map(String::from);
    let capabilities = raw.get("capabilities");
    ClientInfo {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        title: text("title"),
        capabilities: Meta(
            capabilities.and_then(|it| serde_json::from_str(it.as_str()).ok()).unwrap_or_default(),
        ),
    }
}

impl TaskRecord {
    pub(super) fn is_expired(&self) -> bool {
        self.expires.is_some_and(|it| it <= Instant::now().0)
    }

    /// Reads the task.
    ///
    /// # Errors
    /// Fails if the text was not written by this server: the store has mixed something up.
    pub(super) fn read(&self) -> Result<RestoredTask, Error> {
        let end = || {
            // The limit is as deep as any result can be.
            validate(self.end.as_bytes(), 1024).ok().and_then(read_end)
        };
        self.record(|_| end()).ok_or_else(|| self.unreadable())
    }

    /// Reads the part of the task that lists show, and nothing large.
    ///
    /// # Errors
    /// Fails if the text was not written by this server.
    pub(super) fn read_outline(&self) -> Result<RestoredTask, Error> {
        self.record(read_outline).ok_or_else(|| self.unreadable())
    }

    #[cold]
    fn unreadable(&self) -> Error {
        Error::internal(format!("what the task store has of `{}` cannot be read", self.id))
    }

    fn record(&self, end: impl FnOnce(Raw<'_>) -> Option<TaskEnd>) -> Option<RestoredTask> {
        let raw = validate(self.json.as_bytes(), 1024).ok()?;
        let [tool, guarded, updated, message, poll, ttl, arguments, caller, client] = raw.pick([
            "tool",
            "guarded",
            "updated",
            "message",
            "poll",
            "ttl",
            "arguments",
            "caller",
            "client",
        ]);
        let time = |it: Raw<'_>| it.u64().map(Duration::from_millis);
        let view = TaskView {
            id: self.id.as_str().into(),
            message: message.and_then(Raw::string).map(Into::into),
            created: Instant(self.created),
            updated: Instant(updated?.u64()?),
            ttl: ttl.and_then(time),
            poll: poll.and_then(time)?,
            state: if self.finished {
                TaskState::Ended(Arc::new(end(raw)?))
            } else {
                TaskState::Working
            },
        };
        Some(RestoredTask {
            view,
            tool: tool?.string()?.into_owned(),
            was_guarded: guarded.and_then(Raw::bool).unwrap_or_default(),
            arguments: arguments.map(|it| it.as_str().to_owned()),
            caller: caller.map(|it| it.as_str().to_owned()),
            client: client.map(read_client).unwrap_or_default(),
        })
    }
}

fn read_end(raw: Raw<'_>) -> Option<TaskEnd> {
    let [result, error, cancelled] = raw.pick(["result", "error", "cancelled"]);
    if cancelled.is_some() {
        return Some(TaskEnd::Cancelled);
    }
    if let Some(result) = result {
        return result::read(result).map(TaskEnd::Result);
    }
    let [number, message, data] = error?.pick(["kind", "message", "data"]);
    let error = Error::of(kind(number?.i64()?), message?.string()?);
    Some(TaskEnd::Error(match data {
        Some(data) => error.with_json(data.as_str().to_owned()),
        None => error,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_errors_have_numbers_of_their_own() {
        for it in
            [Kind::Failed, Kind::Internal, Kind::InvalidParams, Kind::Custom(7), Kind::Custom(-1)]
        {
            assert_eq!(kind(number(it)), it);
        }
        assert_eq!(kind(i64::MAX), Kind::Internal);
    }
}
