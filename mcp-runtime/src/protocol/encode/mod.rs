//! Turns outcomes into the bytes of a revision. The model is a superset of all revisions; members that a revision lacks are left out here
//! and nowhere else.

mod content;
mod form;
mod identity;
mod items;
mod question;
mod sampling;
mod task;

pub(crate) use identity::presented;
pub(super) use identity::{Feature, capabilities, implementation};
pub(crate) use items::listed;
pub(super) use question::question;
pub(super) use task::{related, task_changed};

use crate::{
    catalog::Snapshot,
    error::{Error, Kind},
    model::{
        Answer, Body, Completion, Done, Message, Page, PromptResult, ResourceContents, ToolResult,
    },
    protocol::{Service, revision::Revision},
    wire::{self, Id, Object, Raw},
};

/// Notification that carries log messages: of a session in the legacy era, of one request in the modern era.
pub(super) const REQUEST_SCOPED_LOG: &str = "notifications/message";

/// Maximum number of values in a completion (rule COMP-02).
const MOST_COMPLETIONS: usize = 100;

/// Revision and audience of an answer.
#[derive(Clone, Copy)]
pub(crate) struct AnswerScope {
    pub(crate) revision: Revision,
    /// Whether a cache must not give the answer to other clients.
    pub(crate) is_private: bool,
}

/// Writes the response to a request.
pub(crate) fn answer(
    out: &mut Vec<u8>,
    service: &Service,
    snapshot: &Snapshot,
    scope: AnswerScope,
    id: Id<'_>,
    answer: &Answer,
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
                self::error(out, revision, Some(id), &Error::of(Kind::Failed, why));
            }
        }
        Ok(Done::Task(it)) => task::answer(out, service, scope, id, it),
        Ok(Done::List(page)) => list(out, service, snapshot, scope, id, page),
        Ok(done) => wire::response(out, id, |result| self::done(result, service, revision, done)),
        Err(error) => self::error(out, revision, Some(id), error),
    }
}

/// Logs an internal error, whose message the client does not get. Not called while writing: the outbox is locked then, and a `tracing`
/// subscriber may run any code.
pub(super) fn note(error: &Error) {
    if error.kind() == Kind::Internal {
        tracing::error!("{}", error.message());
    }
}

pub(super) fn error(out: &mut Vec<u8>, revision: Revision, id: Option<Id<'_>>, error: &Error) {
    let kind = error.kind();
    let message = if kind == Kind::Internal { "internal error" } else { error.message() };
    let data = error.data().filter(|_| kind != Kind::Internal).map(Raw::trusted);
    let omit_id = revision.features().omits_unknown_id;
    wire::error(out, id, revision.code(kind), message, data, omit_id);
}

/// Returns the error response to a message that was refused before a peer saw it. By default in the newest legacy revision.
#[cfg(feature = "http")]
pub(crate) fn unread(revision: Option<Revision>, id: Option<Id<'_>>, error: &Error) -> Vec<u8> {
    let mut out = Vec::new();
    self::error(&mut out, revision.unwrap_or(Revision::NEWEST_LEGACY), id, error);
    out
}

/// Writes an empty result. In the modern era it has the members that every result has.
pub(super) fn empty(out: &mut Vec<u8>, service: &Service, revision: Revision, id: Id<'_>) {
    wire::response(out, id, |result| {
        result_type(result, revision, "complete");
        meta(result, service, revision, None);
    });
}

/// Writes `DiscoverResult`, which tells what `initialize` tells in the legacy era (rules DISC-02 and DISC-03).
pub(super) fn discover(
    result: &mut Object<'_>,
    service: &Service,
    revision: Revision,
    snapshot: &Snapshot,
    is_private: bool,
) {
    result_type(result, revision, "complete");
    let mut versions = result.array("supportedVersions");
    for it in Revision::MODERN {
        versions.str(it.name());
    }
    versions.end();
    capabilities(&mut result.object("capabilities"), revision, service, snapshot, false);
    result.opt_str("instructions", service.identity.instructions.as_deref());
    items::list_cache(result, service, AnswerScope { revision, is_private });
    meta(result, service, revision, None);
}

