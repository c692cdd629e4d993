//! Sentences at the end of the description, in place of keywords that are not published.

use serde_json::Value;

use super::Map;

/// Holds the sentences until every rule has been applied: a description that replaces another must not drop them. Authors' schemas have no
/// keyword of this name.
pub(in crate::schema) const SAID: &str = "\0said";

/// Adds a sentence to those of this schema.
pub(super) fn say(map: &mut Map, sentence: String) {
    let said = map.entry(SAID).or_insert_with(|| Value::Array(Vec::new()));
    let sentence = Value::String(sentence);
    if let Value::Array(said) = said
        && !said.contains(&sentence)
    {
        said.push(sentence);
    }
}

/// Returns the sentences about this schema itself.
pub(super) fn sentences(map: &Map) -> Option<String> {
    let said: Vec<_> = map.get(SAID)?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(said.join(" "))
}

/// Moves all sentences into the descriptions.
pub(super) fn finish(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(said) = sentences(map) {
                map.remove(SAID);
                let text = match map.get("description").and_then(Value::as_str) {
                    Some(text) if !text.is_empty() => format!("{text}\n\n{said}"),
                    _ => said,
                };
                map.insert("description".to_owned(), text.into());
            }
            map.values_mut().for_each(finish);
        }
        Value::Array(list) => list.iter_mut().for_each(finish),
        _ => {}
    }
}

/// Writes a value for a sentence.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}
