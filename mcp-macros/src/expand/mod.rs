//! Tokens out. Everything that arrives here is right; nothing is decided, and no error is raised.

mod call;
pub(crate) mod data;
mod definition;
pub(crate) mod derive;
pub(crate) mod field;
pub(crate) mod form;
pub(crate) mod item;
pub(crate) mod items;
pub(crate) mod mark;
mod param;
mod schema;
pub(crate) mod server;
pub(crate) mod stand_in;
mod target;
mod text;
mod uri;

use crate::keys::Given;
use crate::keys::text::CratePath;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};

/// The span of generated tokens: local names cannot meet the user's, and lints know that nobody wrote them.
fn here() -> Span {
    Span::mixed_site()
}

/// As [`here`], but errors point at the user's token.
fn at(place: Span) -> Span {
    here().located_at(place)
}

/// `::mcp_runtime`, or what `crate = path` says.
pub(crate) fn root(path: Option<&Given<CratePath>>) -> TokenStream {
    path.map_or_else(|| quote_spanned!(here()=> ::mcp_runtime), |it| it.value.0.to_token_stream())
}

/// The same path as text.
fn root_text(root: &TokenStream) -> String {
    root.to_string().split_whitespace().collect()
}

/// The path of a re-exported crate in the form that serde and schemars take: `"::mcp_runtime::__private::serde"`.
fn reexport(root: &TokenStream, name: &str) -> String {
    format!("{}::__private::{name}", root_text(root))
}

/// Errors before an expression that keeps its type.
pub(crate) fn beside(errors: &TokenStream, expression: &TokenStream) -> TokenStream {
    quote_spanned!(here()=> { #errors #expression })
}
