//! `#[derive(Schema)]`: generates the impls that describe a type in constants, so that its JSON Schema can be rendered at compile time.

use super::snippets::{at, here};
use crate::item::schema::{
    JsonMember, JsonObject, JsonPart, SchemaBody, SchemaType, VariantName, root as root_path,
};
use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, GenericArgument, GenericParam, PathArguments, Type};

/// Generates the impls for a type whose schema can be a constant.
pub(crate) fn schema(shape: &SchemaType<'_>) -> TokenStream {
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

/// Generates the impl of `Borrows` for a type that borrows from serde's input. Such a type cannot be an argument.
pub(crate) fn borrows(item: &DeriveInput) -> TokenStream {
    let (attrs, ident, generics) = (&item.attrs, &item.ident, &item.generics);
    let root = root_path(attrs)
        .map_or_else(|| quote_spanned!(here()=> ::mcp_runtime), |path| path.to_token_stream());
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote_spanned! {here()=>
        impl #impl_generics #root::__private::Borrows for #ident #ty_generics #where_clause {}
    }
}

fn impls(shape: &SchemaType<'_>) -> TokenStream {
    let (ident, node) = (shape.ident, node(shape));
    let (_, ty_generics, where_clause) = shape.generics.split_for_impl();
    let lifetimes = shape.generics.lifetimes();
    if shape.generics.type_params().next().is_some() {
        // A generic type passes the depth `__D` on to its type arguments unchanged. Only types without type parameters reduce the depth.
        let params = shape.generics.params.iter().map(|param| match param {
            GenericParam::Type(ty) => {
                let (ident, bounds) = (&ty.ident, &ty.bounds);
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
    // A field of a struct with `#[config]` can have the type of such an enum.
    let choice = matches!(shape.body, SchemaBody::Names { .. })
        .then(|| quote_spanned!(here()=> impl __mcp::ConfigChoice for #ident {}));
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
        #choice
    }
}

fn node(shape: &SchemaType<'_>) -> TokenStream {
    let described = described(shape.description.as_ref());
    let node = match &shape.body {
        SchemaBody::Part(json_part) => part(json_part),
        SchemaBody::Newtype(ty) => {
            let known = known(ty);
            quote_spanned!(at(ty.span())=> #known.newtype())
        }
        SchemaBody::Names { names, default } => {
            let names = names.iter().map(name);
            let default = match default {
                Some(variant) => quote_spanned!(here()=> ::core::option::Option::Some(#variant)),
                None => quote_spanned!(here()=> ::core::option::Option::None),
            };
            quote_spanned!(here()=> __mcp::Node::names(&[#(#names),*], #default))
        }
        SchemaBody::OneOf(branches) => {
            let branches = branches.iter().map(|branch| {
                let (node, description) =
                    (part(&branch.part), self::described(branch.description.as_ref()));
                quote_spanned!(here()=> __mcp::Branch::new(#node) #description)
            });
            quote_spanned!(here()=> __mcp::Node::one_of(&[#(#branches),*]))
        }
    };
    quote_spanned!(here()=> #node #described)
}

fn part(part: &JsonPart<'_>) -> TokenStream {
    match part {
        JsonPart::Null => quote_spanned!(here()=> __mcp::Node::null()),
        JsonPart::Type(ty) => known(ty),
        JsonPart::Tuple(types) => {
            let parts = types.iter().map(|ty| known(ty));
            quote_spanned!(here()=> __mcp::Node::tuple(&[#(#parts),*]))
        }
        JsonPart::Names(names) => {
            let names =
                names.iter().map(|name| quote_spanned!(here()=> __mcp::Name::new(#name, #name)));
            quote_spanned! {here()=>
                __mcp::Node::names(&[#(#names),*], ::core::option::Option::None)
            }
        }
        JsonPart::Tagged { tag, name, ty } => {
            let known = known(ty);
            quote_spanned!(at(ty.span())=> __mcp::Node::tagged(#tag, #name, &#known))
        }
        JsonPart::Object(object) => self::object(object),
    }
}

fn known(ty: &Type) -> TokenStream {
    quote_spanned!(at(ty.span())=> __mcp::Known::<#ty, __D>::NODE)
}

fn object(object: &JsonObject<'_>) -> TokenStream {
    let closed = object.is_closed.then(|| quote_spanned!(here()=> .closed()));
    let mut sorted: Vec<&JsonMember<'_>> = object.members.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let declared = object.members.iter().map(|member| {
        let place = sorted.iter().position(|other| other.name == member.name);
        Literal::usize_unsuffixed(place.unwrap_or_default())
    });
    let sorted = sorted.iter().map(|sorted| member(sorted));
    quote_spanned! {here()=>
        __mcp::Node::object(&__mcp::Object::new(&[#(#sorted),*], &[#(#declared),*]) #closed)
    }
}

fn name(name: &VariantName) -> TokenStream {
    let (variant, text) = (&name.variant, &name.name);
    let described = described(name.description.as_ref());
    quote_spanned!(here()=> __mcp::Name::new(#variant, #text) #described)
}

fn described(text: Option<&String>) -> Option<TokenStream> {
    text.map(|text| quote_spanned!(here()=> .description(#text)))
}

fn member(member: &JsonMember<'_>) -> TokenStream {
    let (name, node) = (&member.name, part(&member.part));
    let described = described(member.description.as_ref());
    let titled = member.title.as_ref().map(|title| quote_spanned!(here()=> .title(#title)));
    let defaulted = member.is_defaulted.then(|| match member.part {
        JsonPart::Type(ty) if !is_std(ty) => quote_spanned! {at(ty.span())=>
            .defaulted().written(__mcp::Serialized::<#ty>::IS)
        },
        _ => quote_spanned!(here()=> .defaulted()),
    });
    let skipped = member.is_skipped.then(|| quote_spanned!(here()=> .skipped()));
    let always = member.is_always.then(|| quote_spanned!(here()=> .always()));
    let lazy = match member.part {
        // The look-up would find that a type borrows only after it has chosen `LazyArgumentLevel`, and rustc would report that.
        JsonPart::Type(ty) if has_lifetime(ty.to_token_stream()) => {
            Some(quote_spanned! {at(ty.span())=>
                .or(|__generator| (&&__mcp::OfSchemars::<#ty>::NEW).ask(__generator))
            })
        }
        JsonPart::Type(ty) if !is_std(ty) => Some(quote_spanned! {at(ty.span())=>
            .or(|__generator| (&&&__mcp::OfSchemars::<#ty>::NEW).ask(__generator))
        }),
        _ => None,
    };
    quote_spanned! {here()=>
        __mcp::Member::new(#name, #node) #titled #described #defaulted #skipped #always #lazy
    }
}

fn has_lifetime(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_lifetime(group.stream()),
        TokenTree::Punct(punct) => punct.as_char() == '\'',
        _ => false,
    })
}

/// Whether a type has the name of a std type that constants describe. If it is a different type of the same name, schemars describes the
/// whole struct that contains it.
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
        PathArguments::None => PLAIN.iter().any(|plain| ident.ident == plain),
        PathArguments::AngleBracketed(inside)
            if AROUND.iter().any(|around| ident.ident == around) =>
        {
            inside.args.iter().all(|arg| matches!(arg, GenericArgument::Type(ty) if is_std(ty)))
        }
        _ => false,
    }
}
