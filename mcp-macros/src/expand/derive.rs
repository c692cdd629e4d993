//! `#[derive(Schema)]`.

use super::{at, here};
use crate::item::shape::{Body, Member, Shape};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, GenericParam, PathArguments, Type};

/// Nothing for a type that is left to schemars.
pub(crate) fn schema(shape: &Shape<'_>) -> TokenStream {
    let root = match &shape.root {
        Some(path) => path.to_token_stream(),
        None => quote_spanned!(here()=> ::mcp_runtime),
    };
    let impls = impls(shape);
    quote_spanned! {here()=>
        const _: () = {
            use #root::__private as __mcp;
            #[allow(unused_imports)]
            use __mcp::known::*;
            #impls
        };
    }
}

fn impls(shape: &Shape<'_>) -> TokenStream {
    let (ident, node) = (shape.ident, node(shape));
    let (_, ty_generics, where_clause) = shape.generics.split_for_impl();
    let lifetimes = shape.generics.lifetimes();
    if shape.generics.type_params().next().is_some() {
        // The types it is made of have their own depth, and this one adds none.
        let params = shape.generics.params.iter().map(|it| match it {
            GenericParam::Type(it) => {
                let (ident, bounds) = (&it.ident, &it.bounds);
                quote_spanned!(here()=> #ident: __mcp::Schema<__D> + #bounds)
            }
            other => other.to_token_stream(),
        });
        return quote_spanned! {here()=>
            impl<#(#params,)* __D: __mcp::Depth> __mcp::Schema<__D> for #ident #ty_generics #where_clause {
                const NODE: __mcp::Node = #node;
            }
        };
    }
    let lifetimes: Vec<_> = lifetimes.collect();
    quote_spanned! {here()=>
        impl<#(#lifetimes,)* __D: __mcp::Depth> __mcp::Schema<__D> for #ident #ty_generics #where_clause {
            const NODE: __mcp::Node = <__D::Of<Self> as __mcp::Part>::NODE;
        }
        impl<#(#lifetimes),*> __mcp::Body for #ident #ty_generics #where_clause {
            type At<__D: __mcp::Depth> = __mcp::Full<Self, __D>;
        }
        impl<#(#lifetimes,)* __D: __mcp::Depth> __mcp::Described<__D> for #ident #ty_generics #where_clause {
            const NODE: __mcp::Node = #node;
        }
    }
}

fn node(shape: &Shape<'_>) -> TokenStream {
    let described = shape.description.as_ref().map(|it| quote_spanned!(here()=> .description(#it)));
    let node = match &shape.body {
        Body::Members { members, is_closed } => {
            let closed = is_closed.then(|| quote_spanned!(here()=> .closed()));
            let mut sorted: Vec<&Member<'_>> = members.iter().collect();
            sorted.sort_by(|a, b| a.name.cmp(&b.name));
            let declared = members.iter().map(|it| {
                let place = sorted.iter().position(|other| other.name == it.name);
                Literal::usize_unsuffixed(place.unwrap_or_default())
            });
            let sorted = sorted.iter().map(|it| member(it));
            quote_spanned! {here()=>
                __mcp::Node::object(&__mcp::Object::new(&[#(#sorted),*], &[#(#declared),*]) #closed)
            }
        }
        Body::Newtype(ty) => {
            let span = at(ty.span());
            quote_spanned!(span=> __mcp::Known::<#ty, __D>::NODE.newtype())
        }
        Body::Names { names, default } => {
            let names = names.iter().map(|it| {
                let (variant, name) = (&it.variant, &it.name);
                let described =
                    it.description.as_ref().map(|it| quote_spanned!(here()=> .description(#it)));
                quote_spanned!(here()=> __mcp::Name::new(#variant, #name) #described)
            });
            let default = match default {
                Some(variant) => quote_spanned!(here()=> ::core::option::Option::Some(#variant)),
                None => quote_spanned!(here()=> ::core::option::Option::None),
            };
            quote_spanned!(here()=> __mcp::Node::names(&[#(#names),*], #default))
        }
    };
    quote_spanned!(here()=> #node #described)
}

fn member(member: &Member<'_>) -> TokenStream {
    let (span, name, ty) = (at(member.ty.span()), &member.name, member.ty);
    let described = member.description.as_ref().map(|it| quote_spanned!(span=> .description(#it)));
    let defaulted = member.is_defaulted.then(|| quote_spanned!(span=> .defaulted()));
    let skipped = member.is_skipped.then(|| quote_spanned!(span=> .skipped()));
    let lazy = (!is_std(ty)).then(|| {
        quote_spanned!(span=> .or(|__generator| (&&__mcp::OfSchemars::<#ty>::NEW).subschema(__generator)))
    });
    quote_spanned! {span=>
        __mcp::Member::new(#name, __mcp::Known::<#ty, __D>::NODE) #described #defaulted #skipped #lazy
    }
}

/// Whether a type looks like one of std's that constants know: then nobody else is asked. A type that only looks like one goes to
/// schemars together with the struct.
fn is_std(ty: &Type) -> bool {
    const PLAIN: [&str; 16] = [
        "bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32",
        "f64", "char", "String", "PathBuf",
    ];
    const AROUND: [&str; 2] = ["Option", "Vec"];
    let Type::Path(path) = ty else { return false };
    let Some(ident) = path.path.segments.last().filter(|_| path.path.segments.len() == 1) else {
        return false;
    };
    match &ident.arguments {
        PathArguments::None => PLAIN.iter().any(|it| ident.ident == it),
        PathArguments::AngleBracketed(inside) if AROUND.iter().any(|it| ident.ident == it) => {
            inside.args.iter().all(|it| matches!(it, GenericArgument::Type(ty) if is_std(ty)))
        }
        _ => false,
    }
}
