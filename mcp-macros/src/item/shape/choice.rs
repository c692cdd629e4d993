//! Enums, in the four representations of serde.

use super::attrs::{Attrs, Tagging};
use super::{Body, Branch, Member, Name, Object, Part, members, plain};
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{Fields, Token};

const VARIANT: &[&str] = &["rename", "rename_all", "alias"];

struct Variant<'a> {
    ident: String,
    name: String,
    attrs: Attrs,
    syntax: &'a syn::Variant,
    /// Whether the enum has `deny_unknown_fields`.
    is_closed: bool,
}

pub(super) fn read<'a>(
    variants: &'a Punctuated<syn::Variant, Token![,]>,
    attrs: &Attrs,
) -> Option<Body<'a>> {
    let tagging = attrs.tagging()?;
    let variants: Vec<_> =
        variants.iter().map(|it| Variant::read(it, attrs)).collect::<Option<_>>()?;
    if variants.is_empty() {
        return None;
    }
    if matches!(tagging, Tagging::External) && variants.iter().all(Variant::is_unit) {
        return names(variants);
    }
    let mut branches = Vec::new();
    let mut others = variants;
    if let Tagging::External = tagging {
        // schemars collects the unit variants without documentation in one list, and puts it first.
        let is_name = |it: &mut Variant<'_>| it.is_unit() && it.attrs.doc.is_none();
        let names: Vec<_> = others.extract_if(.., is_name).map(|it| it.name).collect();
        if !names.is_empty() {
            branches.push(Branch { part: Part::Names(names), description: None });
        }
    }
    for mut variant in others {
        let description = variant.attrs.doc.take();
        branches.push(Branch { part: variant.tagged(&tagging)?, description });
    }
    Some(Body::OneOf(branches))
}

fn names(mut variants: Vec<Variant<'_>>) -> Option<Body<'_>> {
    // The rules for arguments treat an enum whose only variant is documented in another way.
    if let [only] = variants.as_slice()
        && only.attrs.doc.is_some()
    {
        return None;
    }
    // schemars lists a name that two variants share once or twice, depending on their documentation.
    let mut distinct: Vec<_> = variants.iter().map(|it| &it.name).collect();
    distinct.sort();
    if distinct.windows(2).any(|it| it[0] == it[1]) {
        return None;
    }
    let is_default = |it: &&Variant<'_>| {
        it.syntax.attrs.iter().any(|attribute| attribute.path().is_ident("default"))
    };
    let default = variants.iter().find(is_default).map(|it| it.ident.clone());
    // schemars lists the variants without documentation first.
    variants.sort_by_key(|it| it.attrs.doc.is_some());
    let names = variants.into_iter().map(|it| Name {
        variant: it.ident,
        name: it.name,
        description: it.attrs.doc.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")),
    });
    Some(Body::Names { names: names.collect(), default })
}

impl<'a> Variant<'a> {
    fn read(syntax: &'a syn::Variant, container: &Attrs) -> Option<Self> {
        let mut attrs = Attrs::read(&syntax.attrs)?;
        if !attrs.are_only(VARIANT) {
            return None;
        }
        attrs.rename_all = attrs.rename_all.or(container.rename_all_fields);
        let ident = syntax.ident.unraw().to_string();
        let renamed = container.rename_all.map_or_else(|| ident.clone(), |it| it.variant(&ident));
        let name = attrs.rename.take().unwrap_or(renamed);
        Some(Self { ident, name, attrs, syntax, is_closed: container.is_closed })
    }

    fn is_unit(&self) -> bool {
        matches!(self.syntax.fields, Fields::Unit)
    }

    /// Returns the JSON form of the variant's content.
    fn content(&self) -> Option<Part<'a>> {
        Some(match &self.syntax.fields {
            Fields::Unit => Part::Null,
            Fields::Named(_) => Part::Object(Object::new(self.members()?, self.is_closed)?),
            Fields::Unnamed(fields) => match plain(&fields.unnamed)?.as_slice() {
                [only] => Part::Type(only),
                types => Part::Tuple(types.to_vec()),
            },
        })
    }

    fn members(&self) -> Option<Vec<Member<'a>>> {
        match &self.syntax.fields {
            Fields::Named(fields) => members(&fields.named, self.attrs.rename_all),
            _ => Some(Vec::new()),
        }
    }

    fn tagged(self, tagging: &Tagging) -> Option<Part<'a>> {
        let tag = |tag: &String| Member::always(tag.clone(), Part::Names(vec![self.name.clone()]));
        let (members, is_closed) = match tagging {
            Tagging::None => return self.content(),
            Tagging::External if self.is_unit() => return Some(Part::Names(vec![self.name])),
            Tagging::External => (vec![Member::always(self.name.clone(), self.content()?)], true),
            Tagging::Internal(key) => match &self.syntax.fields {
                Fields::Unnamed(fields) => {
                    let types = plain(&fields.unnamed)?;
                    let [ty] = types.as_slice() else { return None };
                    return Some(Part::Tagged { tag: key.clone(), name: self.name, ty });
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
                    members.push(Member::always(content.clone(), self.content()?));
                }
                (members, self.is_closed)
            }
        };
        Some(Part::Object(Object::new(members, is_closed)?))
    }
}
