//! JSON within texts.

use serde_json::{Deserializer, Map, Value};

/// Part of a text.
pub(crate) enum TextPart<'a> {
    /// JSON within the text, and its value.
    Json(&'a str, Value),
    /// Any other text.
    Plain(&'a str),
}

/// Splits a text into the JSON objects in it and the texts between them. A text that is itself JSON is one part.
pub(crate) fn parts(text: &str) -> Vec<TextPart<'_>> {
    if let Some(value) = inner_json(text) {
        return vec![TextPart::Json(text, value)];
    }
    let mut parts = Vec::new();
    let (mut plain, mut from) = (0, 0);
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        let mut values = Deserializer::from_str(&text[at..]).into_iter::<Map<String, Value>>();
        from = at + 1;
        // Without members there is nothing to remove.
        if let Some(Ok(object)) = values.next()
            && !object.is_empty()
        {
            let end = at + values.byte_offset();
            if plain < at {
                parts.push(TextPart::Plain(&text[plain..at]));
            }
            parts.push(TextPart::Json(&text[at..end], object.into()));
            (plain, from) = (end, end);
        }
    }
    if plain < text.len() {
        parts.push(TextPart::Plain(&text[plain..]));
    }
    parts
}

/// Parses a text that is itself JSON, such as the result of a tool, or a string with JSON in it.
fn inner_json(text: &str) -> Option<Value> {
    let is_likely = text.trim_start().starts_with(['{', '[', '"']);
    is_likely.then(|| serde_json::from_str(text).ok()).flatten()
}
