//! `#[data]`: the derives and their attributes, and stand-ins for the impls of a derive that fails.

use super::snippets::{here, reexport, root_text};
use crate::item::data::{DataField, Derive, data_fields};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{DeriveInput, GenericParam, LitStr, Type, parse_quote};

/// Adds bounds on the types of the fields to the item's derives, and returns the impls of `FieldBound` that satisfy these bounds. If the
/// type of a field lacks the derived traits, rustc then reports a single error, at the impl of `FieldBound` for this type.
pub(crate) fn promised(root: &TokenStream, item: &mut DeriveInput) -> Option<TokenStream> {
    let (owner, held) = data_fields(item)?;
    let path = reexport(root, "FieldBound");
    let mut promises = TokenStream::new();
    let mut count = 0;
    for DataField { field, types } in held {
        let mut bounds = Vec::new();
        for ty in &types {
            let index = Literal::usize_unsuffixed(count);
            bounds.push(format!("for<'a> {}: {path}<'a, {owner}, {index}>", ty.to_token_stream()));
            promises.extend(quote_spanned! {here()=>
                impl #root::__private::FieldBound<'_, #owner, #index> for #ty {}
            });
            count += 1;
        }
        // If the type does not exist, both the bound and the impl cause an error. The two have the same span, so rustc shows only one
        // error.
        let bounds = LitStr::new(&bounds.join(", "), types.first().map_or_else(here, place));
        field.attrs.push(parse_quote!(#[serde(bound(serialize = #bounds, deserialize = #bounds))]));
    }
    Some(promises)
}

/// Returns the span of the first segment if the type is a path. If rustc cannot find the type, its error usually points at this segment.
fn place(ty: &Type) -> Span {
    match ty {
        Type::Path(path) => {
            path.path.segments.first().map_or_else(here, |segment| segment.ident.span())
        }
        _ => here(),
    }
}

/// Generates the `derive` attribute and the helper attributes that precede the user's item.
pub(crate) fn data(root: &TokenStream, derives: &[Derive]) -> TokenStream {
    let paths = derives.iter().map(|derive| {
        let name = Ident::new(derive.name, here());
        let module = derive.module.map(|name| {
            let module = Ident::new(name, here());
            quote_spanned!(here()=> #module::)
        });
        quote_spanned!(here()=> #root::__private::#module #name)
    });
    let (serde, schemars) = (reexport(root, "serde"), reexport(root, "schemars"));
    let own = root_text(root);
    let of = |module: Option<&str>| derives.iter().any(|derive| derive.module == module);
    let serde = of(Some("serde")).then(|| quote_spanned!(here()=> #[serde(crate = #serde)]));
    let schemars =
        of(Some("schemars")).then(|| quote_spanned!(here()=> #[schemars(crate = #schemars)]));
    let own = of(None).then(|| quote_spanned!(here()=> #[mcp(crate = #own)]));
    quote_spanned!(here()=> #[derive(#(#paths),*)] #serde #schemars #own)
}

/// Generates impls of all derived traits for a type that does not parse, so that its uses cause no further errors.
pub(crate) fn unfinished(root: &TokenStream, item: &DeriveInput) -> TokenStream {
    let names = ["Serialize", "Deserialize", "JsonSchema"];
    names.iter().map(|name| stand_in(root, name, item)).collect()
}

/// Generates an impl of the trait `name` of serde or schemars for `item`, so that its failed derive causes no further errors.
pub(crate) fn stand_in(root: &TokenStream, name: &str, item: &DeriveInput) -> TokenStream {
    let (ty, generics) = (&item.ident, &item.generics);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    match name {
        "Serialize" => quote_spanned! {here()=>
            impl #parameters #root::__private::serde::Serialize for #ty #arguments #bounds {
                fn serialize<__S: #root::__private::serde::Serializer>(
                    &self,
                    _: __S,
                ) -> ::core::result::Result<__S::Ok, __S::Error> {
                    ::core::unreachable!()
                }
            }
        },
        "Deserialize" => {
            let mut lent = generics.clone();
            lent.params.insert(0, GenericParam::Lifetime(parse_quote!('__de)));
            let (parameters, _, _) = lent.split_for_impl();
            quote_spanned! {here()=>
                impl #parameters #root::__private::serde::Deserialize<'__de> for #ty #arguments #bounds {
                    fn deserialize<__D: #root::__private::serde::Deserializer<'__de>>(
                        _: __D,
                    ) -> ::core::result::Result<Self, __D::Error> {
                        ::core::unreachable!()
                    }
                }
            }
        }
        _ => quote_spanned! {here()=>
            impl #parameters #root::__private::schemars::JsonSchema for #ty #arguments #bounds {
                fn schema_name() -> #root::__private::Cow<'static, str> {
                    ::core::unreachable!()
                }
                fn json_schema(_: &mut #root::__private::schemars::SchemaGenerator) -> #root::__private::schemars::Schema {
                    ::core::unreachable!()
                }
            }
        },
    }
}
