//! Model of a type with `#[derive(Schema)]`. If the derive does not understand a part of the type, schemars describes the whole type,
//! because a schema without that part would be wrong.

use super::schema_attrs::{Attrs, Rename, Tagging};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Generics, Ident, Path, Token, Type};

/// Type whose schema is a constant, provided that the schemas of its parts are constants.
pub(crate) struct SchemaType<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) generics: &'a Generics,
    pub(crate) root: Option<Path>,
    pub(crate) description: Option<String>,
    pub(crate) body: SchemaBody<'a>,
}

pub(crate) enum SchemaBody<'a> {
    Part(JsonPart<'a>),
    Newtype(&'a Type),
    Names {
        names: Vec<VariantName>,
        default: Option<String>,
    },
    /// An enum with data.
    OneOf(Vec<Branch<'a>>),
}

/// JSON form of a type, of a member, or of a variant's content.
pub(crate) enum JsonPart<'a> {
    Null,
    Type(&'a Type),
    Tuple(Vec<&'a Type>),
    Object(JsonObject<'a>),
    /// Names without documentation.
    Names(Vec<String>),
    /// Struct in a variant of an internally tagged enum. Its JSON form also has the member `tag`, whose value is the name of the variant.
    Tagged {
        tag: String,
        name: String,
        ty: &'a Type,
    },
}

pub(crate) struct JsonObject<'a> {
    /// The members in the order of their declaration.
    pub(crate) members: Vec<JsonMember<'a>>,
    pub(crate) is_closed: bool,
}

pub(crate) struct JsonMember<'a> {
    pub(crate) name: String,
    pub(crate) part: JsonPart<'a>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) is_defaulted: bool,
    pub(crate) is_skipped: bool,
    /// Whether the member is always present in JSON, even if its type is an `Option`.
    pub(crate) is_always: bool,
}

pub(crate) struct VariantName {
    pub(crate) variant: String,
    pub(crate) name: String,
    /// Documentation of the variant, on one line.
    pub(crate) description: Option<String>,
}

/// One variant, or the group of all unit variants without documentation.
pub(crate) struct Branch<'a> {
    pub(crate) part: JsonPart<'a>,
    pub(crate) description: Option<String>,
}

// Supported keys of serde and schemars on a struct, an enum, a field, a field with `skip`, and a variant.
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
const VARIANT: &[&str] = &["rename", "rename_all", "alias"];

/// Returns the path in `#[mcp(crate = "…")]`.
pub(crate) fn root(attrs: &[Attribute]) -> Option<Path> {
    let ours: Vec<Attribute> =
        attrs.iter().filter(|attr| attr.path().is_ident("mcp")).cloned().collect();
    Attrs::read(&ours)?.root
}

impl<'a> SchemaType<'a> {
    /// Reads a struct or an enum. Returns `None` for a type that schemars has to describe.
    pub(crate) fn read(item: &'a DeriveInput) -> Option<Self> {
        match &item.data {
            Data::Struct(data) => Self::of_struct(item, &data.fields),
            Data::Enum(data) => Self::of_enum(item, &data.variants),
            Data::Union(_) => None,
        }
    }

    fn of_struct(item: &'a DeriveInput, fields: &'a Fields) -> Option<Self> {
        let attrs = Attrs::read(&item.attrs)?;
        if !attrs.are_only(STRUCT) || !can_be_constant(fields, &item.ident, &item.generics) {
            return None;
        }
        let body = match fields {
            Fields::Named(_) | Fields::Unit if attrs.is_transparent => return None,
            Fields::Named(fields) => {
                let members = members(&fields.named, attrs.rename_all)?;
                SchemaBody::Part(JsonPart::Object(JsonObject::new(members, attrs.is_closed)?))
            }
            Fields::Unit => SchemaBody::Part(JsonPart::Null),
            Fields::Unnamed(fields) => match plain(&fields.unnamed)?.as_slice() {
                [only] => SchemaBody::Newtype(only),
                [_, ..] if attrs.is_transparent => return None,
                types => SchemaBody::Part(JsonPart::Tuple(types.to_vec())),
            },
        };
        Self::new(&item.ident, &item.generics, attrs, body)
    }

    fn of_enum(
        item: &'a DeriveInput,
        variants: &'a Punctuated<syn::Variant, Token![,]>,
    ) -> Option<Self> {
        let attrs = Attrs::read(&item.attrs)?;
        let mut fields = variants.iter().map(|variant| &variant.fields);
        if !attrs.are_only(ENUM)
            || !fields.all(|field| can_be_constant(field, &item.ident, &item.generics))
        {
            return None;
        }
        let body = enum_body(variants, &attrs)?;
        Self::new(&item.ident, &item.generics, attrs, body)
    }

    fn new(
        ident: &'a Ident,
        generics: &'a Generics,
        attrs: Attrs,
        body: SchemaBody<'a>,
    ) -> Option<Self> {
        (generics.const_params().next().is_none()).then_some(Self {
            ident,
            generics,
            root: attrs.root,
            description: attrs.doc,
            body,
        })
    }
}

impl<'a> JsonObject<'a> {
    /// Returns `None` if two members have the same name.
    fn new(members: Vec<JsonMember<'a>>, is_closed: bool) -> Option<Self> {
        let mut names: Vec<_> = members.iter().map(|member| &member.name).collect();
        names.sort();
        names.dedup();
        (names.len() == members.len()).then_some(Self { members, is_closed })
    }
}

impl<'a> JsonMember<'a> {
    /// Returns a member that is always present: the tag of a variant, or its content.
    fn always(name: String, part: JsonPart<'a>) -> Self {
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
) -> Option<Vec<JsonMember<'_>>> {
    let members = fields.iter().map(|field| member(field, rename_all)).collect::<Option<Vec<_>>>();
    Some(members?.into_iter().flatten().collect())
}

/// Reads a field. Returns `None` if the derive does not understand the field, and `Some(None)` if the JSON form omits the field.
fn member(field: &Field, rename_all: Option<Rename>) -> Option<Option<JsonMember<'_>>> {
    let attrs = Attrs::read(&field.attrs)?;
    if attrs.is_dropped && attrs.are_only(DROPPED) {
        return Some(None);
    }
    if !attrs.are_only(FIELD) || !attrs.skips_nothing_but_the_default() {
        return None;
    }
    let ident = field.ident.as_ref()?.unraw().to_string();
    let renamed = rename_all.map_or_else(|| ident.clone(), |rename_all| rename_all.field(&ident));
    Some(Some(JsonMember {
        name: attrs.rename.unwrap_or(renamed),
        part: JsonPart::Type(&field.ty),
        title: attrs.title.filter(|title| !title.is_empty()),
        description: attrs.doc,
        is_defaulted: attrs.is_defaulted,
        is_skipped: attrs.skip.is_some(),
        is_always: false,
    }))
}

