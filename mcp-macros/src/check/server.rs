//! Which impl blocks `#[server]` can be on.

use crate::errors::Errors;
use crate::item::impl_block::ImplBlock;
use syn::GenericParam;
use syn::spanned::Spanned as _;

const CONCRETE: &str = "is one type: write `impl Type<…>` with concrete parameters";

pub(crate) fn check(block: &ImplBlock, errors: &Errors) {
    if let Some(token) = &block.of_trait {
        let message = "#[server] belongs on an impl block of the type itself: move the methods to `impl Type { … }`";
        errors.at(token.span(), message);
    }
    for param in &block.generics.params {
        let (span, reason) = match param {
            GenericParam::Lifetime(it) => {
                (it.lifetime.span(), "borrows nothing: write `'static`, as in `impl Type<'static>`")
            }
            GenericParam::Type(it) => (it.ident.span(), CONCRETE),
            GenericParam::Const(it) => (it.ident.span(), CONCRETE),
        };
        errors.at(span, format!("the state of a server lives as long as it and {reason}"));
    }
    for hidden in block.hidden() {
        let message = format!(
            "`cfg_attr` is applied after #[server] has read the block: write `#[cfg({})]` and `{}`",
            hidden.condition,
            hidden.kind.owner()
        );
        errors.at(hidden.span, message);
    }
    if block.marked().next().is_none() && block.hidden().next().is_none() && !block.has_macros() {
        let message = "no method here has `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]`: mark one, or remove `#[server]`";
        errors.at(block.keyword.span(), message);
    }
}
