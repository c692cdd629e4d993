//! What a registered function may look like.

use super::strip_groups;
use crate::errors::Errors;
use crate::item::tokens::find;
use crate::item::{Item, Kind};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, GenericParam, Receiver, ReceiverKind, ReturnType, Safety, Type, TypeReference};

pub(super) fn check(item: &Item<'_>, errors: &Errors) {
    alone(item, errors);
    qualifiers(item, errors);
    generics(item, errors);
    receiver(item, errors);
    let sig = &item.function.sig;
    for input in &sig.inputs {
        if let FnArg::Typed(typed) = input {
            no_impl_trait(&typed.ty.to_token_stream(), "a parameter", errors);
            if let Type::Reference(TypeReference { mutability: Some(token), .. }) =
                strip_groups(&typed.ty)
            {
                let message = "calls run at the same time and share their state: take `&T` with a `Mutex` or an atomic in it; an argument is taken by value";
                errors.at(token.span(), message);
            }
        }
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        no_impl_trait(&ty.to_token_stream(), "the result", errors);
    }
}

/// One function is one item.
fn alone(item: &Item<'_>, errors: &Errors) {
    // A method still has the attribute that is read here; a free function has lost it.
    let skipped = usize::from(item.owner.is_some());
    for (other, span) in item.function.kinds().skip(skipped) {
        let message = if other == item.kind {
            format!("{} is there twice: keep one", other.owner())
        } else {
            let (this, that) = (item.kind.owner(), other.owner());
            format!(
                "{that} beside {this}: a function is one of them; write a second one that calls this"
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
    if let Safety::Unsafe(token) = &sig.safety {
        errors.at(token.span(), format!("any client may call a {what}: it cannot be `unsafe`"));
    }
    if let Some(abi) = &sig.abi {
        errors
            .at(abi.extern_token.span(), format!("a {what} is called from Rust: remove `extern`"));
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic.dots.spans[0], "take a `Vec<T>` or a `&[T]`: its items are checked");
    }
}

fn generics(item: &Item<'_>, errors: &Errors) {
    let what = item.kind.word();
    for param in &item.function.sig.generics.params {
        let (span, noun) = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(it) => (it.ident.span(), "type"),
            GenericParam::Const(it) => (it.ident.span(), "const"),
        };
        let message = format!(
            "a {what} has one schema, so it has no {noun} parameters: write a concrete type"
        );
        errors.at(span, message);
    }
}

fn no_impl_trait(ty: &TokenStream, noun: &str, errors: &Errors) {
    let is_impl = |token: &TokenTree| matches!(token, TokenTree::Ident(it) if it == "impl");
    if let Some(span) = find(ty, &is_impl) {
        errors.at(
            span,
            format!("{noun} needs a type that can be named: replace `impl …` by a concrete type"),
        );
    }
}

fn receiver(item: &Item<'_>, errors: &Errors) {
    let Some(receiver) = item.function.sig.receiver() else {
        let of_self = |token: &TokenTree| matches!(token, TokenTree::Ident(it) if it == "Self");
        if item.owner.is_none()
            && let Some(span) = find(&item.function.sig.to_token_stream(), &of_self)
        {
            errors.at(span, outside_server(item.kind));
        }
        return;
    };
    if item.owner.is_none() {
        errors.at(receiver.self_token.span(), outside_server(item.kind));
    } else if !is_shared(receiver) {
        let is_mut = |token: &TokenTree| matches!(token, TokenTree::Ident(it) if it == "mut");
        let inside = if find(&receiver.to_token_stream(), &is_mut).is_some() {
            ", and keep what changes in a `std::sync::Mutex` (`*self.count.lock().unwrap() += 1`) or an atomic"
        } else {
            ""
        };
        let message = format!("the state is shared by concurrent calls: take `&self`{inside}");
        errors.at(receiver.self_token.span(), message);
    }
}

fn is_shared(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
        // `self: &Self` is `&self`, written longer.
        ReceiverKind::Typed(_, ty) => {
            let Type::Reference(it) = strip_groups(ty) else { return false };
            let is_self =
                matches!(strip_groups(&it.elem), Type::Path(it) if it.path.is_ident("Self"));
            it.mutability.is_none() && is_self
        }
        _ => false,
    }
}

fn outside_server(kind: Kind) -> String {
    format!("{} on a method needs `#[server]` on the impl block around it", kind.owner())
}
