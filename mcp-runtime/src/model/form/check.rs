//! Checks whether an answer fits its form, and fills in the fields that the answer leaves out.

use std::borrow::Cow;

use mcp_runtime_wire::{JsonKind, ObjectWriter, Raw, write};

use super::{Choices, FieldKind, FieldSchema, FormSchema};
use crate::suggest::nearest;

impl FormSchema {
    /// Checks an answer and collects everything that is wrong with it. Members that the form does not have are ignored, and `null` counts
    /// as a member that was left out.
    ///
    /// # Errors
    /// Returns one phrase for each wrong field.
    pub(crate) fn check(&self, content: Raw<'_>) -> Result<(), Vec<String>> {
        if content.kind() != JsonKind::Object {
            return Err(vec!["the answer to a form is an object with its fields".to_owned()]);
        }
        let given = self.given(content);
        let problems = self.fields.iter().zip(&given).filter_map(|(field, value)| match value {
            Some(value) => field.problem(*value),
            None => field.required.then(|| format!("`{}` is missing", field.name)),
        });
        let problems: Vec<String> = problems.collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Returns the answer as JSON text for the form's type: with defaults, without members that the form does not have, and with integers
    /// written as such. Call it only with an answer that fits.
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

    /// Returns the value of each field, found in one pass.
    fn given<'a>(&self, content: Raw<'a>) -> Vec<Option<Raw<'a>>> {
        let mut given = vec![None; self.fields.len()];
        for (name, value) in content.members() {
            if let Some(at) = self.fields.iter().position(|it| it.name == name) {
                given[at] = Some(value).filter(|it| !it.is_null());
            }
        }
        given
    }
}

impl FieldSchema {
    fn problem(&self, value: Raw<'_>) -> Option<String> {
        Some(format!("`{}`: {}", self.name, self.kind.problem(value)?))
    }

    /// Returns why a default could not be an answer.
    pub(super) fn problem_of_default(&self, json: &str) -> Option<String> {
        self.problem(Raw::trusted(json))
    }
}

impl FieldKind {
    fn problem(&self, value: Raw<'_>) -> Option<String> {
        match self {
            Self::Text { least, most, format } => {
                let Some(text) = value.string() else { return Some(mismatch(value, "a text")) };
                let wrong = format.filter(|it| !it.fits(&text));
                length(text.chars().count(), "character", *least, *most).or_else(|| {
                    wrong.map(|it| format!("{} is not {}", shown(value), it.expected()))
                })
            }
            Self::Integer { least, most } => match number(value).and_then(integer) {
                Some(number) => outside(number, *least, *most),
                None => Some(mismatch(value, "an integer")),
            },
            Self::Number { least, most } => {
                match number(value).and_then(|it| it.parse::<f64>().ok()) {
                    Some(number) => outside(number, *least, *most),
                    None => Some(mismatch(value, "a number")),
                }
            }
            Self::Bool => value.bool().is_none().then(|| mismatch(value, "true or false")),
            Self::Choice(choices) => choices.problem(value),
            Self::Several { choices, least, most } => {
                if value.kind() != JsonKind::Array {
                    return Some(mismatch(value, "an array"));
                }
                let wrong = value.elements().find_map(|it| choices.problem(it));
                wrong.or_else(|| length(value.elements().count(), "choice", *least, *most))
            }
        }
    }
}

impl Choices {
    fn problem(&self, value: Raw<'_>) -> Option<String> {
        let Some(text) = value.string() else { return Some(mismatch(value, "a text")) };
        if self.values().any(|it| it == text) {
            return None;
        }
        let hint = match nearest(&text, self.values()) {
            Some(found) => format!("; did you mean \"{found}\"?"),
            None => String::new(),
        };
        let all: Vec<String> = self.values().map(|it| format!("\"{it}\"")).collect();
        Some(format!("{} is none of {}{hint}", shown(value), all.join(", ")))
    }
}

fn mismatch(value: Raw<'_>, expected: &str) -> String {
    format!("{} is not {expected}", shown(value))
}

/// Returns a value in a form that is short enough for a message.
fn shown(value: Raw<'_>) -> Cow<'_, str> {
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

/// JSON Schema counts `3.0` and `3e1` as integers too, and some clients write them so.
fn integer(text: &str) -> Option<i128> {
    /// Above this bound `f64` cannot hold every integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = || text.parse::<f64>().ok().filter(|it| it.fract() == 0.0 && it.abs() <= EXACT);
    text.parse().ok().or_else(|| float().map(|it| it as i128))
}

fn outside<T: PartialOrd + std::fmt::Display>(
    number: T,
    least: Option<T>,
    most: Option<T>,
) -> Option<String> {
    let low = least.as_ref().is_some_and(|it| number < *it);
    let high = most.as_ref().is_some_and(|it| number > *it);
    let expected = match (least, most) {
        _ if !low && !high => return None,
        (Some(least), Some(most)) => format!("in {least}..={most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => return None,
    };
    Some(format!("{number} is not {expected}"))
}

fn length(found: usize, unit: &str, least: Option<usize>, most: Option<usize>) -> Option<String> {
    let expected = match (least, most) {
        (Some(least), _) if found < least => format!("at least {least}"),
        (_, Some(most)) if found > most => format!("at most {most}"),
        _ => return None,
    };
    let plural = if found == 1 { "" } else { "s" };
    Some(format!("{found} {unit}{plural}, {expected}"))
}
