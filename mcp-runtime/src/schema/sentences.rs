//! Sentences at the end of a description that replace keywords and formats that are not published.

use serde_json::Value;

use super::{Map, SchemaSide, const_text::equal};

/// Temporary keyword that contains the sentences until every rule has been applied. If the sentences were part of the description, they
/// would be lost when another description replaces it. No schema of an author has a keyword with this name.
pub(super) const SAID: &str = "\0said";

/// Adds a sentence to the sentences of this schema.
pub(super) fn say(map: &mut Map, sentence: String) {
    let said = map.entry(SAID).or_insert_with(|| Value::Array(Vec::new()));
    let sentence = Value::String(sentence);
    if let Value::Array(said) = said
        && !said.contains(&sentence)
    {
        said.push(sentence);
    }
}

/// Returns the sentences of this schema, without the sentences of its subschemas.
pub(super) fn sentences_of(map: &Map) -> Option<String> {
    let said: Vec<_> = map.get(SAID)?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(said.join(" "))
}

/// Moves all sentences into the descriptions.
pub(super) fn finish(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(said) = sentences_of(map) {
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

/// Formats a value for a sentence.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

/// Formats several values for a sentence.
pub(super) fn listed(values: &[Value]) -> String {
    values.iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Formats that OpenAI lists. They stay in the schemas of results.
static FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Whether a format stays in the schema.
pub(super) const fn is_published_format(name: &str, side: SchemaSide) -> bool {
    if let SchemaSide::Argument = side {
        return equal(name, "date-time");
    }
    let mut i = 0;
    while i < FORMATS.len() {
        if equal(FORMATS[i], name) {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns a sentence that describes the format; `None` if only the name of the format is known.
pub(super) const fn format_in_words(name: &str) -> Option<&'static str> {
    static ALL: [(&str, &str); 14] = [
        ("date", "A date, as in `2030-12-31`."),
        ("time", "A time of day, as in `14:30:00Z`."),
        ("partial-time", "A time of day, as in `14:30:00`."),
        ("partial-date-time", "A date and a time, as in `2030-12-31T14:30:00`."),
        ("duration", "A duration, as in `PT1H30M`."),
        ("email", "An email address."),
        ("hostname", "The name of a host."),
        ("ip", "An IP address."),
        ("ipv4", "An IPv4 address."),
        ("ipv6", "An IPv6 address."),
        ("uuid", "A UUID."),
        ("uri", "A URI."),
        ("uri-reference", "A URI, or one relative to another."),
        ("regex", "A regular expression."),
    ];
    let mut i = 0;
    while i < ALL.len() {
        if equal(ALL[i].0, name) {
            return Some(ALL[i].1);
        }
        i += 1;
    }
    None
}
