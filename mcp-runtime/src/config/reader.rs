//! The reader that describes the fields of a struct, or finds their values. It looks at the command line first, and then at the
//! environment.

use std::{borrow::Borrow, collections::BTreeMap, ffi::OsString, fmt};

use crate::{call::context::States, item::SourceLocation};

/// Closure that inserts a struct into the state of the server.
pub(super) type ConfigInsert = Box<dyn FnOnce(&mut States) + Send>;

/// Texts that were given on the command line, by the name of their option.
pub(crate) type GivenValues = BTreeMap<String, Vec<String>>;

/// Source of the values of all fields.
pub(super) struct ConfigSource<'a> {
    /// Values of the command line. `None` if the server has none.
    pub(super) given: Option<&'a GivenValues>,
    pub(super) environment: &'a dyn Fn(&str) -> Option<OsString>,
}

/// Field of a struct with `#[config]`.
#[derive(Clone, Debug)]
pub struct ConfigField {
    /// Name in the source.
    name: &'static str,
    /// Name of the option, without the dashes.
    pub(crate) option: &'static str,
    line: u32,
    /// First line of the doc comment, or an empty text.
    pub(crate) about: &'static str,
    /// Name of the variable, in place of the one that follows from the name of the option.
    variable: Option<&'static str>,
    /// Default as it is written in the source. `None` if there is none, or if users would not understand the expression.
    pub(crate) default: Option<&'static str>,
    /// Whether there is a default.
    pub(crate) has_default: bool,
    pub(crate) is_secret: bool,
    /// Members that the type of the field decides.
    pub(super) shape: ConfigShape,
    pub(super) element: String,
    /// Names of all values, if the type is an enum with `#[data]`.
    pub(crate) choices: Vec<&'static str>,
    pub(crate) is_path: bool,
    /// Target of the path, if the author has named it.
    pub(crate) path: ConfigPath,
    pub(crate) is_required: bool,
}

/// Target of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigPath {
    Unknown,
    File,
    Directory,
}

/// Number of values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigShape {
    Single,
    /// An option without a value means `true`.
    Flag,
    Optional,
    List,
}

impl ConfigField {
    pub const fn new(name: &'static str, option: &'static str, line: u32) -> Self {
        Self {
            name,
            option,
            line,
            about: "",
            variable: None,
            default: None,
            has_default: false,
            is_secret: false,
            shape: ConfigShape::Single,
            element: String::new(),
            choices: Vec::new(),
            is_path: false,
            path: ConfigPath::Unknown,
            is_required: false,
        }
    }

    /// Sets the text in the help.
    #[must_use]
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Sets the name of the environment variable.
    #[must_use]
    pub const fn variable(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }

    /// Sets the text of the default in the help.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// Never shows the value.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// Says that the value is the path of a file.
    #[must_use]
    pub const fn file(mut self) -> Self {
        self.path = ConfigPath::File;
        self
    }

    /// Says that the value is the path of a directory.
    #[must_use]
    pub const fn directory(mut self) -> Self {
        self.path = ConfigPath::Directory;
        self
    }

    /// Returns the name of the environment variable.
    pub(super) fn variable_after(&self, prefix: &str) -> String {
        self.variable
            .map_or_else(|| format!("{prefix}_{}", upper_snake(self.option)), str::to_owned)
    }

    /// Returns the option with a word for its value, such as `--root ROOT`.
    pub(crate) fn usage(&self) -> String {
        match self.shape {
            ConfigShape::Flag => format!("--{}", self.option),
            _ => format!("--{} {}", self.option, upper_snake(self.option)),
        }
    }

    /// Returns the field with its place in the source.
    pub(super) fn place(&self, origin: &SourceLocation) -> String {
        format!("`{}` at {}:{}", self.name, origin.file, self.line)
    }
}

/// Returns a name in the form of environment variables: upper-case letters, digits and `_`.
pub(super) fn upper_snake(name: &str) -> String {
    name.chars()
        .map(
            |letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' },
        )
        .collect()
}

