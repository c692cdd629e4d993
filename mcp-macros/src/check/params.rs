//! Rules for the attributes of a parameter.

use super::values;
use crate::errors::Errors;
use crate::item::tokens::find;
use crate::item::{Item, Kind, Param, Place, Role};
use crate::keys::suggest::suggest;
use proc_macro2::{Span, TokenTree};
use quote::ToTokens as _;
use std::collections::HashSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, Meta, Token, Type};

pub(super) fn check(item: &Item<'_>, errors: &Errors) {
    let mut names = HashSet::new();
    let mut headers = HashSet::new();
    // With `cfg` on a parameter, two parameters of one name may exclude each other.
    let are_certain = !configured(item, errors);
    for param in &item.params {
        if !names.insert(param.name()) && are_certain {
            let span =
                param.keys.name.as_ref().map_or_else(|| param.span(), |it| it.value.0.span());
            let name = param.name();
            errors.at(span, format!("another parameter is called `{name}` already: give one of them another name, as in `#[arg(name = \"…\")]`"));
        }
        if let Some(header) = &param.keys.header {
            let name = &header.value.0;
            if !headers.insert(name.value().to_ascii_lowercase()) && are_certain {
                let message = format!(
                    "another parameter has the header `{}` already, and their names are the same in any case: give one of them another",
                    name.value()
                );
                errors.at(name.span(), message);
            }
        }
        if let Place::Receiver(receiver) = param.place {
            if let Some(span) = helper(param) {
                errors.at(
                    span,
                    format!(
                        "`{}` is the server's state, not an argument",
                        receiver.self_token.to_token_stream()
                    ),
                );
            }
            continue;
        }
        keys(item, param, errors);
        values::check(&param.keys, errors);
        spread(item, param, errors);
    }
}

/// Rejects `cfg` and `cfg_attr`, because generated code names every parameter. Returns whether there is any. Several parameters with `cfg`
/// give one error, since the fix is the same: a second function.
fn configured(item: &Item<'_>, errors: &Errors) -> bool {
    let attrs = item.params.iter().flat_map(|it| it.attrs);
    let conditional = |it: &&Attribute| it.path().is_ident("cfg") || it.path().is_ident("cfg_attr");
    let Some(attr) = attrs.into_iter().find(conditional) else { return false };
    let fix = match &attr.meta {
        Meta::List(list) if attr.path().is_ident("cfg") => {
            let condition = &list.tokens;
            format!("one with `#[cfg({condition})]` and one with `#[cfg(not({condition}))]`")
        }
        _ => "each with its `#[cfg]`".to_owned(),
    };
    let message = format!("parameters cannot depend on `cfg`: write two functions, {fix}");
    errors.at(attr.path().span(), message);
    true
}

/// Returns the place of the first attribute that configures an argument.
fn helper(param: &Param<'_>) -> Option<Span> {
    let ours = |it: &Ident| ["arg", "complete", "serde", "schemars"].iter().any(|word| it == word);
    param.attrs.iter().filter_map(|it| it.path().get_ident()).find(|it| ours(it)).map(Ident::span)
}

fn keys(item: &Item<'_>, param: &Param<'_>, errors: &Errors) {
    let keys = &param.keys;
    match (&keys.complete, item.kind) {
        (Some(complete), Kind::Tool) => errors.at(
            complete.span(),
            "tools have no completion in any revision: show the model a value with `#[arg(example = \"…\")]`, or list them all in an enum",
        ),
        (Some(complete), Kind::Completion) => {
            errors.at(complete.span(), "this function completes others: nothing completes it");
        }
        _ => {}
    }
    if let Some(header) = &keys.header
        && item.kind != Kind::Tool
    {
        errors.at(header.span(), "`header` is for the parameters of tools: remove it");
    }
    let only_name = [
        keys.title.as_ref().map(|it| &it.key),
        keys.description.as_ref().map(|it| &it.key),
        keys.default.as_ref().map(|it| &it.key),
        keys.range.as_ref().map(|it| &it.key),
        keys.len.as_ref().map(|it| &it.key),
        keys.pattern.as_ref().map(|it| &it.key),
        keys.example.as_ref().map(|it| &it.key),
    ];
    if item.kind == Kind::Completion {
        for key in only_name.into_iter().flatten() {
            let message = format!(
                "`{key}` says nothing here: clients never see these parameters, only `name` counts"
            );
            errors.at(key.span(), message);
        }
    }
    if item.kind == Kind::Resource
        && item.role(param) == Role::Server
        && item.template.is_some()
        && let Some(span) = helper(param)
    {
        let name = param.name();
        errors.at(span, format!("`{name}` is not a variable of the URI, so clients do not give it: add `{{{name}}}` to the URI or remove this"));
    }
}

