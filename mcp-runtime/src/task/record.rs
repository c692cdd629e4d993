//! Conversion of a task to its stored form, a [`TaskRecord`], and back.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_runtime_wire::{JsonKind, ObjectWriter, Raw, validate, write};

use super::{
    live::LiveTask,
    stored_tasks::{TaskRecord, unreadable},
};
use crate::{
    error::{Error, ErrorKind},
    model::{
        Annotations, Audio, BinaryData, ClientInfo, Content, Embedded, Extras, Image, Meta,
        Question, ResourceBody, ResourceContents, ResourceLink, TaskEnd, TaskState, TaskView, Text,
        Timestamp, ToolResult, WrittenQuestion, millis, read_extras,
    },
    node::NodeId,
};

/// A task as it is read from the store.
pub(super) struct RestoredTask {
    pub(super) view: TaskView,
    pub(super) tool: String,
    pub(super) was_guarded: bool,
    /// Arguments of the call, present only if the tool may run again after a restart.
    pub(super) arguments: Option<String>,
    pub(super) caller: Option<String>,
    pub(super) client: ClientInfo,
    /// Node that runs or ran the task, if several nodes share the store.
    pub(super) node: Option<NodeId>,
}

/// Function that returns the parameters of a question as JSON text.
pub(crate) type QuestionWriter = fn(&Question) -> Option<String>;

/// Additional contents of a record if several nodes share the store.
pub(super) struct SharedRecord {
    /// Node that runs the task.
    pub(super) node: NodeId,
    pub(super) write_question: QuestionWriter,
}

/// Returns a state of the task in its stored form.
pub(super) fn record_of(
    live: &LiveTask,
    view: &TaskView,
    shared: Option<&SharedRecord>,
) -> TaskRecord {
    let mut json = Vec::new();
    let mut object = ObjectWriter::begin(&mut json);
    if live.origin.was_guarded {
        object.bool("guarded", true);
    }
    object.str("tool", &live.origin.tool).u64("updated", view.updated.0);
    object.opt_str("message", view.message.as_deref());
    object.u64("poll", millis(view.poll));
    if let Some(shared) = shared {
        object.str("node", &shared.node.to_string());
        if let TaskState::InputRequired(questions) = &view.state {
            write_questions(&mut object, questions, shared.write_question);
        }
    }
    if let Some(ttl) = view.ttl {
        object.u64("ttl", millis(ttl));
    }
    let mut end = Vec::new();
    let finished = match &view.state {
        TaskState::Ended(outcome) => {
            write_outline(&mut object, outcome);
            write_end(&mut end, outcome);
            true
        }
        TaskState::Working | TaskState::InputRequired(_) => {
            if let Some(arguments) = &live.origin.arguments {
                object.raw("arguments", arguments);
            }
            if let Some(caller) = &live.origin.caller {
                object.raw("caller", caller);
            }
            write_client(&mut object.object("client"), &live.origin.client);
            false
        }
    };
    object.end();
    TaskRecord {
        id: view.id.to_string(),
        owner: live.origin.owner.to_string(),
        created: view.created.0,
        expires: live.origin.expires.map(|expires| expires.0),
        finished,
        version: 0,
        json: String::from_utf8(json).unwrap_or_default(),
        end: String::from_utf8(end).unwrap_or_default(),
    }
}

/// Writes the open questions of a task, so that other nodes can ask them.
fn write_questions(
    object: &mut ObjectWriter<'_>,
    questions: &[(Box<str>, Question)],
    write: QuestionWriter,
) {
    let mut array = object.array("questions");
    for (key, question) in questions {
        let Some(params) = write(question) else { continue };
        let mut object = array.object();
        object.str("key", key).str("method", question.method()).raw("params", &params);
        let mut needed = object.array("needed");
        question.needed(true).iter().for_each(|capability| {
            needed.str(capability);
        });
    }
}

fn read_questions(raw: Raw<'_>) -> Vec<(Box<str>, Question)> {
    let read = |raw: Raw<'_>| {
        let [key, method, params, needed] = raw.pick(["key", "method", "params", "needed"]);
        let needed = needed?.elements().filter_map(Raw::string);
        let question = WrittenQuestion::read(&method?.string()?, needed, params?.as_str())?;
        Some((key?.string()?.into(), Question::Written(Arc::new(question))))
    };
    raw.elements().filter_map(read).collect()
}

