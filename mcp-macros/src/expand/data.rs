//! `#[data]`.

use super::{here, reexport};
use crate::derives::Derive;
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

/// The attributes that go before the user's item.
pub(crate) fn data(root: &TokenStream, derives: &[Derive]) -> TokenStream {
    let paths = derives.iter().map(|derive| {
        let (module, name) = (Ident::new(derive.module, here()), Ident::new(derive.name, here()));
        quote_spanned!(here()=> #root::__private::#module::#name)
    });
    let (serde, schemars) = (reexport(root, "serde"), reexport(root, "schemars"));
    let of = |module: &str| derives.iter().any(|it| it.module == module);
    let serde = of("serde").then(|| quote_spanned!(here()=> #[serde(crate = #serde)]));
    let schemars = of("schemars").then(|| quote_spanned!(here()=> #[schemars(crate = #schemars)]));
    quote_spanned!(here()=> #[derive(#(#paths),*)] #serde #schemars)
}
