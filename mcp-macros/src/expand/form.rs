//! `#[form]`: generates an impl with the schema of a form, and the attributes of serde and schemars that replace `#[arg]`.
//!
//! If a form is an argument or a result, serde reads it and schemars describes it. The generated attributes contain no bounds, because the
//! server checks the bounds only in the answers of users. A form with bounds is not accepted as an argument.

use super::snippets::{at, cfgs, code_for_editor, constant, description, doc, here, setter, text};
use crate::docs::Doc;
use crate::editor::in_editor;
use crate::item::form::{Chosen, Form, FormShape, Named};
use crate::keys::Given;
use crate::keys::arg::{DefaultValue, Format};
use crate::keys::number::{Bound, Range};
use crate::syntax::first_reference;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, ExprUnary, Lit, Type, UnOp, parse_quote};

/// Generates the impl in one unnamed constant, so that its names cannot conflict with names of the user.
pub(crate) fn form(root: &TokenStream, form: &Form<'_>) -> TokenStream {
    if in_editor() {
        return unfinished(root, form).unwrap_or_default();
    }
    let ident = form.ident;
    let body = match &form.shape {
        FormShape::Struct { named, fields, .. } => {
            let (defaults, bounded) = (defaults(form, fields), bounded(form, fields));
            let fields = named.iter().map(field);
            quote_spanned! {here()=>
                #defaults
                #bounded
                impl __mcp::Form for #ident {
                    fn schema() -> &'static __mcp::FormSchema {
                        static __SCHEMA: __mcp::OnceLock<__mcp::FormSchema> = __mcp::OnceLock::new();
                        __SCHEMA.get_or_init(|| __mcp::form::<#ident>([#(#fields),*]))
                    }
                }
            }
        }
        FormShape::Enum(variants) => {
            let titles = variants.iter().map(title);
            let enum_names = form.enum_names();
            quote_spanned! {here()=>
                impl __mcp::FormChoice for #ident {
                    fn choices() -> __mcp::Choices {
                        __mcp::choices::<#ident>(&[#(#titles),*], #enum_names)
                    }
                }
            }
        }
    };
    constant(&cfgs(form.attrs), root, &body)
}

/// Generates a stand-in impl beside the errors of a form, so that code which uses the form causes no further errors.
pub(crate) fn unfinished(root: &TokenStream, form: &Form<'_>) -> Option<TokenStream> {
    let ident = form.ident;
    // A form that borrows or has generics already has an error, and the impl would cause a second one, so none is generated.
    let borrows = match &form.shape {
        FormShape::Struct { named, .. } => {
            named.iter().any(|named| first_reference(named.ty).is_some())
        }
        FormShape::Enum(_) => false,
    };
    if borrows || !form.generics.params.is_empty() {
        return None;
    }
    let body = match &form.shape {
        FormShape::Struct { .. } => quote_spanned! {here()=>
            impl __mcp::Form for #ident {
                fn schema() -> &'static __mcp::FormSchema { ::core::unreachable!() }
            }
        },
        FormShape::Enum(_) => quote_spanned! {here()=>
            impl __mcp::FormChoice for #ident {
                fn choices() -> __mcp::Choices { ::core::unreachable!() }
            }
        },
    };
    let mut code = constant(&cfgs(form.attrs), root, &body);
    if in_editor() {
        code.extend(keys_for_editor(root, form));
    }
    Some(code)
}

