//! Schema of a form, independent of the protocol revision. A form has flat fields of six kinds (rule ELIC-03). Answers are checked against
//! the schema, and completed with the defaults of absent fields.

use std::borrow::Cow;

use mcp_runtime_contract::suggest::nearest;
use mcp_runtime_wire::{JsonKind, ObjectWriter, Raw, write};

/// Fields of a form, in the order in which users see them.
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
    /// JSON text of the value that the field has if an answer leaves it out.
    pub(crate) default: Option<Box<str>>,
    pub(crate) kind: FieldKind,
}

/// Type and inclusive bounds of a field. The schema of a form has no exclusive bounds.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    Text {
        /// Minimum and maximum number of characters.
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
    /// A single value of a list.
    Choice(Choices),
    /// Any number of values of a list.
    Several {
        choices: Choices,
        /// Minimum and maximum number of values.
        least: Option<usize>,
        most: Option<usize>,
    },
}

/// Values that a user can choose from.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    pub(crate) all: Vec<Choice>,
    /// Whether titles are sent as `enumNames` even in revisions that have titled choices.
    pub(crate) enum_names: bool,
}

/// Value that a user can choose, with its title.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    pub(crate) value: &'static str,
    title: Option<&'static str>,
}

impl Choices {
    /// Creates choices from the values, as serde spells them, and the title of each value.
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
        self.all.iter().map(|choice| choice.value)
    }

    pub(crate) fn titles(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.all.iter().map(Choice::title)
    }

    /// Whether any value has a title.
    pub(crate) fn is_titled(&self) -> bool {
        self.all.iter().any(|choice| choice.title.is_some())
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

    /// Sets the bounds. Tighter bounds of the integer type itself are kept.
    pub(crate) fn within(&mut self, lowest: Option<i128>, highest: Option<i128>) {
        match self {
            Self::Integer { least, most } => {
                // `None` is less than any bound.
                *least = (*least).max(lowest);
                *most = most.iter().copied().chain(highest).min();
            }
            Self::Number { least, most } => {
                (*least, *most) =
                    (lowest.map(|bound| bound as f64), highest.map(|bound| bound as f64));
            }
            _ => {}
        }
    }

    pub(crate) fn within_float(&mut self, lowest: Option<f64>, highest: Option<f64>) {
        if let Self::Number { least, most } = self {
            (*least, *most) = (lowest, highest);
        }
    }

    /// Sets the minimum and maximum number of characters, or of chosen values.
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
    /// Creates a schema, in which each field has the name that serde uses for it.
    pub(crate) fn new(names: &[&'static str], mut fields: Vec<FieldSchema>) -> Self {
        debug_assert_eq!(names.len(), fields.len(), "serde has one name for each field");
        for (field, name) in fields.iter_mut().zip(names) {
            field.name = name;
        }
        let schema = Self { fields };
        if cfg!(debug_assertions) {
            for field in &schema.fields {
                let wrong =
                    field.default.as_deref().and_then(|json| field.problem_of_default(json));
                assert!(wrong.is_none(), "the form's default of {}", wrong.unwrap_or_default());
            }
        }
        schema
    }
}

impl FormSchema {
    /// Checks an answer and collects all of its problems. Members without a field are ignored. A `null` counts as an absent member.
    ///
    /// # Errors
    /// Returns one phrase for each wrong field.
    pub(crate) fn check(&self, content: Raw<'_>) -> Result<(), Vec<String>> {
        if content.kind() != JsonKind::Object {
            return Err(vec!["the answer to a form must be an object with its fields".to_owned()]);
        }
        let given = self.given(content);
        let problems = self.fields.iter().zip(&given).filter_map(|(field, value)| match value {
            Some(value) => field.problem(*value),
            None => field.required.then(|| format!("`{}` is missing", field.name)),
        });
        let problems: Vec<String> = problems.collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Returns the answer as JSON text that can be read as the form's type. Absent fields get their defaults, members without a field are
    /// removed, and integers are written without fraction and exponent. The answer must have passed `check`.
    pub(crate) fn completed(&self, content: Raw<'_>) -> String {
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        for (field, value) in self.fields.iter().zip(self.given(content)) {
            let text = match (value, &field.kind) {
                (Some(value), FieldKind::Integer { .. }) => match integer(value.as_str()) {
                    Some(number) => Some(Cow::Owned(number.to_string())),
                    None => Some(Cow::Borrowed(value.as_str())),
                },
                (Some(value), _) => Some(Cow::Borrowed(value.as_str())),
                (None, _) => field.default.as_deref().map(Cow::Borrowed),
            };
            if let Some(text) = text {
                write::raw(object.given_key(field.name), &text);
            }
        }
        object.end();
        String::from_utf8(out).unwrap_or_default()
    }

    /// Returns the value of each field. A single pass over the answer finds all of them.
    fn given<'a>(&self, content: Raw<'a>) -> Vec<Option<Raw<'a>>> {
        let mut given = vec![None; self.fields.len()];
        for (name, value) in content.members() {
            if let Some(at) = self.fields.iter().position(|field| field.name == name) {
                given[at] = Some(value).filter(|value| !value.is_null());
            }
        }
        given
    }
}