/// Writes the empty result that ends a listen stream.
pub(super) fn listen_result(
    result: &mut Object<'_>,
    service: &Service,
    key: &'static str,
    id: Id<'_>,
) {
    result.str("resultType", "complete");
    let mut meta = result.object("_meta");
    meta.raw(key, id.as_str());
    meta.raw("io.modelcontextprotocol/serverInfo", &service.server_info);
}

fn result_type(result: &mut Object<'_>, revision: Revision, name: &'static str) {
    if revision.is_modern() {
        result.word("resultType", name);
    }
}

/// Writes `_meta` of a result: the author's entries and, in the modern era, `serverInfo` (rule META-05).
fn meta(
    result: &mut Object<'_>,
    service: &Service,
    revision: Revision,
    of_author: Option<&crate::model::Meta>,
) {
    let of_author = of_author.filter(|it| !it.is_empty() && revision.features().titles);
    if !revision.is_modern() && of_author.is_none() {
        return;
    }
    let mut meta = result.object("_meta");
    if revision.is_modern() {
        meta.raw("io.modelcontextprotocol/serverInfo", &service.server_info);
    }
    entries(&mut meta, of_author);
}

/// Writes the author's own entries of a `_meta`.
fn entries(meta: &mut Object<'_>, of_author: Option<&crate::model::Meta>) {
    for (key, value) in of_author.iter().flat_map(|it| &it.0) {
        let _ = wire::write::value(meta.given_key(key), value);
    }
}

/// Writes the cache fields that some results must have (rule CACHE-01).
pub(super) fn cache(result: &mut Object<'_>, revision: Revision, ttl_ms: u64, public: bool) {
    if revision.is_modern() {
        result.u64("ttlMs", ttl_ms).str("cacheScope", if public { "public" } else { "private" });
    }
}

#[inline]
fn done(result: &mut Object<'_>, service: &Service, revision: Revision, done: &Done) {
    result_type(result, revision, "complete");
    match done {
        Done::Tool(tool) => self::tool(result, service, revision, tool),
        Done::Read(read) => {
            let mut contents = result.array("contents");
            for it in &read.contents {
                self::contents(&mut contents.object(), revision, it);
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
        // Not written here: lists come from rendered bytes, questions may fail, and tasks have a file of their own.
        Done::List(_) | Done::NeedInput(_) | Done::Task(_) => {}
    }
}

fn tool(result: &mut Object<'_>, service: &Service, revision: Revision, tool: &ToolResult) {
    tool_content(result, revision, tool);
    meta(result, service, revision, tool.meta.as_ref());
}

/// Writes content, structured content and `isError` of a tool result.
fn tool_content(result: &mut Object<'_>, revision: Revision, tool: &ToolResult) {
    let features = revision.features();
    let mut blocks = result.array("content");
    content::blocks(&mut blocks, revision, &tool.content);
    blocks.end();
    if let Some(structured) = &tool.structured {
        let fits = features.any_structured || (features.titles && structured.starts_with('{'));
        if fits {
            result.raw("structuredContent", structured);
        }
    }
    if tool.is_error {
        result.bool("isError", true);
    }
}

fn contents(object: &mut Object<'_>, revision: Revision, it: &ResourceContents) {
    object.str("uri", &it.uri).str("mimeType", it.media_type());
    match &it.body {
        Body::Text(text) => {
            object.str("text", text);
        }
        Body::Blob(data) => content::base64(object.key("blob"), data),
    }
    content::own_meta(object, revision, it.meta.as_ref());
}

fn prompt(result: &mut Object<'_>, service: &Service, revision: Revision, prompt: &PromptResult) {
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

fn completion(object: &mut Object<'_>, found: &Completion) {
    let mut values = object.array("values");
    for it in found.values.iter().take(MOST_COMPLETIONS) {
        values.str(it);
    }
    values.end();
    let total = found.total.unwrap_or(found.values.len()).max(found.values.len());
    let sent = found.values.len().min(MOST_COMPLETIONS);
    object.u64("total", total as u64).bool("hasMore", total > sent);
}

/// Writes a page of a list. First pages are rendered once for each revision and state of the catalog, and then copied.
fn list(
    out: &mut Vec<u8>,
    service: &Service,
    snapshot: &Snapshot,
    scope: AnswerScope,
    id: Id<'_>,
    page: &Page,
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