/// Generates the keys and expressions of the attributes.
fn keys_for_editor(root: &TokenStream, form: &Form<'_>) -> TokenStream {
    let keys: TokenStream = match &form.shape {
        FormShape::Struct { named, .. } => {
            named.iter().map(field).map(|field| quote_spanned!(here()=> #field;)).collect()
        }
        FormShape::Enum(variants) => variants
            .iter()
            .map(title)
            .map(|title| quote_spanned!(here()=> let _ = #title;))
            .collect(),
    };
    code_for_editor(&cfgs(form.attrs), root, &keys)
}

fn field(field: &Named<'_>) -> TokenStream {
    let (ty, keys) = (field.ty, &field.keys);
    let title = keys.title.as_ref().map(|given| {
        let (name, title) = (setter("title", given.span()), text(&given.value));
        quote_spanned!(here()=> .#name(#title))
    });
    let described = description(keys.description.as_ref(), field.doc.as_ref());
    let range = keys.range.as_ref().map(range);
    let count = |count: Option<usize>| option(count.map(Literal::usize_unsuffixed));
    let len = keys.len.as_ref().map(|len| {
        let (name, span) = (setter("len", len.span()), at(len.span()));
        let (least, most) = (count(len.value.min), count(len.value.max));
        quote_spanned!(span=> .#name(#least, #most))
    });
    let format = keys.format.as_ref().map(|format| {
        let (setter, span) = (setter("format", format.span()), at(format.span()));
        let name = match format.value {
            Format::Email => "Email",
            Format::Uri => "Uri",
            Format::Date => "Date",
            Format::DateTime => "DateTime",
        };
        let name = syn::Ident::new(name, here());
        quote_spanned!(span=> .#setter(__mcp::TextFormat::#name))
    });
    let default = keys.default.as_ref().map(|default| {
        let (name, span) = (setter("default", default.span()), at(default.span()));
        let made = match &default.value {
            DefaultValue(None) => quote_spanned!(span=> __mcp::from_default()),
            DefaultValue(Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. }))) => {
                quote_spanned!(at(text.span())=> __mcp::from_text(#text))
            }
            DefaultValue(Some(expr)) => quote_spanned!(at(expr.span())=> #expr),
        };
        quote_spanned!(span=> .#name(|| #made))
    });
    let span = at(field.span());
    quote_spanned!(span=> __mcp::field::<#ty>() #title #described #range #len #format #default.done())
}

/// Generates a single call for both ends of the range, so that a field whose type has no range causes a single error.
fn range(given: &Given<Range>) -> TokenStream {
    let (span, range) = (at(given.span()), &given.value);
    let float = |bound: &Bound| matches!(bound, Bound::Float(_));
    if range.start.as_ref().is_some_and(float) || range.end.as_ref().is_some_and(float) {
        let bound =
            |bound: Option<Bound>| option(bound.map(|end| Literal::f64_unsuffixed(end.float())));
        let (least, most) = (bound(range.start), bound(range.end));
        let name = setter("range_float", given.span());
        return quote_spanned!(span=> .#name(#least, #most));
    }
    let bound = |bound: Option<Bound>| match bound {
        Some(Bound::Int(int)) => option(Some(Literal::i128_unsuffixed(int))),
        _ => option(None),
    };
    let (least, most) = (bound(range.start), bound(range.end));
    let name = setter("range", given.span());
    quote_spanned!(span=> .#name(#least, #most))
}

fn option(value: Option<Literal>) -> TokenStream {
    match value {
        Some(value) => quote_spanned!(here()=> ::core::option::Option::Some(#value)),
        None => quote_spanned!(here()=> ::core::option::Option::None),
    }
}

fn title(chosen: &Chosen<'_>) -> TokenStream {
    let title = chosen.keys.title.as_ref().map(|title| text(&title.value));
    match title.or_else(|| chosen.doc.as_ref().map(heading)) {
        Some(title) => quote_spanned!(here()=> ::core::option::Option::Some(#title)),
        None => quote_spanned!(here()=> ::core::option::Option::None),
    }
}

/// Generates the first paragraph on one line, or the whole documentation if it contains an expression.
fn heading(text: &Doc<'_>) -> TokenStream {
    let Doc::Text(text) = text else { return doc(text) };
    let lines: Vec<&str> =
        text.lines().map(str::trim).take_while(|text| !text.is_empty()).collect();
    let line = lines.join(" ");
    quote_spanned!(here()=> #line)
}

/// Returns the struct with generated attributes of serde and schemars in place of `#[arg]`.
pub(crate) fn item(mut item: DeriveInput, form: &Form<'_>) -> TokenStream {
    if let (Data::Struct(data), FormShape::Struct { named, .. }) = (&mut item.data, &form.shape) {
        for (field, named) in data.fields.iter_mut().zip(named) {
            field.attrs.retain(|attr| !attr.path().is_ident("arg"));
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
        (Some(default), _) if default.value.0.is_none() => {
            attributes.push(parse_quote!(#[serde(default)]))
        }
        (Some(_), Some(ident)) if literal(named).is_some() => {
            let path = format!("{owner}::{}", function(ident));
            attributes.push(parse_quote!(#[serde(default = #path)]));
        }
        _ => {}
    }
    attributes
}

/// Generates the functions that return the defaults. `#[serde(default = "…")]` refers to these functions by name.
fn defaults(form: &Form<'_>, fields: &syn::Fields) -> Option<TokenStream> {
    let FormShape::Struct { named, .. } = &form.shape else { return None };
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

/// Generates the impl that names the first field with a bound, because a form with bounds cannot be an argument.
fn bounded(form: &Form<'_>, fields: &syn::Fields) -> Option<TokenStream> {
    let FormShape::Struct { named, .. } = &form.shape else { return None };
    let is_bounded = |named: &Named<'_>| named.keys.range.is_some() || named.keys.len.is_some();
    let (field, _) = fields.iter().zip(named).find(|(_, named)| is_bounded(named))?;
    let (ident, name) = (form.ident, field.ident.as_ref()?.unraw().to_string());
    Some(quote_spanned! {here()=>
        impl __mcp::BoundedForm for #ident {
            const FIELD: &'static str = #name;
        }
    })
}

fn function(field: &Ident) -> Ident {
    quote::format_ident!("__default_{}", field.unraw(), span = here())
}

/// Returns the default if it is a literal that certainly has the field's type. Any other default is an expression, which the runtime
/// evaluates when it builds the schema of the form.
fn literal(named: &Named<'_>) -> Option<TokenStream> {
    let DefaultValue(Some(expr)) = &named.keys.default.as_ref()?.value else { return None };
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
        Lit::Int(int) if int.suffix().is_empty() && WHOLE.contains(&ty.as_str()) => {}
        Lit::Float(float) if float.suffix().is_empty() && ["f32", "f64"].contains(&ty.as_str()) => {
        }
        Lit::Bool(_) if ty == "bool" => {}
        Lit::Str(text) if ty == "String" => {
            return Some(quote_spanned!(here()=> ::core::convert::Into::into(#text)));
        }
        _ => return None,
    }
    Some(expr.to_token_stream())
}
