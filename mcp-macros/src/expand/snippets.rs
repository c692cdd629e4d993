//! Snippets that all generators use: spans, the path of the runtime, texts, icons, and code for editors.
//!
//! rust-analyzer takes all generated tokens with the span of a user's token for meanings of this token, and expands an item after each
//! keystroke in it. It needs no registration, because rustc checks the program. It only gets what the macro takes out of the item: the
//! expressions in attributes, and the names of the keys as names of documented setters.

use crate::docs::{Doc, DocPart};
use crate::editor::in_editor;
use crate::keys::Given;
use crate::keys::nested::Icon;
use crate::keys::text::{CratePath, Text};
use crate::syntax::regroup;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::Attribute;

/// Returns the span of generated tokens. Local names with this span cannot conflict with names of the user, and lints recognise generated
/// code by this span.
pub(super) fn here() -> Span {
    Span::mixed_site()
}

/// Returns the span of [`here`] with the location of the user's token, so that errors point there. An editor gets no location, because it
/// would take the generated tokens for definitions of the user's token.
pub(super) fn at(place: Span) -> Span {
    if in_editor() { here() } else { here().located_at(place) }
}

/// Returns the name of a setter with the location of its key, so that an editor shows the documentation of the setter at the key.
pub(super) fn setter(name: &str, key: Span) -> Ident {
    Ident::new(name, here().located_at(key))
}

/// Returns the path in `crate = path`, or `::mcp_runtime` by default.
pub(crate) fn root(path: Option<&Given<CratePath>>) -> TokenStream {
    path.map_or_else(
        || quote_spanned!(here()=> ::mcp_runtime),
        |path| path.value.0.to_token_stream(),
    )
}

/// Returns the path as text.
pub(super) fn root_text(root: &TokenStream) -> String {
    root.to_string().split_whitespace().collect()
}

/// Returns the path of a re-exported crate in the form that serde and schemars take: `"::mcp_runtime::__private::serde"`.
pub(super) fn reexport(root: &TokenStream, name: &str) -> String {
    format!("{}::__private::{name}", root_text(root))
}

/// Generates the unnamed constant around generated code, in which `__mcp` is the runtime's module for generated code.
pub(super) fn constant(attrs: &TokenStream, root: &TokenStream, body: &TokenStream) -> TokenStream {
    quote_spanned! {here()=>
        #attrs
        const _: () = {
            use #root::__private as __mcp;
            #body
        };
    }
}

/// Returns the attributes `cfg`, for generated code that exists only with its item.
pub(super) fn cfgs(attrs: &[Attribute]) -> TokenStream {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect()
}

/// Generates the errors and then the expression, in a block that has the type of the expression.
pub(crate) fn beside(errors: &TokenStream, expression: &TokenStream) -> TokenStream {
    quote_spanned!(here()=> { #errors #expression })
}

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
                    DocPart::Line(line) => quote_spanned!(here()=> #line),
                    DocPart::Expr(expr) => expr.to_token_stream(),
                };
                if index == 0 { part } else { quote_spanned!(here()=> "\n", #part) }
            });
            quote_spanned!(here()=> __mcp::doc::trim(::core::concat!(#(#parts),*)))
        }
    }
}

/// Generates the setter of the description from the key, or else from the doc comment.
pub(super) fn description(
    key: Option<&Given<Text>>,
    docs: Option<&Doc<'_>>,
) -> Option<TokenStream> {
    let (name, text) = match key {
        Some(given) => (setter("description", given.span()), text(&given.value)),
        None => (Ident::new("description", here()), doc(docs?)),
    };
    Some(quote_spanned!(here()=> .#name(#text)))
}

/// Generates an icon. `private` is the path of the runtime's module `__private`. Its alias `__mcp` is not always in scope.
pub(super) fn icon(icon: &Icon, private: &TokenStream) -> TokenStream {
    let src = &icon.src;
    let mime_type = icon.keys.mime_type.as_ref().map(|mime_type| {
        let text = &mime_type.value.0;
        quote_spanned!(here()=> .mime_type(#text))
    });
    let sizes = icon.keys.sizes.as_ref().map(|size| {
        let sizes = &size.value.0;
        quote_spanned!(here()=> .sizes(&[#(#sizes),*]))
    });
    quote_spanned!(here()=> #private::Icon::new(#src) #mime_type #sizes)
}

/// Generates a closure with the code, which may use the alias `__mcp`. The editor would complete names of ours in the user's expressions, so
/// neither the closure nor the alias has a name.
pub(super) fn code_for_editor(
    attrs: &TokenStream,
    root: &TokenStream,
    code: &TokenStream,
) -> TokenStream {
    if code.is_empty() {
        return TokenStream::new();
    }
    let code = without_alias(code.clone(), &quote_spanned!(here()=> #root::__private));
    quote_spanned! {here()=>
        #attrs
        const _: fn() = || { #code };
    }
}

/// Replaces the alias `__mcp` by the path of the module. The editor would complete the alias in the user's expressions.
fn without_alias(tokens: TokenStream, module: &TokenStream) -> TokenStream {
    let replaced = |token| match token {
        TokenTree::Ident(name) if name == "__mcp" => module.clone(),
        TokenTree::Group(group) => {
            TokenTree::from(regroup(&group, without_alias(group.stream(), module))).into()
        }
        token => token.into(),
    };
    tokens.into_iter().map(replaced).collect()
}
