//! Generates the code of `server!(…)`, an expression that creates the builder of a server, and of `items![…]`, a list of items.

use super::snippets::{at, here, icon, root, setter, text};
use crate::keys::attributes::ServerKeys;
use crate::keys::number::SizeExpr;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ExprPath;
use syn::ext::IdentExt as _;

pub(crate) fn server(keys: &ServerKeys) -> TokenStream {
    let root = root(keys.crate_path.as_ref());
    let door = quote_spanned!(here()=> #root::__private);
    let crates = keys.with.as_ref().map(|with| with.value.0.as_slice()).unwrap_or_default();
    // The import is a glob, because rustc suggests a fix for a missing crate only if code imports something from it.
    let linked = (!crates.is_empty()).then(|| {
        let uses =
            crates.iter().map(|package| quote_spanned!(at(package.span())=> use #package::*;));
        quote_spanned!(here()=> #[allow(unused_imports)] const _: () = { #(#uses)* };)
    });
    let with = keys.with.as_ref().map(|_| {
        let names = crates.iter().map(Ident::to_string);
        quote_spanned!(here()=> .with(&[#(#names),*]))
    });
    let expressions = [
        ("group", &keys.group),
        ("instructions", &keys.instructions),
        ("title", &keys.title),
        ("website", &keys.website),
        ("name", &keys.name),
        ("version", &keys.version),
    ];
    let expressions = expressions.into_iter().filter_map(|(name, key)| {
        let key = key.as_ref()?;
        let (name, text) = (setter(name, key.span()), text(&key.value));
        Some(quote_spanned!(here()=> .#name(#text)))
    });
    let icons = keys.icon.iter().map(|given| {
        let (name, icon) = (setter("icon", given.span()), icon(&given.value, &door));
        quote_spanned!(here()=> .#name(#icon))
    });
    let max_result = keys.max_result.as_ref().map(|max_result| {
        let bytes = match &max_result.value {
            SizeExpr::Bytes(bytes) => Literal::u64_suffixed(*bytes).to_token_stream(),
            SizeExpr::Expr(expr) => expr.to_token_stream(),
        };
        let name = setter("max_result", max_result.span());
        quote_spanned!(here()=> .#name(#bytes))
    });
    quote_spanned! {here()=>
        {
            #linked
            #door::builder(#door::Identity::new(
                ::core::env!("CARGO_PKG_NAME"),
                ::core::option_env!("CARGO_BIN_NAME"),
                ::core::env!("CARGO_PKG_VERSION"),
                ::core::env!("CARGO_PKG_DESCRIPTION"),
            ))
            #with
            #(#expressions)*
            #(#icons)*
            #max_result
        }
    }
}

/// Generates the list of named items.
pub(crate) fn items(root: &TokenStream, paths: &[ExprPath]) -> TokenStream {
    let door = quote_spanned!(here()=> #root::__private);
    let named = paths.iter().map(|path| {
        let name = path.path.segments.last().map(|segment| segment.ident.unraw().to_string());
        quote_spanned!(here()=> #door::named(#name, #door::identity(&#path)))
    });
    quote_spanned!(here()=> #door::items(&[#(#named),*]))
}
