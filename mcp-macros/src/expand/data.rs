//! `#[data]`.

use super::{here, reexport, root_text};
use crate::derives::Derive;
use crate::item::held::{Held, held};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{Item, LitStr, Type, parse_quote};

/// The item whose derives assume that what it holds has a JSON form, and the promises of the same, where an error says what has none.
pub(crate) fn promised(root: &TokenStream, item: &mut Item) -> Option<TokenStream> {
    let (owner, held) = held(item)?;
    let path = reexport(root, "Held");
    let mut promises = TokenStream::new();
    let mut count = 0;
    for Held { field, types } in held {
        let mut bounds = Vec::new();
        for ty in &types {
            let index = Literal::usize_unsuffixed(count);
            bounds.push(format!("for<'a> {}: {path}<'a, {owner}, {index}>", ty.to_token_stream()));
            promises.extend(quote_spanned! {here()=>
                impl #root::__private::Held<'_, #owner, #index> for #ty {}
            });
            count += 1;
        }
        // A type that is not there is so once, if both say it at one place.
        let bounds = LitStr::new(&bounds.join(", "), types.first().map_or_else(here, place));
        field.attrs.push(parse_quote!(#[serde(bound(serialize = #bounds, deserialize = #bounds))]));
    }
    Some(promises)
}

/// Of a path's first word, which is what mostly is missing.
fn place(ty: &Type) -> Span {
    match ty {
        Type::Path(it) => it.path.segments.first().map_or_else(here, |it| it.ident.span()),
        _ => here(),
    }
}

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
