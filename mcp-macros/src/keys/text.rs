//! Simple values: flags, text, names, paths, expressions, lists of words, and literals as JSON text.

use super::expression::expression;
use super::grammar::{Value, assigned, parenthesized, usage};
use crate::errors::Errors;
use proc_macro2::TokenStream;
use syn::parse::{Parse as _, ParseStream};
use syn::{Expr, ExprLit, Ident, Lit, LitBool, LitStr, Path, Token};

/// Value of a key that is on or off: `key` or `key = false`.
#[derive(Clone)]
pub(crate) struct Flag(pub(crate) bool);

impl Value for Flag {
    const USAGE: &'static str = "";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self(true));
        }
        let wrong = || format!("`{key}` is a flag: write `{key}` or `{key} = false`");
        if !input.peek(Token![=]) {
            return Err(syn::Error::new(key.span(), wrong()));
        }
        input.parse::<Token![=]>()?;
        let span = if input.is_empty() { key.span() } else { input.span() };
        let value = input.parse::<LitBool>().map_err(|_| syn::Error::new(span, wrong()))?;
        Ok(Self(value.value))
    }
}

/// Value of a key that takes text: `key = "text"`, or an expression. On items the expression must be constant, of type `&'static str`.
#[derive(Clone)]
pub(crate) enum Text {
    Literal(LitStr),
    Expr(Box<Expr>),
}

impl Value for Text {
    const USAGE: &'static str = " = \"…\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        let expr = assigned::<Self, _>(key, input, expression)?;
        match expr {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(Self::Literal(text)),
            Expr::Lit(ExprLit { lit, .. }) => {
                Err(syn::Error::new(lit.span(), format!("`{key}` is text: write `{key} = \"…\"`")))
            }
            expr => Ok(Self::Expr(Box::new(expr))),
        }
    }
}

/// Value of a key for text that the macro itself reads: `key = "text"`. The text must not be blank.
#[derive(Clone)]
pub(crate) struct NonBlank(pub(crate) LitStr);

impl Value for NonBlank {
    const USAGE: &'static str = " = \"…\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        let text = literal::<Self>(key, input)?;
        if text.value().trim().is_empty() {
            return Err(syn::Error::new(text.span(), format!("`{key}` must not be empty")));
        }
        Ok(Self(text))
    }
}

/// Reads `= "text"`.
pub(crate) fn literal<V: Value>(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    assigned::<V, _>(key, input, |input| {
        let wrong = syn::Error::new(input.span(), format!("write `{key}{}`", V::USAGE));
        input.parse::<LitStr>().map_err(|_| wrong)
    })
}

/// Value of a key that takes any expression: `key = expression`.
#[derive(Clone)]
pub(crate) struct Expression(pub(crate) Expr);

impl Value for Expression {
    const USAGE: &'static str = " = …";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| expression(input).map(Self))
    }
}

/// Value of the key `crate`, as in `crate = path`.
#[derive(Clone)]
pub(crate) struct CratePath(pub(crate) Path);

impl Value for CratePath {
    const USAGE: &'static str = " = path::to::mcp_runtime";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| {
            let wrong = syn::Error::new(input.span(), format!("write `{key}{}`", Self::USAGE));
            input.call(Path::parse_mod_style).map(Self).map_err(|_| wrong)
        })
    }
}

/// Value of the key `schema`, as in `schema = "full"`: form of the schemas that clients get. The key overrides the setting of the server.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum SchemaForm {
    /// The form that all clients understand.
    Compatible,
    /// The complete schema.
    Full,
    /// The compatible form, generated at compile time. If that is impossible for a type, the code does not compile.
    Static,
}

impl Value for SchemaForm {
    const USAGE: &'static str = " = \"full\"` or `schema = \"static\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        let text = literal::<Self>(key, input)?;
        match text.value().as_str() {
            "full" => Ok(Self::Full),
            "compatible" => Ok(Self::Compatible),
            "static" => Ok(Self::Static),
            _ => Err(syn::Error::new(text.span(), "write \"full\", \"static\" or \"compatible\"")),
        }
    }
}

/// Intended reader of a resource.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reader {
    User,
    Assistant,
}

/// Value of the key `audience`, as in `audience(user, assistant)`.
#[derive(Clone)]
pub(crate) struct Audience(pub(crate) Vec<Reader>);

impl Value for Audience {
    const USAGE: &'static str = "(user, assistant)";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let mut roles = Vec::new();
            for word in
                input.parse_terminated(Ident::parse, Token![,]).map_err(|_| usage::<Self>(key))?
            {
                let role = match word.to_string().as_str() {
                    "user" => Reader::User,
                    "assistant" => Reader::Assistant,
                    _ => {
                        return Err(syn::Error::new(
                            word.span(),
                            "write `user`, `assistant` or both",
                        ));
                    }
                };
                if roles.contains(&role) {
                    return Err(syn::Error::new(word.span(), format!("`{word}` is named twice")));
                }
                roles.push(role);
            }
            Ok(Self(roles))
        })
    }
}

/// Value of the key `with`, as in `with = [one_crate, another]`.
#[derive(Clone)]
pub(crate) struct With(pub(crate) Vec<Ident>);

impl Value for With {
    const USAGE: &'static str = " = [my_tools]";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| {
            if !input.peek(syn::token::Bracket) {
                return Err(syn::Error::new(input.span(), format!("write `{key}{}`", Self::USAGE)));
            }
            let content;
            syn::bracketed!(content in input);
            let names = content.parse_terminated(Ident::parse, Token![,]);
            content.parse::<TokenStream>()?;
            Ok(Self(names?.into_iter().collect()))
        })
    }
}

/// Reads a number, `true`, `false` or text, and returns it as JSON.
pub(crate) fn json_literal(input: ParseStream<'_>) -> syn::Result<String> {
    let span = input.span();
    let minus = input.parse::<Option<Token![-]>>()?.is_some();
    let lit = if input.peek(Lit) { input.parse::<Lit>().ok() } else { None };
    let text = match lit {
        Some(Lit::Int(int)) => int.base10_digits().to_owned(),
        Some(Lit::Float(float)) => {
            json_float(float.base10_parse().map_err(|_| syn::Error::new(span, WRITTEN_OUT))?)
        }
        Some(Lit::Bool(bool)) if !minus => bool.value.to_string(),
        Some(Lit::Str(text)) if !minus => json_text(&text.value()),
        _ => {
            return Err(syn::Error::new(span, WRITTEN_OUT));
        }
    };
    Ok(if minus { format!("-{text}") } else { text })
}

const WRITTEN_OUT: &str = "expected a number, `true`, `false` or \"text\" as a literal";

/// Formats a float as JSON. For 0, and for absolute values from 0.0001 to below 1e16, the text is the same as that of serde_json.
pub(crate) fn json_float(float: f64) -> String {
    format!("{float:?}")
}

/// Returns the text as a JSON string.
pub(crate) fn json_text(text: &str) -> String {
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
            assert_eq!(json_literal.parse_str(rust).ok().as_deref(), expected, "{rust}");
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
