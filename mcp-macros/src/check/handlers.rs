//! Rules for `#[handlers]`: the impl block must be valid, its items must be able to inherit its keys, and the names of the items must be
//! unique.

use crate::errors::Errors;
use crate::item::impl_block::ImplBlock;
use crate::item::{Item, Kind};
use crate::keys::arg::Completer;
use crate::keys::attributes::ItemKeys;
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned as _;
use syn::{GenericParam, Ident};

const CONCRETE: &str = "has one type: write `impl Type<…>` with concrete parameters";

pub(crate) fn check(block: &ImplBlock, errors: &Errors) {
    if let Some(token) = &block.of_trait {
        let message = "#[handlers] belongs on an impl block of the type itself: move the methods to `impl Type { … }`";
        errors.at(token.span(), message);
    }
    for param in &block.generics.params {
        let (span, reason) = match param {
            GenericParam::Lifetime(lifetime) => (
                lifetime.lifetime.span(),
                "borrows nothing: write `'static`, as in `impl Type<'static>`",
            ),
            GenericParam::Type(ty) => (ty.ident.span(), CONCRETE),
            GenericParam::Const(constant) => (constant.ident.span(), CONCRETE),
        };
        errors.at(span, format!("the state of a server lives as long as the server and {reason}"));
    }
    for hidden in block.hidden() {
        let message = format!(
            "`cfg_attr` is applied after #[handlers] has read the block: write `#[cfg({})]` and `{}`",
            hidden.condition,
            hidden.kind.owner()
        );
        errors.at(hidden.span, message);
    }
    if block.marked().next().is_none() && block.hidden().next().is_none() && !block.has_macros() {
        let message = "no method here has `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]`: mark one, or remove `#[handlers]`";
        errors.at(block.keyword.span(), message);
    }
}

/// Reports keys of the block that no item can inherit, and keys of the block that contradict each other.
pub(crate) fn shared(keys: &ItemKeys, block: &ImplBlock, items: &[Item<'_>], errors: &Errors) {
    if super::keys::contradictions(keys, errors) || items.is_empty() || block.has_macros() {
        return;
    }
    let useless = |key: Option<&Ident>, is_own: &dyn Fn(&ItemKeys) -> bool| {
        let Some(key) = key else { return };
        let name = key.to_string();
        if !items.iter().any(|item| item.can_take(&name) || is_own(&item.keys)) {
            let message = format!(
                "no item of this block can have `{name}`, so it has no effect here: remove it"
            );
            errors.at(key.span(), message);
        }
    };
    macro_rules! useless {
        ($($key:ident)*) => {$(
            useless(keys.$key.as_ref().map(|key| &key.key), &|own| own.$key.is_some());
        )*};
    }
    useless! {
        blocking read_only destructive idempotent open_world timeout rate concurrency scopes auth task order mime_type cache
        subscribe audience priority strict lenient schema
    }
    useless(keys.icon.first().map(|icon| &icon.key), &|own| !own.icon.is_empty());
}

/// Reports the bare name of a method with `#[completion]` in `#[complete(…)]`, where it would be the name of a function beside the block.
pub(crate) fn completions(items: &[Item<'_>], errors: &Errors) {
    let methods = items.iter().filter(|item| item.kind == Kind::Completion);
    let methods: HashSet<&Ident> = methods.map(|item| &item.function.sig.ident).collect();
    let completers = items.iter().flat_map(|item| &item.params).filter_map(|param| {
        match &param.keys.complete.as_ref()?.value {
            Completer::Function(path) => path.get_ident(),
            Completer::Values(_) => None,
        }
    });
    for name in completers.filter(|name| methods.contains(name)) {
        let message = format!("`{name}` is a method of this block: write `Self::{name}`");
        errors.at(name.span(), message);
    }
}

/// Reports two items of the same kind and group that have the same name or URI. Items with `cfg` are not checked, because they may exclude
/// each other.
pub(crate) fn duplicates(items: &[Item<'_>], errors: &Errors) {
    let mut seen = HashMap::new();
    for item in items.iter().filter(|item| item.kind != Kind::Completion) {
        if item.function.attrs.iter().any(|attr| attr.path().is_ident("cfg")) {
            continue;
        }
        let uri = item.template.as_ref().map(|template| &template.uri);
        if item.kind == Kind::Resource && uri.is_none() {
            continue;
        }
        let (key, span) = uri.map_or_else(|| item.name(), |uri| (uri.value(), uri.span()));
        let group = item.keys.group.as_ref().map(|group| group.value.0.value());
        let function = &item.function.sig.ident;
        if let Some(first) = seen.insert((item.kind.word(), key.clone(), group), function) {
            let fix = if uri.is_some() {
                "write another URI".to_owned()
            } else {
                format!(
                    "rename one, or write `{}(name = \"…\")]`",
                    item.kind.owner().trim_end_matches(']')
                )
            };
            let what = item.kind.word();
            errors.at(
                span,
                format!("`{first}` already defines the {what} `{key}` in this block: {fix}"),
            );
        }
    }
}