impl FieldSchema {
    fn problem(&self, value: Raw<'_>) -> Option<String> {
        Some(format!("`{}`: {}", self.name, self.kind.problem(value)?))
    }

    /// Returns the reason why a default is not a valid answer. Returns `None` if it is valid.
    fn problem_of_default(&self, json: &str) -> Option<String> {
        self.problem(Raw::trusted(json))
    }
}

impl FieldKind {
    fn problem(&self, value: Raw<'_>) -> Option<String> {
        match self {
            Self::Text { least, most, format } => {
                let Some(text) = value.string() else { return Some(mismatch(value, "a string")) };
                let wrong = format.filter(|format| !format.fits(&text));
                length_problem(text.chars().count(), "character", *least, *most).or_else(|| {
                    wrong.map(|format| {
                        format!("{} is not {}", brief_value(value), format.expected())
                    })
                })
            }
            Self::Integer { least, most } => match number(value).and_then(integer) {
                Some(number) => range_problem(number, *least, *most),
                None => Some(mismatch(value, "an integer")),
            },
            Self::Number { least, most } => {
                match number(value).and_then(|number| number.parse::<f64>().ok()) {
                    Some(number) => range_problem(number, *least, *most),
                    None => Some(mismatch(value, "a number")),
                }
            }
            Self::Bool => value.bool().is_none().then(|| mismatch(value, "true or false")),
            Self::Choice(choices) => choices.problem(value),
            Self::Several { choices, least, most } => {
                if value.kind() != JsonKind::Array {
                    return Some(mismatch(value, "an array"));
                }
                let wrong = value.elements().find_map(|choice| choices.problem(choice));
                wrong.or_else(|| length_problem(value.elements().count(), "choice", *least, *most))
            }
        }
    }
}

impl Choices {
    fn problem(&self, value: Raw<'_>) -> Option<String> {
        let Some(text) = value.string() else { return Some(mismatch(value, "a string")) };
        if self.values().any(|known| known == text) {
            return None;
        }
        let hint = match nearest(&text, self.values()) {
            Some(found) => format!("; did you mean \"{found}\"?"),
            None => String::new(),
        };
        let all: Vec<String> = self.values().map(|known| format!("\"{known}\"")).collect();
        Some(format!("{} is not one of {}{hint}", brief_value(value), all.join(", ")))
    }
}

fn mismatch(value: Raw<'_>, expected: &str) -> String {
    format!("{} is not {expected}", brief_value(value))
}

/// Shortens a value for a message.
fn brief_value(value: Raw<'_>) -> Cow<'_, str> {
    const MOST: usize = 60;
    match value.kind() {
        JsonKind::Array => "an array".into(),
        JsonKind::Object => "an object".into(),
        _ => match value.as_str().char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &value.as_str()[..end]).into(),
            None => value.as_str().into(),
        },
    }
}

fn number(value: Raw<'_>) -> Option<&str> {
    (value.kind() == JsonKind::Number).then(|| value.as_str())
}

/// Parses an integer. JSON Schema also accepts `3.0` and `3e1` as integers, and some clients write integers in these forms.
fn integer(text: &str) -> Option<i128> {
    /// Largest bound up to which `f64` represents every integer exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float =
        || text.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() <= EXACT);
    text.parse().ok().or_else(|| float().map(|number| number as i128))
}

