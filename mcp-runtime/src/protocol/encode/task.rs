//! Encoding of tasks in both forms of [`TaskDialect`] (rule C-18). `Core` is the older dialect, and `Extension` the newer one.

use mcp_runtime_wire::{self as wire, Id, IdBuf, ObjectWriter, Raw};

use super::{
    content::tool_content,
    question::requests,
    result::{self, AnswerScope, entries, meta, result_type},
};
use crate::{
    error::{Error, ErrorKind},
    model::{Content, TaskAnswer, TaskEnd, TaskState, TaskView, ToolResult, millis},
    protocol::{
        revision::{Revision, TaskDialect},
        service::Service,
    },
};

/// Key in `_meta` under which a message of the older dialect names its task.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Writes the response to a request that concerns tasks.
pub(super) fn answer(
    out: &mut Vec<u8>,
    service: &Service,
    scope: AnswerScope,
    id: Id<'_>,
    answer: &TaskAnswer,
) {
    let revision = scope.revision;
    if let TaskAnswer::Result(view) = answer {
        return ending(out, revision, id, view);
    }
    wire::response(out, id, |result| {
        let kind = if matches!(answer, TaskAnswer::Created(_)) { "task" } else { "complete" };
        result_type(result, revision, kind);
        match answer {
            TaskAnswer::Created(view) => match revision.features().tasks {
                TaskDialect::Extension => fields(result, revision, view, "working"),
                _ => fields(&mut result.object("task"), revision, view, "working"),
            },
            TaskAnswer::Got(view) => detailed(result, revision, view),
            TaskAnswer::Listed { tasks, next } => {
                let mut list = result.array("tasks");
                for view in tasks {
                    fields(&mut list.object(), revision, view, status(revision, view));
                }
                list.end();
                result.opt_str("nextCursor", next.as_deref());
            }
            TaskAnswer::Acknowledged | TaskAnswer::Result(_) | TaskAnswer::Listening => {}
        }
        meta(result, service, revision, None);
    });
}

/// Writes the response that the call would have had without a task (rule TASK4-06).
fn ending(out: &mut Vec<u8>, revision: Revision, id: Id<'_>, view: &TaskView) {
    let TaskState::Ended(end) = &view.state else { return };
    match &**end {
        TaskEnd::Result(tool) => wire::response(out, id, |result| {
            tool_content(result, revision, tool);
            let mut meta = result.object("_meta");
            related(&mut meta, &view.id);
            entries(&mut meta, tool.meta.as_ref());
        }),
        TaskEnd::Error(error) => result::error(out, revision, Some(id), error),
        TaskEnd::Cancelled => {
            let error = Error::of(ErrorKind::Failed, "the task was cancelled");
            result::error(out, revision, Some(id), &error);
        }
    }
}

/// Writes the id of the task that a message belongs to (rule TASK4-07).
pub(in crate::protocol) fn related(meta: &mut ObjectWriter<'_>, task: &str) {
    meta.object(RELATED).str("taskId", task);
}

/// Writes the notification that a task has changed, for a listen stream or a session.
pub(in crate::protocol) fn task_changed(
    out: &mut Vec<u8>,
    revision: Revision,
    view: &TaskView,
    stream: Option<(&'static str, &IdBuf)>,
) {
    let method = match revision.features().tasks {
        TaskDialect::Extension => "notifications/tasks",
        _ => "notifications/tasks/status",
    };
    wire::notification(out, method, |params| {
        detailed(params, revision, view);
        if let Some((key, id)) = stream {
            params.object("_meta").raw(key, id.as_id().as_str());
        }
    });
}

/// Writes a task. In the newer dialect this includes its open questions, or its result (rule TASK5-04).
fn detailed(object: &mut ObjectWriter<'_>, revision: Revision, view: &TaskView) {
    fields(object, revision, view, status(revision, view));
    if revision.features().tasks != TaskDialect::Extension {
        return;
    }
    match &view.state {
        TaskState::Working => {}
        TaskState::InputRequired(questions) => {
            // Ignores the result, because the newest revision can express every question.
            let _ = requests(object, revision, questions);
        }
        TaskState::Ended(end) => match &**end {
            TaskEnd::Result(result) => ended_result(&mut object.object("result"), revision, result),
            TaskEnd::Error(error) => ended_error(&mut object.object("error"), revision, error),
            TaskEnd::Cancelled => {}
        },
    }
}

fn ended_result(object: &mut ObjectWriter<'_>, revision: Revision, result: &ToolResult) {
    result_type(object, revision, "complete");
    tool_content(object, revision, result);
    if let Some(meta) = result.meta.as_ref().filter(|meta| !meta.is_empty()) {
        entries(&mut object.object("_meta"), Some(meta));
    }
}

fn ended_error(object: &mut ObjectWriter<'_>, revision: Revision, error: &Error) {
    let is_hidden = error.kind() == ErrorKind::Internal;
    let message = if is_hidden { "internal error" } else { error.message() };
    object.i64("code", revision.code(error.kind())).str("message", message);
    if let Some(data) = error.data().filter(|_| !is_hidden) {
        object.raw("data", Raw::trusted(data).as_str());
    }
}

/// Writes the fields that a task has in both dialects.
fn fields(object: &mut ObjectWriter<'_>, revision: Revision, view: &TaskView, status: &str) {
    object.str("taskId", &view.id).str("status", status);
    let message = view.message.as_deref().or_else(|| failure(revision, view));
    object.opt_str("statusMessage", message.map(line));
    object
        .str("createdAt", &view.created.to_string())
        .str("lastUpdatedAt", &view.updated.to_string());
    let (ttl, poll) = match revision.features().tasks {
        TaskDialect::Extension => ("ttlMs", "pollIntervalMs"),
        _ => ("ttl", "pollInterval"),
    };
    match view.ttl {
        Some(time) => object.u64(ttl, millis(time)),
        None => object.null(ttl),
    };
    object.u64(poll, millis(view.poll).max(1));
}

/// Shortens a text for the status message of a task, which is sent repeatedly. The full result is sent separately.
fn line(text: &str) -> &str {
    const MOST: usize = 1000;
    text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end])
}

/// Returns the reason why a task has failed. The older dialect can report it only in the status message.
fn failure(revision: Revision, view: &TaskView) -> Option<&str> {
    if revision.features().tasks != TaskDialect::Core {
        return None;
    }
    let TaskState::Ended(end) = &view.state else { return None };
    match &**end {
        TaskEnd::Result(result) if result.is_error => match result.content.first()? {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the status of a task. A tool result that is an error means `failed` in the older dialect and `completed` in the newer one
/// (rules TASK4-13 and TASK5-08).
fn status(revision: Revision, view: &TaskView) -> &'static str {
    let end = match &view.state {
        TaskState::Working => return "working",
        TaskState::InputRequired(_) => return "input_required",
        TaskState::Ended(end) => end,
    };
    let is_core = revision.features().tasks == TaskDialect::Core;
    match &**end {
        TaskEnd::Result(result) if result.is_error && is_core => "failed",
        TaskEnd::Result(_) => "completed",
        TaskEnd::Error(_) => "failed",
        TaskEnd::Cancelled => "cancelled",
    }
}
