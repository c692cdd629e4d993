//! The attributes of `mcp-runtime`.
#![forbid(unsafe_code)]

mod check;
mod derives;
mod docs;
mod entry;
mod errors;
mod expand;
mod item;
mod keys;
mod uri;

#[cfg(test)]
mod tests;

use item::Kind;
use proc_macro::TokenStream;

/// Registers a function as a tool.
#[proc_macro_attribute]
pub fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Tool, attr.into(), item.into()).into()
}

/// Registers a function as a resource.
#[proc_macro_attribute]
pub fn resource(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Resource, attr.into(), item.into()).into()
}

/// Registers a function as a prompt.
#[proc_macro_attribute]
pub fn prompt(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Prompt, attr.into(), item.into()).into()
}

/// Makes a function one that completes arguments.
#[proc_macro_attribute]
pub fn completion(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Completion, attr.into(), item.into()).into()
}

/// Registers methods.
#[proc_macro_attribute]
pub fn server(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::server_impl(attr.into(), item.into()).into()
}

/// Makes a type an argument and a result.
#[proc_macro_attribute]
pub fn data(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::data(attr.into(), item.into()).into()
}

/// Builds a server.
#[proc_macro]
pub fn build_server(tokens: TokenStream) -> TokenStream {
    entry::build_server(tokens.into()).into()
}

/// Names items.
#[proc_macro]
pub fn items(tokens: TokenStream) -> TokenStream {
    entry::items(tokens.into()).into()
}
