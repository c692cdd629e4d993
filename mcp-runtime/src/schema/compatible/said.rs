//! What a keyword said that is not published: a sentence at the end of the description.

use serde_json::Value;

use super::Map;

/// Where sentences wait until every rule has been applied: a description that goes before another must not take them along.
/// No schema of anybody's has a keyword of that name.
pub(in crate::schema) const SAID: &str = "\0said";

/// Beside what is said already.
pub(super) fn say(map: &mut Map, sentence: String) {
    let said = map.entry(SAID).or_insert_with(|| Value::Array(Vec::new()));
    let sentence = Value::String(sentence);
    if let Value::Array(said) = said
        && !said.contains(&sentence)
    {
        said.push(sentence);
    }
}

/// What has been said of this schema itself.
pub(super) fn sentences(map: &Map) -> Option<String> {
    let said: Vec<_> = map.get(SAID)?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(said.join(" "))
}

/// Brings all sentences into the descriptions.
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

/// A value as it stands in a sentence.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}