/// Checks a parameter with attributes of serde or schemars. Generated code makes it a field of a struct, so its value must be owned.
fn spread(item: &Item<'_>, param: &Param<'_>, errors: &Errors) {
    let (Some(attr), Place::Typed(_, ty)) = (param.spread.first(), param.place) else { return };
    let word = attr.path().to_token_stream();
    if item.kind != Kind::Tool {
        if item.kind != Kind::Resource {
            errors.at(
                attr.path().span(),
                format!("`{word}` attributes are for the parameters of tools, and this is a text: write `#[arg(name = \"…\", default = …)]`"),
            );
        }
        return;
    }
    param.spread.iter().for_each(|it| misspelt(it, errors));
    if let Some(default) = &param.keys.default {
        errors.at(default.span(), "this parameter is read by serde: write `#[serde(default)]`");
    }
    let owned = match strip_groups(ty) {
        Type::Reference(it) if it.mutability.is_none() && is_borrowed_argument(&it.elem) => {
            &it.elem
        }
        ty => ty,
    };
    let borrows = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if matches!(it.as_char(), '&' | '\''));
    if let Some(span) = find(&owned.to_token_stream(), &borrows) {
        errors.at(span, format!("a parameter with `{word}` attributes owns its value: write `String`, `Vec<T>` or `T`"));
    }
}

/// Suggests a correction for a misspelt attribute of serde. The error of serde itself suggests none.
fn misspelt(attr: &Attribute, errors: &Errors) {
    const KEYS: [&str; 9] = [
        "rename",
        "alias",
        "default",
        "flatten",
        "skip",
        "skip_deserializing",
        "deserialize_with",
        "with",
        "bound",
    ];
    if !attr.path().is_ident("serde") {
        return;
    }
    let keys = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    for key in keys.iter().flatten().filter_map(|it| it.path().get_ident()) {
        let word = key.to_string();
        // `borrow`, `getter` and keys that contain `serializ` are valid in serde too.
        let known = KEYS.contains(&word.as_str()) || ["borrow", "getter"].contains(&word.as_str());
        if !known
            && !word.contains("serializ")
            && let Some(found) = suggest(&word, &KEYS)
        {
            let message = format!("unknown serde attribute `{word}`; did you mean `{found}`?");
            errors.at(key.span(), message);
        }
    }
}

/// Whether a parameter has the type `str` or `[T]` itself. rustc reports that with a fix, and generated code would only repeat the error.
pub(crate) fn refused_by_rustc(item: &Item<'_>) -> bool {
    item.params.iter().any(|it| matches!(it.place, Place::Typed(_, ty) if is_borrowed_argument(ty)))
}

/// Whether the type is `str` or `[T]`. For a reference to one, the call owns the value and lends it to the function.
pub(crate) fn is_borrowed_argument(ty: &Type) -> bool {
    match strip_groups(ty) {
        Type::Slice(_) => true,
        Type::Path(it) => it.qself.is_none() && it.path.is_ident("str"),
        _ => false,
    }
}

/// Returns the type without parentheses and without the invisible groups around a `macro_rules` fragment.
pub(crate) fn strip_groups(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => strip_groups(&group.elem),
        Type::Paren(paren) => strip_groups(&paren.elem),
        ty => ty,
    }
}
