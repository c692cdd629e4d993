//! `#[form]`: generates the schema of a form, as an impl beside the user's type.

use super::text::{description, doc, text};
use super::{at, here};
use crate::check;
use crate::docs::Doc;
use crate::item::form::{Chosen, Form, Named, Shape};
use crate::keys::arg::{Default, Format};
use crate::keys::range::{Bound, Range};
use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit};

/// Generates the impl in one unnamed constant, so that its names cannot conflict with names of the user.
pub(crate) fn form(root: &TokenStream, form: &Form<'_>) -> TokenStream {
    let ident = form.ident;
    let body = match &form.shape {
        Shape::Struct { named, fields, .. } => {
            let defaults = super::field::defaults(form, fields);
            let fields = named.iter().map(field);
            quote_spanned! {here()=>
                #defaults
                impl __mcp::Form for #ident {
                    fn schema() -> &'static __mcp::FormSchema {
                        static __SCHEMA: __mcp::OnceLock<__mcp::FormSchema> = __mcp::OnceLock::new();
                        __SCHEMA.get_or_init(|| __mcp::form::<#ident>([#(#fields),*]))
                    }
                }
            }
        }
        Shape::Enum(variants) => {
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
    constant(root, form, &body)
}

/// Generates a stand-in impl beside the errors of a form, so that code that uses the form gives no further errors.
pub(crate) fn unfinished(root: &TokenStream, form: &Form<'_>) -> Option<TokenStream> {
    let ident = form.ident;
    // A form that borrows has an error already, and the impl would add a second one.
    let borrows = match &form.shape {
        Shape::Struct { named, .. } => named.iter().any(|it| check::borrows(it.ty).is_some()),
        Shape::Enum(_) => false,
    };
    if borrows || !form.generics.params.is_empty() {
        return None;
    }
    let body = match &form.shape {
        Shape::Struct { .. } => quote_spanned! {here()=>
            impl __mcp::Form for #ident {
                fn schema() -> &'static __mcp::FormSchema { ::core::unreachable!() }
            }
        },
        Shape::Enum(_) => quote_spanned! {here()=>
            impl __mcp::FormChoice for #ident {
                fn choices() -> __mcp::Choices { ::core::unreachable!() }
            }
        },
    };
    Some(constant(root, form, &body))
}

fn constant(root: &TokenStream, form: &Form<'_>, body: &TokenStream) -> TokenStream {
    let cfgs = form.attrs.iter().filter(|it| it.path().is_ident("cfg"));
    quote_spanned! {here()=>
        #(#cfgs)*
        const _: () = {
            use #root::__private as __mcp;
            #body
        };
    }
}

fn field(field: &Named<'_>) -> TokenStream {
    let (ty, keys) = (field.ty, &field.keys);
    let title = keys.title.as_ref().map(|it| {
        let title = text(&it.value);
        quote_spanned!(here()=> .title(#title))
    });
    let described = description(keys.description.as_ref().map(|it| &it.value), field.doc.as_ref())
        .map(|it| quote_spanned!(here()=> .description(#it)));
    let range = keys.range.as_ref().map(|it| range(at(it.span()), &it.value));
    let count = |it: Option<usize>| option(it.map(Literal::usize_unsuffixed));
    let len = keys.len.as_ref().map(|it| {
        let (span, least, most) = (at(it.span()), count(it.value.min), count(it.value.max));
        quote_spanned!(span=> .len(#least, #most))
    });
    let format = keys.format.as_ref().map(|it| {
        let span = at(it.span());
        let name = match it.value {
            Format::Email => "Email",
            Format::Uri => "Uri",
            Format::Date => "Date",
            Format::DateTime => "DateTime",
        };
        let name = syn::Ident::new(name, here());
        quote_spanned!(span=> .format(__mcp::TextFormat::#name))
    });
    let default = keys.default.as_ref().map(|it| {
        let span = at(it.span());
        let made = match &it.value {
            Default(None) => quote_spanned!(span=> __mcp::from_default()),
            Default(Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. }))) => {
                quote_spanned!(at(text.span())=> __mcp::from_text(#text))
            }
            Default(Some(expr)) => quote_spanned!(at(expr.span())=> #expr),
        };
        quote_spanned!(span=> .default(|| #made))
    });
    let span = at(field.span());
    quote_spanned!(span=> __mcp::field::<#ty>() #title #described #range #len #format #default.done())
}

/// Generates the range as one call, so that a field whose type has no range gives one error.
fn range(span: Span, range: &Range) -> TokenStream {
    let float = |it: &Bound| matches!(it, Bound::Float(_));
    if range.start.as_ref().is_some_and(float) || range.end.as_ref().is_some_and(float) {
        let bound = |it: Option<Bound>| option(it.map(|it| Literal::f64_unsuffixed(it.float())));
        let (least, most) = (bound(range.start), bound(range.end));
        return quote_spanned!(span=> .range_float(#least, #most));
    }
    let bound = |it: Option<Bound>| match it {
        Some(Bound::Int(it)) => option(Some(Literal::i128_unsuffixed(it))),
        _ => option(None),
    };
    let (least, most) = (bound(range.start), bound(range.end));
    quote_spanned!(span=> .range(#least, #most))
}

fn option(value: Option<Literal>) -> TokenStream {
    match value {
        Some(value) => quote_spanned!(here()=> ::core::option::Option::Some(#value)),
        None => quote_spanned!(here()=> ::core::option::Option::None),
    }
}

fn title(chosen: &Chosen<'_>) -> TokenStream {
    let title = chosen.keys.title.as_ref().map(|it| text(&it.value));
    match title.or_else(|| chosen.doc.as_ref().map(heading)) {
        Some(title) => quote_spanned!(here()=> ::core::option::Option::Some(#title)),
        None => quote_spanned!(here()=> ::core::option::Option::None),
    }
}

/// Returns the first paragraph on one line, or the whole expression if the text is not known here.
fn heading(text: &Doc<'_>) -> TokenStream {
    let Doc::Text(text) = text else { return doc(text) };
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|it| !it.is_empty()).collect();
    let line = lines.join(" ");
    quote_spanned!(here()=> #line)
}
