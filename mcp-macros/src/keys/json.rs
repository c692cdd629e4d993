//! Conversion of Rust literals to JSON text at compile time.

use syn::parse::ParseStream;
use syn::{Lit, Token};

/// Reads a number, `true`, `false` or text, and returns it as JSON.
pub(crate) fn literal(input: ParseStream<'_>) -> syn::Result<String> {
    let span = input.span();
    let minus = input.parse::<Option<Token![-]>>()?.is_some();
    let lit = if input.peek(Lit) { input.parse::<Lit>().ok() } else { None };
    let text = match lit {
        Some(Lit::Int(int)) => int.base10_digits().to_owned(),
        Some(Lit::Float(float)) => {
            float_text(float.base10_parse().map_err(|_| syn::Error::new(span, WRITTEN_OUT))?)
        }
        Some(Lit::Bool(bool)) if !minus => bool.value.to_string(),
        Some(Lit::Str(text)) if !minus => quoted(&text.value()),
        _ => {
            return Err(syn::Error::new(span, WRITTEN_OUT));
        }
    };
    Ok(if minus { format!("-{text}") } else { text })
}

const WRITTEN_OUT: &str = "expected a number, `true`, `false` or \"text\", written out";

/// Formats a float as serde_json does.
pub(crate) fn float_text(float: f64) -> String {
    format!("{float:?}")
}

/// Returns the text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut json = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => json.extend(['\\', char]),
            '\n' => json.push_str("\\n"),
            '\u{0}'..='\u{1f}' => {
                let _ = write!(json, "\\u{:04x}", u32::from(char));
            }
            _ => json.push(char),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse::Parser as _;

    #[test]
    fn literals_become_json() {
        let check = |rust: &str, expected| {
            assert_eq!(literal.parse_str(rust).ok().as_deref(), expected, "{rust}");
        };
        check("5", Some("5"));
        check("-5i64", Some("-5"));
        check("0xff", Some("255"));
        check("1.", Some("1.0"));
        check("-2.5e3", Some("-2500.0"));
        check("true", Some("true"));
        check(r#""a\"b\n\u{1}é""#, Some("\"a\\\"b\\n\\u0001é\""));
        check("-true", None);
        check("'c'", None);
        check("name", None);
    }
}
