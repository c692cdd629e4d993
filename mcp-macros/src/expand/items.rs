//! `items![…]`.

use super::here;
use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::ExprPath;
use syn::ext::IdentExt as _;

pub(crate) fn items(root: &TokenStream, paths: &[ExprPath]) -> TokenStream {
    let door = quote_spanned!(here()=> #root::__private);
    let named = paths.iter().map(|path| {
        let name = path.path.segments.last().map(|it| it.ident.unraw().to_string());
        quote_spanned!(here()=> #door::named(#name, #door::identity(&#path)))
    });
    quote_spanned!(here()=> #door::items(&[#(#named),*]))
}
