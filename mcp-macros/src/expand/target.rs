//! The user's function, as generated code names it.
//!
//! The function of a block with `#[server]` is named by its type. Any other is named as it is, and may still stand in an `impl` block: an attribute
//! sees no more than the function. So all that is generated beside it is legal there too: one constant with a name. A constant of a module finds
//! itself by that name and finds the function. In an `impl` block both are missing, and stand-ins of the runtime take their places. One of them has a
//! type that the runtime refuses in its own words, the others keep the compiler from a second error.

use super::item::inherited;
use super::{at, here};
use crate::item::{Item, Mode};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;

/// Functions with more parameters have no stand-in: rustc then also says that it cannot find them.
const PARAMS: usize = 16;

/// What registers an item around what it consists of.
pub(super) fn constant(item: &Item<'_>, root: &TokenStream, body: &TokenStream) -> TokenStream {
    let inherited = inherited(item);
    if item.owner.is_some() {
        return quote_spanned!(here()=> #inherited const _: () = { #body };);
    }
    let function = &item.function.sig.ident;
    let name = format_ident!("__mcp_{}_{}", item.kind.word(), function.unraw(), span = here());
    let span = at(function.span());
    let itself = found(&name, &quote_spanned!(here()=> stand_in), "__itself", span);
    let judged = quote_spanned!(span=> __mcp::placed(__itself));
    quote_spanned! {here()=>
        #inherited
        const #name: #root::__private::Registered = {
            #body
            fn __placed() {
                #itself
                #judged;
            }
            __mcp::Registered
        };
    }
}

/// The function where it is called.
pub(super) fn called(item: &Item<'_>) -> TokenStream {
    let name = &item.function.sig.ident;
    if let Some(owner) = item.owner {
        return quote_spanned!(here()=> <#owner>::#name);
    }
    let count = item.function.sig.inputs.len();
    if count > PARAMS {
        return quote!(#name);
    }
    let kind = if item.mode() == Mode::Async { "future" } else { "value" };
    let stand_in = format_ident!("{kind}{count}", span = here());
    let span = at(name.span());
    let function = found(name, &quote_spanned!(here()=> stand_in::#stand_in), "__function", span);
    quote_spanned!(span=> { #function __function })
}

/// The identity of the function.
pub(super) fn identity(item: &Item<'_>) -> TokenStream {
    let name = &item.function.sig.ident;
    if let Some(owner) = item.owner {
        return quote_spanned!(here()=> || __mcp::identity(&<#owner>::#name));
    }
    let function = found(name, &quote_spanned!(here()=> stand_in), "__identified", at(name.span()));
    quote_spanned!(here()=> || { #function __mcp::identity(&__identified) })
}

/// Imports `name` as `alias`, for which `module` of the runtime has a stand-in. An import takes what there is of a name, and there is always a type
/// here, so it never fails. A macro in the type's place would be ambiguous where the user has imported one of that name.
fn found(name: &Ident, module: &TokenStream, alias: &str, span: Span) -> TokenStream {
    let mut name = name.clone();
    name.set_span(span);
    let alias = Ident::new(alias, span);
    quote_spanned! {span=>
        type #name = ();
        use __mcp::#module::*;
        use #name as #alias;
    }
}
