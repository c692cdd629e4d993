//! How the type of a field is read from texts. Method look-up on a [`ConfigProbe`] selects the parser of a type, because an attribute does
//! not know the traits that a type implements.

use std::{
    any::{TypeId, type_name},
    fmt::Display,
    marker::PhantomData,
    path::PathBuf,
    str::FromStr,
};

use super::reader::{
    ConfigField, ConfigPath, ConfigReader, ConfigShape, FoundTexts, UnreadableText,
};
use crate::schema::constant::short;

/// Types that a field of a struct with `#[config]` can have.
#[diagnostic::on_unimplemented(
    message = "a text cannot become `{Self}`, so it cannot be a field of a `#[config]`",
    label = "does not implement `FromStr`",
    note = "take `String`, `PathBuf`, `bool` or a number, or write `impl std::str::FromStr` for your type, with an error that implements `Display`",
    note = "`Option<T>` is a value that can be absent, and `Vec<T>` an option that can be repeated"
)]
pub trait ConfigValue {}

#[diagnostic::do_not_recommend]
impl<T: FromStr<Err: Display>> ConfigValue for T {}

/// Selects the parser of a type.
#[derive(Debug)]
pub struct ConfigProbe<T>(PhantomData<T>);

impl<T> ConfigProbe<T> {
    #[allow(clippy::new_without_default, reason = "only generated code creates it")]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl ConfigProbe<bool> {
    pub fn parser(self) -> ConfigParser<bool> {
        ConfigParser {
            shape: ConfigShape::Flag,
            element: ElementType::of::<bool>(),
            absent: Some(|| false),
            parse: |texts| last(texts, flag),
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
        }
    }
}

/// Level for types that no parser reads. What it returns has the bound that explains the mistake.
pub trait UnfitConfigLevel<T> {
    fn parser(self) -> UnfitConfigParser<T>;
}

impl<T> UnfitConfigLevel<T> for &ConfigProbe<T> {
    fn parser(self) -> UnfitConfigParser<T> {
        UnfitConfigParser(PhantomData)
    }
}

/// Parser of a type that cannot be read. It never runs.
#[derive(Debug)]
pub struct UnfitConfigParser<T>(PhantomData<T>);

impl<T> UnfitConfigParser<T> {
    pub fn read(self, _: &mut ConfigReader<'_>, _: ConfigField, _: Option<fn() -> T>) -> Option<T>
    where
        T: ConfigValue,
    {
        None
    }
}

/// Type of a single value.
#[derive(Clone, Copy, Debug)]
struct ElementType {
    name: fn() -> &'static str,
    is_path: bool,
}

impl ElementType {
    fn of<T: 'static>() -> Self {
        Self { name: type_name::<T>, is_path: TypeId::of::<T>() == TypeId::of::<PathBuf>() }
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
}

impl<T> ConfigParser<T> {
    /// Finds and parses the value of a field. Returns `None` if the reader only describes fields, or if there is a problem.
    pub fn read(
        self,
        from: &mut ConfigReader<'_>,
        mut field: ConfigField,
        default: Option<fn() -> T>,
    ) -> Option<T> {
        field.shape = self.shape;
        field.element = short((self.element.name)());
        field.is_path = self.element.is_path || field.path != ConfigPath::Unknown;
        field.is_required = default.is_none() && self.absent.is_none();
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
