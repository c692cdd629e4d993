//! Rules for types with `#[form]`, and for types with `#[derive(Schema)]` and its attribute `#[mcp]`.

use crate::errors::Errors;
use crate::item::form::{Chosen, Form, FormShape, Named};
use crate::keys::arg::DefaultValue;
use crate::keys::number::{Bound, Len, Range};
use crate::syntax::first_reference;
use proc_macro2::Span;
use quote::ToTokens as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, Fields, GenericParam, Lit, LitStr, Meta, Path,
    Token,
};

/// Reports attributes `#[arg(…)]` on the fields of a type with `#[data]`.
pub(crate) fn data(misplaced: &[Attribute], errors: &Errors) {
    for attr in misplaced {
        errors.at(
            attr.path().span(),
            "`#[arg]` works on parameters, and on fields of `#[form]`: remove it here, and check this field in the function",
        );
    }
}

/// Reports the mistakes in a form that its syntax reveals. The compiler checks the types of the fields later, in the generated code.
pub(crate) fn form(form: &Form<'_>, errors: &Errors) {
    if let Some(parameter) = form.generics.params.first() {
        let message = match parameter {
            GenericParam::Lifetime(_) => {
                "a form owns the user's answers, so it cannot have lifetimes: remove them, and write `String` instead of `&str`"
            }
            _ => {
                "a form has one schema, so it cannot have type parameters: write a concrete type, such as `String`"
            }
        };
        errors.at(parameter.span(), message);
    }
    match &form.shape {
        FormShape::Struct { keyword, fields, named } => {
            container(form.attrs, &["rename", "rename_all", "deny_unknown_fields"], errors);
            if let Some(key) = &form.keys.enum_names {
                errors.at(
                    key.span(),
                    "`enum_names` is for enums, because it sets how the titles of variants are sent: remove it",
                );
            }
            if !matches!(fields, Fields::Named(_)) {
                let span = if fields.is_empty() { keyword.span() } else { fields.span() };
                errors.at(span, "a form needs named fields, because users see the names: write `struct Booking { name: String, seats: u8 }`");
            } else if named.is_empty() {
                errors.at(form.ident.span(), "a form without fields asks nothing: to ask for consent, write one field, `ok: bool`");
            }
            named.iter().for_each(|named| field(named, errors));
            // A form with generic parameters already has an error, so its references are not reported.
            let held = named.iter().filter(|_| form.generics.params.is_empty());
            for span in held.filter_map(|held| first_reference(held.ty)) {
                errors.at(
                    span,
                    "a field of a form owns the user's answer: write `String` instead of `&str`",
                );
            }
        }
        FormShape::Enum(variants) => {
            container(form.attrs, &["rename", "rename_all"], errors);
            if variants.is_empty() {
                errors.at(form.ident.span(), "there is nothing to choose from: write variants, as in `enum Size { Small, Large }`");
            }
            if let Some(key) = &form.keys.enum_names
                && !variants.is_empty()
                && !variants.iter().any(Chosen::is_titled)
            {
                errors.at(key.span(), "`enum_names` sets how titles are sent, but no variant has a title: write doc comments, or `#[arg(title = \"…\")]`");
            }
            variants.iter().for_each(|chosen| variant(chosen, errors));
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
        let message = "a form shows the greatest allowed number, so the range must include its end: write `..=`";
        errors.at(range.span(), message);
    }
    let default = field.keys.default.as_ref();
    if let Some(default) = default
        && let DefaultValue(Some(value)) = &default.value
    {
        let len = field.keys.len.as_ref().map(|len| &len.value);
        let outside =
            |range: &Range| Bound::read(value).is_ok_and(|number| !range.contains(number));
        if range.is_some_and(|range| outside(&range.value)) {
            let message = "the field does not accept this default: write one within its `range`";
            errors.at(value.span(), message);
        }
        if let Some(count) = len.and_then(|len| unmeasured(len, value)) {
            let message = format!(
                "the field does not accept this default, which has {count} characters: write another default, or another `len`"
            );
            errors.at(value.span(), message);
        }
    }
}

/// Returns the number of characters of a string literal that is too short or too long. Returns `None` for any other value.
fn unmeasured(len: &Len, value: &Expr) -> Option<usize> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value else { return None };
    let count = text.value().chars().count();
    let fits = len.min.is_none_or(|min| count >= min) && len.max.is_none_or(|max| count <= max);
    (!fits).then_some(count)
}

fn variant(chosen: &Chosen<'_>, errors: &Errors) {
    let variant = chosen.variant;
    configured(&variant.attrs, "a choice", errors);
    serde(&variant.attrs, &["rename"], "a choice", errors);
    if !matches!(variant.fields, Fields::Unit) {
        let message = format!(
            "a choice is only a name: write `{}`, and ask for the rest in a separate field",
            variant.ident
        );
        errors.at(variant.fields.span(), message);
    }
}

/// Rejects `cfg` and `cfg_attr`, because generated code describes every field, even one that `cfg` removes.
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

/// Rejects keys of serde that are not in `known`. Such keys would change how serde reads the user's answer, so the answer would not match
/// the form.
fn serde(attrs: &[Attribute], known: &[&str], what: &str, errors: &Errors) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        let metas = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        // If an attribute does not parse, serde reports the mistake.
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
            "set the default of a field with `#[arg(default)]`, which users see too".to_owned()
        }
        "flatten" => "a form has flat fields only: write the fields here".to_owned(),
        "skip" | "skip_deserializing" | "skip_serializing" | "skip_serializing_if" => {
            format!(
                "`{word}` has no meaning in a form, which asks for all of its fields: remove it, or write a separate type for the form"
            )
        }
        _ => {
            let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
            format!(
                "with `{word}` the answer would not match the form: {what} supports only serde's {}",
                known.join(", ")
            )
        }
    }
}

/// Reports unions and mistakes in `#[mcp]`. Anything else that the derive does not support is valid, because schemars then describes the
/// type.
pub(crate) fn schema(item: &DeriveInput, errors: &Errors) {
    match &item.data {
        Data::Struct(data) => {
            own(&item.attrs, errors);
            inside(&data.fields, errors);
        }
        Data::Enum(data) => {
            own(&item.attrs, errors);
            for variant in &data.variants {
                misplaced(&variant.attrs, errors);
                inside(&variant.fields, errors);
            }
        }
        Data::Union(data) => {
            let message = "#[derive(Schema)] belongs on a `struct` or an `enum`: write one of them";
            errors.at(data.union_token.span(), message);
        }
    }
}

fn ours(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("mcp"))
}

fn own(attrs: &[Attribute], errors: &Errors) {
    for attr in ours(attrs) {
        errors.keep(attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                let read = |value: ParseStream<'_>| value.parse::<LitStr>()?.parse::<Path>();
                return meta.value().and_then(read).map(drop).map_err(|_| {
                    let message = "`crate` takes the path of `mcp_runtime` as text: write `crate = \"…\"`";
                    syn::Error::new(meta.path.span(), message)
                });
            }
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            Err(meta.error(format!(
                "unknown key `{name}` of #[mcp]: remove it; configure the schema with attributes of serde and schemars. Keys: crate"
            )))
        }));
    }
}

fn inside(fields: &Fields, errors: &Errors) {
    fields.iter().for_each(|field| misplaced(&field.attrs, errors));
}

fn misplaced(attrs: &[Attribute], errors: &Errors) {
    for attr in ours(attrs) {
        let message = "#[mcp] belongs on the type, not on its fields or variants: remove it; configure the schema here with attributes of serde and schemars";
        errors.at(attr.path().span(), message);
    }
}
