//! Rules for the signature of a registered function.

use crate::errors::Errors;
use crate::item::signature::Input;
use crate::item::{Item, Kind};
use crate::syntax::{find, strip_groups, written};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{
    GenericArgument, GenericParam, PathArguments, ReturnType, Type, TypeParamBound, TypeReference,
};

pub(super) fn check(item: &Item<'_>, errors: &Errors) {
    alone(item, errors);
    qualifiers(item, errors);
    generics(item, errors);
    receiver(item, errors);
    let sig = &item.function.sig;
    for input in &sig.inputs {
        if let Input::Typed(typed) = input {
            no_impl_trait(&typed.ty.to_token_stream(), "a parameter", errors);
            match strip_groups(&typed.ty) {
                Type::Reference(reference) => lent(reference, errors),
                ty => owned(ty, None, errors),
            }
        }
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        if sig.asyncness.is_none()
            && let Some(output) = awaited(ty)
        {
            let (name, output) = (&sig.ident, written(output));
            let message = format!(
                "a {} that returns a future must be an `async fn`: write `async fn {name}(…) -> {output}`, and return what the future returns",
                item.kind.word()
            );
            return errors.push(syn::Error::new_spanned(ty, message));
        }
        no_impl_trait(&ty.to_token_stream(), "the result", errors);
    }
}

/// Rejects parameters of reference types that a call cannot provide.
fn lent(reference: &TypeReference, errors: &Errors) {
    if let Some(token) = &reference.mutability {
        let message = "concurrent calls share the state: take `&T` with a `Mutex` or an atomic in it; take an argument by value";
        errors.at(token.span(), message);
    } else if let Type::TraitObject(object) = strip_groups(&reference.elem) {
        let name = written(&object.bounds);
        let message = format!(
            "state is looked up by its type, which must be sized: give the server an `Arc` with `.state::<Arc<dyn {name} + Send + Sync>>(…)`, and take `&std::sync::Arc<dyn {name} + Send + Sync>`"
        );
        errors.push(syn::Error::new_spanned(reference, message));
    } else if let Type::Slice(slice) = strip_groups(&reference.elem)
        && let Type::Reference(item) = strip_groups(&slice.elem)
    {
        let owned = owned_form(&item.elem);
        let message = format!("a list that a client sends owns its items: write `&[{owned}]`");
        errors.push(syn::Error::new_spanned(reference, message));
    } else if let Some(lifetime) =
        reference.lifetime.as_ref().filter(|lifetime| lifetime.ident == "static")
    {
        errors.at(
            lifetime.span(),
            "a parameter is borrowed only for the duration of the call: remove `'static`",
        );
    }
}

/// Rejects references in collections, tuples and arrays. Such a value is deserialized from the arguments, so it must own its items. `holder`
/// describes the type whose item `ty` is.
fn owned(ty: &Type, holder: Option<&str>, errors: &Errors) {
    const COLLECTIONS: [&str; 7] =
        ["Vec", "VecDeque", "HashSet", "BTreeSet", "HashMap", "BTreeMap", "Box"];
    match (strip_groups(ty), holder) {
        (Type::Path(path), _) => {
            let Some(last) = path.path.segments.last() else { return };
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return };
            let is_collection = COLLECTIONS.iter().any(|collection| last.ident == collection);
            let holder = is_collection.then(|| format!("a `{}`", last.ident));
            for argument in &arguments.args {
                if let GenericArgument::Type(ty) = argument {
                    owned(ty, holder.as_deref(), errors);
                }
            }
        }
        (Type::Tuple(tuple), _) => {
            tuple.elems.iter().for_each(|ty| owned(ty, Some("a tuple"), errors));
        }
        (Type::Array(array), _) => owned(&array.elem, Some("an array"), errors),
        (Type::Reference(reference), Some(holder)) if reference.mutability.is_none() => {
            let message = format!(
                "{holder} that a client sends owns its contents: write `{}`",
                owned_form(&reference.elem)
            );
            errors.push(syn::Error::new_spanned(reference, message));
        }
        _ => {}
    }
}

/// Returns the type to write instead of a reference to `ty`.
fn owned_form(ty: &Type) -> String {
    let last = match strip_groups(ty) {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Type::Slice(slice) => return format!("Vec<{}>", written(&slice.elem)),
        _ => None,
    };
    match last.as_deref() {
        Some("str" | "OsStr" | "CStr") => "String".to_owned(),
        Some("Path") => "std::path::PathBuf".to_owned(),
        _ => written(ty),
    }
}

