//! Types with `#[data]`: the derives that the attribute adds, and the types of fields that need `#[data]` too.

use super::function::{keyword, keyword_span};
use crate::errors::Errors;
use crate::keys::tables;
use crate::syntax::{find, path_of, regroup, strip_groups};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use std::collections::HashSet;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Field, GenericArgument, Generics, Meta, Path, PathArguments,
    Token, Type,
};

/// Derive that `#[data]` and `#[form]` add.
#[derive(Clone, Copy)]
pub(crate) struct Derive {
    /// Crate of the derive; `None` for our own `Schema`.
    pub(crate) module: Option<&'static str>,
    pub(crate) name: &'static str,
}

const DERIVES: [Derive; 4] = [
    Derive { module: Some("serde"), name: "Serialize" },
    Derive { module: Some("serde"), name: "Deserialize" },
    Derive { module: Some("schemars"), name: "JsonSchema" },
    Derive { module: None, name: "Schema" },
];

/// Returns the derives that the item needs. Reports an error if the user already wrote some of them.
pub(crate) fn derives(owner: &str, item: &TokenStream, errors: &Errors) -> Vec<Derive> {
    let found = keyword(item).map(|(word, _)| word);
    if !matches!(found, Some("struct" | "enum")) {
        let hint = match found {
            None => ": on a function write `#[tool]`, `#[resource]` or `#[prompt]`",
            Some("union") => ": write one of them",
            Some(_) => ": remove it here",
        };
        errors.at(keyword_span(item), format!("{owner} belongs on a `struct` or an `enum`{hint}"));
        return Vec::new();
    }
    let read = |input: ParseStream<'_>| {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<TokenStream>()?;
        Ok(attrs)
    };
    let attrs = read.parse2(item.clone()).unwrap_or_default();
    if let Some(second) = attrs.iter().find_map(second_attribute) {
        // The second attribute adds the derives when it is expanded, so this attribute adds none.
        if owner == format!("#[{second}]") {
            errors.at(second.span(), format!("{owner} is here twice: remove one of them"));
        } else {
            errors.at(second.span(), "`#[form]` does all that `#[data]` does: remove `#[data]`");
        }
        return Vec::new();
    }
    let doubled: Vec<Ident> = attrs
        .iter()
        .flat_map(derived)
        .filter_map(|path| path.segments.last().map(|segment| segment.ident.clone()))
        .filter(is_derived)
        .collect();
    if let [first, rest @ ..] = doubled.as_slice() {
        // The user's derives are not emitted. Their crate may not be a dependency, and a second impl would conflict with the generated one.
        let names =
            rest.iter().fold(format!("`{first}`"), |names, rest| format!("{names}, `{rest}`"));
        let pronoun = if rest.is_empty() { "it" } else { "them" };
        errors.at(first.span(), format!("{owner} already derives {names}: remove {pronoun} here"));
    }
    DERIVES.to_vec()
}

