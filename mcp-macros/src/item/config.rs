//! Model of a struct with `#[config]`, whose fields are options and environment variables. The model borrows the syntax tree of syn.

use crate::docs::{self, Doc};
use crate::errors::Errors;
use crate::keys::attributes::{ConfigFieldKeys, ConfigKeys, read_config};
use proc_macro2::Span;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, Meta, Path, Token, Type};

/// A struct with `#[config]`.
pub(crate) struct Config<'a> {
    pub(crate) keys: ConfigKeys,
    pub(crate) ident: &'a Ident,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) generics: &'a Generics,
    pub(crate) fields: Vec<Setting<'a>>,
    /// Place of the fields, if they have no names.
    pub(crate) unnamed: Option<Span>,
    pub(crate) doc: Option<Doc<'a>>,
}

/// A field of a struct with `#[config]`.
pub(crate) struct Setting<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) keys: ConfigFieldKeys,
    pub(crate) doc: Option<Doc<'a>>,
}

impl<'a> Config<'a> {
    /// Reads a struct. Returns `None` for an enum or a union, which is already reported.
    pub(crate) fn read(item: &'a DeriveInput, keys: ConfigKeys, errors: &Errors) -> Option<Self> {
        let Data::Struct(data) = &item.data else { return None };
        let fields = data.fields.iter().filter_map(|field| {
            let mut keys = ConfigFieldKeys::default();
            for attr in field.attrs.iter().filter(|attr| is_ours(attr)) {
                read_config(&mut keys, attr, errors);
            }
            let (ident, ty, attrs) = (field.ident.as_ref()?, &field.ty, &field.attrs[..]);
            Some(Setting { ident, ty, attrs, keys, doc: docs::read(attrs) })
        });
        let unnamed = match &data.fields {
            Fields::Named(_) => None,
            Fields::Unnamed(fields) => Some(fields.span()),
            Fields::Unit => Some(item.ident.span()),
        };
        Some(Self {
            keys,
            ident: &item.ident,
            attrs: &item.attrs,
            generics: &item.generics,
            fields: fields.collect(),
            unnamed,
            doc: docs::read(&item.attrs),
        })
    }
}

impl Config<'_> {
    pub(crate) fn has_secrets(&self) -> bool {
        self.fields.iter().any(Setting::is_secret)
    }
}

impl Setting<'_> {
    pub(crate) fn is_secret(&self) -> bool {
        self.keys.secret.as_ref().is_some_and(|secret| secret.value.0)
    }

    /// Returns the name of the option, and the place that decides it.
    pub(crate) fn option(&self) -> (String, Span) {
        match &self.keys.name {
            Some(name) => (name.value.0.value(), name.value.0.span()),
            None => (self.ident.unraw().to_string().replace('_', "-"), self.ident.span()),
        }
    }
}

/// Whether the attribute is `#[config]`, which the struct must not have in the output.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    attr.path().is_ident("config")
}

/// Removes `Debug` from the derives. Returns whether it was there. The compiler has already expanded a derive above `#[config]`, so it is not
/// among the attributes.
pub(crate) fn take_debug(attrs: &mut [Attribute]) -> bool {
    let mut is_taken = false;
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident("derive")) {
        let Meta::List(list) = &mut attr.meta else { continue };
        // rustc reports a derive that cannot be read.
        let Ok(derives) = list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
        else {
            continue;
        };
        let (debug, others): (Vec<_>, Vec<_>) = derives.into_iter().partition(is_debug);
        if !debug.is_empty() {
            is_taken = true;
            list.tokens = quote!(#(#others),*);
        }
    }
    is_taken
}

/// Whether the path is `Debug` of the standard library, alone or with its module.
fn is_debug(path: &Path) -> bool {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    match &names[..] {
        [debug] => debug == "Debug",
        [root, module, debug] => {
            matches!(&**root, "std" | "core") && module == "fmt" && debug == "Debug"
        }
        _ => false,
    }
}
