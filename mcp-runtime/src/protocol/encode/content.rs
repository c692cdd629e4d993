//! Content blocks. A block that an older revision lacks becomes the nearest one that it has (rule TOOLS-18).

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    model::{
        Annotations, Audio, Body, Content, Data, Extras, Image, Meta, ResourceContents, Role, Text,
        ToolResult,
    },
    protocol::revision::Revision,
    wire::{self, Array, Object},
};

/// Beginning of a text block without annotations and `_meta`, as nearly all are.
const TEXT: &[u8] = br#"{"type":"text","text":"#;

/// Writes the blocks of a result, in their order.
pub(super) fn blocks(blocks: &mut Array<'_>, revision: Revision, content: &[Content]) {
    for it in content {
        if let Content::Text(Text { text, extras: None }) = it {
            let out = blocks.element();
            out.extend_from_slice(TEXT);
            wire::write::string(out, text);
            out.push(b'}');
        } else {
            block(&mut blocks.object(), revision, it);
        }
    }
}

pub(super) fn block(object: &mut Object<'_>, revision: Revision, content: &Content) {
    let features = revision.features();
    match content {
        Content::Text(it) => text(object, revision, it),
        Content::Image(it) => image(object, revision, it),
        Content::Audio(it) => audio(object, revision, it),
        Content::ResourceLink(it) if features.titles => {
            object.word("type", "resource_link").str("uri", &it.uri).str("name", &it.name);
            object
                .opt_str("title", it.title.as_deref())
                .opt_str("description", it.description.as_deref());
            object.opt_str("mimeType", it.mime_type.as_deref());
            if let Some(size) = it.size {
                object.u64("size", size);
            }
            extras(object, revision, it.extras.as_deref());
        }
        Content::ResourceLink(it) => {
            object.word("type", "text").str("text", &format!("{}: {}", it.name, it.uri));
        }
        Content::Embedded(it) => {
            object.word("type", "resource");
            contents(&mut object.object("resource"), revision, &it.contents);
            extras(object, revision, it.extras.as_deref());
        }
    }
}

pub(super) fn text(object: &mut Object<'_>, revision: Revision, it: &Text) {
    object.word("type", "text").str("text", &it.text);
    extras(object, revision, it.extras.as_deref());
}

pub(super) fn image(object: &mut Object<'_>, revision: Revision, it: &Image) {
    object.word("type", "image");
    base64(object.key("data"), &it.data);
    object.str("mimeType", &it.mime_type);
    extras(object, revision, it.extras.as_deref());
}

pub(super) fn audio(object: &mut Object<'_>, revision: Revision, it: &Audio) {
    if !revision.features().hints_and_audio {
        object.word("type", "text").str("text", &format!("[a sound of type {}]", it.mime_type));
        return;
    }
    object.word("type", "audio");
    base64(object.key("data"), &it.data);
    object.str("mimeType", &it.mime_type);
    extras(object, revision, it.extras.as_deref());
}

fn extras(object: &mut Object<'_>, revision: Revision, extras: Option<&Extras>) {
    let Some(extras) = extras else { return };
    let Annotations { audience, priority, last_modified } = &extras.annotations;
    annotations(object, revision, audience, *priority, last_modified.as_deref());
    own_meta(object, revision, extras.meta.as_ref());
}

pub(super) fn annotations(
    object: &mut Object<'_>,
    revision: Revision,
    audience: &[Role],
    priority: Option<f64>,
    last_modified: Option<&str>,
) {
    let last_modified = last_modified.filter(|_| revision.features().titles);
    if audience.is_empty() && priority.is_none() && last_modified.is_none() {
        return;
    }
    let mut annotations = object.object("annotations");
    if !audience.is_empty() {
        let mut roles = annotations.array("audience");
        for role in audience {
            roles.str(role.name());
        }
    }
    if let Some(priority) = priority {
        annotations.f64("priority", priority);
    }
    annotations.opt_str("lastModified", last_modified);
}

pub(super) fn own_meta(object: &mut Object<'_>, revision: Revision, meta: Option<&Meta>) {
    if let Some(meta) = meta.filter(|it| !it.is_empty() && revision.features().titles) {
        // A map of JSON values can always be written.
        let _ = wire::write::value(object.key("_meta"), &meta.0);
    }
}

pub(super) fn base64(out: &mut Vec<u8>, data: &Data) {
    match data {
        Data::Base64(text) => wire::write::string(out, text),
        Data::Bytes(bytes) => {
            out.push(b'"');
            let start = out.len();
            let Some(len) = base64::encoded_len(bytes.len(), true) else { return out.push(b'"') };
            out.resize(start + len, 0);
            let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or_default();
            out.truncate(start + written);
            out.push(b'"');
        }
    }
}

/// Writes content, structured content and `isError` of a tool result.
pub(super) fn tool_content(result: &mut Object<'_>, revision: Revision, tool: &ToolResult) {
    let features = revision.features();
    let mut blocks = result.array("content");
    self::blocks(&mut blocks, revision, &tool.content);
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

/// Writes the contents of a resource.
pub(super) fn contents(object: &mut Object<'_>, revision: Revision, it: &ResourceContents) {
    object.str("uri", &it.uri).str("mimeType", it.media_type());
    match &it.body {
        Body::Text(text) => {
            object.str("text", text);
        }
        Body::Blob(data) => base64(object.key("blob"), data),
    }
    own_meta(object, revision, it.meta.as_ref());
}
