//! Texts: keys, doc comments, icons.

use super::here;
use crate::docs::{Doc, Part};
use crate::keys::nested::Icon;
use crate::keys::text::Text;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};

pub(super) fn text(text: &Text) -> TokenStream {
    match text {
        Text::Literal(text) => text.to_token_stream(),
        Text::Expr(expr) => expr.to_token_stream(),
    }
}

pub(super) fn doc(doc: &Doc<'_>) -> TokenStream {
    match doc {
        Doc::Text(text) => quote_spanned!(here()=> #text),
        Doc::Parts(parts) => {
            let parts = parts.iter().enumerate().map(|(index, part)| {
                let part = match part {
                    Part::Line(line) => quote_spanned!(here()=> #line),
                    Part::Expr(expr) => expr.to_token_stream(),
                };
                if index == 0 { part } else { quote_spanned!(here()=> "\n", #part) }
            });
            quote_spanned!(here()=> __mcp::doc::trim(::core::concat!(#(#parts),*)))
        }
    }
}

/// Generates the description from the key, or else from the doc comment.
pub(super) fn description(key: Option<&Text>, docs: Option<&Doc<'_>>) -> Option<TokenStream> {
    key.map(text).or_else(|| docs.map(doc))
}

/// Generates an icon. `private` is the path of the runtime's module `__private`, because the code may be where `__mcp` is not in scope.
pub(super) fn icon(icon: &Icon, private: &TokenStream) -> TokenStream {
    let src = &icon.src;
    let mime_type = icon.keys.mime_type.as_ref().map(|it| {
        let text = &it.value.0;
        quote_spanned!(here()=> .mime_type(#text))
    });
    let sizes = icon.keys.sizes.as_ref().map(|it| {
        let sizes = &it.value.0;
        quote_spanned!(here()=> .sizes(&[#(#sizes),*]))
    });
    quote_spanned!(here()=> #private::Icon::new(#src) #mime_type #sizes)
}