/// Joins names, such as "a, b or c".
pub(super) fn alternatives(names: &[impl Borrow<str>]) -> String {
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} or {}", rest.join(", "), last.borrow()),
        _ => names.join(""),
    }
}

/// Whether the text of a variable is a value. An empty text is not, and a placeholder is not: `<VARIABLE>` in the entry of a client, or
/// `${user_config.KEY}`, which a client leaves if the user of a bundle has chosen no value.
pub(crate) fn is_chosen(text: &str, variable: &str) -> bool {
    let name = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    !text.is_empty() && name != Some(variable) && !is_unchosen(text)
}

/// Whether a text is a placeholder of the manifest of a bundle, which a client leaves if its user has chosen no value.
pub(crate) fn is_unchosen(text: &str) -> bool {
    text.strip_prefix("${user_config.").is_some_and(|rest| rest.ends_with('}'))
}

/// Texts for a field.
pub(super) enum FoundTexts {
    /// The reader only describes fields.
    Described,
    /// There is a text that is no value of any type, and the reader has reported it.
    Reported,
    None,
    Texts {
        texts: Vec<String>,
        /// Option or variable that has given the texts.
        source: String,
    },
}

/// Text that is no value of the type of its field.
pub(super) struct UnreadableText {
    pub(super) text: String,
    pub(super) why: String,
}

/// Reason why a field has no value.
pub(super) struct ConfigProblem {
    pub(super) text: String,
    pub(super) is_missing: bool,
}

/// Reader of one struct with `#[config]`. Generated code hands each field to it.
pub struct ConfigReader<'a> {
    origin: SourceLocation,
    prefix: String,
    /// Source of the values. `None` if the reader only describes fields.
    source: Option<&'a ConfigSource<'a>>,
    pub(super) fields: Vec<ConfigField>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) made: Option<ConfigInsert>,
}

impl fmt::Debug for ConfigReader<'_> {
    /// Writes no values, because some are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigReader").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl<'a> ConfigReader<'a> {
    pub(super) fn new(
        origin: SourceLocation,
        prefix: String,
        source: Option<&'a ConfigSource<'a>>,
    ) -> Self {
        let (fields, problems) = (Vec::new(), Vec::new());
        Self { origin, prefix, source, fields, problems, made: None }
    }

    /// Returns the texts that are given for a field.
    pub(super) fn find(&mut self, field: &ConfigField) -> FoundTexts {
        let Some(source) = self.source else {
            self.fields.push(field.clone());
            return FoundTexts::Described;
        };
        if let Some(texts) = source.given.and_then(|given| given.get(field.option)) {
            return FoundTexts::Texts {
                texts: texts.clone(),
                source: format!("the option `--{}`", field.option),
            };
        }
        let variable = field.variable_after(&self.prefix);
        let text = (source.environment)(&variable)
            .filter(|text| text.to_str().is_none_or(|text| is_chosen(text, &variable)));
        match text.map(OsString::into_string) {
            None => FoundTexts::None,
            Some(Err(_)) => {
                self.not_unicode(field, &variable);
                FoundTexts::Reported
            }
            Some(Ok(text)) => {
                let texts = match field.shape {
                    ConfigShape::List => {
                        let texts = text.split(',').map(str::trim);
                        texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
                    }
                    _ => vec![text],
                };
                FoundTexts::Texts { texts, source: format!("the variable `{variable}`") }
            }
        }
    }

    fn not_unicode(&mut self, field: &ConfigField, variable: &str) {
        let (place, fix) = (field.place(&self.origin), self.fix(field));
        let text =
            format!("{place} has no value, because the variable `{variable}` is not UTF-8: {fix}");
        self.problems.push(ConfigProblem { text, is_missing: false });
    }

    pub(super) fn missing(&mut self, field: &ConfigField) {
        let (place, fix) = (field.place(&self.origin), self.fix(field));
        let text = format!("{place} has no value: {fix}");
        self.problems.push(ConfigProblem { text, is_missing: true });
    }

    /// Reports a text that is no value of the field. The text of a secret is not shown, and neither is the error of its parser, which may
    /// contain the text.
    pub(super) fn unreadable(&mut self, field: &ConfigField, source: String, why: &UnreadableText) {
        let (place, fix) = (field.place(&self.origin), self.fix(field));
        let text = &why.text;
        let text = match field.is_secret {
            true => {
                let expected = match field.choices.is_empty() && number(&field.element).is_none() {
                    true => format!("a valid `{}`", field.element),
                    false => field.expected(ConfigShape::Single),
                };
                format!(
                    "{place}: the value of {source} is not {expected}; it is not shown, because it is secret: {fix}"
                )
            }
            // The errors of these parsers do not name the range.
            false if number(&field.element).is_some() => {
                let (expected, places) = (field.expected(ConfigShape::Single), self.places(field));
                format!(
                    "{place} cannot be `{text}`, which {source} gives: expected {expected} in {places}"
                )
            }
            false => {
                let why = &why.why;
                format!("{place} cannot be `{text}`, which {source} gives ({why}): {fix}")
            }
        };
        self.problems.push(ConfigProblem { text, is_missing: false });
    }

    /// Returns the ways to give a value, and its type.
    fn fix(&self, field: &ConfigField) -> String {
        format!("set {} to {}", self.places(field), field.expected(field.shape))
    }

    /// Returns the option and the variable of a field.
    fn places(&self, field: &ConfigField) -> String {
        let variable = field.variable_after(&self.prefix);
        let has_options = self.source.is_some_and(|source| source.given.is_some());
        let option = match has_options {
            true => format!("the option `{}` or ", field.usage()),
            false => String::new(),
        };
        format!("{option}the variable `{variable}`")
    }
}

