//! Parses the values of the attributes `#[arg]` and `#[complete]`: defaults, examples, header names, formats, and the source of
//! completions.

use super::expression::expression;
use super::grammar::{Value, assigned, parenthesized, usage};
use super::suggest::suggest;
use super::text::{json_literal, literal};
use crate::errors::Errors;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Expr, Ident, LitStr, Path, Token};

/// Value of the key `default`: `default` alone, or `default = expression`.
#[derive(Clone)]
pub(crate) struct DefaultValue(pub(crate) Option<Expr>);

impl Value for DefaultValue {
    const USAGE: &'static str = " = …";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self(None));
        }
        assigned::<Self, _>(key, input, |input| expression(input).map(|value| Self(Some(value))))
    }

    fn unfinished(tokens: TokenStream) -> Option<Self> {
        // The first token is `=`.
        let value: TokenStream = tokens.into_iter().skip(1).collect();
        let value = if value.is_empty() { quote!(::core::unreachable!()) } else { value };
        Some(Self(Some(Expr::Verbatim(value))))
    }
}

/// Value of the key `example`, as in `example = 5`: a number, a string, `true` or `false`.
#[derive(Clone)]
pub(crate) struct Example {
    /// The literal as JSON text.
    pub(crate) json: String,
    /// The literal as the user wrote it.
    pub(crate) tokens: TokenStream,
}

impl Value for Example {
    const USAGE: &'static str = " = \"…\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| {
            if input.peek(syn::token::Bracket) {
                let message = "an example is one number, `true`, `false` or \"text\": for a list write `description = \"such as […]\"`";
                return Err(input.error(message));
            }
            let start = input.fork();
            let json = json_literal(input)?;
            // The example is one token, or two for a negative number: the sign and the literal.
            let count = if json.starts_with('-') { 2 } else { 1 };
            let tokens = (0..count).map(|_| start.parse::<TokenTree>());
            Ok(Self { json, tokens: tokens.collect::<syn::Result<_>>()? })
        })
    }
}

/// Value of the key `header`, as in `header = "Region"`: name of an HTTP header (RFC 9110, section 5.1).
#[derive(Clone)]
pub(crate) struct HeaderName(pub(crate) LitStr);

impl Value for HeaderName {
    const USAGE: &'static str = " = \"Region\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        let text = literal::<Self>(key, input)?;
        let name = text.value();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            let plain: String = name
                .trim()
                .chars()
                .map(|char| if u8::try_from(char).is_ok_and(token) { char } else { '-' })
                .collect();
            let fix = if plain.is_empty() { String::new() } else { format!(": write {plain:?}") };
            let message =
                format!("a header name is letters, digits and !#$%&'*+-.^_`|~ without spaces{fix}");
            return Err(syn::Error::new(text.span(), message));
        }
        Ok(Self(text))
    }
}

/// Value of the key `format`, as in `format = "email"`: format of a text field in a form.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Value for Format {
    const USAGE: &'static str = " = \"email\"`, `\"uri\"`, `\"date\"` or `\"date-time\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        const NAMES: [&str; 4] = ["email", "uri", "date", "date-time"];
        let text = literal::<Self>(key, input)?;
        match text.value().as_str() {
            "email" => Ok(Self::Email),
            "uri" => Ok(Self::Uri),
            "date" => Ok(Self::Date),
            "date-time" => Ok(Self::DateTime),
            word => {
                let hint = match suggest(word, &NAMES) {
                    Some(found) => format!("; did you mean \"{found}\"?"),
                    None => ".".to_owned(),
                };
                Err(syn::Error::new(
                    text.span(),
                    format!(
                        "forms have no format \"{word}\"{hint} Write \"email\", \"uri\", \"date\" or \"date-time\""
                    ),
                ))
            }
        }
    }
}

/// Source of the values that completion proposes.
#[derive(Clone)]
pub(crate) enum Completer {
    /// `complete("a", "b")`
    Values(Vec<LitStr>),
    /// `complete(path)` or `complete = path`
    Function(Path),
}

impl Value for Completer {
    const USAGE: &'static str = "(\"one\", \"two\")` or `complete(function)";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        if input.peek(Token![=]) {
            return assigned::<Self, _>(key, input, |input| {
                let wrong = usage::<Self>(key);
                input.call(Path::parse_mod_style).map(Self::Function).map_err(|_| wrong)
            });
        }
        parenthesized::<Self, _>(key, input, |input| Self::inside(key, input))
    }
}

impl Completer {
    /// Reads the content of the parentheses.
    pub(crate) fn inside(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let mixed = "write either values or one function, not both";
        if !input.peek(LitStr) {
            let path = input.call(Path::parse_mod_style).map_err(|_| usage::<Self>(key))?;
            if input.peek(syn::token::Paren) {
                return Err(input.error("name the function without calling it"));
            }
            input.parse::<Option<Token![,]>>()?;
            return if input.is_empty() {
                Ok(Self::Function(path))
            } else {
                Err(input.error(mixed))
            };
        }
        let mut values: Vec<LitStr> = Vec::new();
        while !input.is_empty() {
            if !input.peek(LitStr) {
                return Err(input.error(mixed));
            }
            let value = input.parse::<LitStr>()?;
            if values.iter().any(|entry| entry.value() == value.value()) {
                return Err(syn::Error::new(value.span(), "this value is listed twice: keep one"));
            }
            values.push(value);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Self::Values(values))
    }
}
