//! Completes the answers of handlers, and creates the answers for handlers that panicked or timed out.

use std::time::Duration;

use crate::{
    catalog::{Entry, EntryKind},
    error::{Error, ErrorKind},
    model::{BinaryData, Content, Done, OperationResult, ResourceBody, ToolResult},
};

/// Server-wide settings for calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallSettings {
    /// Timeout of calls to items that have no timeout of their own.
    pub(crate) timeout: Option<Duration>,
    /// Maximum size of the content of a tool result, in bytes.
    pub(crate) max_result: Option<usize>,
}

/// Completes the answer of a handler. Replaces a tool result that is too large, and turns the failure of a tool into a tool result. Adds
/// the cache hints, media types and descriptions that the item declares.
pub(super) fn finish_answer(
    settings: &CallSettings,
    entry: &Entry,
    is_resumed: bool,
    uri: Option<&str>,
    answer: OperationResult,
) -> OperationResult {
    match answer {
        Ok(Done::Tool(result)) => Ok(Done::Tool(limit_size(settings, result))),
        // Every failure becomes a tool result, so that the model sees it. This includes failures before the handler ran.
        Err(error) if error.kind() == ErrorKind::Failed && entry.tool().is_some() => {
            Ok(Done::Tool(limit_size(settings, ToolResult::failure(error.message()))))
        }
        Ok(Done::Read(mut read)) => {
            let resource = entry.resource();
            read.cache = resource.and_then(|resource| resource.cache).filter(|_| !is_resumed);
            if let Some(cache) = read.cache.as_mut().filter(|_| entry.is_guarded()) {
                cache.public = false;
            }
            // If the handler sets no media type, the contents get the declared media type, or else the default of their Rust type.
            let declared = resource.and_then(|resource| resource.mime_type.as_deref());
            for contents in &mut read.contents {
                if contents.mime_type.is_none() {
                    contents.mime_type = Some(declared.unwrap_or(contents.usual).to_owned());
                }
            }
            Ok(Done::Read(read))
        }
        Ok(Done::Prompt(mut prompt)) => {
            prompt.description = entry.description.as_deref().map(str::to_owned);
            Ok(Done::Prompt(prompt))
        }
        Err(error) if error.kind() == ErrorKind::ResourceNotFound => Err(match uri {
            Some(uri) => error.with_uri(uri),
            None => error,
        }),
        other => other,
    }
}

/// Replaces a result that is too large with an error that tells the model what to do. The result is not truncated, because the model would
/// take truncated text for the complete result.
fn limit_size(settings: &CallSettings, result: ToolResult) -> ToolResult {
    let Some(max) = settings.max_result else { return result };
    let size: usize = result.content.iter().map(content_size).sum();
    if size <= max {
        return result;
    }
    ToolResult::failure(format!(
        "the result has {size} bytes, and this server sends at most {max}: ask for less of it"
    ))
}

fn content_size(content: &Content) -> usize {
    let data = |data: &BinaryData| match data {
        BinaryData::Bytes(bytes) => bytes.len(),
        BinaryData::Base64(text) => text.len(),
    };
    match content {
        Content::Text(text) => text.text.len(),
        Content::Image(image) => data(&image.data),
        Content::Audio(audio) => data(&audio.data),
        Content::ResourceLink(link) => link.uri.len(),
        Content::Embedded(embedded) => match &embedded.contents.body {
            ResourceBody::Text(text) => text.len(),
            ResourceBody::Blob(blob) => data(blob),
        },
    }
}

/// Returns the answer for a handler that panicked. The answer does not contain the panic message, because the panic hook has already
/// printed the message to stderr.
#[cold]
pub(super) fn panic_answer(entry: &Entry) -> OperationResult {
    let text = format!("the {} `{}` panicked", entry.kind_name(), entry.name);
    match entry.kind {
        EntryKind::Tool(_) => Ok(Done::Tool(ToolResult::failure(text))),
        _ => Err(Error::internal(text)),
    }
}

#[cold]
pub(super) fn timeout_answer(entry: &Entry, timeout: Duration) -> OperationResult {
    let text = format!(
        "the {} `{}` took longer than {timeout:?} and was given up",
        entry.kind_name(),
        entry.name
    );
    match entry.kind {
        EntryKind::Tool(_) => Ok(Done::Tool(ToolResult::failure(text))),
        _ => Err(Error::msg(text)),
    }
}

#[cold]
pub(super) fn around_panic_error() -> Error {
    Error::internal("`around` panicked")
}
