//! What `#[derive(Schema)]` understands of a type. Whatever it does not understand it leaves to schemars as a whole, since a
//! schema that leaves something out would be a wrong one.

use crate::item::rename::Rename;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, Expr, ExprLit, Field, Fields, Generics, Ident, Item, ItemEnum, ItemStruct, Lit,
    LitStr, Meta, Path, Type,
};

/// A type whose schema constants can say, if those of its parts can.
pub(crate) struct Shape<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) generics: &'a Generics,
    pub(crate) root: Option<Path>,
    pub(crate) description: Option<String>,
    pub(crate) body: Body<'a>,
}

pub(crate) enum Body<'a> {
    /// As declared.
    Members {
        members: Vec<Member<'a>>,
        is_closed: bool,
    },
    Newtype(&'a Type),
    Names {
        names: Vec<Name>,
        default: Option<String>,
    },
}

pub(crate) struct Member<'a> {
    pub(crate) name: String,
    pub(crate) ty: &'a Type,
    pub(crate) description: Option<String>,
    pub(crate) is_defaulted: bool,
    pub(crate) is_skipped: bool,
}

pub(crate) struct Name {
    pub(crate) variant: String,
    pub(crate) name: String,
    /// One line.
    pub(crate) description: Option<String>,
}

impl<'a> Shape<'a> {
    /// `None` for what is left to schemars.
    pub(crate) fn read(item: &'a Item) -> Option<Self> {
        match item {
            Item::Struct(item) => Self::of_struct(item),
            Item::Enum(item) => Self::of_enum(item),
            _ => None,
        }
    }

    fn of_struct(item: &'a ItemStruct) -> Option<Self> {
        let attrs = Attrs::read(&item.attrs)?;
        if !attrs.is_of_struct() || mentions(&item.fields.to_token_stream(), &item.ident) {
            return None;
        }
        let body = match &item.fields {
            Fields::Named(fields) if !attrs.is_transparent => {
                let members = fields.named.iter().map(|it| member(it, attrs.rename_all));
                let members: Vec<_> =
                    members.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
                let mut names: Vec<_> = members.iter().map(|it| &it.name).collect();
                names.sort();
                names.dedup();
                if names.len() < members.len() {
                    return None;
                }
                Body::Members { members, is_closed: attrs.is_closed }
            }
            Fields::Unnamed(fields)
                if fields.unnamed.len() == 1 && fields.unnamed[0].attrs.is_empty() =>
            {
                Body::Newtype(&fields.unnamed[0].ty)
            }
            _ => return None,
        };
        Self::new(&item.ident, &item.generics, attrs, body)
    }

    fn of_enum(item: &'a ItemEnum) -> Option<Self> {
        let attrs = Attrs::read(&item.attrs)?;
        if !attrs.is_of_enum() || item.variants.is_empty() {
            return None;
        }
        let mut default = None;
        let mut names = Vec::new();
        for variant in &item.variants {
            let own = Attrs::read(&variant.attrs)?;
            if !matches!(variant.fields, Fields::Unit) || !own.is_of_variant() {
                return None;
            }
            let ident = variant.ident.unraw().to_string();
            if variant.attrs.iter().any(|it| it.path().is_ident("default")) {
                default = Some(ident.clone());
            }
            let renamed = attrs.rename_all.map_or_else(|| ident.clone(), |it| it.variant(&ident));
            names.push(Name {
                variant: ident,
                name: own.rename.unwrap_or(renamed),
                description: own.doc.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")),
            });
        }
        // schemars lists those that nothing is said of first.
        names.sort_by_key(|it| it.description.is_some());
        Self::new(&item.ident, &item.generics, attrs, Body::Names { names, default })
    }

    fn new(ident: &'a Ident, generics: &'a Generics, attrs: Attrs, body: Body<'a>) -> Option<Self> {
        (generics.const_params().next().is_none()).then_some(Self {
            ident,
            generics,
            root: attrs.root,
            description: attrs.doc,
            body,
        })
    }
}

/// `Some(None)` for a field that does not travel.
fn member(field: &Field, rename_all: Option<Rename>) -> Option<Option<Member<'_>>> {
    let attrs = Attrs::read(&field.attrs)?;
    if attrs.is_dropped && attrs.is_of_dropped() {
        return Some(None);
    }
    if !attrs.is_of_field() {
        return None;
    }
    let ident = field.ident.as_ref()?.unraw().to_string();
    let renamed = rename_all.map_or_else(|| ident.clone(), |it| it.field(&ident));
    Some(Some(Member {
        name: attrs.rename.unwrap_or(renamed),
        ty: &field.ty,
        description: attrs.doc,
        is_defaulted: attrs.is_defaulted,
        is_skipped: attrs.skip.is_some(),
    }))
}

