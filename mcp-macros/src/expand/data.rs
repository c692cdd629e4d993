//! `#[data]`.

use super::{here, reexport, root_text};
use crate::derives::Derive;
use crate::item::held::{Held, held};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{Item, LitStr, Type, parse_quote};

/// Makes the item's derives assume that the types in it have a JSON form, and returns impls of `FieldBound` that promise it. An error about a
/// type without a JSON form comes from its impl.
pub(crate) fn promised(root: &TokenStream, item: &mut Item) -> Option<TokenStream> {
    let (owner, held) = held(item)?;
    let path = reexport(root, "FieldBound");
    let mut promises = TokenStream::new();
    let mut count = 0;
    for Held { field, types } in held {
        let mut bounds = Vec::new();
        for ty in &types {
            let index = Literal::usize_unsuffixed(count);
            bounds.push(format!("for<'a> {}: {path}<'a, {owner}, {index}>", ty.to_token_stream()));
            promises.extend(quote_spanned! {here()=>
                impl #root::__private::FieldBound<'_, #owner, #index> for #ty {}
            });
            count += 1;
        }
        // For a type that does not exist, both the bound and the impl give an error. At the same place, rustc shows only one.
        let bounds = LitStr::new(&bounds.join(", "), types.first().map_or_else(here, place));
        field.attrs.push(parse_quote!(#[serde(bound(serialize = #bounds, deserialize = #bounds))]));
    }
    Some(promises)
}

/// Returns the place of the first segment of a path, which is mostly the part that rustc cannot find.
fn place(ty: &Type) -> Span {
    match ty {
        Type::Path(it) => it.path.segments.first().map_or_else(here, |it| it.ident.span()),
        _ => here(),
    }
}

/// Generates the attributes before the user's item.
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