/// Returns the types of fields without names. Returns `None` if there are no fields, or if a field has attributes.
fn plain(fields: &Punctuated<Field, Token![,]>) -> Option<Vec<&Type>> {
    let is_plain = !fields.is_empty() && fields.iter().all(|field| field.attrs.is_empty());
    is_plain.then(|| fields.iter().map(|field| &field.ty).collect())
}

/// Whether a constant can describe the fields of a type. The constant of a type that contains itself would be infinite. Generic types do
/// not count towards the maximum depth, so the constants of two generic types that contain each other would be infinite too. Therefore the
/// fields of a generic type may use no generic types except those of std.
fn can_be_constant(fields: &Fields, ident: &Ident, generics: &Generics) -> bool {
    let is_generic = generics.type_params().next().is_some();
    fields.iter().all(|field| {
        let ty = field.ty.to_token_stream();
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
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => {
            is_foreign = !STD.iter().any(|name| ident == name);
            false
        }
        TokenTree::Group(group) => has_foreign_generics(group.stream()),
        TokenTree::Punct(punct) => match punct.as_char() {
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
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(other) => other == *ident || other == "Self",
        TokenTree::Group(group) => mentions(&group.stream(), ident),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Variant of an enum, independent of the enum's representation.
struct Variant<'a> {
    ident: String,
    name: String,
    attrs: Attrs,
    syntax: &'a syn::Variant,
    /// Whether the enum has `deny_unknown_fields`.
    is_closed: bool,
}

/// Reads the variants of an enum, in one of the four representations of serde.
fn enum_body<'a>(
    variants: &'a Punctuated<syn::Variant, Token![,]>,
    attrs: &Attrs,
) -> Option<SchemaBody<'a>> {
    let tagging = attrs.tagging()?;
    let variants: Vec<_> =
        variants.iter().map(|variant| Variant::read(variant, attrs)).collect::<Option<_>>()?;
    if variants.is_empty() {
        return None;
    }
    if matches!(tagging, Tagging::External) && variants.iter().all(Variant::is_unit) {
        return names(variants);
    }
    let mut branches = Vec::new();
    let mut others = variants;
    if let Tagging::External = tagging {
        // schemars puts the unit variants without documentation into one list, which comes first, so they form the first branch.
        let is_name = |variant: &mut Variant<'_>| variant.is_unit() && variant.attrs.doc.is_none();
        let names: Vec<_> = others.extract_if(.., is_name).map(|variant| variant.name).collect();
        if !names.is_empty() {
            branches.push(Branch { part: JsonPart::Names(names), description: None });
        }
    }
    for mut variant in others {
        let description = variant.attrs.doc.take();
        branches.push(Branch { part: variant.tagged(&tagging)?, description });
    }
    Some(SchemaBody::OneOf(branches))
}

fn names(mut variants: Vec<Variant<'_>>) -> Option<SchemaBody<'_>> {
    // The rules for the schema of an argument treat an enum with a single, documented variant as an exception, so schemars describes such
    // an enum.
    if let [only] = variants.as_slice()
        && only.attrs.doc.is_some()
    {
        return None;
    }
    // If two variants share a name, schemars lists the name once or twice, depending on their documentation. It therefore describes such an
    // enum itself.
    let mut distinct: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    distinct.sort();
    if distinct.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    let is_default = |variant: &&Variant<'_>| {
        variant.syntax.attrs.iter().any(|attribute| attribute.path().is_ident("default"))
    };
    let default = variants.iter().find(is_default).map(|variant| variant.ident.clone());
    // Moves the variants without documentation to the front, because schemars lists them first.
    variants.sort_by_key(|variant| variant.attrs.doc.is_some());
    let names = variants.into_iter().map(|variant| VariantName {
        variant: variant.ident,
        name: variant.name,
        description: variant
            .attrs
            .doc
            .map(|doc| doc.split_whitespace().collect::<Vec<_>>().join(" ")),
    });
    Some(SchemaBody::Names { names: names.collect(), default })
}

impl<'a> Variant<'a> {
    fn read(syntax: &'a syn::Variant, container: &Attrs) -> Option<Self> {
        let mut attrs = Attrs::read(&syntax.attrs)?;
        if !attrs.are_only(VARIANT) {
            return None;
        }
        attrs.rename_all = attrs.rename_all.or(container.rename_all_fields);
        let ident = syntax.ident.unraw().to_string();
        let renamed = container
            .rename_all
            .map_or_else(|| ident.clone(), |rename_all| rename_all.variant(&ident));
        let name = attrs.rename.take().unwrap_or(renamed);
        Some(Self { ident, name, attrs, syntax, is_closed: container.is_closed })
    }

    fn is_unit(&self) -> bool {
        matches!(self.syntax.fields, Fields::Unit)
    }

    /// Returns the JSON form of the variant's content.
    fn content(&self) -> Option<JsonPart<'a>> {
        Some(match &self.syntax.fields {
            Fields::Unit => JsonPart::Null,
            Fields::Named(_) => JsonPart::Object(JsonObject::new(self.members()?, self.is_closed)?),
            Fields::Unnamed(fields) => match plain(&fields.unnamed)?.as_slice() {
                [only] => JsonPart::Type(only),
                types => JsonPart::Tuple(types.to_vec()),
            },
        })
    }

    fn members(&self) -> Option<Vec<JsonMember<'a>>> {
        match &self.syntax.fields {
            Fields::Named(fields) => members(&fields.named, self.attrs.rename_all),
            _ => Some(Vec::new()),
        }
    }

    fn tagged(self, tagging: &Tagging) -> Option<JsonPart<'a>> {
        let tag = |tag: &String| {
            JsonMember::always(tag.clone(), JsonPart::Names(vec![self.name.clone()]))
        };
        let (members, is_closed) = match tagging {
            Tagging::None => return self.content(),
            Tagging::External if self.is_unit() => return Some(JsonPart::Names(vec![self.name])),
            Tagging::External => {
                (vec![JsonMember::always(self.name.clone(), self.content()?)], true)
            }
            Tagging::Internal(key) => match &self.syntax.fields {
                Fields::Unnamed(fields) => {
                    let types = plain(&fields.unnamed)?;
                    let [ty] = types.as_slice() else { return None };
                    return Some(JsonPart::Tagged { tag: key.clone(), name: self.name, ty });
                }
                _ => {
                    let mut members = self.members()?;
                    members.insert(0, tag(key));
                    (members, self.is_closed)
                }
            },
            Tagging::Adjacent(key, content) => {
                let mut members = vec![tag(key)];
                if !self.is_unit() {
                    // Serde reads the variant without its content if the content is an `Option`.
                    let content = JsonMember::always(content.clone(), self.content()?);
                    members.push(JsonMember { is_always: false, ..content });
                }
                (members, self.is_closed)
            }
        };
        Some(JsonPart::Object(JsonObject::new(members, is_closed)?))
    }
}