/// What serde and schemars are told, as far as it is understood.
#[derive(Default)]
struct Attrs {
    doc: Option<String>,
    root: Option<Path>,
    rename: Option<String>,
    rename_all: Option<Rename>,
    is_closed: bool,
    is_transparent: bool,
    is_defaulted: bool,
    is_dropped: bool,
    /// The function of `skip_serializing_if`.
    skip: Option<String>,
    has_alias: bool,
}

impl Attrs {
    /// `None` if there is anything that is not understood.
    fn read(attrs: &[Attribute]) -> Option<Self> {
        let mut read = Self::default();
        for attr in attrs {
            let path = attr.path();
            if ["serde", "schema"].iter().any(|it| path.is_ident(it)) {
                attr.parse_nested_meta(|meta| read.key(&meta)).ok()?;
            } else if path.is_ident("schemars") {
                // Ours alone says where the crate is.
                attr.parse_nested_meta(|meta| {
                    if !meta.path.is_ident("crate") {
                        return Err(meta.error(""));
                    }
                    meta.value()?.parse::<LitStr>().map(drop)
                })
                .ok()?;
            } else if ["deprecated", "validate", "garde"].iter().any(|it| path.is_ident(it)) {
                return None;
            }
        }
        read.doc = doc(attrs)?;
        Some(read)
    }

    fn key(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let text = || meta.value()?.parse::<LitStr>().map(|it| it.value());
        match key.as_str() {
            "crate" => self.root = Some(meta.value()?.parse::<LitStr>()?.parse()?),
            "rename" => self.rename = Some(text()?),
            "rename_all" => {
                let rule = Rename::read(&text()?).ok_or_else(|| meta.error(""))?;
                self.rename_all = Some(rule);
            }
            "deny_unknown_fields" => self.is_closed = true,
            "transparent" => self.is_transparent = true,
            "default" if !meta.input.peek(syn::Token![=]) => self.is_defaulted = true,
            "skip" => self.is_dropped = true,
            "skip_serializing_if" => self.skip = Some(text()?),
            "alias" => {
                text()?;
                self.has_alias = true;
            }
            _ => return Err(meta.error("")),
        }
        Ok(())
    }

    fn is_of_struct(&self) -> bool {
        !self.is_defaulted && !self.is_dropped && self.skip.is_none() && !self.has_alias
    }

    fn is_of_enum(&self) -> bool {
        self.is_of_struct() && !self.is_closed && !self.is_transparent
    }

    fn is_of_variant(&self) -> bool {
        self.is_of_enum() && self.rename_all.is_none()
    }

    fn is_of_dropped(&self) -> bool {
        self.skip.is_none() && self.rename.is_none()
    }

    /// A default that is not written must be known to be what `skip_serializing_if` leaves out.
    fn is_of_field(&self) -> bool {
        const EMPTY: [&str; 8] = [
            "Option::is_none",
            "String::is_empty",
            "Vec::is_empty",
            "VecDeque::is_empty",
            "BTreeMap::is_empty",
            "HashMap::is_empty",
            "BTreeSet::is_empty",
            "HashSet::is_empty",
        ];
        let skips_empty = self.skip.as_deref().is_none_or(|it| EMPTY.contains(&it));
        self.rename_all.is_none()
            && !self.is_closed
            && !self.is_transparent
            && !self.is_dropped
            && (!self.is_defaulted || skips_empty)
    }
}

/// The documentation as schemars reads it; the outer `None` if it is no plain text.
fn doc(attrs: &[Attribute]) -> Option<Option<String>> {
    let mut text = String::new();
    for (index, attr) in attrs.iter().filter(|it| it.path().is_ident("doc")).enumerate() {
        let Meta::NameValue(pair) = &attr.meta else { return None };
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &pair.value else { return None };
        if index > 0 {
            text.push('\n');
        }
        let line = line.value();
        text.push_str(line.strip_prefix(' ').unwrap_or(&line));
    }
    let text = text.trim_ascii();
    // A heading becomes a title.
    if text.starts_with('#') {
        return None;
    }
    Some((!text.is_empty()).then(|| text.to_owned()))
}

/// Whether a type contains itself.
fn mentions(tokens: &TokenStream, ident: &Ident) -> bool {
    tokens.clone().into_iter().any(|it| match it {
        TokenTree::Ident(it) => it == *ident || it == "Self",
        TokenTree::Group(group) => mentions(&group.stream(), ident),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
