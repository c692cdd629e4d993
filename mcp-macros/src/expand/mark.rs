//! Marks of functions with `#[completion]`, by which the compiler recognises these functions in `#[complete(function)]`.
//!
//! `#[complete(…)]` sees only the name of the function, and the type of a function does not show its attributes. Therefore the mark of a
//! free function is a type of the same name. Paths, imports and renames resolve this type together with the function. The mark of a method
//! is a constant. If a function has no mark, the generated code resolves the name to a stand-in, whose type the runtime rejects.

use super::snippets::{at, here, root};
use super::target::inherited;
use crate::item::tokens::outside;
use crate::item::{Item, Kind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Path, PathSegment};

/// Generates the mark of a completion function. A function with a mistake gets a mark too. Otherwise `#[complete(function)]` would cause a
/// second error.
pub(super) fn mark(item: &Item<'_>) -> Option<TokenStream> {
    if item.kind != Kind::Completion {
        return None;
    }
    let root = root(item.keys.crate_path.as_ref());
    let (door, inherited) = (quote_spanned!(here()=> #root::__private), inherited(item));
    let name = &item.function.sig.ident;
    Some(match item.owner {
        None => {
            let (visibility, mut name) = (&item.function.visibility, name.clone());
            name.set_span(at(name.span()));
            quote_spanned!(here()=> #inherited #[doc(hidden)] #visibility type #name = #door::Completes;)
        }
        Some(owner) => {
            let name = constant(name);
            quote_spanned! {here()=>
                #inherited
                impl #owner {
                    #[doc(hidden)]
                    pub const #name: #door::Completes = #door::Completes;
                }
            }
        }
    })
}

fn constant(name: &Ident) -> Ident {
    format_ident!("__MCP_COMPLETES_{}", name.unraw().to_string().to_uppercase(), span = here())
}

/// Generates an expression for the identity of the function at `path`. The expression compiles only if the function has a mark, and needs
/// `__mcp` in scope.
pub(super) fn marked(path: &Path, owner: Option<&TokenStream>) -> TokenStream {
    let Some((last, before)) = path
        .segments
        .iter()
        .collect::<Vec<_>>()
        .split_last()
        .map(|parts| (*parts.0, parts.1.to_vec()))
    else {
        return TokenStream::new();
    };
    let span = at(last.ident.span());
    let is_method = before.last().is_some_and(|segment| is_type(segment));
    if is_method {
        let mut mark = path.clone();
        let name = constant(&last.ident);
        if let Some(segment) = mark.segments.last_mut() {
            segment.ident = located(&name, span);
        }
        let (path, mark) = (outside(quote!(#path), owner), outside(quote!(#mark), owner));
        return quote_spanned! {span=> {
            trait __Unmarked {
                const #name: __mcp::Unmarked = __mcp::Unmarked;
            }
            impl<__T: ?Sized> __Unmarked for __T {}
            __mcp::completed_by(&#path, #mark)
        }};
    }
    // The import brings the function, the mark or both into scope. If neither exists, a generated macro of that name keeps the import
    // valid, so that a missing function causes only one error, at its use. Rust 1.88 warns about a macro that is only imported.
    let (stand_in, used) = if before.is_empty() && path.leading_colon.is_none() {
        let name = located(&last.ident, span);
        let stand_in =
            quote_spanned!(span=> #[allow(unused_macros)] macro_rules! #name { () => {} });
        (Some(stand_in), quote!(#path))
    } else {
        (None, quote_spanned!(span=> __Completion))
    };
    quote_spanned! {span=> {
        use __mcp::unmarked::*;
        // Before the macro, because rustc would name the macro in the error about a missing function.
        let __function = &#used;
        #stand_in
        use #path as __Completion;
        __mcp::completed::<__Completion, _>(__function)
    }}
}

/// Whether the segment names a type and not a module. The macro can tell them apart only by the uppercase first letter of a type.
fn is_type(segment: &PathSegment) -> bool {
    segment.ident.unraw().to_string().starts_with(char::is_uppercase)
}

fn located(ident: &Ident, span: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}
