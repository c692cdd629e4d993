//! Model of a type with `#[form]`: a struct whose fields users fill in, or an enum of choices. The model borrows the syntax tree of syn.

use crate::docs::{self, Doc};
use crate::errors::Errors;
use crate::keys::Table;
use crate::keys::attributes::{ArgKeys, ItemKeys, read_arg};
use crate::keys::tables;
use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, Token, Type, Variant};

/// A type with `#[form]`.
pub(crate) struct Form<'a> {
    pub(crate) keys: ItemKeys,
    pub(crate) ident: &'a Ident,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) generics: &'a Generics,
    pub(crate) shape: FormShape<'a>,
}

pub(crate) enum FormShape<'a> {
    Struct {
        keyword: Token![struct],
        fields: &'a Fields,
        /// The fields with a name.
        named: Vec<Named<'a>>,
    },
    Enum(Vec<Chosen<'a>>),
}

/// A field of a form.
pub(crate) struct Named<'a> {
    pub(crate) ty: &'a Type,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) keys: ArgKeys,
    pub(crate) doc: Option<Doc<'a>>,
}

/// A variant of a choice.
pub(crate) struct Chosen<'a> {
    pub(crate) variant: &'a Variant,
    pub(crate) keys: ArgKeys,
    pub(crate) doc: Option<Doc<'a>>,
}

impl<'a> Form<'a> {
    /// Reads a struct or an enum. Returns `None` for a union, which `derives` has already reported.
    pub(crate) fn read(item: &'a DeriveInput, keys: ItemKeys, errors: &Errors) -> Option<Self> {
        let shape = match &item.data {
            Data::Struct(data) => {
                let named = data.fields.iter().filter(|field| field.ident.is_some());
                let named = named.map(|field| Named {
                    ty: &field.ty,
                    attrs: &field.attrs,
                    keys: read_keys(&field.attrs, &tables::FORM_FIELD, "default = 1", errors),
                    doc: docs::read(&field.attrs),
                });
                FormShape::Struct {
                    keyword: data.struct_token,
                    fields: &data.fields,
                    named: named.collect(),
                }
            }
            Data::Enum(data) => {
                let variants = data.variants.iter().map(|variant| Chosen {
                    variant,
                    keys: read_keys(&variant.attrs, &tables::FORM_VARIANT, "title = \"…\"", errors),
                    doc: docs::read(&variant.attrs),
                });
                FormShape::Enum(variants.collect())
            }
            Data::Union(_) => return None,
        };
        let (ident, attrs, generics) = (&item.ident, &item.attrs, &item.generics);
        Some(Self { keys, ident, attrs, generics, shape })
    }

    /// Whether the titles of variants go into `enumNames`.
    pub(crate) fn enum_names(&self) -> bool {
        self.keys.enum_names.as_ref().is_some_and(|enum_name| enum_name.value.0)
    }
}

fn read_keys(attrs: &[Attribute], table: &Table, example: &str, errors: &Errors) -> ArgKeys {
    let mut keys = ArgKeys::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("arg")) {
        read_arg(&mut keys, attr, table, example, errors);
    }
    keys
}

impl Named<'_> {
    /// Returns the span for errors about the field's type.
    pub(crate) fn span(&self) -> Span {
        self.ty.span()
    }
}

impl Chosen<'_> {
    /// Whether users see a title instead of the name. A doc comment is a title too.
    pub(crate) fn is_titled(&self) -> bool {
        self.keys.title.is_some() || self.doc.is_some()
    }
}
