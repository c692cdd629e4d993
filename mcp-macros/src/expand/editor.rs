//! Code for rust-analyzer, in place of the registration of an item.
//!
//! rust-analyzer takes all generated tokens with the span of a user's token for meanings of this token, and expands an item after each
//! keystroke in it. It needs no registration, because rustc checks the program. It only gets what the macro takes out of the function: the
//! expressions in attributes, and the names of the keys as names of documented setters.

use super::definition;
use super::param::{Field, fields};
use super::snippets::{here, root};
use super::target::inherited;
use crate::item::Item;
use crate::syntax::regroup;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote_spanned;

/// Whether the macro runs in rust-analyzer. Its server for macros is a program of its own, and the server in an editor's extension can also
/// be `rust-analyzer` itself. In an unknown program the macro generates the code for rustc.
pub(crate) fn is_present() -> bool {
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

/// Generates the expressions and keys of an item, also of an item with mistakes. An attribute on a method is imported, because
/// `#[handlers]` has taken it out of the block.
pub(super) fn item(item: &Item<'_>) -> TokenStream {
    let keys = definition::keys(item, None);
    let keys = (!keys.is_empty()).then(
        || quote_spanned!(here()=> ::core::option::Option::<__mcp::ItemDef>::None.unwrap() #keys;),
    );
    let arguments: TokenStream = fields(item).iter().filter_map(Field::in_editor).collect();
    let attribute = item.attribute.map(|path| quote_spanned!(here()=> use #path as _;));
    let root = root(item.keys.crate_path.as_ref());
    code(&inherited(item), &root, &quote_spanned!(here()=> #attribute #keys #arguments))
}

/// Generates a closure with the code, which may use the alias `__mcp`. The editor would complete names of ours in the user's expressions, so
/// neither the closure nor the alias has a name.
pub(super) fn code(attrs: &TokenStream, root: &TokenStream, code: &TokenStream) -> TokenStream {
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
