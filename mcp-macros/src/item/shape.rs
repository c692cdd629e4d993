//! Model of a type with `#[derive(Schema)]`. If the derive does not understand a part of the type, it leaves the whole type to schemars,
//! because a schema without that part would be wrong.

mod attrs;
mod choice;

use crate::item::rename::Rename;
use attrs::Attrs;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Field, Fields, Generics, Ident, Item, ItemEnum, ItemStruct, Path, Token, Type,
};

/// A type whose schema can be a constant, if the schemas of its parts can.
pub(crate) struct Shape<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) generics: &'a Generics,
    pub(crate) root: Option<Path>,
    pub(crate) description: Option<String>,
    pub(crate) body: Body<'a>,
}

pub(crate) enum Body<'a> {
    Part(Part<'a>),
    Newtype(&'a Type),
    Names {
        names: Vec<Name>,
        default: Option<String>,
    },
    /// An enum with data.
    OneOf(Vec<Branch<'a>>),
}

/// JSON form of a type, of a member, or of a variant's content.
pub(crate) enum Part<'a> {
    Null,
    Type(&'a Type),
    Tuple(Vec<&'a Type>),
    Object(Object<'a>),
    /// Names without documentation.
    Names(Vec<String>),
    /// A struct in a variant of an internally tagged enum. The member `tag` with the variant's name is added to its members.
    Tagged {
        tag: String,
        name: String,
        ty: &'a Type,
    },
}

pub(crate) struct Object<'a> {
    /// The members in the order of their declaration.
    pub(crate) members: Vec<Member<'a>>,
    pub(crate) is_closed: bool,
}

pub(crate) struct Member<'a> {
    pub(crate) name: String,
    pub(crate) part: Part<'a>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) is_defaulted: bool,
    pub(crate) is_skipped: bool,
    /// Always present in JSON, even if its type is an `Option`.
    pub(crate) is_always: bool,
}

pub(crate) struct Name {
    pub(crate) variant: String,
    pub(crate) name: String,
    /// Documentation of the variant, on one line.
    pub(crate) description: Option<String>,
}

/// A variant, or all variants that are only a name.
pub(crate) struct Branch<'a> {
    pub(crate) part: Part<'a>,
    pub(crate) description: Option<String>,
}

// Keys that are understood in attributes of serde and schemars: on a struct, on an enum, on a field, and on a field with `skip`.
const STRUCT: &[&str] = &["crate", "rename", "rename_all", "deny_unknown_fields", "transparent"];
const ENUM: &[&str] = &[
    "crate",
    "rename",
    "rename_all",
    "rename_all_fields",
    "deny_unknown_fields",
    "tag",
    "content",
    "untagged",
];
const FIELD: &[&str] =
    &["title", "description", "rename", "alias", "default", "skip_serializing_if"];
const DROPPED: &[&str] = &["skip", "alias", "default"];

/// Returns the path in `#[mcp(crate = "…")]`.
pub(crate) fn root(attrs: &[Attribute]) -> Option<Path> {
    let ours: Vec<Attribute> =
        attrs.iter().filter(|it| it.path().is_ident("mcp")).cloned().collect();
    Attrs::read(&ours)?.root
}

impl<'a> Shape<'a> {
    /// Reads a struct or an enum. Returns `None` for a type that is left to schemars.
    pub(crate) fn read(item: &'a Item) -> Option<Self> {
        match item {
            Item::Struct(item) => Self::of_struct(item),
            Item::Enum(item) => Self::of_enum(item),
            _ => None,
        }
    }

    fn of_struct(item: &'a ItemStruct) -> Option<Self> {
        let attrs = Attrs::read(&item.attrs)?;
        if !attrs.are_only(STRUCT) || !can_be_constant(&item.fields, &item.ident, &item.generics) {
            return None;
        }
        let body = match &item.fields {
            Fields::Named(_) | Fields::Unit if attrs.is_transparent => return None,
            Fields::Named(fields) => {
                let members = members(&fields.named, attrs.rename_all)?;
                Body::Part(Part::Object(Object::new(members, attrs.is_closed)?))
            }
            Fields::Unit => Body::Part(Part::Null),
            Fields::Unnamed(fields) => match plain(&fields.unnamed)?.as_slice() {
                [only] => Body::Newtype(only),
                [_, ..] if attrs.is_transparent => return None,
                types => Body::Part(Part::Tuple(types.to_vec())),
            },
        };
        Self::new(&item.ident, &item.generics, attrs, body)
    }

    fn of_enum(item: &'a ItemEnum) -> Option<Self> {
        let attrs = Attrs::read(&item.attrs)?;
        let mut fields = item.variants.iter().map(|it| &it.fields);
        if !attrs.are_only(ENUM)
            || !fields.all(|it| can_be_constant(it, &item.ident, &item.generics))
        {
            return None;
        }
        let body = choice::read(&item.variants, &attrs)?;
        Self::new(&item.ident, &item.generics, attrs, body)
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

impl<'a> Object<'a> {
    /// Returns `None` if two members have the same name.
    fn new(members: Vec<Member<'a>>, is_closed: bool) -> Option<Self> {
        let mut names: Vec<_> = members.iter().map(|it| &it.name).collect();
        names.sort();
        names.dedup();
        (names.len() == members.len()).then_some(Self { members, is_closed })
    }
}

impl<'a> Member<'a> {
    /// Returns a member that is always present: the tag of a variant, or its content.
    fn always(name: String, part: Part<'a>) -> Self {
        Self {
            name,
            part,
            title: None,
            description: None,
            is_defaulted: false,
            is_skipped: false,
            is_always: true,
        }
    }
}

fn members(
    fields: &Punctuated<Field, Token![,]>,
    rename_all: Option<Rename>,
) -> Option<Vec<Member<'_>>> {
    let members = fields.iter().map(|it| member(it, rename_all)).collect::<Option<Vec<_>>>();
    Some(members?.into_iter().flatten().collect())
}

/// Reads a field. Returns `None` if the field is not understood, and `Some(None)` if it is not part of the JSON form.
fn member(field: &Field, rename_all: Option<Rename>) -> Option<Option<Member<'_>>> {
    let attrs = Attrs::read(&field.attrs)?;
    if attrs.is_dropped && attrs.are_only(DROPPED) {
        return Some(None);
    }
    if !attrs.are_only(FIELD) || !attrs.skips_nothing_but_the_default() {
        return None;
    }
    let ident = field.ident.as_ref()?.unraw().to_string();
    let renamed = rename_all.map_or_else(|| ident.clone(), |it| it.field(&ident));
    Some(Some(Member {
        name: attrs.rename.unwrap_or(renamed),
        part: Part::Type(&field.ty),
        title: attrs.title.filter(|it| !it.is_empty()),
        description: attrs.doc,
        is_defaulted: attrs.is_defaulted,
        is_skipped: attrs.skip.is_some(),
        is_always: false,
    }))
}

/// Returns the types of fields without names, of which there must be at least one. Returns `None` if a field has attributes.
fn plain(fields: &Punctuated<Field, Token![,]>) -> Option<Vec<&Type>> {
    let is_plain = !fields.is_empty() && fields.iter().all(|it| it.attrs.is_empty());
    is_plain.then(|| fields.iter().map(|it| &it.ty).collect())
}

/// Whether a constant can describe the fields of a type. A type that contains itself would make it endless. A generic type adds no depth,
/// so two generic types that contain each other would be endless too: its fields may use no generic types except those of std.
fn can_be_constant(fields: &Fields, ident: &Ident, generics: &Generics) -> bool {
    let is_generic = generics.type_params().next().is_some();
    fields.iter().all(|it| {
        let ty = it.ty.to_token_stream();
        !mentions(&ty, ident) && (!is_generic || !has_foreign_generics(ty))
    })
}

/// Whether a type other than those of std has generic arguments.
fn has_foreign_generics(tokens: TokenStream) -> bool {
    const STD: [&str; 22] = [
        "Option",
        "Vec",
        "Box",
        "Arc",
        "Rc",
        "Mutex",
        "RwLock",
        "Cell",
        "RefCell",
        "Wrapping",
        "Reverse",
        "Cow",
        "VecDeque",
        "LinkedList",
        "BinaryHeap",
        "BTreeSet",
        "HashSet",
        "BTreeMap",
        "HashMap",
        "PhantomData",
        "Result",
        "Bound",
    ];
    let mut is_foreign = false;
    tokens.into_iter().any(|it| match it {
        TokenTree::Ident(it) => {
            is_foreign = !STD.iter().any(|name| it == name);
            false
        }
        TokenTree::Group(group) => has_foreign_generics(group.stream()),
        TokenTree::Punct(it) => match it.as_char() {
            '<' => is_foreign,
            ':' => false,
            _ => {
                is_foreign = false;
                false
            }
        },
        TokenTree::Literal(_) => false,
    })
}

/// Whether the tokens of a field's type name the type itself.
fn mentions(tokens: &TokenStream, ident: &Ident) -> bool {
    tokens.clone().into_iter().any(|it| match it {
        TokenTree::Ident(it) => it == *ident || it == "Self",
        TokenTree::Group(group) => mentions(&group.stream(), ident),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