/// Returns the item without the derives that the macro adds itself.
pub(crate) fn without_doubled(item: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in item {
        let is_attribute =
            matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
        match token {
            TokenTree::Group(group) if is_attribute && is_derive(&group) => {
                kept.push(
                    regroup(&group, group.stream().into_iter().map(undoubled).collect()).into(),
                );
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

fn is_derive(attribute: &Group) -> bool {
    matches!(path_of(&attribute.stream()).as_slice(), [word] if word == "derive")
}

/// Returns the group of a `derive(…)` without the derives that the macro adds itself.
fn undoubled(token: TokenTree) -> TokenTree {
    let TokenTree::Group(group) = token else { return token };
    let read = Punctuated::<Path, Token![,]>::parse_terminated;
    let Ok(paths) = read.parse2(group.stream()) else { return group.into() };
    let is_kept =
        |path: &&Path| !path.segments.last().is_some_and(|segment| is_derived(&segment.ident));
    let kept: Punctuated<&Path, Token![,]> = paths.iter().filter(is_kept).collect();
    if kept.len() == paths.len() {
        group.into()
    } else {
        regroup(&group, kept.into_token_stream()).into()
    }
}

fn is_derived(word: &Ident) -> bool {
    DERIVES.iter().any(|derive| word == derive.name)
}

/// Returns the name of the attribute if it is a second `#[data]` or `#[form]` on the item.
fn second_attribute(attr: &Attribute) -> Option<&Ident> {
    let word = &attr.path().segments.last()?.ident;
    (word == "data" || word == "form").then_some(word)
}

fn derived(attr: &Attribute) -> Vec<Path> {
    if !attr.path().is_ident("derive") {
        return Vec::new();
    }
    let paths = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
    paths.map(|paths| paths.into_iter().collect()).unwrap_or_default()
}

/// A field, and the types in it that need implementations of the derived traits. Common std types, and types that are already listed for an
/// earlier field, are left out.
pub(crate) struct DataField<'a> {
    pub(crate) field: &'a mut Field,
    pub(crate) types: Vec<Type>,
}

/// Returns the name of the item, and the fields with types that need implementations of the derived traits.
///
/// Returns `None` for a generic type, because its derives infer their own bounds. Also returns `None` for a type with an attribute that may
/// change the JSON form of its fields. Fields with attributes other than doc comments are left out.
pub(crate) fn data_fields(item: &mut DeriveInput) -> Option<(Ident, Vec<DataField<'_>>)> {
    if !is_free(&item.generics) || !are_plain(&item.attrs) {
        return None;
    }
    let owner = item.ident.clone();
    let mut known = HashSet::new();
    let found =
        fields(item).filter(|field| is_documented_at_most(&field.attrs)).map(move |field| {
            let mut types = Vec::new();
            leaves(&field.ty, &mut types);
            types.retain(|ty| known.insert(ty.to_token_stream().to_string()));
            DataField { field, types }
        });
    Some((owner, found.filter(|field| !field.types.is_empty()).collect()))
}

/// Removes attributes that only set bounds for derives. In a type without generics, bounds have no effect on the schema.
pub(crate) fn without_bounds(item: &mut DeriveInput) {
    if is_free(&item.generics) {
        fields(item).for_each(|field| field.attrs.retain(|attr| keys(attr) != ["bound"]));
    }
}

/// Removes attributes `#[arg(…)]` with a key of ours from the fields, and returns them. clap has an attribute of the same name, whose keys
/// differ from ours.
pub(crate) fn take_bounds(item: &mut DeriveInput) -> Vec<Attribute> {
    let fields: Box<dyn Iterator<Item = &mut Field>> = match &mut item.data {
        Data::Struct(data) => Box::new(data.fields.iter_mut()),
        Data::Enum(data) => {
            Box::new(data.variants.iter_mut().flat_map(|variant| &mut variant.fields))
        }
        Data::Union(_) => return Vec::new(),
    };
    let all = fields.flat_map(|field| {
        let (ours, others) = std::mem::take(&mut field.attrs).into_iter().partition(is_argument);
        field.attrs = others;
        let ours: Vec<Attribute> = ours;
        ours
    });
    all.collect()
}

/// Whether the attribute is `#[arg(…)]` with a key of ours. `name` does not count, because clap has that key too.
fn is_argument(attr: &Attribute) -> bool {
    let Meta::List(list) = &attr.meta else { return false };
    let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
    let mut pairs =
        tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
    let names = tables::ARG.names.iter().chain(tables::FORM_FIELD.names);
    let is_ours = |word: &Ident| names.clone().any(|name| *name != "name" && word == name);
    attr.path().is_ident("arg")
        && pairs.any(|pair| matches!(pair.first(), Some(TokenTree::Ident(word)) if is_ours(word)))
}

/// Whether the type has a field that borrows from serde's input. A `Cow` borrows only if its field has `#[serde(borrow)]`.
pub(crate) fn borrows(item: &DeriveInput) -> bool {
    let is_lent = item.generics.lifetimes().next().is_some();
    let mut all: Box<dyn Iterator<Item = &Field>> = match &item.data {
        Data::Struct(data) => Box::new(data.fields.iter()),
        Data::Enum(data) => {
            Box::new(data.variants.iter().flat_map(|variant| variant.fields.iter()))
        }
        Data::Union(_) => return false,
    };
    is_lent
        && all.any(|field| {
            let keys: Vec<String> = field.attrs.iter().flat_map(keys).collect();
            let is_read = !keys
                .iter()
                .any(|key| key == "skip" || key == "skip_deserializing" || key.ends_with("with"));
            is_read && (keys.iter().any(|key| key == "borrow") || is_reference(&field.ty))
        })
}

fn is_reference(ty: &Type) -> bool {
    match strip_groups(ty) {
        Type::Reference(_) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| match &last.arguments {
            PathArguments::AngleBracketed(inside) if last.ident == "Option" => inside
                .args
                .iter()
                .any(|arg| matches!(arg, GenericArgument::Type(ty) if is_reference(ty))),
            _ => false,
        }),
        _ => false,
    }
}

fn is_free(generics: &Generics) -> bool {
    generics.params.is_empty() && generics.where_clause.is_none()
}

/// Returns the fields of a struct or an enum. Fields of variants with attributes other than doc comments are left out.
fn fields(item: &mut DeriveInput) -> Box<dyn Iterator<Item = &mut Field> + '_> {
    match &mut item.data {
        Data::Struct(data) => Box::new(data.fields.iter_mut()),
        Data::Enum(data) => {
            let plain =
                data.variants.iter_mut().filter(|variant| is_documented_at_most(&variant.attrs));
            Box::new(plain.flat_map(|variant| variant.fields.iter_mut()))
        }
        Data::Union(_) => Box::new(std::iter::empty()),
    }
}

/// Whether all attributes are known to leave the JSON form of the fields unchanged.
fn are_plain(attrs: &[Attribute]) -> bool {
    const KEYS: [&str; 13] = [
        "rename",
        "rename_all",
        "rename_all_fields",
        "deny_unknown_fields",
        "tag",
        "content",
        "untagged",
        "default",
        "title",
        "description",
        "inline",
        "extend",
        "example",
    ];
    attrs.iter().all(|attr| {
        let path = attr.path();
        let is_told = path.is_ident("serde") || path.is_ident("schemars");
        let keys = keys(attr);
        !path.is_ident("cfg_attr")
            && (!is_told || !keys.is_empty() && keys.iter().all(|key| KEYS.contains(&key.as_str())))
    })
}

/// Returns the keys of an attribute of serde or schemars. The list is empty for any other attribute, and for one that does not parse.
fn keys(attr: &Attribute) -> Vec<String> {
    if !attr.path().is_ident("serde") && !attr.path().is_ident("schemars") {
        return Vec::new();
    }
    let keys = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    keys.map(|metas| metas.iter().map(|key| key.path().to_token_stream().to_string()).collect())
        .unwrap_or_default()
}

fn is_documented_at_most(attrs: &[Attribute]) -> bool {
    attrs.iter().all(|attr| attr.path().is_ident("doc"))
}

/// Returns the types in the type of an argument that are not types of std. A reference is an argument only if it refers to a list.
pub(crate) fn own_types(ty: &Type) -> Vec<Type> {
    let mut types = Vec::new();
    match strip_groups(ty) {
        Type::Reference(reference) => {
            if let Type::Slice(slice) = strip_groups(&reference.elem) {
                leaves(&slice.elem, &mut types);
            }
        }
        ty => leaves(ty, &mut types),
    }
    types
}

/// Collects the types that need implementations of the derived traits. For arrays, tuples, lists and maps, it collects the types of the
/// elements and values.
fn leaves(ty: &Type, types: &mut Vec<Type>) {
    const LISTS: [&str; 5] = ["Option", "Vec", "VecDeque", "BTreeSet", "HashSet"];
    const MAPS: [&str; 2] = ["BTreeMap", "HashMap"];
    let ty = strip_groups(ty);
    match ty {
        Type::Array(array) => leaves(&array.elem, types),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|elem| leaves(elem, types)),
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else { return };
            let is = |names: &[&str]| names.iter().any(|name| last.ident == name);
            match &last.arguments {
                PathArguments::AngleBracketed(inside) if is(&LISTS) || is(&MAPS) => {
                    let held = inside.args.iter().nth(usize::from(is(&MAPS)));
                    if let Some(GenericArgument::Type(ty)) = held {
                        leaves(ty, types);
                    }
                }
                PathArguments::None if path.path.segments.len() == 1 && is(&PLAIN) => {}
                _ if can_be_promised(ty) => types.push(ty.clone()),
                _ => {}
            }
        }
        _ => {}
    }
}

/// Types of std without type arguments.
const PLAIN: [&str; 19] = [
    "bool", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    "f32", "f64", "char", "str", "String", "PathBuf",
];

/// Whether generated code can name the type in a bound. That is impossible for a type with a reference, a lifetime, or a part such as `_`,
/// `Self` or `impl`.
fn can_be_promised(ty: &Type) -> bool {
    let unusable = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => matches!(punct.as_char(), '\'' | '&' | '!'),
        // The attribute of serde contains bounds as text, which cannot express the crate that a `$crate` token refers to.
        TokenTree::Ident(ident) => {
            ["Self", "dyn", "impl", "_", "$crate"].contains(&&*ident.to_string())
        }
        _ => false,
    };
    find(&ty.to_token_stream(), &unusable).is_none()
}
