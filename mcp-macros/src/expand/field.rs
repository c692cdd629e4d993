//! Attributes of serde and schemars in place of `#[arg]` on the field of a form. serde and schemars read and describe a form that is an
//! argument or a result. Bounds are left out, because they are not checked there.

use super::here;
use super::text::text;
use crate::item::form::{Form, Named, Shape};
use crate::keys::arg::{Default, Format};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, ExprLit, ExprUnary, Item, Lit, Type, UnOp, parse_quote};

/// Returns the struct with these attributes in place of ours.
pub(crate) fn item(mut item: Item, form: &Form<'_>) -> TokenStream {
    if let (Item::Struct(it), Shape::Struct { named, .. }) = (&mut item, &form.shape) {
        for (field, named) in it.fields.iter_mut().zip(named) {
            field.attrs.retain(|it| !it.path().is_ident("arg"));
            field.attrs.extend(attributes(form.ident, named, field.ident.as_ref()));
        }
    }
    item.into_token_stream()
}

fn attributes(owner: &syn::Ident, named: &Named<'_>, ident: Option<&Ident>) -> Vec<Attribute> {
    let keys = &named.keys;
    let mut said = Vec::new();
    if let Some(title) = &keys.title {
        let title = text(&title.value);
        said.push(quote_spanned!(here()=> title = #title));
    }
    if let Some(description) = &keys.description {
        let description = text(&description.value);
        said.push(quote_spanned!(here()=> description = #description));
    }
    if let Some(format) = &keys.format {
        let name = match format.value {
            Format::Email => "email",
            Format::Uri => "uri",
            Format::Date => "date",
            Format::DateTime => "date-time",
        };
        said.push(quote_spanned!(here()=> extend("format" = #name)));
    }
    let mut attributes: Vec<Attribute> = Vec::new();
    if !said.is_empty() {
        attributes.push(parse_quote!(#[schemars(#(#said),*)]));
    }
    match (&keys.default, ident) {
        (Some(it), _) if it.value.0.is_none() => attributes.push(parse_quote!(#[serde(default)])),
        (Some(_), Some(ident)) if literal(named).is_some() => {
            let path = format!("{owner}::{}", function(ident));
            attributes.push(parse_quote!(#[serde(default = #path)]));
        }
        _ => {}
    }
    attributes
}

/// Generates the functions that return defaults, which `#[serde(default = "…")]` names.
pub(super) fn defaults(form: &Form<'_>, fields: &syn::Fields) -> Option<TokenStream> {
    let Shape::Struct { named, .. } = &form.shape else { return None };
    let made = fields.iter().zip(named).filter_map(|(field, named)| {
        let (value, name) = (literal(named)?, function(field.ident.as_ref()?));
        let ty = named.ty;
        Some(quote_spanned! {here()=>
            #[doc(hidden)]
            fn #name() -> #ty {
                #value
            }
        })
    });
    let made: Vec<_> = made.collect();
    let ident = form.ident;
    (!made.is_empty()).then(|| quote_spanned!(here()=> impl #ident { #(#made)* }))
}

fn function(field: &Ident) -> Ident {
    quote::format_ident!("__default_{}", field.unraw(), span = here())
}

/// Returns the default if it is a literal that certainly has the field's type. Any other default is evaluated when the form is made.
fn literal(named: &Named<'_>) -> Option<TokenStream> {
    let Default(Some(expr)) = &named.keys.default.as_ref()?.value else { return None };
    let Type::Path(path) = named.ty else { return None };
    let ty = path.path.get_ident()?.to_string();
    let number = match expr {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) if !ty.starts_with('u') => expr,
        expr => expr,
    };
    let Expr::Lit(ExprLit { lit, .. }) = number else { return None };
    const WHOLE: [&str; 10] =
        ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];
    match lit {
        Lit::Int(it) if it.suffix().is_empty() && WHOLE.contains(&ty.as_str()) => {}
        Lit::Float(it) if it.suffix().is_empty() && ["f32", "f64"].contains(&ty.as_str()) => {}
        Lit::Bool(_) if ty == "bool" => {}
        Lit::Str(text) if ty == "String" => {
            return Some(quote_spanned!(here()=> ::core::convert::Into::into(#text)));
        }
        _ => return None,
    }
    Some(expr.to_token_stream())
}
