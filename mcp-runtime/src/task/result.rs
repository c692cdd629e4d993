//! Stored form of a tool's result. It belongs to no protocol revision, but has the words that all revisions share.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_runtime_wire::{JsonKind, ObjectWriter, Raw, write};

use crate::model::{
    Annotations, Audio, BinaryData, Content, Embedded, Extras, Image, Meta, ResourceBody,
    ResourceContents, ResourceLink, Text, ToolResult, read_extras,
};

pub(super) fn write(object: &mut ObjectWriter<'_>, result: &ToolResult) {
    let mut blocks = object.array("content");
    for it in &result.content {
        block(&mut blocks.object(), it);
    }
    blocks.end();
    if let Some(structured) = &result.structured {
        object.raw("structured", structured);
    }
    object.bool("isError", result.is_error);
    meta(object, result.meta.as_ref());
}

fn block(object: &mut ObjectWriter<'_>, content: &Content) {
    let extras = match content {
        Content::Text(it) => {
            object.str("type", "text").str("text", &it.text);
            &it.extras
        }
        Content::Image(it) => {
            object.str("type", "image").str("mimeType", &it.mime_type);
            data(object, &it.data);
            &it.extras
        }
        Content::Audio(it) => {
            object.str("type", "audio").str("mimeType", &it.mime_type);
            data(object, &it.data);
            &it.extras
        }
        Content::ResourceLink(it) => {
            object.str("type", "resource_link").str("uri", &it.uri).str("name", &it.name);
            object
                .opt_str("title", it.title.as_deref())
                .opt_str("description", it.description.as_deref())
                .opt_str("mimeType", it.mime_type.as_deref());
            if let Some(size) = it.size {
                object.u64("size", size);
            }
            &it.extras
        }
        Content::Embedded(it) => {
            object.str("type", "resource");
            let mut contents = object.object("resource");
            contents.str("uri", &it.contents.uri).str("mimeType", it.contents.media_type());
            match &it.contents.body {
                ResourceBody::Text(text) => {
                    contents.str("text", text);
                }
                ResourceBody::Blob(it) => data(&mut contents, it),
            }
            meta(&mut contents, it.contents.meta.as_ref());
            contents.end();
            &it.extras
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
    meta(object, extras.meta.as_ref());
}

fn data(object: &mut ObjectWriter<'_>, data: &BinaryData) {
    match data {
        BinaryData::Base64(text) => object.str("data", text),
        BinaryData::Bytes(bytes) => object.str("data", &STANDARD.encode(bytes)),
    };
}

fn meta(object: &mut ObjectWriter<'_>, meta: Option<&Meta>) {
    if let Some(meta) = meta {
        // Writing a map of JSON values never fails.
        let _ = write::value(object.key("_meta"), &meta.0);
    }
}

/// Reads a result that [`write`] has written.
pub(super) fn read(raw: Raw<'_>) -> Option<ToolResult> {
    let [content, structured, is_error] = raw.pick(["content", "structured", "isError"]);
    Some(ToolResult {
        content: content?.elements().map(read_block).collect::<Option<_>>()?,
        structured: structured.map(|it| it.as_str().to_owned()),
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
            let it = raw.get("resource")?;
            let uri = it.get("uri")?.string()?.into();
            let body = match it.get("text") {
                Some(text) => ResourceBody::Text(text.string()?.into()),
                None => ResourceBody::Blob(data(it)?),
            };
            let mut contents = ResourceContents::of(uri, "", body);
            contents.mime_type = it.get("mimeType").and_then(Raw::string).map(Into::into);
            contents.meta = read_meta(it);
            Content::Embedded(Embedded { contents, extras })
        }
        _ => return None,
    })
}

fn read_meta(raw: Raw<'_>) -> Option<Meta> {
    let meta = raw.get("_meta").filter(|it| it.kind() == JsonKind::Object)?;
    serde_json::from_str(meta.as_str()).ok().map(Meta)
}

#[cfg(test)]
mod tests {
    use mcp_runtime_wire as wire;

    use super::*;
    use crate::model::Role;

    fn check(result: &ToolResult) {
        let written = |result: &ToolResult| {
            let mut out = Vec::new();
            let mut object = ObjectWriter::begin(&mut out);
            write(&mut object, result);
            object.end();
            out
        };
        let first = written(result);
        let read = read(wire::validate(&first, 64).unwrap()).unwrap();
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
        write(&mut object, &result);
        object.end();
        let read = read(wire::validate(&out, 64).unwrap()).unwrap();
        let Content::Image(image) = &read.content[0] else { panic!("an image") };
        assert_eq!(image.bytes().unwrap().as_ref(), [7, 8]);
    }
}
