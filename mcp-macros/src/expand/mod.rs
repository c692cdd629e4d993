//! Code generation. The model has been checked before, so nothing is decided here and no error is reported.

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

/// Returns the span of generated tokens. Local names with it cannot conflict with those of the user, and lints recognise generated code.
fn here() -> Span {
    Span::mixed_site()
}

/// Returns the span of [`here`] with the location of the user's token, so that errors point there.
fn at(place: Span) -> Span {
    here().located_at(place)
}

/// Returns the path in `crate = path`, or `::mcp_runtime` by default.
pub(crate) fn root(path: Option<&Given<CratePath>>) -> TokenStream {
    path.map_or_else(|| quote_spanned!(here()=> ::mcp_runtime), |it| it.value.0.to_token_stream())
}

/// Returns the path as text.
fn root_text(root: &TokenStream) -> String {
    root.to_string().split_whitespace().collect()
}

/// Returns the path of a re-exported crate in the form that serde and schemars take: `"::mcp_runtime::__private::serde"`.
fn reexport(root: &TokenStream, name: &str) -> String {
    format!("{}::__private::{name}", root_text(root))
}

/// Generates the errors and then the expression, in a block that has the type of the expression.
pub(crate) fn beside(errors: &TokenStream, expression: &TokenStream) -> TokenStream {
    quote_spanned!(here()=> { #errors #expression })
}