/// Rejects a second item attribute on the function, such as `#[tool]`, and parameter attributes on the function itself.
fn alone(item: &Item<'_>, errors: &Errors) {
    // The attributes of a method include the item attribute that is being expanded, so one is skipped. On a free function, rustc has
    // already removed it.
    let skipped = usize::from(item.owner.is_some());
    for attr in &item.function.attrs {
        if let Some(word) =
            attr.path().get_ident().filter(|ident| *ident == "arg" || *ident == "complete")
        {
            let message =
                format!("#[{word}] belongs on a parameter: write it before the parameter's name");
            errors.at(word.span(), message);
        }
    }
    for (other, span) in item.function.kinds().skip(skipped) {
        let message = if other == item.kind {
            format!("{} appears twice: remove one", other.owner())
        } else {
            let (this, that) = (item.kind.owner(), other.owner());
            format!(
                "a function cannot have both {this} and {that}: remove one, and write a second function that calls this one"
            )
        };
        errors.at(span, message);
    }
}

fn qualifiers(item: &Item<'_>, errors: &Errors) {
    let (sig, what) = (&item.function.sig, item.kind.word());
    if let Some(token) = &sig.constness {
        errors
            .at(token.span(), format!("a {what} is called by clients at run time: remove `const`"));
    }
    if let Some(token) = &sig.unsafety {
        errors.at(token.span(), format!("any client may call a {what}: it cannot be `unsafe`"));
    }
    if let Some(abi) = &sig.abi {
        errors
            .at(abi.extern_token.span(), format!("a {what} is called from Rust: remove `extern`"));
    }
    if let Some(dots) = &sig.variadic {
        errors
            .at(dots.spans[0], "variadic arguments cannot be checked: take a `Vec<T>` or a `&[T]`");
    }
}

fn generics(item: &Item<'_>, errors: &Errors) {
    let what = item.kind.word();
    for param in &item.function.sig.generics.params {
        let (span, noun, fix) = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(ty) => (ty.ident.span(), "type", "write a concrete type".to_owned()),
            GenericParam::Const(constant) => {
                let name = constant.ident.to_string().to_lowercase();
                let fix =
                    format!("take the value as a parameter, `{name}: {}`", written(&constant.ty));
                (constant.ident.span(), "const", fix)
            }
        };
        let message =
            format!("a {what} has one schema, so it cannot have {noun} parameters: {fix}");
        errors.at(span, message);
    }
}

fn no_impl_trait(ty: &TokenStream, noun: &str, errors: &Errors) {
    let is_impl = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "impl");
    if let Some(span) = find(ty, &is_impl) {
        errors.at(
            span,
            format!("{noun} needs a type that can be named: replace `impl …` with a concrete type"),
        );
    }
}

/// Returns the output of a future type: `impl Future<Output = T>`, `Pin<Box<dyn Future<Output = T>>>`, `BoxFuture<T>`.
fn awaited(ty: &Type) -> Option<&Type> {
    let bounds = match strip_groups(ty) {
        Type::ImplTrait(bound) => &bound.bounds,
        Type::TraitObject(object) => &object.bounds,
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            let inner = arguments.args.iter().rev().find_map(|arg| match arg {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })?;
            return match last.ident.to_string().as_str() {
                "Pin" | "Box" => awaited(inner),
                "BoxFuture" | "LocalBoxFuture" => Some(inner),
                _ => None,
            };
        }
        _ => return None,
    };
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
        arguments.args.iter().find_map(|arg| match arg {
            GenericArgument::AssocType(ty) if last.ident == "Future" && ty.ident == "Output" => {
                Some(&ty.ty)
            }
            _ => None,
        })
    })
}

fn receiver(item: &Item<'_>, errors: &Errors) {
    let Some(receiver) = item.function.sig.receiver() else {
        let of_self =
            |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "Self");
        if item.owner.is_none()
            && let Some(span) = find(&item.function.sig.tokens, &of_self)
        {
            errors.at(span, outside_handlers(item.kind));
        }
        return;
    };
    if item.owner.is_none() {
        errors.at(receiver.self_token.span(), outside_handlers(item.kind));
    } else if !receiver.is_shared {
        let inside = if receiver.is_mutable {
            ", and keep what changes in a `std::sync::Mutex` (`*self.count.lock().unwrap() += 1`) or an atomic"
        } else {
            ""
        };
        let message = format!("the state is shared by concurrent calls: take `&self`{inside}");
        errors.at(receiver.self_token.span(), message);
    }
}

fn outside_handlers(kind: Kind) -> String {
    format!(
        "{} on a method needs `#[handlers]` on the impl block around it (its old name is `#[server]`); a macro that generates methods must generate the block too",
        kind.owner()
    )
}
