//! `rename_all`, with the same results as in serde.

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