fn range_problem<T: PartialOrd + std::fmt::Display>(
    number: T,
    least: Option<T>,
    most: Option<T>,
) -> Option<String> {
    let low = least.as_ref().is_some_and(|bound| number < *bound);
    let high = most.as_ref().is_some_and(|bound| number > *bound);
    let expected = match (least, most) {
        _ if !low && !high => return None,
        (Some(least), Some(most)) => format!("in {least}..={most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => return None,
    };
    Some(format!("{number} is not {expected}"))
}

fn length_problem(
    found: usize,
    unit: &str,
    least: Option<usize>,
    most: Option<usize>,
) -> Option<String> {
    let expected = match (least, most) {
        (Some(least), _) if found < least => format!("at least {least}"),
        (_, Some(most)) if found > most => format!("at most {most}"),
        _ => return None,
    };
    let plural = if found == 1 { "" } else { "s" };
    Some(format!("{found} {unit}{plural}, {expected}"))
}

/// Format of a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

impl TextFormat {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// Returns a description of the format for error messages.
    fn expected(self) -> &'static str {
        match self {
            Self::Email => "an address such as ann@example.com",
            Self::Uri => "a URI such as https://example.com",
            Self::Date => "a date such as 2030-12-31",
            Self::DateTime => "a date and time such as 2030-12-31T18:30:00Z",
        }
    }

    /// Whether the text has the format. Only the syntax is checked: an email address may not exist.
    fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text.as_bytes()),
            Self::DateTime => is_date_time(text.as_bytes()),
        }
    }
}

fn is_email(text: &str) -> bool {
    let plain = !text.contains(|char: char| char.is_whitespace() || char.is_control());
    let parts = text.rsplit_once('@');
    plain && parts.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
}

/// Whether the text is a URI: a scheme, a colon and at least one more character (RFC 3986, section 3).
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let plain = !rest.contains(|char: char| char.is_whitespace() || char.is_control());
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    plain
        && !rest.is_empty()
        && scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme.bytes().all(known)
}

/// Whether the text is a `full-date` of RFC 3339.
fn is_date(text: &[u8]) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return false };
    let (Some(century), Some(of_century)) = (two_digits(*y1, *y2), two_digits(*y3, *y4)) else {
        return false;
    };
    let (Some(month), Some(day)) = (two_digits(*m1, *m2), two_digits(*d1, *d2)) else {
        return false;
    };
    let year = century * 100 + of_century;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Whether the text is a `date-time` of RFC 3339, which has to end with a time zone offset.
fn is_date_time(text: &[u8]) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else { return false };
    let [b'T' | b't', clock @ ..] = time else { return false };
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = clock else { return false };
    let below = |a: u8, b: u8, end: u32| two_digits(a, b).is_some_and(|number| number < end);
    let rest = match rest {
        [b'.', rest @ ..] => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &rest[digits..]
        }
        rest => rest,
    };
    let offset = match rest {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => below(*h1, *h2, 24) && below(*m1, *m2, 60),
        _ => false,
    };
    // Second 60 is a leap second.
    is_date(date) && below(*h1, *h2, 24) && below(*m1, *m2, 60) && below(*s1, *s2, 61) && offset
}

fn two_digits(tens: u8, ones: u8) -> Option<u32> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

#[cfg(test)]
mod tests {
    use super::TextFormat;

    fn check(format: TextFormat, right: &[&str], wrong: &[&str]) {
        for text in right {
            assert!(format.fits(text), "{text} is {}", format.expected());
        }
        for text in wrong {
            assert!(!format.fits(text), "{text} is not {}", format.expected());
        }
    }

    #[test]
    fn formats_are_recognised() {
        check(TextFormat::Email, &["ann@example.com", "a@b"], &["ann", "@b", "a@", "a b@c", ""]);
        check(
            TextFormat::Uri,
            &["https://example.com/?a", "urn:x:y"],
            &["example.com", ":x", "1:x", "x:", "x:a b"],
        );
        check(
            TextFormat::Date,
            &["2024-02-29", "2000-02-29", "2030-12-31"],
            &[
                "2023-02-29",
                "1900-02-29",
                "2030-13-01",
                "2030-04-31",
                "2030-1-1",
                "30-01-01",
                "2030-01-00",
                "",
            ],
        );
        check(
            TextFormat::DateTime,
            &["2030-12-31T18:30:00Z", "2030-12-31t23:59:60.25+05:30"],
            &[
                "2030-12-31",
                "2030-12-31T18:30:00",
                "2030-12-31T24:00:00Z",
                "2030-12-31T18:30:00.Z",
                "2030-12-31T18:30Z",
            ],
        );
    }
}
