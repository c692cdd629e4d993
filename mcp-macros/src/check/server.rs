//! Which impl blocks `#[server]` can be on.

use crate::errors::Errors;
use crate::item::impl_block::ImplBlock;
use syn::GenericParam;
use syn::spanned::Spanned as _;

pub(crate) fn check(block: &ImplBlock, errors: &Errors) {
    if let Some(token) = &block.of_trait {
        let message = "#[server] belongs on an impl block of the type itself: move the methods to `impl Type { … }`";
        errors.at(token.span(), message);
    }
    for param in &block.generics.params {
        let (span, noun) = match param {
            GenericParam::Lifetime(it) => (it.lifetime.span(), "borrows nothing"),
            GenericParam::Type(it) => (it.ident.span(), "is one type"),
            GenericParam::Const(it) => (it.ident.span(), "is one type"),
        };
        errors.at(span, format!("the state of a server lives as long as it and {noun}: write `impl Type<…>` with concrete parameters"));
    }
    if block.marked().next().is_none() {
        let message = "no method here has `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]`: mark one, or remove `#[server]`";
        errors.at(block.keyword.span(), message);
    }
}
