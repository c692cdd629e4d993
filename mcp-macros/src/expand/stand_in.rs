//! Stand-ins for the impls of a derive that fails, so that its error is the only one.

use super::{here, root};
use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::{DeriveInput, GenericParam, parse_quote};

/// Generates an impl of the trait `name` of serde or schemars for `item`.
pub(crate) fn implementation(name: &str, item: &DeriveInput) -> TokenStream {
    let root = root(None);
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
