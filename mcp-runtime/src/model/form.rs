//! Schema of a form, independent of the protocol revision: flat fields, each of one of six kinds (rule ELIC-03).

mod check;
mod format;

pub use format::TextFormat;

/// All fields of a form, in the order in which users see them.
#[derive(Debug)]
pub struct FormSchema {
    pub(crate) fields: Vec<FieldSchema>,
}

/// Field of a form.
#[derive(Debug)]
pub struct FieldSchema {
    /// Name as serde spells it.
    pub(crate) name: &'static str,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    pub(crate) required: bool,
    /// Value of the field when the answer leaves it out, as JSON text.
    pub(crate) default: Option<Box<str>>,
    pub(crate) kind: FieldKind,
}

/// Type and bounds of a field. Bounds are inclusive, because a form has no others.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    Text {
        /// Fewest and most characters.
        least: Option<usize>,
        most: Option<usize>,
        format: Option<TextFormat>,
    },
    Integer {
        least: Option<i128>,
        most: Option<i128>,
    },
    Number {
        least: Option<f64>,
        most: Option<f64>,
    },
    Bool,
    /// A single choice.
    Choice(Choices),
    /// Any number of choices.
    Several {
        choices: Choices,
        /// Fewest and most choices.
        least: Option<usize>,
        most: Option<usize>,
    },
}

/// Values to choose from.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    pub(crate) all: Vec<Choice>,
    /// Whether titles are sent as `enumNames` wherever that is possible.
    pub(crate) enum_names: bool,
}

/// Value to choose, with the title that users see.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    pub(crate) value: &'static str,
    title: Option<&'static str>,
}

impl Choices {
    /// Takes the values as serde spells them, and the titles of those that have one.
    pub(crate) fn new(
        values: &[&'static str],
        titles: &[Option<&'static str>],
        enum_names: bool,
    ) -> Self {
        debug_assert_eq!(values.len(), titles.len(), "serde has one name for each variant");
        let titles = titles.iter().copied().chain(std::iter::repeat(None));
        let all = values.iter().zip(titles).map(|(value, title)| Choice { value, title });
        Self { all: all.collect(), enum_names }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.all.iter().map(|it| it.value)
    }

    pub(crate) fn titles(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.all.iter().map(Choice::title)
    }

    /// Whether any value has a title.
    pub(crate) fn is_titled(&self) -> bool {
        self.all.iter().any(|it| it.title.is_some())
    }
}

impl Choice {
    pub(crate) fn title(&self) -> &'static str {
        self.title.unwrap_or(self.value)
    }
}

impl FieldKind {
    pub(crate) const TEXT: Self = Self::Text { least: None, most: None, format: None };
    pub(crate) const NUMBER: Self = Self::Number { least: None, most: None };

    /// Sets the bounds. The bounds that an integer type has by itself stay where they are tighter.
    pub(crate) fn within(&mut self, lowest: Option<i128>, highest: Option<i128>) {
        match self {
            Self::Integer { least, most } => {
                // `None` is less than any bound.
                *least = (*least).max(lowest);
                *most = most.iter().copied().chain(highest).min();
            }
            Self::Number { least, most } => {
                (*least, *most) = (lowest.map(|it| it as f64), highest.map(|it| it as f64));
            }
            _ => {}
        }
    }

    pub(crate) fn within_float(&mut self, lowest: Option<f64>, highest: Option<f64>) {
        if let Self::Number { least, most } = self {
            (*least, *most) = (lowest, highest);
        }
    }

    /// Sets how many characters a text may have, or how many values may be chosen.
    pub(crate) fn of_length(&mut self, fewest: Option<usize>, greatest: Option<usize>) {
        if let Self::Text { least, most, .. } | Self::Several { least, most, .. } = self {
            (*least, *most) = (fewest, greatest);
        }
    }

    pub(crate) fn in_format(&mut self, wanted: TextFormat) {
        if let Self::Text { format, .. } = self {
            *format = Some(wanted);
        }
    }
}

impl FormSchema {
    /// Gives each field its name in serde, in the order of the fields.
    pub(crate) fn new(names: &[&'static str], mut fields: Vec<FieldSchema>) -> Self {
        debug_assert_eq!(names.len(), fields.len(), "serde has one name for each field");
        for (field, name) in fields.iter_mut().zip(names) {
            field.name = name;
        }
        let schema = Self { fields };
        if cfg!(debug_assertions) {
            for field in &schema.fields {
                let wrong = field.default.as_deref().and_then(|it| field.problem_of_default(it));
                assert!(wrong.is_none(), "the form's default of {}", wrong.unwrap_or_default());
            }
        }
        schema
    }
}