impl ConfigField {
    /// Returns the description of the values of the field: of one value, or of several for a list.
    fn expected(&self, shape: ConfigShape) -> String {
        let names: Vec<_> = self.choices.iter().map(|name| format!("`{name}`")).collect();
        match (&*names, number(&self.element), shape) {
            ([], Some((noun, range)), ConfigShape::List) => {
                format!("{noun}s{range}, separated by commas")
            }
            ([], Some((noun, range)), _) => format!("a {noun}{range}"),
            ([], None, ConfigShape::List) => {
                format!("values of type `{}`, separated by commas", self.element)
            }
            ([], None, _) => format!("a value of type `{}`", self.element),
            (_, _, ConfigShape::List) => {
                format!("some of {}, separated by commas", alternatives(&names))
            }
            _ => alternatives(&names),
        }
    }
}

/// Returns the noun for the values of a numeric type, and their range, such as "whole number" and " from 0 to 255". Users of a server need
/// not know the types of Rust. `None` for other types.
fn number(element: &str) -> Option<(&'static str, String)> {
    macro_rules! numbers {
        ($($integer:ident)*) => {
            match element {
                $(
                    stringify!($integer) => {
                        ("whole number", format!(" from {} to {}", $integer::MIN, $integer::MAX))
                    }
                )*
                "f32" | "f64" => ("number", String::new()),
                _ => return None,
            }
        };
    }
    Some(numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_described_by_its_range() {
        let expected = |element: &str, shape| {
            let mut field = ConfigField::new("retries", "retries", 1);
            field.element = element.to_owned();
            field.expected(shape)
        };
        assert_eq!(expected("u8", ConfigShape::Single), "a whole number from 0 to 255");
        assert_eq!(expected("i16", ConfigShape::Optional), "a whole number from -32768 to 32767");
        assert_eq!(
            expected("i8", ConfigShape::List),
            "whole numbers from -128 to 127, separated by commas"
        );
        assert_eq!(expected("f64", ConfigShape::Single), "a number");
        assert_eq!(expected("NonZero<u8>", ConfigShape::Single), "a value of type `NonZero<u8>`");
    }
}
