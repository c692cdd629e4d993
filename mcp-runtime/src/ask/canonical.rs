//! Canonical form of JSON values. The same arguments are recognized however a client writes them.

use mcp_runtime_wire::{JsonKind, Raw};

/// Writes a value without whitespace and escapes, with its members sorted by name. If a name occurs several times, the last member counts,
/// as everywhere. Numbers stay as they are written, and so do values nested deeper than serde reads.
pub(super) fn write(out: &mut String, value: Raw<'_>) {
    nested(out, value, 0);
}

fn nested(out: &mut String, value: Raw<'_>, depth: usize) {
    /// Depth that serde reads. Recursion stops here, so that a higher limit cannot overflow the stack.
    const DEEPEST: usize = 128;
    match value.kind() {
        JsonKind::Object | JsonKind::Array if depth > DEEPEST => text(out, value.as_str()),
        JsonKind::Object => {
            let mut members: Vec<_> = value.members().collect();
            // The sort is stable, so the last member of a name stays the last.
            members.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                if members.get(at + 1).is_some_and(|next| next.0 == *name) {
                    continue;
                }
                text(out, name);
                out.push(':');
                nested(out, *value, depth + 1);
                out.push(',');
            }
            out.push('}');
        }
        JsonKind::Array => {
            out.push('[');
            for it in value.elements() {
                nested(out, it, depth + 1);
                out.push(',');
            }
            out.push(']');
        }
        JsonKind::String => text(out, &value.string().unwrap_or_default()),
        JsonKind::Null | JsonKind::Bool | JsonKind::Number => out.push_str(value.as_str()),
    }
}

/// Writes a text after its length, so that nothing in the text can be taken for its end.
fn text(out: &mut String, text: &str) {
    out.push_str(&text.len().to_string());
    out.push('"');
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let mut out = String::new();
        write(&mut out, Raw::trusted(text));
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
