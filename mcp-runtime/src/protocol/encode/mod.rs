//! Encodes outcomes for a protocol revision. The types in `model` cover all revisions; members that a revision lacks are left out here.

mod content;
mod items;
mod question;
mod result;
mod sampling;
mod task;

pub(crate) use items::listed;
pub(super) use question::question;
pub(crate) use question::written_question;
pub(crate) use result::AnswerScope;
#[cfg(feature = "http")]
pub(crate) use result::unread;
pub(super) use result::{empty, error, listen_result, log_internal};
pub(super) use task::{related, task_changed};

use mcp_runtime_wire::{self as wire, Id, ObjectWriter};

use self::result::{cache, list_cache, meta, result_type};
use crate::{
    catalog::Snapshot,
    error::{Error, ErrorKind},
    model::{Completion, Done, ListPage, Message, OperationResult, PromptResult, ToolResult},
    protocol::{
        revision::Revision,
        service::{Service, capabilities, implementation},
    },
};

/// Maximum number of values in a completion (rule COMP-02).
const MOST_COMPLETIONS: usize = 100;

/// Writes the response to a request.
pub(crate) fn answer(
    out: &mut Vec<u8>,
    service: &Service,
    snapshot: &Snapshot,
    scope: AnswerScope,
    id: Id<'_>,
    answer: &OperationResult,
) {
    let revision = scope.revision;
    match answer {
        Ok(Done::NeedInput(input)) => {
            let before = out.len();
            let mut written = Ok(());
            wire::response(out, id, |result| {
                written = question::need_input(result, service, scope, input);
            });
            if let Err(why) = written {
                out.truncate(before);
                self::error(out, revision, Some(id), &Error::of(ErrorKind::Failed, why));
            }
        }
        Ok(Done::Task(task)) => task::answer(out, service, scope, id, task),
        Ok(Done::List(page)) => list(out, service, snapshot, scope, id, page),
        Ok(done) => wire::response(out, id, |result| self::done(result, service, revision, done)),
        Err(error) => self::error(out, revision, Some(id), error),
    }
}

/// Writes `InitializeResult`.
pub(in crate::protocol) fn initialized(
    result: &mut ObjectWriter<'_>,
    service: &Service,
    revision: Revision,
    snapshot: &Snapshot,
    lists_tasks: bool,
) {
    let identity = &service.identity;
    result.str("protocolVersion", revision.name());
    capabilities(&mut result.object("capabilities"), revision, service, snapshot, lists_tasks);
    implementation(&mut result.object("serverInfo"), revision, identity);
    result.opt_str("instructions", identity.instructions.as_deref());
}

/// Writes `DiscoverResult`, which has the information that `InitializeResult` has in the legacy era (rules DISC-02 and DISC-03).
pub(in crate::protocol) fn discover(
    result: &mut ObjectWriter<'_>,
    service: &Service,
    revision: Revision,
    snapshot: &Snapshot,
    is_private: bool,
) {
    result_type(result, revision, "complete");
    let mut versions = result.array("supportedVersions");
    for revision in Revision::MODERN {
        versions.str(revision.name());
    }
    versions.end();
    capabilities(&mut result.object("capabilities"), revision, service, snapshot, false);
    result.opt_str("instructions", service.identity.instructions.as_deref());
    list_cache(result, service, AnswerScope { revision, is_private });
    meta(result, service, revision, None);
}

#[inline]
fn done(result: &mut ObjectWriter<'_>, service: &Service, revision: Revision, done: &Done) {
    result_type(result, revision, "complete");
    match done {
        Done::Tool(tool) => self::tool(result, service, revision, tool),
        Done::Read(read) => {
            let mut contents = result.array("contents");
            for resource in &read.contents {
                content::contents(&mut contents.object(), revision, resource);
            }
            contents.end();
            let policy = read.cache.unwrap_or_default();
            let ttl = u64::try_from(policy.ttl.as_millis()).unwrap_or(u64::MAX);
            cache(result, revision, ttl, policy.public);
            meta(result, service, revision, None);
        }
        Done::Prompt(prompt) => self::prompt(result, service, revision, prompt),
        Done::Completion(found) => {
            completion(&mut result.object("completion"), found);
            meta(result, service, revision, None);
        }
        // `answer` writes these outcomes itself: lists are copied from rendered bytes, writing questions may fail, and tasks have a module
        // of their own.
        Done::List(_) | Done::NeedInput(_) | Done::Task(_) => {}
    }
}

fn tool(result: &mut ObjectWriter<'_>, service: &Service, revision: Revision, tool: &ToolResult) {
    content::tool_content(result, revision, tool);
    meta(result, service, revision, tool.meta.as_ref());
}

fn prompt(
    result: &mut ObjectWriter<'_>,
    service: &Service,
    revision: Revision,
    prompt: &PromptResult,
) {
    result.opt_str("description", prompt.description.as_deref());
    let mut messages = result.array("messages");
    for Message { role, content } in &prompt.messages {
        let mut message = messages.object();
        message.str("role", role.name());
        content::block(&mut message.object("content"), revision, content);
    }
    messages.end();
    meta(result, service, revision, prompt.meta.as_ref());
}

fn completion(object: &mut ObjectWriter<'_>, found: &Completion) {
    let mut values = object.array("values");
    for value in found.values.iter().take(MOST_COMPLETIONS) {
        values.str(value);
    }
    values.end();
    let total = found.total.unwrap_or(found.values.len()).max(found.values.len());
    let sent = found.values.len().min(MOST_COMPLETIONS);
    object.u64("total", total as u64).bool("hasMore", total > sent);
}

/// Writes a page of a list. First pages without a filter for the caller are rendered once for each revision, scope and state of the catalog,
/// and then copied.
fn list(
    out: &mut Vec<u8>,
    service: &Service,
    snapshot: &Snapshot,
    scope: AnswerScope,
    id: Id<'_>,
    page: &ListPage,
) {
    let envelope = |out: &mut Vec<u8>, body: &[u8]| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.as_str().as_bytes());
        out.extend_from_slice(br#","result":"#);
        out.extend_from_slice(body);
        out.push(b'}');
    };
    if page.from > 0 || page.shown.is_some() {
        envelope(out, &items::page(service, scope, snapshot, page));
        return;
    }
    let slot = scope.revision as usize * 8 + usize::from(scope.is_private) * 4 + page.kind as usize;
    let rendered = snapshot.rendered[slot]
        .get_or_init(|| items::page(service, scope, snapshot, page).into_boxed_slice());
    envelope(out, rendered);
}
