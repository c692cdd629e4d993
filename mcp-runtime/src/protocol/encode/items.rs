//! Encoding of the lists of tools, resources, resource templates and prompts.

use mcp_runtime_wire::{ObjectWriter, write};

use super::{
    content,
    result::{AnswerScope, list_cache, meta, result_type},
};
use crate::{
    catalog::{Entry, EntryKind, PromptEntry, ResourceEntry, Snapshot, ToolEntry},
    model::{ListKind, ListPage},
    protocol::{
        revision::{Revision, TaskDialect},
        service::{Service, icons},
    },
};

/// Returns the result object of a list request.
pub(super) fn page(
    service: &Service,
    scope: AnswerScope,
    snapshot: &Snapshot,
    page: &ListPage,
) -> Vec<u8> {
    let revision = scope.revision;
    let mut out = Vec::new();
    let mut result = ObjectWriter::begin(&mut out);
    result_type(&mut result, revision, "complete");
    let name = match page.kind {
        ListKind::Tools => "tools",
        ListKind::Resources => "resources",
        ListKind::Templates => "resourceTemplates",
        ListKind::Prompts => "prompts",
    };
    let mut list = result.array(name);
    for entry in snapshot.entries(page) {
        self::entry(&mut list.object(), revision, entry);
    }
    list.end();
    result.opt_str("nextCursor", snapshot.next_cursor(page).as_deref());
    list_cache(&mut result, service, scope);
    meta(&mut result, service, revision, None);
    result.end();
    out
}

/// Returns an entry as the newest revision lists it.
pub(crate) fn listed(entry: &Entry) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    self::entry(&mut object, Revision::MODERN[0], entry);
    object.end();
    out
}

fn entry(object: &mut ObjectWriter<'_>, revision: Revision, entry: &Entry) {
    let features = revision.features();
    match &entry.kind {
        EntryKind::Resource(resource) if resource.template.is_some() => {
            object.str("uriTemplate", &resource.uri);
        }
        EntryKind::Resource(resource) => {
            object.str("uri", &resource.uri);
        }
        _ => {}
    }
    object.str("name", &entry.name);
    if features.titles {
        object.opt_str("title", entry.title.as_deref());
    }
    object.opt_str("description", entry.description.as_deref());
    icons(object, revision, &entry.icons);
    match &entry.kind {
        EntryKind::Tool(tool) => self::tool(object, revision, entry, tool),
        EntryKind::Resource(resource) => self::resource(object, revision, entry, resource),
        EntryKind::Prompt(prompt) => self::prompt(object, revision, prompt),
        EntryKind::Completion { .. } => {}
    }
    if features.titles && !entry.meta.is_empty() {
        let mut meta = object.object("_meta");
        for (key, json) in &entry.meta {
            write::raw(meta.given_key(key), json);
        }
    }
}

fn tool(object: &mut ObjectWriter<'_>, revision: Revision, entry: &Entry, tool: &ToolEntry) {
    let features = revision.features();
    object.raw("inputSchema", &tool.schemas.input.text);
    if let Some(output) = &tool.schemas.output {
        if features.any_structured || (features.titles && output.root_is_object) {
            object.raw("outputSchema", &output.schema.text);
        }
    }
    if let Some(task) = tool.task.filter(|_| features.tasks == TaskDialect::Core) {
        let support = if task.required { "required" } else { "optional" };
        object.object("execution").str("taskSupport", support);
    }
    // In a revision without `title`, `annotations` contains the title (rule TOOLS-06).
    let title = entry.title.as_deref().filter(|_| !features.titles);
    if features.hints_and_audio
        && (title.is_some() || tool.hints.iter().any(|(_, hint)| hint.is_some()))
    {
        let mut annotations = object.object("annotations");
        annotations.opt_str("title", title);
        for (name, hint) in tool.hints {
            if let Some(hint) = hint {
                annotations.bool(name, hint);
            }
        }
    }
}

fn resource(
    object: &mut ObjectWriter<'_>,
    revision: Revision,
    entry: &Entry,
    resource: &ResourceEntry,
) {
    object.opt_str("mimeType", resource.mime_type.as_deref());
    if let Some(size) = resource.size.filter(|_| resource.template.is_none()) {
        object.u64("size", size);
    }
    content::annotations(object, revision, entry.audience, entry.priority, None);
}

fn prompt(object: &mut ObjectWriter<'_>, revision: Revision, prompt: &PromptEntry) {
    if prompt.arguments.is_empty() {
        return;
    }
    let mut list = object.array("arguments");
    for argument in &prompt.arguments {
        let mut member = list.object();
        member.str("name", &argument.name);
        if revision.features().titles {
            member.opt_str("title", argument.title.as_deref());
        }
        member.opt_str("description", argument.description.as_deref());
        member.bool("required", argument.required);
    }
}
