//! Parsers of the types of fields. Method look-up on a [`ConfigProbe`] selects the parser of a type, because an attribute does
//! not know the traits that a type implements. `FromStr` comes first, then `#[data]` on an enum, which [`ChoiceProbe`] finds.

use std::{
    any::{TypeId, type_name},
    fmt::Display,
    marker::PhantomData,
    ops::Deref,
    path::PathBuf,
    str::FromStr,
};

use mcp_runtime_contract::suggest::nearest;
use serde::de::DeserializeOwned;

use super::reader::{
    ConfigField, ConfigPath, ConfigReader, ConfigShape, FoundTexts, UnreadableText,
};
use crate::{
    call::read::{
        introspect::{name_of, values_of},
        text,
    },
    schema::constant::short,
};

/// Types that a field of a struct with `#[config]` can have.
#[diagnostic::on_unimplemented(
    message = "a text cannot become `{Self}`, so it cannot be a field of a `#[config]`",
    label = "does not implement `FromStr`",
    note = "take `String`, `PathBuf`, `bool` or a number, or put `#[data]` on an enum whose variants have no fields",
    note = "or write `impl std::str::FromStr` for your type, with an error that implements `Display`",
    note = "`Option<T>` is a value that can be absent, and `Vec<T>` an option that can be repeated"
)]
pub trait ConfigValue {}

#[diagnostic::do_not_recommend]
impl<T: FromStr<Err: Display>> ConfigValue for T {}

/// Enum whose variants have no fields. `#[data]` implements it. A text of the configuration is the name of a variant, as clients know it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of values",
    label = "not an enum with `#[data]` whose variants have no fields",
    note = "put `#[data]` on an enum whose variants have no fields"
)]
pub trait ConfigChoice {}

/// Selects the parser of a type.
#[derive(Debug)]
pub struct ConfigProbe<T>(ChoiceProbe<T>);

/// Selects the parser of a type without `FromStr`. Method look-up tries this type last, because a [`ConfigProbe`] dereferences to it.
#[derive(Debug)]
pub struct ChoiceProbe<T>(PhantomData<T>);

impl<T> ConfigProbe<T> {
    #[allow(clippy::new_without_default, reason = "only generated code creates it")]
    pub fn new() -> Self {
        Self(ChoiceProbe(PhantomData))
    }
}

impl<T> Deref for ConfigProbe<T> {
    type Target = ChoiceProbe<T>;

    fn deref(&self) -> &ChoiceProbe<T> {
        &self.0
    }
}

impl ConfigProbe<bool> {
    pub fn parser(self) -> ConfigParser<bool> {
        ConfigParser {
            shape: ConfigShape::Flag,
            element: ElementType::of::<bool>(),
            absent: Some(|| false),
            parse: |texts| last(texts, flag),
            named: None,
        }
    }
}

impl<T: FromStr<Err: Display> + 'static> ConfigProbe<Option<T>> {
    pub fn parser(self) -> ConfigParser<Option<T>> {
        ConfigParser {
            shape: ConfigShape::Optional,
            element: ElementType::of::<T>(),
            absent: Some(|| None),
            parse: |texts| last(texts, one).map(Some),
            named: None,
        }
    }
}

impl<T: FromStr<Err: Display> + 'static> ConfigProbe<Vec<T>> {
    pub fn parser(self) -> ConfigParser<Vec<T>> {
        ConfigParser {
            shape: ConfigShape::List,
            element: ElementType::of::<T>(),
            absent: Some(Vec::new),
            parse: |texts| texts.iter().map(|text| one(text)).collect(),
            named: None,
        }
    }
}

/// Level for all other types that implement `FromStr`.
pub trait ConfigValueLevel<T> {
    fn parser(self) -> ConfigParser<T>;
}

impl<T: FromStr<Err: Display> + 'static> ConfigValueLevel<T> for ConfigProbe<T> {
    fn parser(self) -> ConfigParser<T> {
        ConfigParser {
            shape: ConfigShape::Single,
            element: ElementType::of::<T>(),
            absent: None,
            parse: |texts| last(texts, one),
            named: None,
        }
    }
}

impl<T: ConfigChoice + DeserializeOwned + 'static> ChoiceProbe<T> {
    pub fn parser(&self) -> ConfigParser<T> {
        ConfigParser {
            shape: ConfigShape::Single,
            element: ElementType::of_choice::<T>(),
            absent: None,
            parse: |texts| last(texts, choice),
            named: Some(name_of),
        }
    }
}

impl<T: ConfigChoice + DeserializeOwned + 'static> ChoiceProbe<Option<T>> {
    pub fn parser(&self) -> ConfigParser<Option<T>> {
        ConfigParser {
            shape: ConfigShape::Optional,
            element: ElementType::of_choice::<T>(),
            absent: Some(|| None),
            parse: |texts| last(texts, choice).map(Some),
            named: None,
        }
    }
}

impl<T: ConfigChoice + DeserializeOwned + 'static> ChoiceProbe<Vec<T>> {
    pub fn parser(&self) -> ConfigParser<Vec<T>> {
        ConfigParser {
            shape: ConfigShape::List,
            element: ElementType::of_choice::<T>(),
            absent: Some(Vec::new),
            parse: |texts| texts.iter().map(|text| choice(text)).collect(),
            named: None,
        }
    }
}

/// Level for types that no parser reads. What it returns has the bound that explains the mistake.
pub trait UnfitConfigLevel<T> {
    fn parser(&self) -> UnfitConfigParser<T>;
}

impl<T> UnfitConfigLevel<T> for ChoiceProbe<T> {
    fn parser(&self) -> UnfitConfigParser<T> {
        UnfitConfigParser(PhantomData)
    }
}

