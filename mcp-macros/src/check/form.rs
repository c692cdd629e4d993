//! Rules for a type with `#[form]`, as far as its tokens tell. The compiler checks which types can be fields.

use crate::errors::Errors;
use crate::item::form::{Chosen, Form, Named, Shape};
use crate::item::tokens::find;
use crate::keys::arg::Default;
use crate::keys::range::{Bound, Len, Range};
use proc_macro2::{Span, TokenTree};
use quote::ToTokens as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, Fields, GenericParam, Lit, Meta, Token, Type};

pub(crate) fn check(form: &Form<'_>, errors: &Errors) {
    if let Some(parameter) = form.generics.params.first() {
        let message = match parameter {
            GenericParam::Lifetime(_) => {
                "a form has no lifetimes, since what people answer is its own: remove them, and write `String` for `&str`"
            }
            _ => {
                "a form has one schema, so it has no type parameters: write a concrete type, such as `String`"
            }
        };
        errors.at(parameter.span(), message);
    }
    match &form.shape {
        Shape::Struct { keyword, fields, named } => {
            container(form.attrs, &["rename", "rename_all", "deny_unknown_fields"], errors);
            if let Some(key) = &form.keys.enum_names {
                errors.at(
                    key.span(),
                    "`enum_names` is for enums, since it says how the titles of variants are told: remove it",
                );
            }
            if !matches!(fields, Fields::Named(_)) {
                let span = if fields.is_empty() { keyword.span() } else { fields.span() };
                errors.at(span, "a form has fields with names, which people see: `struct Booking { name: String, seats: u8 }`");
            } else if named.is_empty() {
                errors.at(form.ident.span(), "a form without fields asks nothing: to ask for consent, write one field, `ok: bool`");
            }
            named.iter().for_each(|it| field(it, errors));
            // A form with generic parameters has an error already.
            let held = named.iter().filter(|_| form.generics.params.is_empty());
            for span in held.filter_map(|it| borrows(it.ty)) {
                errors.at(
                    span,
                    "a field of a form is what somebody answered, and owns it: write `String` for `&str`",
                );
            }
        }
        Shape::Enum(variants) => {
            container(form.attrs, &["rename", "rename_all"], errors);
            if variants.is_empty() {
                errors.at(form.ident.span(), "there is nothing to choose from: write variants, as in `enum Size { Small, Large }`");
            }
            if let Some(key) = &form.keys.enum_names
                && !variants.is_empty()
                && !variants.iter().any(Chosen::is_titled)
            {
                errors.at(key.span(), "`enum_names` says how titles are told, and no variant has one: write doc comments, or `#[arg(title = \"…\")]`");
            }
            variants.iter().for_each(|it| variant(it, errors));
        }
    }
}

fn field(field: &Named<'_>, errors: &Errors) {
    configured(field.attrs, "a field of a form", errors);
    serde(field.attrs, &["rename"], "a field of a form", errors);
    let range = field.keys.range.as_ref();
    if let Some(range) = range
        && range.value.end.is_some()
        && !range.value.inclusive
    {
        let message = "a form tells the greatest number that may be given, so the end belongs to it: write `..=`";
        errors.at(range.span(), message);
    }
    let default = field.keys.default.as_ref();
    if let Some(default) = default
        && let Default(Some(value)) = &default.value
    {
        let len = field.keys.len.as_ref().map(|it| &it.value);
        let outside = |it: &Range| Bound::read(value).is_ok_and(|number| !it.contains(number));
        if range.is_some_and(|it| outside(&it.value)) {
            let message =
                "this default is no answer that the field takes: write one that is in its `range`";
            errors.at(value.span(), message);
        }
        if let Some(count) = len.and_then(|it| unmeasured(it, value)) {
            let message = format!(
                "this default is no answer that the field takes: it has {count} characters, so write another, or another `len`"
            );
            errors.at(value.span(), message);
        }
    }
}

/// Returns the length of a text literal, if it is too short or too long.
fn unmeasured(len: &Len, value: &Expr) -> Option<usize> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value else { return None };
    let count = text.value().chars().count();
    let fits = len.min.is_none_or(|it| count >= it) && len.max.is_none_or(|it| count <= it);
    (!fits).then_some(count)
}

/// Returns the place of the first reference in a type.
pub(crate) fn borrows(ty: &Type) -> Option<Span> {
    let is_reference = |it: &TokenTree| matches!(it, TokenTree::Punct(it) if it.as_char() == '&');
    find(&ty.to_token_stream(), &is_reference)
}

fn variant(chosen: &Chosen<'_>, errors: &Errors) {
    let variant = chosen.variant;
    configured(&variant.attrs, "a choice", errors);
    serde(&variant.attrs, &["rename"], "a choice", errors);
    if !matches!(variant.fields, Fields::Unit) {
        let message = format!(
            "a choice is a name and nothing more: write `{}`, and ask for the rest in a field of its own",
            variant.ident
        );
        errors.at(variant.fields.span(), message);
    }
}

/// Rejects `cfg` and `cfg_attr`, because generated code describes every field.
fn configured(attrs: &[Attribute], what: &str, errors: &Errors) {
    for attr in attrs {
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            let types = match &attr.meta {
                Meta::List(list) if list.path.is_ident("cfg") => {
                    format!("one with `#[cfg({0})]` and one with `#[cfg(not({0}))]`", list.tokens)
                }
                _ => "each with its `#[cfg]`".to_owned(),
            };
            let message = format!("{what} cannot depend on `cfg`: write two types, {types}");
            errors.at(attr.path().span(), message);
        }
    }
}

fn container(attrs: &[Attribute], known: &[&str], errors: &Errors) {
    serde(attrs, known, "a form", errors);
}

/// Rejects keys of serde that are not in `known`. They would change how the answer is read, and then it would not match the form.
fn serde(attrs: &[Attribute], known: &[&str], what: &str, errors: &Errors) {
    for attr in attrs.iter().filter(|it| it.path().is_ident("serde")) {
        let metas = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        // serde itself reports an attribute that does not parse.
        for meta in metas.into_iter().flatten() {
            let word = meta.path().to_token_stream().to_string();
            if !known.contains(&word.as_str()) {
                errors.at(meta.path().span(), reason(&word, what, known));
            } else if let Meta::List(list) = &meta {
                errors.at(
                    span_of(list),
                    format!("{what} has one name for reading and writing: write `{word} = \"…\"`"),
                );
            }
        }
    }
}

fn span_of(list: &syn::MetaList) -> Span {
    list.path.span()
}

fn reason(word: &str, what: &str, known: &[&str]) -> String {
    match word {
        "default" => {
            "the default of a field is said by `#[arg(default)]`, which people see too".to_owned()
        }
        "flatten" => "a form has flat fields only: write the fields here".to_owned(),
        "skip" | "skip_deserializing" | "skip_serializing" | "skip_serializing_if" => {
            format!(
                "`{word}` has no meaning in a form, which asks for all it has: remove it, or write a type of its own for the form"
            )
        }
        _ => {
            let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
            format!(
                "`{word}` would change what is read, and then it is not what was asked for: {what} takes of serde only {}",
                known.join(", ")
            )
        }
    }
}
