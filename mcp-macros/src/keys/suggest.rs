//! Suggestions for "did you mean": the candidate that is closest to a misspelt word.

/// Words of JSON Schema and of other libraries, each with the key of this crate that has the same meaning.
const SYNONYMS: [(&str, &str); 13] = [
    ("minimum", "range"),
    ("maximum", "range"),
    ("min", "range"),
    ("max", "range"),
    ("min_length", "len"),
    ("max_length", "len"),
    ("length", "len"),
    ("regex", "pattern"),
    ("doc", "description"),
    ("rename", "name"),
    ("rate_limit", "rate"),
    ("max_concurrency", "concurrency"),
    ("concurrent", "concurrency"),
];

/// Returns the candidate that is closest to `word`, or `None` if all candidates differ too much.
///
/// The spelling of the protocol (`readOnlyHint`, `mimeType`) matches the key of this crate too.
pub(crate) fn suggest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let plain = plain(word);
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == plain).map(|(_, key)| *key);
    if let Some(found) = candidates.iter().find(|candidate| Some(**candidate) == synonym) {
        return Some(found);
    }
    let near = |text: &&str| {
        let distance = strsim::damerau_levenshtein(&plain, text);
        let abbreviated = plain.len() >= 3 && text.starts_with(&plain);
        let allowed = 1 + plain.len().min(text.len()) / 4;
        if abbreviated { Some(0) } else { Some(distance).filter(|value| *value <= allowed) }
    };
    candidates
        .iter()
        .filter_map(|candidate| near(candidate).map(|distance| (distance, *candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, distance)| distance)
}

/// Converts `readOnlyHint` and `read-only` to `read_only`.
fn plain(word: &str) -> String {
    let mut plain = String::new();
    for char in word.chars() {
        if char.is_uppercase() && !plain.is_empty() {
            plain.push('_');
        }
        plain.extend(
            char.to_lowercase()
                .map(|to_lowercase| if to_lowercase == '-' { '_' } else { to_lowercase }),
        );
    }
    plain.strip_suffix("_hint").map(str::to_owned).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["name", "read_only", "description", "mime_type", "open_world"];
        let check = |word, expected| assert_eq!(suggest(word, &keys), expected, "{word}");
        check("readonly", Some("read_only"));
        check("readOnlyHint", Some("read_only"));
        check("openWorldHint", Some("open_world"));
        check("mimeType", Some("mime_type"));
        check("desc", Some("description"));
        check("nmae", Some("name"));
        check("cache", None);
        check("x", None);
        check("doc", Some("description"));
        check("minLength", None);
    }
}
