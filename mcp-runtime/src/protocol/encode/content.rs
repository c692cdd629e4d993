//! Encoding of content blocks. A block that an older revision lacks is replaced with the most similar block that the revision has (rule
//! TOOLS-18).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_runtime_wire::{self as wire, ArrayWriter, ObjectWriter};

use crate::{
    model::{
        Annotations, Audio, BinaryData, Content, Extras, Image, Meta, ResourceBody,
        ResourceContents, Role, Text, ToolResult,
    },
    protocol::revision::Revision,
};

/// Beginning of a text block without annotations and `_meta`, which is the form of nearly all blocks.
const TEXT: &[u8] = br#"{"type":"text","text":"#;

/// Writes the blocks of a result, in their order.
pub(super) fn blocks(blocks: &mut ArrayWriter<'_>, revision: Revision, content: &[Content]) {
    for item in content {
        if let Content::Text(Text { text, extras: None }) = item {
            let out = blocks.element();
            out.extend_from_slice(TEXT);
            wire::write::string(out, text);
            out.push(b'}');
        } else {
            block(&mut blocks.object(), revision, item);
        }
    }
}

pub(super) fn block(object: &mut ObjectWriter<'_>, revision: Revision, content: &Content) {
    let features = revision.features();
    match content {
        Content::Text(content) => text(object, revision, content),
        Content::Image(content) => image(object, revision, content),
        Content::Audio(content) => audio(object, revision, content),
        Content::ResourceLink(link) if features.titles => {
            object.word("type", "resource_link").str("uri", &link.uri).str("name", &link.name);
            object
                .opt_str("title", link.title.as_deref())
                .opt_str("description", link.description.as_deref());
            object.opt_str("mimeType", link.mime_type.as_deref());
            if let Some(size) = link.size {
                object.u64("size", size);
            }
            extras(object, revision, link.extras.as_deref());
        }
        Content::ResourceLink(link) => {
            object.word("type", "text").str("text", &format!("{}: {}", link.name, link.uri));
        }
        Content::Embedded(embedded) => {
            object.word("type", "resource");
            contents(&mut object.object("resource"), revision, &embedded.contents);
            extras(object, revision, embedded.extras.as_deref());
        }
    }
}

pub(super) fn text(object: &mut ObjectWriter<'_>, revision: Revision, content: &Text) {
    object.word("type", "text").str("text", &content.text);
    extras(object, revision, content.extras.as_deref());
}

pub(super) fn image(object: &mut ObjectWriter<'_>, revision: Revision, content: &Image) {
    object.word("type", "image");
    base64(object.key("data"), &content.data);
    object.str("mimeType", &content.mime_type);
    extras(object, revision, content.extras.as_deref());
}

pub(super) fn audio(object: &mut ObjectWriter<'_>, revision: Revision, content: &Audio) {
    if !revision.features().hints_and_audio {
        object
            .word("type", "text")
            .str("text", &format!("[a sound of type {}]", content.mime_type));
        return;
    }
    object.word("type", "audio");
    base64(object.key("data"), &content.data);
    object.str("mimeType", &content.mime_type);
    extras(object, revision, content.extras.as_deref());
}

fn extras(object: &mut ObjectWriter<'_>, revision: Revision, extras: Option<&Extras>) {
    let Some(extras) = extras else { return };
    let Annotations { audience, priority, last_modified } = &extras.annotations;
    annotations(object, revision, audience, *priority, last_modified.as_deref());
    own_meta(object, revision, extras.meta.as_ref());
}

pub(super) fn annotations(
    object: &mut ObjectWriter<'_>,
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

pub(super) fn own_meta(object: &mut ObjectWriter<'_>, revision: Revision, meta: Option<&Meta>) {
    if let Some(meta) = meta.filter(|meta| !meta.is_empty() && revision.features().titles) {
        // Ignores the result, because writing a map of JSON values cannot fail.
        let _ = wire::write::value(object.key("_meta"), &meta.0);
    }
}

pub(super) fn base64(out: &mut Vec<u8>, data: &BinaryData) {
    match data {
        BinaryData::Base64(text) => wire::write::string(out, text),
        BinaryData::Bytes(bytes) => {
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
#[inline]
pub(super) fn tool_content(result: &mut ObjectWriter<'_>, revision: Revision, tool: &ToolResult) {
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
pub(super) fn contents(
    object: &mut ObjectWriter<'_>,
    revision: Revision,
    contents: &ResourceContents,
) {
    object.str("uri", &contents.uri).str("mimeType", contents.media_type());
    match &contents.body {
        ResourceBody::Text(text) => {
            object.str("text", text);
        }
        ResourceBody::Blob(data) => base64(object.key("blob"), data),
    }
    own_meta(object, revision, contents.meta.as_ref());
}