/// Parser of a type that cannot be read. It never runs.
#[derive(Debug)]
pub struct UnfitConfigParser<T>(PhantomData<T>);

impl<T> UnfitConfigParser<T> {
    pub fn read<X: ConfigValue>(
        self,
        _: &mut ConfigReader<'_>,
        _: ConfigField,
        _: Option<fn() -> T>,
    ) -> Option<T> {
        None
    }
}

/// Type of a single value.
#[derive(Clone, Copy, Debug)]
struct ElementType {
    name: fn() -> &'static str,
    is_path: bool,
    /// Returns the names of all values, or an empty list if there are too many.
    choices: fn() -> Vec<&'static str>,
}

impl ElementType {
    fn of<T: 'static>() -> Self {
        let is_path = TypeId::of::<T>() == TypeId::of::<PathBuf>();
        Self { name: type_name::<T>, is_path, choices: Vec::new }
    }

    fn of_choice<T: DeserializeOwned>() -> Self {
        Self { name: type_name::<T>, is_path: false, choices: values_of::<T> }
    }
}

/// How a field of type `T` is read.
#[derive(Debug)]
pub struct ConfigParser<T> {
    shape: ConfigShape,
    element: ElementType,
    /// Value of an absent field without a default. `None` if the field is required.
    absent: Option<fn() -> T>,
    parse: fn(&[String]) -> Result<T, UnreadableText>,
    /// Returns the text of a default.
    named: Option<fn(&T) -> Option<&'static str>>,
}

impl<T> ConfigParser<T> {
    /// Finds and parses the value of a field. Returns `None` if the reader only describes fields, or if there is a problem.
    ///
    /// The generated code writes the type of the field as `X`, so that an error about an unfit type underlines all tokens of it.
    #[allow(clippy::extra_unused_type_parameters, reason = "it has a bound in `UnfitConfigParser`")]
    pub fn read<X>(
        self,
        from: &mut ConfigReader<'_>,
        mut field: ConfigField,
        default: Option<fn() -> T>,
    ) -> Option<T> {
        field.shape = self.shape;
        field.element = short((self.element.name)());
        field.is_path = self.element.is_path || field.path != ConfigPath::Unknown;
        field.has_default = default.is_some();
        field.is_required = default.is_none() && self.absent.is_none();
        field.choices = (self.element.choices)();
        let named = self.named.zip(default).and_then(|(named, make)| named(&make()));
        field.default = field.default.or(named);
        match from.find(&field) {
            FoundTexts::Described | FoundTexts::Reported => None,
            FoundTexts::None => match default.or(self.absent) {
                Some(make) => Some(make()),
                None => {
                    from.missing(&field);
                    None
                }
            },
            FoundTexts::Texts { texts, source } => match (self.parse)(&texts) {
                Ok(value) => Some(value),
                Err(why) => {
                    from.unreadable(&field, source, &why);
                    None
                }
            },
        }
    }
}

fn one<T: FromStr<Err: Display>>(text: &str) -> Result<T, UnreadableText> {
    text.parse()
        .map_err(|why: T::Err| UnreadableText { text: text.to_owned(), why: why.to_string() })
}

fn choice<T: DeserializeOwned>(text: &str) -> Result<T, UnreadableText> {
    text::read(text, ',').map_err(|_| UnreadableText {
        text: text.to_owned(),
        why: match nearest(text, values_of::<T>().into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "there is no such value".to_owned(),
        },
    })
}

fn flag(text: &str) -> Result<bool, UnreadableText> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(UnreadableText {
            text: text.to_owned(),
            why: "it is neither `true` nor `false`".to_owned(),
        }),
    }
}

fn last<T>(
    texts: &[String],
    parse: fn(&str) -> Result<T, UnreadableText>,
) -> Result<T, UnreadableText> {
    parse(texts.last().map_or("", String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    enum Unit {
        Celsius,
        VeryCold,
    }

    impl ConfigChoice for Unit {}

    #[derive(serde::Deserialize, Debug, PartialEq)]
    enum Both {
        A,
    }

    impl ConfigChoice for Both {}

    impl FromStr for Both {
        type Err = &'static str;

        fn from_str(text: &str) -> Result<Self, Self::Err> {
            if text == "own" { Ok(Self::A) } else { Err("no") }
        }
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn an_enum_is_read_by_the_names_of_its_variants() {
        let parser = ConfigProbe::<Unit>::new().parser();
        assert_eq!((parser.parse)(&texts(&["very-cold"])).ok(), Some(Unit::VeryCold));
        assert_eq!((parser.element.choices)(), ["celsius", "very-cold"]);
        let why = |text| (parser.parse)(&texts(&[text])).unwrap_err().why;
        assert_eq!(why("celcius"), "did you mean `celsius`?");
        assert_eq!(why("kelvin"), "there is no such value");
        let parser = ConfigProbe::<Option<Unit>>::new().parser();
        assert_eq!((parser.parse)(&texts(&["celsius"])).ok(), Some(Some(Unit::Celsius)));
        let parser = ConfigProbe::<Vec<Unit>>::new().parser();
        let all = (parser.parse)(&texts(&["celsius", "very-cold"])).ok();
        assert_eq!(all, Some(vec![Unit::Celsius, Unit::VeryCold]));
    }

    #[test]
    fn from_str_comes_first() {
        let parser = ConfigProbe::<Both>::new().parser();
        assert_eq!((parser.parse)(&texts(&["own"])).ok(), Some(Both::A));
        assert!((parser.parse)(&texts(&["A"])).is_err() && (parser.element.choices)().is_empty());
    }
}
