//! The user's function in generated code: its name, its attributes and the type of its result.
//!
//! In a block with `#[handlers]`, generated code names a function by the type of the block: `<Notes>::add`. Any other function is named
//! directly.
//!
//! A user may forget `#[handlers]`, and the attribute on a method cannot see that it is in an `impl` block. The generated code must
//! therefore be legal in a module and in an `impl` block, so it is one constant with a name. In a module, the code in the constant can name
//! the constant and the function. In an `impl` block, both names are out of scope, and resolve to stand-ins of the runtime instead. The
//! type of one stand-in does not satisfy the bound of `__mcp::placed`, so the code fails to compile with a helpful message. The other
//! stand-ins prevent a second error.

use super::snippets::{at, here};
use crate::item::tokens::outside;
use crate::item::{Item, Mode};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ReturnType;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

/// Maximum number of parameters for which the runtime has stand-ins. If a misplaced function has more parameters, rustc reports a second
/// error: it cannot find the function.
const PARAMS: usize = 16;

/// Generates the constant that registers an item, with `body` in it.
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

/// Generates an expression that evaluates to the function, for its call.
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

/// Generates the closure that returns the identity of the function.
pub(super) fn identity(item: &Item<'_>) -> TokenStream {
    let name = &item.function.sig.ident;
    if let Some(owner) = item.owner {
        return quote_spanned!(here()=> || __mcp::identity(&<#owner>::#name));
    }
    let function = found(name, &quote_spanned!(here()=> stand_in), "__identified", at(name.span()));
    quote_spanned!(here()=> || { #function __mcp::identity(&__identified) })
}

/// Generates an import of `name` as `alias`. If the function `name` is not in scope, `alias` is the stand-in of that name in `module` of
/// the runtime. An import fails if the name exists in no namespace, so the code also declares a type of that name. It declares no macro,
/// because a macro would be ambiguous if the user has imported one of that name.
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

/// Generates the attributes that the generated code inherits from the function. It copies `cfg`, so that a function that `cfg` removes is
/// not registered. For a deprecated function it allows the lint `deprecated`, so a crate with `#![forbid(deprecated)]` cannot register such
/// a function.
pub(super) fn inherited(item: &Item<'_>) -> TokenStream {
    let attrs = &item.function.attrs;
    let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let deprecated = attrs.iter().any(|attr| attr.path().is_ident("deprecated"));
    let allow = deprecated.then(|| quote_spanned!(here()=> #[allow(deprecated)]));
    quote_spanned!(here()=> #(#cfgs)* #allow)
}

/// Returns the span for errors about the result: that of its type, or of the function's name if the function has no return type.
pub(super) fn result_span(item: &Item<'_>) -> Span {
    match &item.function.sig.output {
        ReturnType::Default => item.function.sig.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    }
}

/// Returns the type of the result in a form that is valid outside of the function.
pub(super) fn output(item: &Item<'_>) -> TokenStream {
    let owner = item.owner.map(quote::ToTokens::to_token_stream);
    match &item.function.sig.output {
        ReturnType::Default => quote_spanned!(at(item.function.sig.ident.span())=> ()),
        ReturnType::Type(_, ty) => outside(ty.to_token_stream(), owner.as_ref()),
    }
}
