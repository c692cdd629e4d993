//! Derives that `#[data]` and `#[form]` add to a type, for its form in JSON.

use crate::errors::Errors;
use crate::item::function::{keyword, keyword_span};
use crate::item::tokens::{path_of, regroup};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, Path, Token};

/// Derive that `#[data]` and `#[form]` add.
#[derive(Clone, Copy)]
pub(crate) struct Derive {
    /// Crate of the derive; `None` for our own `Schema`.
    pub(crate) module: Option<&'static str>,
    pub(crate) name: &'static str,
}

const ALL: [Derive; 4] = [
    Derive { module: Some("serde"), name: "Serialize" },
    Derive { module: Some("serde"), name: "Deserialize" },
    Derive { module: Some("schemars"), name: "JsonSchema" },
    Derive { module: None, name: "Schema" },
];

/// Returns the derives that the item needs. Reports those that the user wrote as well.
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
        // The item has both attributes. The other one still adds the derives, so this one adds none.
        errors.at(span, "`#[form]` does all that `#[data]` does: remove `#[data]`");
        return Vec::new();
    }
    let doubled: Vec<Ident> = attrs
        .iter()
        .flat_map(derived)
        .filter_map(|path| path.segments.last().map(|it| it.ident.clone()))
        .filter(is_derived)
        .collect();
    if let [first, rest @ ..] = doubled.as_slice() {
        // The user's derives are not emitted: their crate may be no dependency, and a second impl would conflict with ours.
        let names = rest.iter().fold(format!("`{first}`"), |names, it| format!("{names}, `{it}`"));
        let it = if rest.is_empty() { "it" } else { "them" };
        errors.at(first.span(), format!("{owner} derives {names} already: remove {it} here"));
    }
    ALL.to_vec()
}

/// Returns the item without the derives that we add ourselves.
pub(crate) fn without_doubled(item: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in item {
        let is_attribute = matches!(kept.last(), Some(TokenTree::Punct(it)) if it.as_char() == '#');
        match token {
            TokenTree::Group(group) if is_attribute && is_derive(&group) => {
                kept.push(
                    regroup(&group, group.stream().into_iter().map(undoubled).collect()).into(),
                );
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

fn is_derive(attribute: &Group) -> bool {
    matches!(path_of(&attribute.stream()).as_slice(), [word] if word == "derive")
}

/// Removes from the group of `derive(…)` the paths of derives that we add ourselves.
fn undoubled(token: TokenTree) -> TokenTree {
    let TokenTree::Group(group) = token else { return token };
    let read = Punctuated::<Path, Token![,]>::parse_terminated;
    let Ok(paths) = read.parse2(group.stream()) else { return group.into() };
    let is_kept = |path: &&Path| !path.segments.last().is_some_and(|it| is_derived(&it.ident));
    let kept: Punctuated<&Path, Token![,]> = paths.iter().filter(is_kept).collect();
    if kept.len() == paths.len() {
        group.into()
    } else {
        regroup(&group, kept.into_token_stream()).into()
    }
}

fn is_derived(word: &Ident) -> bool {
    ALL.iter().any(|it| word == it.name)
}

/// Returns the place of the attribute if it is a second `#[data]` or `#[form]` on the item.
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
