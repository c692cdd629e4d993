//! `#[data]`.

use super::{here, reexport, root_text};
use crate::derives::Derive;
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

/// The attributes that go before the user's item.
pub(crate) fn data(root: &TokenStream, derives: &[Derive]) -> TokenStream {
    let paths = derives.iter().map(|derive| {
        let name = Ident::new(derive.name, here());
        let module = derive.module.map(|it| {
            let module = Ident::new(it, here());
            quote_spanned!(here()=> #module::)
        });
        quote_spanned!(here()=> #root::__private::#module #name)
    });
    let (serde, schemars) = (reexport(root, "serde"), reexport(root, "schemars"));
    let own = root_text(root);
    let of = |module: Option<&str>| derives.iter().any(|it| it.module == module);
    let serde = of(Some("serde")).then(|| quote_spanned!(here()=> #[serde(crate = #serde)]));
    let schemars =
        of(Some("schemars")).then(|| quote_spanned!(here()=> #[schemars(crate = #schemars)]));
    let own = of(None).then(|| quote_spanned!(here()=> #[mcp(crate = #own)]));
    quote_spanned!(here()=> #[derive(#(#paths),*)] #serde #schemars #own)
}
