//! Values that have keys of their own: icons, cache policies, metadata, tasks.

use super::expression;
use super::grammar::{Given, Value, keys, parenthesized, read, read_first, usage};
use super::number::Duration;
use super::tables::{CACHE, ICON, TASK};
use super::text::{Flag, NonBlank, json_literal, literal};
use crate::errors::Errors;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::punctuated::Punctuated;
use syn::token::Brace;
use syn::{Expr, Ident, LitStr, Token};

/// Value of the key `icon`: `icon = "https://…"` or `icon("https://…", mime_type = "image/png", sizes("48x48"))`.
#[derive(Clone)]
pub(crate) struct Icon {
    pub(crate) src: LitStr,
    pub(crate) keys: IconKeys,
}

keys! {
    /// The keys of an icon after its address.
    struct IconKeys {
        mime_type: Option<Given<NonBlank>>,
        sizes: Option<Given<Sizes>>,
    }
}

impl Value for Icon {
    const USAGE: &'static str =
        " = \"https://…\"` or `icon(\"https://…\", mime_type = \"image/png\", sizes(\"48x48\"))";

    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self> {
        let mut keys = IconKeys::default();
        let src = if input.peek(Token![=]) {
            literal::<Self>(key, input)?
        } else {
            parenthesized::<Self, _>(key, input, |input| {
                let src = read_first(input)?.ok_or_else(|| usage::<Self>(key))?;
                read(&mut keys, input, &ICON, errors);
                Ok(src)
            })?
        };
        if src.value().trim().is_empty() {
            return Err(syn::Error::new(src.span(), "an icon needs an address"));
        }
        Ok(Self { src, keys })
    }
}

/// Value of the key `sizes` of an icon, as in `sizes("48x48", "any")`.
#[derive(Clone)]
pub(crate) struct Sizes(pub(crate) Vec<LitStr>);

impl Value for Sizes {
    const USAGE: &'static str = "(\"48x48\")";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let sizes = Punctuated::<LitStr, Token![,]>::parse_terminated(input);
            let sizes: Vec<LitStr> = sizes.map_err(|_| usage::<Self>(key))?.into_iter().collect();
            if let Some(wrong) = sizes.iter().find(|size| !is_size(&size.value())) {
                return Err(syn::Error::new(wrong.span(), "a size is \"WIDTHxHEIGHT\" or \"any\""));
            }
            Ok(Self(sizes))
        })
    }
}

fn is_size(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text == "any" || text.split_once('x').is_some_and(|(a, b)| number(a) && number(b))
}

keys! {
    /// Value of the key `cache`, as in `cache(public, ttl = "5m")`.
    struct Cache {
        public: Option<Given<Flag>>,
        ttl: Option<Given<Duration>>,
    }
}

impl Value for Cache {
    const USAGE: &'static str = "(public, ttl = \"5m\")";

    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self> {
        let mut cache = Self::default();
        parenthesized::<Self, _>(key, input, |input| {
            read(&mut cache, input, &CACHE, errors);
            Ok(())
        })?;
        Ok(cache)
    }
}

/// Value of the key `meta`, as in `meta("vendor.com/key" = 1, other = "text")`: pairs of a name and a value.
#[derive(Clone)]
pub(crate) struct Metadata(pub(crate) Vec<(String, MetaValue)>);

/// Value of a member of `meta`.
#[derive(Clone)]
pub(crate) enum MetaValue {
    /// JSON text of a literal.
    Json(String),
    /// Expression that serializes to the value.
    Made(Box<Expr>),
}

fn meta_value(input: ParseStream<'_>) -> syn::Result<MetaValue> {
    if input.peek(Brace) {
        let fix = "write an object as an expression, such as `serde_json::json!({ … })`";
        return Err(input.error(fix));
    }
    let ahead = input.fork();
    match json_literal(&ahead) {
        Ok(json) if ahead.is_empty() || ahead.peek(Token![,]) => {
            input.advance_to(&ahead);
            Ok(MetaValue::Json(json))
        }
        _ => expression(input).map(Box::new).map(MetaValue::Made),
    }
}

impl Value for Metadata {
    const USAGE: &'static str = "(\"vendor.com/key\" = \"…\")";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let mut entries: Vec<(String, MetaValue)> = Vec::new();
            while !input.is_empty() {
                let span = input.span();
                let name = if input.peek(LitStr) {
                    input.parse::<LitStr>()?.value()
                } else {
                    input
                        .call(Ident::parse_any)
                        .map_err(|_| usage::<Self>(key))?
                        .unraw()
                        .to_string()
                };
                if name.is_empty() {
                    return Err(syn::Error::new(span, "a metadata key must not be empty"));
                }
                if entries.iter().any(|(entry, _)| *entry == name) {
                    return Err(syn::Error::new(
                        span,
                        format!("`{name}` is given twice: keep one"),
                    ));
                }
                input.parse::<Token![=]>().map_err(|_| usage::<Self>(key))?;
                entries.push((name, meta_value(input)?));
                if !input.is_empty() {
                    input.parse::<Token![,]>().map_err(|_| usage::<Self>(key))?;
                }
            }
            Ok(Self(entries))
        })
    }
}

keys! {
    /// Value of the key `task`: `task`, `task = "required"`, or `task(required, later, ttl = "1h", poll = "2s")`.
    struct Task {
        required: Option<Given<Flag>>,
        later: Option<Given<Flag>>,
        ttl: Option<Given<Duration>>,
        poll: Option<Given<Duration>>,
    }
}

impl Value for Task {
    const USAGE: &'static str =
        "`, `task = \"required\"` or `task(required, later, ttl = \"1h\", poll = \"2s\")";

    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self> {
        let mut task = Self::default();
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(task);
        }
        if input.peek(Token![=]) {
            let text: LitStr = literal::<Self>(key, input)?;
            match text.value().as_str() {
                "required" => {
                    task.required = Some(Given { key: key.clone(), value: Flag(true) });
                }
                "optional" => {}
                _ => {
                    let message = "write \"required\" when the call must be a task, or \"optional\" when it may be one";
                    return Err(syn::Error::new(text.span(), message));
                }
            }
            return Ok(task);
        }
        parenthesized::<Self, _>(key, input, |input| {
            read(&mut task, input, &TASK, errors);
            Ok(())
        })?;
        Ok(task)
    }
}
