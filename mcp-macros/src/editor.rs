//! Editors: whether one runs the macro, and the code with which it completes keys.

use crate::errors::Errors;
use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// Whether the macro runs in rust-analyzer. Its server for macros is a program of its own, and the server in an editor's extension can also
/// be `rust-analyzer` itself. In an unknown program the macro generates the code for rustc.
pub(crate) fn in_editor() -> bool {
    #[cfg(test)]
    return IN_TEST.get();
    #[cfg(not(test))]
    *IN_PROCESS
}

#[cfg(not(test))]
static IN_PROCESS: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
    let program = std::env::current_exe().unwrap_or_default();
    let name = program.file_name().unwrap_or_default();
    name.to_string_lossy().contains("rust-analyzer")
});

#[cfg(test)]
thread_local! {
    /// Whether the macros of this thread generate code for rust-analyzer.
    pub(crate) static IN_TEST: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Generates, in an editor, a literal of a struct if `tokens`, the keys of an attribute, have a place for one more key. The struct has the other
/// keys of the attribute as fields, and the editor offers them at the field that has the span of the half-typed key.
pub(crate) fn offer(tokens: TokenStream, names: &[&'static str], errors: &Errors) {
    if !in_editor() {
        return;
    }
    let here = Span::mixed_site();
    // A keyword such as `crate` cannot be a field.
    let is_field = |name: &&str| syn::parse_str::<Ident>(name).is_ok();
    let mut others: Vec<&str> = names.iter().copied().filter(is_field).collect();
    let (mut is_start, mut typed) = (true, None);
    let end = TokenTree::from(Punct::new(',', Spacing::Alone));
    for token in tokens.into_iter().chain([end]) {
        let is_comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        match token {
            TokenTree::Ident(name) if is_start => {
                let text = name.to_string();
                others.retain(|other| *other != text);
                if is_field(&&*text) && !names.contains(&&*text) {
                    typed = Some(name);
                }
            }
            _ if is_start && is_comma => typed = Some(Ident::new("__", here)),
            _ => {}
        }
        is_start = is_comma;
    }
    let Some(typed) = typed else { return };
    let others = others.into_iter().map(|name| Ident::new(name, here));
    // The struct has no letters in its name, so no search for symbols finds it.
    errors.offer(quote_spanned! {here=>
        const _: fn() = || {
            |__keys: __| __ { #typed: (), ..__keys };
            struct __ { #typed: (), #(#others: ()),* }
        };
    });
}
