//! Model of a struct with `#[config]`, whose fields are options and environment variables. The model borrows the syntax tree of syn.

use crate::docs::{self, Doc};
use crate::errors::Errors;
use crate::keys::attributes::{ConfigFieldKeys, ConfigKeys, read_config};
use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, Type};

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

impl Setting<'_> {
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
