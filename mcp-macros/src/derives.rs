//! `#[data]` and `#[form]`: what a type needs to travel as JSON.

use crate::errors::Errors;
use crate::item::function::{keyword, keyword_span};
use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, Path, Token};

/// One of the derives that the attribute stands for.
#[derive(Clone, Copy)]
pub(crate) struct Derive {
    /// `None` for our own.
    pub(crate) module: Option<&'static str>,
    pub(crate) name: &'static str,
}

const ALL: [Derive; 4] = [
    Derive { module: Some("serde"), name: "Serialize" },
    Derive { module: Some("serde"), name: "Deserialize" },
    Derive { module: Some("schemars"), name: "JsonSchema" },
    Derive { module: None, name: "Schema" },
];

/// The derives the item still needs; one that the user wrote too is reported and left to the user.
pub(crate) fn derives(owner: &str, item: &TokenStream, errors: &Errors) -> Vec<Derive> {
    let found = keyword(item).map(|(word, _)| word);
    if !matches!(found, Some("struct" | "enum")) {
        let hint = match found {
            None => ": on a function write `#[tool]`, `#[resource]` or `#[prompt]`",
            Some("union") => ": write one of them",
            Some(_) => ": remove it here",
        };
        errors.at(keyword_span(item), format!("{owner} belongs on a `struct` or an `enum`{hint}"));
        return Vec::new();
    }
    let read = |input: ParseStream<'_>| {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<TokenStream>()?;
        Ok(attrs)
    };
    let attrs = read.parse2(item.clone()).unwrap_or_default();
    if let Some(span) = attrs.iter().find_map(other) {
        // The one that is left derives.
        errors.at(span, "`#[form]` does all that `#[data]` does: remove `#[data]`");
        return Vec::new();
    }
    let doubled: Vec<String> = attrs
        .iter()
        .flat_map(derived)
        .filter_map(|path| {
            let last = path.segments.last()?.ident.clone();
            let derive = ALL.iter().find(|it| last == it.name)?;
            errors.at(
                last.span(),
                format!("{owner} derives `{}` already: remove it here", derive.name),
            );
            Some(derive.name.to_owned())
        })
        .collect();
    ALL.into_iter().filter(|it| !doubled.iter().any(|name| name == it.name)).collect()
}

/// Where the second of our attributes that derive stands.
fn other(attr: &Attribute) -> Option<Span> {
    let word = &attr.path().segments.last()?.ident;
    (word == "data" || word == "form").then(|| word.span())
}

fn derived(attr: &Attribute) -> Vec<Path> {
    if !attr.path().is_ident("derive") {
        return Vec::new();
    }
    let paths = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
    paths.map(|it| it.into_iter().collect()).unwrap_or_default()
}