/// Writes the short form of a task's outcome, which the list of tasks shows.
fn write_outline(object: &mut ObjectWriter<'_>, end: &TaskEnd) {
    match end {
        TaskEnd::Result(result) if result.is_error => {
            let why = result.content.first().map_or("", |content| match content {
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

fn write_end(out: &mut Vec<u8>, end: &TaskEnd) {
    let object = &mut ObjectWriter::begin(out);
    match end {
        TaskEnd::Result(result) => write_result(&mut object.object("result"), result),
        TaskEnd::Error(error) => {
            let mut member = object.object("error");
            member.i64("kind", number(error.kind())).str("message", error.message());
            if let Some(data) = error.data() {
                member.raw("data", data);
            }
        }
        TaskEnd::Cancelled => {
            object.bool("cancelled", true);
        }
    }
}

/// Kinds of errors, in the order of their stored numbers. JSON-RPC codes are not stored, because they differ between protocol revisions. An
/// error code that an author chose is stored unchanged.
const KINDS: [ErrorKind; 12] = [
    ErrorKind::Failed,
    ErrorKind::Parse,
    ErrorKind::InvalidRequest,
    ErrorKind::MethodNotFound,
    ErrorKind::InvalidParams,
    ErrorKind::ResourceNotFound,
    ErrorKind::Internal,
    ErrorKind::UnsupportedVersion,
    ErrorKind::HeaderMismatch,
    ErrorKind::MissingCapability,
    ErrorKind::UrlRequired,
    ErrorKind::Unavailable,
];

/// Number of the first kind. It is in the range that JSON-RPC reserves, so it cannot be an error code that an author chose.
const FIRST: i64 = -32_768;

fn number(kind: ErrorKind) -> i64 {
    match kind {
        ErrorKind::Custom(code) => code.into(),
        kind => {
            let at = KINDS.iter().position(|known| *known == kind).unwrap_or(6);
            FIRST + i64::try_from(at).unwrap_or_default()
        }
    }
}

fn kind(number: i64) -> ErrorKind {
    let own = number
        .checked_sub(FIRST)
        .and_then(|at| usize::try_from(at).ok())
        .and_then(|at| KINDS.get(at));
    let code = || i32::try_from(number).map_or(ErrorKind::Internal, ErrorKind::Custom);
    own.copied().unwrap_or_else(code)
}

/// Writes the description of a client, for [`read_client`].
pub(crate) fn write_client(object: &mut ObjectWriter<'_>, client: &ClientInfo) {
    object.str("name", &client.name).str("version", &client.version);
    object.opt_str("title", client.title.as_deref());
    let _ = write::value(object.key("capabilities"), &client.capabilities.0);
}

/// Reads the description of a client that [`write_client`] has written.
pub(crate) fn read_client(raw: Raw<'_>) -> ClientInfo {
    let text = |name: &str| raw.get(name).and_then(Raw::string).map(String::from);
    let capabilities = raw.get("capabilities");
    ClientInfo {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        title: text("title"),
        capabilities: Meta(
            capabilities
                .and_then(|json| serde_json::from_str(json.as_str()).ok())
                .unwrap_or_default(),
        ),
    }
}

impl TaskRecord {
    /// Reads the task.
    ///
    /// # Errors
    /// Fails if the text was not written by this server, for example because the store returned damaged data.
    pub(super) fn read(&self) -> Result<RestoredTask, Error> {
        // A result that is nested more deeply than this limit cannot be read.
        let end = || validate(self.end.as_bytes(), 1024).ok().and_then(read_end);
        self.record(&|_| end()).ok_or_else(|| unreadable(&self.id))
    }

    /// Reads only the part of the task that lists show. The result, which may be large, is not read.
    ///
    /// # Errors
    /// Fails if the text was not written by this server.
    pub(super) fn read_outline(&self) -> Result<RestoredTask, Error> {
        self.record(&read_outline).ok_or_else(|| unreadable(&self.id))
    }

    fn record(&self, end: &dyn Fn(Raw<'_>) -> Option<TaskEnd>) -> Option<RestoredTask> {
        let raw = validate(self.json.as_bytes(), 1024).ok()?;
        let [
            tool,
            guarded,
            updated,
            message,
            poll,
            ttl,
            arguments,
            caller,
            client,
            node,
            questions,
        ] = raw.pick([
            "tool",
            "guarded",
            "updated",
            "message",
            "poll",
            "ttl",
            "arguments",
            "caller",
            "client",
            "node",
            "questions",
        ]);
        let questions = questions.map(read_questions).unwrap_or_default();
        let time = |json: Raw<'_>| json.u64().map(Duration::from_millis);
        let view = TaskView {
            id: self.id.as_str().into(),
            message: message.and_then(Raw::string).map(Into::into),
            created: Timestamp(self.created),
            updated: Timestamp(updated?.u64()?),
            ttl: ttl.and_then(time),
            poll: poll.and_then(time)?,
            version: if node.is_some() { self.version } else { 0 },
            state: if self.finished {
                TaskState::Ended(Arc::new(end(raw)?))
            } else if questions.is_empty() {
                TaskState::Working
            } else {
                TaskState::InputRequired(questions)
            },
        };
        Some(RestoredTask {
            view,
            tool: tool?.string()?.into_owned(),
            was_guarded: guarded.and_then(Raw::bool).unwrap_or_default(),
            arguments: arguments.map(|json| json.as_str().to_owned()),
            caller: caller.map(|json| json.as_str().to_owned()),
            client: client.map(read_client).unwrap_or_default(),
            node: node.and_then(Raw::string).and_then(|id| NodeId::parse(&id)),
        })
    }
}

fn read_end(raw: Raw<'_>) -> Option<TaskEnd> {
    let [result, error, cancelled] = raw.pick(["result", "error", "cancelled"]);
    if cancelled.is_some() {
        return Some(TaskEnd::Cancelled);
    }
    if let Some(result) = result {
        return read_result(result).map(TaskEnd::Result);
    }
    let [number, message, data] = error?.pick(["kind", "message", "data"]);
    let error = Error::of(kind(number?.i64()?), message?.string()?);
    Some(TaskEnd::Error(match data {
        Some(data) => error.with_json(data.as_str().to_owned()),
        None => error,
    }))
}

/// Writes the result of a tool. The format is independent of protocol revisions, but uses the names that all revisions share.
fn write_result(object: &mut ObjectWriter<'_>, result: &ToolResult) {
    let mut blocks = object.array("content");
    for content in &result.content {
        write_block(&mut blocks.object(), content);
    }
    blocks.end();
    if let Some(structured) = &result.structured {
        object.raw("structured", structured);
    }
    object.bool("isError", result.is_error);
    write_meta(object, result.meta.as_ref());
}

fn write_block(object: &mut ObjectWriter<'_>, content: &Content) {
    let extras = match content {
        Content::Text(content) => {
            object.str("type", "text").str("text", &content.text);
            &content.extras
        }
        Content::Image(content) => {
            object.str("type", "image").str("mimeType", &content.mime_type);
            write_data(object, &content.data);
            &content.extras
        }
        Content::Audio(content) => {
            object.str("type", "audio").str("mimeType", &content.mime_type);
            write_data(object, &content.data);
            &content.extras
        }
        Content::ResourceLink(link) => {
            object.str("type", "resource_link").str("uri", &link.uri).str("name", &link.name);
            object
                .opt_str("title", link.title.as_deref())
                .opt_str("description", link.description.as_deref())
                .opt_str("mimeType", link.mime_type.as_deref());
            if let Some(size) = link.size {
                object.u64("size", size);
            }
            &link.extras
        }
        Content::Embedded(embedded) => {
            object.str("type", "resource");
            let mut contents = object.object("resource");
            contents
                .str("uri", &embedded.contents.uri)
                .str("mimeType", embedded.contents.media_type());
            match &embedded.contents.body {
                ResourceBody::Text(text) => {
                    contents.str("text", text);
                }
                ResourceBody::Blob(data) => write_data(&mut contents, data),
            }
            write_meta(&mut contents, embedded.contents.meta.as_ref());
            contents.end();
            &embedded.extras
        }
    };
    let Some(extras) = extras else { return };
    let Annotations { audience, priority, last_modified } = &extras.annotations;
    let mut annotations = object.object("annotations");
    let mut roles = annotations.array("audience");
    for role in audience {
        roles.str(role.name());
    }
    roles.end();
    if let Some(priority) = priority {
        annotations.f64("priority", *priority);
    }
    annotations.opt_str("lastModified", last_modified.as_deref());
    annotations.end();
    write_meta(object, extras.meta.as_ref());
}

fn write_data(object: &mut ObjectWriter<'_>, data: &BinaryData) {
    match data {
        BinaryData::Base64(text) => object.str("data", text),
        BinaryData::Bytes(bytes) => object.str("data", &STANDARD.encode(bytes)),
    };
}

fn write_meta(object: &mut ObjectWriter<'_>, meta: Option<&Meta>) {
    if let Some(meta) = meta {
        // Writing a map of JSON values never fails.
        let _ = write::value(object.key("_meta"), &meta.0);
    }
}

/// Reads a result that [`write_result`] has written.
fn read_result(raw: Raw<'_>) -> Option<ToolResult> {
    let [content, structured, is_error] = raw.pick(["content", "structured", "isError"]);
    Some(ToolResult {
        content: content?.elements().map(read_block).collect::<Option<_>>()?,
        structured: structured.map(|json| json.as_str().to_owned()),
        is_error: is_error?.bool()?,
        meta: read_meta(raw),
    })
}

fn read_block(raw: Raw<'_>) -> Option<Content> {
    let text = |name: &str| raw.get(name).and_then(Raw::string).map(Into::into);
    let data = |of: Raw<'_>| Some(BinaryData::Base64(of.get("data")?.string()?.into()));
    let extras: Option<Box<Extras>> = read_extras(raw);
    Some(match &*raw.get("type")?.string()? {
        "text" => Content::Text(Text { text: text("text")?, extras }),
        "image" => Content::Image(Image { data: data(raw)?, mime_type: text("mimeType")?, extras }),
        "audio" => Content::Audio(Audio { data: data(raw)?, mime_type: text("mimeType")?, extras }),
        "resource_link" => Content::ResourceLink(ResourceLink {
            uri: text("uri")?,
            name: text("name")?,
            title: text("title"),
            description: text("description"),
            mime_type: text("mimeType"),
            size: raw.get("size").and_then(Raw::u64),
            extras,
        }),
        "resource" => {
            let resource = raw.get("resource")?;
            let uri = resource.get("uri")?.string()?.into();
            let body = match resource.get("text") {
                Some(text) => ResourceBody::Text(text.string()?.into()),
                None => ResourceBody::Blob(data(resource)?),
            };
            let mut contents = ResourceContents::of(uri, "", body);
            contents.mime_type = resource.get("mimeType").and_then(Raw::string).map(Into::into);
            contents.meta = read_meta(resource);
            Content::Embedded(Embedded { contents, extras })
        }
        _ => return None,
    })
}

fn read_meta(raw: Raw<'_>) -> Option<Meta> {
    let meta = raw.get("_meta").filter(|meta| meta.kind() == JsonKind::Object)?;
    serde_json::from_str(meta.as_str()).ok().map(Meta)
}

#[cfg(test)]
mod tests {
    use mcp_runtime_wire as wire;

    use super::*;
    use crate::model::Role;

    #[test]
    fn error_kinds_are_restored_from_their_stored_numbers() {
        for expected in [
            ErrorKind::Failed,
            ErrorKind::Internal,
            ErrorKind::InvalidParams,
            ErrorKind::Custom(7),
            ErrorKind::Custom(-1),
        ] {
            assert_eq!(kind(number(expected)), expected);
        }
        assert_eq!(kind(i64::MAX), ErrorKind::Internal);
    }

    fn check(result: &ToolResult) {
        let written = |result: &ToolResult| {
            let mut out = Vec::new();
            let mut object = ObjectWriter::begin(&mut out);
            write_result(&mut object, result);
            object.end();
            out
        };
        let first = written(result);
        let read = read_result(wire::validate(&first, 64).unwrap()).unwrap();
        assert_eq!(String::from_utf8(written(&read)), String::from_utf8(first));
        assert_eq!(read.structured, result.structured);
        assert_eq!(read.is_error, result.is_error);
        assert_eq!(read.meta, result.meta);
        assert_eq!(read.content.len(), result.content.len());
    }

    #[test]
    fn a_stored_tool_result_is_read_back_unchanged() {
        check(&ToolResult::default());
        check(&ToolResult::failure("no\nluck \"at all\""));
        let meta = Meta::new().with("example.com/a", 1);
        let text = Text::new("x").audience(&[Role::User]).priority(0.5).meta(meta.clone());
        check(&ToolResult {
            content: vec![
                text.into(),
                Text::new("y").last_modified("2025-01-01").into(),
                Image::png([1, 2, 3]).into(),
                Audio::base64("audio/wav", "AQI=").audience(&[Role::Assistant]).into(),
                ResourceLink::new("a://b", "b").title("B").size(3).into(),
                Embedded::text("a://c", "text").into(),
                Embedded::new(ResourceContents::blob("a://d", [0, 255]).meta(meta.clone())).into(),
            ],
            structured: Some("null".to_owned()),
            is_error: false,
            meta: Some(meta),
        });
    }

    #[test]
    fn blobs_keep_their_bytes() {
        let result =
            ToolResult { content: vec![Image::png([7, 8]).into()], ..ToolResult::default() };
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        write_result(&mut object, &result);
        object.end();
        let read = read_result(wire::validate(&out, 64).unwrap()).unwrap();
        let Content::Image(image) = &read.content[0] else { panic!("an image") };
        assert_eq!(image.bytes().unwrap().as_ref(), [7, 8]);
    }
}
