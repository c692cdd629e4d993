//! Attributes of a type with `#[derive(Schema)]`, of its fields and its variants. `rename_all` results in the same names as in serde.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path};

/// Supported keys of serde, schemars and `#[mcp]`, and the doc comment.
#[derive(Default)]
pub(super) struct Attrs {
    pub(super) title: Option<String>,
    /// Value of `#[schemars(description = …)]`, otherwise the doc comment.
    pub(super) doc: Option<String>,
    pub(super) root: Option<Path>,
    pub(super) rename: Option<String>,
    pub(super) rename_all: Option<Rename>,
    pub(super) rename_all_fields: Option<Rename>,
    pub(super) is_closed: bool,
    pub(super) is_transparent: bool,
    pub(super) is_defaulted: bool,
    pub(super) is_dropped: bool,
    /// Path of the function in `skip_serializing_if`.
    pub(super) skip: Option<String>,
    is_untagged: bool,
    tag: Option<String>,
    content: Option<String>,
    /// All keys of serde and schemars that are set.
    keys: Vec<String>,
}

/// Representation of an enum, which determines how serde tells the variants apart.
pub(super) enum Tagging {
    External,
    Internal(String),
    Adjacent(String, String),
    None,
}

impl Attrs {
    /// Reads the attributes. Returns `None` if one of them is not understood.
    pub(super) fn read(attrs: &[Attribute]) -> Option<Self> {
        let mut read = Self::default();
        for attr in attrs {
            let path = attr.path();
            if path.is_ident("mcp") {
                attr.parse_nested_meta(|meta| read.root(&meta)).ok()?;
            } else if path.is_ident("serde") {
                attr.parse_nested_meta(|meta| read.key(&meta)).ok()?;
            } else if path.is_ident("schemars") {
                attr.parse_nested_meta(|meta| read.schemars_key(&meta)).ok()?;
            } else if ["deprecated", "validate", "garde"].iter().any(|name| path.is_ident(name)) {
                return None;
            }
        }
        let doc = doc(attrs)?;
        read.doc = read.doc.take().or(doc);
        Some(read)
    }

    fn root(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        self.root = Some(meta.value()?.parse::<LitStr>()?.parse()?);
        Ok(())
    }

    fn schemars_key(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let text = meta.value()?.parse::<LitStr>()?.value();
        match key.as_str() {
            "crate" => {}
            "title" => self.title = Some(text),
            "description" => self.doc = Some(text),
            _ => return Err(meta.error("")),
        }
        self.keys.push(key);
        Ok(())
    }

    fn key(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let text = || meta.value()?.parse::<LitStr>().map(|text| text.value());
        let rule = || Rename::read(&text()?).ok_or_else(|| meta.error(""));
        match key.as_str() {
            // The path of serde does not matter for the schema.
            "crate" => drop(text()?),
            "rename" => self.rename = Some(text()?),
            "rename_all" => self.rename_all = Some(rule()?),
            "rename_all_fields" => self.rename_all_fields = Some(rule()?),
            "tag" => self.tag = Some(text()?),
            "content" => self.content = Some(text()?),
            "untagged" => self.is_untagged = true,
            "deny_unknown_fields" => self.is_closed = true,
            "transparent" => self.is_transparent = true,
            "default" if !meta.input.peek(syn::Token![=]) => self.is_defaulted = true,
            "skip" => self.is_dropped = true,
            "skip_serializing_if" => self.skip = Some(text()?),
            "alias" => drop(text()?),
            _ => return Err(meta.error("")),
        }
        self.keys.push(key);
        Ok(())
    }

    /// Whether all keys that are set are among `keys`.
    pub(super) fn are_only(&self, keys: &[&str]) -> bool {
        self.keys.iter().all(|key| keys.contains(&key.as_str()))
    }

    /// Whether `skip_serializing_if` is known to skip a field only if the field has its default value. Also `true` for a field without a
    /// default.
    pub(super) fn skips_nothing_but_the_default(&self) -> bool {
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
        !self.is_defaulted || self.skip.as_deref().is_none_or(|skip| EMPTY.contains(&skip))
    }

    /// Returns the representation of the enum, or `None` if the keys contradict each other.
    pub(super) fn tagging(&self) -> Option<Tagging> {
        match (self.is_untagged, &self.tag, &self.content) {
            (true, None, None) => Some(Tagging::None),
            (false, None, None) => Some(Tagging::External),
            (false, Some(tag), None) => Some(Tagging::Internal(tag.clone())),
            (false, Some(tag), Some(content)) if tag != content => {
                Some(Tagging::Adjacent(tag.clone(), content.clone()))
            }
            _ => None,
        }
    }
}

/// Returns the documentation as schemars reads it. The outer `None` means that the documentation is not plain text. The inner `None` means
/// that there is none.
fn doc(attrs: &[Attribute]) -> Option<Option<String>> {
    let mut text = String::new();
    for (index, attr) in attrs.iter().filter(|attr| attr.path().is_ident("doc")).enumerate() {
        let Meta::NameValue(pair) = &attr.meta else { return None };
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &pair.value else { return None };
        if index > 0 {
            text.push('\n');
        }
        let line = line.value();
        text.push_str(line.strip_prefix(' ').unwrap_or(&line));
    }
    let text = text.trim_ascii();
    // schemars turns a heading into a title, so text with a heading is left to schemars.
    if text.starts_with('#') {
        return None;
    }
    Some((!text.is_empty()).then(|| text.to_owned()))
}

/// Rule for the case of names.
#[derive(Clone, Copy)]
pub(crate) enum Rename {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Rename {
    pub(crate) fn read(text: &str) -> Option<Self> {
        Some(match text {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => return None,
        })
    }

    /// Renames a variant, whose name is `PascalCase`.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => small_first(name),
            Self::Snake => {
                let mut snake = String::new();
                for (index, char) in name.char_indices() {
                    if index > 0 && char.is_uppercase() {
                        snake.push('_');
                    }
                    snake.push(char.to_ascii_lowercase());
                }
                snake
            }
            Self::ScreamingSnake => Self::Snake.variant(name).to_ascii_uppercase(),
            Self::Kebab => Self::Snake.variant(name).replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.variant(name).replace('_', "-"),
        }
    }

    /// Renames a field, whose name is `snake_case`.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => {
                let mut pascal = String::new();
                let mut is_first = true;
                for char in name.chars() {
                    if char == '_' {
                        is_first = true;
                    } else if is_first {
                        pascal.push(char.to_ascii_uppercase());
                        is_first = false;
                    } else {
                        pascal.push(char);
                    }
                }
                pascal
            }
            Self::Camel => small_first(&Self::Pascal.field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.field(name).replace('_', "-"),
        }
    }
}

fn small_first(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + chars.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_as_in_serde() {
        let check = |rule: &str, variant: &str, field: &str| {
            let rule = Rename::read(rule).unwrap();
            assert_eq!(rule.variant("VeryTasty"), variant);
            assert_eq!(rule.field("very_tasty"), field);
        };
        check("lowercase", "verytasty", "very_tasty");
        check("UPPERCASE", "VERYTASTY", "VERY_TASTY");
        check("PascalCase", "VeryTasty", "VeryTasty");
        check("camelCase", "veryTasty", "veryTasty");
        check("snake_case", "very_tasty", "very_tasty");
        check("SCREAMING_SNAKE_CASE", "VERY_TASTY", "VERY_TASTY");
        check("kebab-case", "very-tasty", "very-tasty");
        check("SCREAMING-KEBAB-CASE", "VERY-TASTY", "VERY-TASTY");
        assert!(Rename::read("Title Case").is_none());
    }
}
