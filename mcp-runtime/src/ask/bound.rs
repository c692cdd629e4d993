//! Binds the state that a call keeps between rounds to this call. The identity of the call is written in a canonical form, so equal
//! arguments match even if the client formats them differently in a later round.

use mcp_runtime_wire::{JsonKind, Raw};

/// Identity of the call that a stored state belongs to: its method, item, arguments and principal. Only a call with the same identity can
/// resume from the state (rule MRTR-06).
#[derive(Clone, Debug, Default)]
pub(crate) struct CallBinding(String);

impl CallBinding {
    pub(crate) fn to(method: &str, item: &str, arguments: Raw<'_>, principal: &str) -> Self {
        let mut text = String::new();
        for part in [method, item, principal] {
            text.push_str(&part.len().to_string());
            text.push('"');
            text.push_str(part);
        }
        write_canonical(&mut text, arguments);
        Self(text)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Writes a JSON value without whitespace or escapes, and with the members of each object sorted by name. If a name occurs several times,
/// the last member counts, as everywhere in this crate. Numbers, and values that are nested too deeply for serde, are copied unchanged.
fn write_canonical(out: &mut String, value: Raw<'_>) {
    write_nested(out, value, 0);
}

fn write_nested(out: &mut String, value: Raw<'_>, depth: usize) {
    /// Maximum nesting depth that serde reads. Recursion stops at this depth, so that a higher `Limits::depth` cannot overflow the stack.
    const DEEPEST: usize = 128;
    match value.kind() {
        JsonKind::Object | JsonKind::Array if depth > DEEPEST => write_text(out, value.as_str()),
        JsonKind::Object => {
            let mut members: Vec<_> = value.members().collect();
            // The sort is stable, so the last of several members with the same name stays last. The loop skips the members before it.
            members.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                if members.get(at + 1).is_some_and(|next| next.0 == *name) {
                    continue;
                }
                write_text(out, name);
                out.push(':');
                write_nested(out, *value, depth + 1);
                out.push(',');
            }
            out.push('}');
        }
        JsonKind::Array => {
            out.push('[');
            for element in value.elements() {
                write_nested(out, element, depth + 1);
                out.push(',');
            }
            out.push(']');
        }
        JsonKind::String => write_text(out, &value.string().unwrap_or_default()),
        JsonKind::Null | JsonKind::Bool | JsonKind::Number => out.push_str(value.as_str()),
    }
}

/// Writes the length of a text and then the text. The length makes the end of the text unambiguous.
fn write_text(out: &mut String, text: &str) {
    out.push_str(&text.len().to_string());
    out.push('"');
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let mut out = String::new();
        write_canonical(&mut out, Raw::trusted(text));
        out
    }

    #[test]
    fn no_depth_costs_the_stack() {
        let deep = |at: &str| format!("{}{at}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_ne!(canonical(&deep("1")), canonical(&deep("2")));
    }

    #[test]
    fn the_same_value_has_one_spelling() {
        let check = |a: &str, b: &str, same: bool| {
            assert_eq!(canonical(a) == canonical(b), same, "{a} {b}");
        };
        check(r#"{"a":1,"b":[true,null]}"#, r#"{ "b": [ true , null ] , "a" : 1 }"#, true);
        check(r#"{"a":"\u0041\n"}"#, "{\"a\":\"A\\n\"}", true);
        check(r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true);
        check(r#"{"a":1,"a":2}"#, r#"{"a":1}"#, false);
        check(r#"{"a":"1"}"#, r#"{"a":1}"#, false);
        check(r#"["a","b"]"#, r#"["a,1\"b"]"#, false);
        check(r#"{"a":{"b":1}}"#, r#"{"a":{},"b":1}"#, false);
        check("[[],[]]", "[[[]]]", false);
        check("{}", "[]", false);
    }
}
