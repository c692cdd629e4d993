//! Finds the value to which an error belongs, where serde has buffered the value.

use std::collections::BTreeMap;

use mcp_runtime_wire::{JsonKind, Raw};
use serde::de::DeserializeOwned;

use super::{
    error::ReadError,
    reader::{ArgumentReader, Leniency},
    unknown::Step,
};

/// Adds the path to an error of a value that serde has buffered. Serde buffers the members of structs with a `flatten` field and of internally
/// tagged enums before it knows their types, so the error of such a member names only the object around it.
///
/// To find the member, the function reads `raw` again with marks in place of the members. No type accepts a mark, so the error names the
/// first mark that a type has asked for. This member is read without a mark from then on. When the original error comes back, its value is
/// the last one that lost its mark, or is inside it. `may_read` limits the number of readings.
#[cold]
pub(super) fn located<T: DeserializeOwned>(
    raw: Raw<'_>,
    leniency: &mut Leniency,
    error: ReadError,
    mut may_read: impl FnMut() -> bool,
) -> ReadError {
    let Some(mut value) = error.is_of_value().then(|| error.value_in(raw)).flatten() else {
        return error;
    };
    let message = error.to_string();
    let mut steps = Vec::new();
    'values: loop {
        let mut inner = values_in(value, raw);
        leniency.marked = inner.keys().copied().collect();
        let mut last = None;
        while !inner.is_empty() {
            if !may_read() {
                break 'values;
            }
            match T::deserialize(&mut ArgumentReader::new(raw, leniency)) {
                Err(found) => match found.mark().filter(|at| leniency.marked.remove(at)) {
                    Some(at) => last = Some(at),
                    None if found.to_string() == message => break,
                    None => break 'values,
                },
                Ok(_) => break 'values,
            }
        }
        let Some((step, found)) = last.and_then(|at| inner.remove(&at)) else { break };
        steps.push(step);
        value = found;
    }
    leniency.marked.clear();
    steps.into_iter().fold(error, ReadError::at_inner)
}

/// Returns the members or elements of `value`, by their indexes in `raw`.
fn values_in<'a>(value: Raw<'a>, raw: Raw<'a>) -> BTreeMap<usize, (Step, Raw<'a>)> {
    let at = |value: &Raw<'_>| value.as_str().as_ptr().addr() - raw.as_str().as_ptr().addr();
    match value.kind() {
        JsonKind::Object => value
            .members()
            .map(|(name, value)| (at(&value), (Step::Member(name.into_owned()), value)))
            .collect(),
        JsonKind::Array => value
            .elements()
            .enumerate()
            .map(|(index, value)| (at(&value), (Step::Element(index), value)))
            .collect(),
        _ => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::{MOST_BYTES, read_leniently};
    use super::*;

    fn check<T: DeserializeOwned + std::fmt::Debug>(text: &str, expected: &str) {
        let (result, _) = read_leniently::<T>(Raw::trusted(text), &mut { MOST_BYTES });
        assert_eq!(result.unwrap_err().describe("it"), expected, "{text}");
    }

    #[derive(serde::Deserialize, Debug)]
    #[expect(dead_code, reason = "only reading it is tested")]
    struct Search {
        text: String,
        #[serde(flatten)]
        page: Page,
        #[serde(flatten)]
        order: Order,
    }

    #[derive(serde::Deserialize, Debug)]
    #[serde(try_from = "RawPage")]
    #[expect(dead_code, reason = "only reading it is tested")]
    struct Page(RawPage);

    #[derive(serde::Deserialize, Debug)]
    struct RawPage {
        first: u8,
        last: u8,
    }

    impl TryFrom<RawPage> for Page {
        type Error = &'static str;

        fn try_from(page: RawPage) -> Result<Self, Self::Error> {
            if page.first <= page.last {
                Ok(Self(page))
            } else {
                Err("the page ends before it begins")
            }
        }
    }

    #[derive(serde::Deserialize, Debug)]
    #[serde(tag = "by", rename_all = "lowercase")]
    #[expect(dead_code, reason = "only reading it is tested")]
    enum Order {
        Name { reverse: bool },
        Place { points: Vec<Point> },
    }

    #[derive(serde::Deserialize, Debug)]
    #[expect(dead_code, reason = "only reading it is tested")]
    struct Point {
        x: i8,
        y: i8,
    }

    #[test]
    fn an_error_of_a_buffered_value_has_its_path() {
        let page = r#""text": "a", "first": 1, "last": 2"#;
        for (text, error) in [
            (
                r#"{"text": "a", "first": 1, "last": "2", "by": "name", "reverse": true}"#,
                "`it.last`: invalid type: string \"2\", expected an integer from 0 to 255",
            ),
            (
                r#"{"by": "name", "reverse": true, "last": 1, "first": 300, "text": "a"}"#,
                "`it.first`: invalid value: integer `300`, expected an integer from 0 to 255",
            ),
            (
                &format!(r#"{{{page}, "by": "nam", "reverse": true}}"#),
                "`it.by`: unknown variant `nam`; did you mean `name`? Expected `name` or `place`",
            ),
            (
                &format!(r#"{{{page}, "by": "name", "reverse": 1}}"#),
                "`it.reverse`: invalid type: integer `1`, expected a boolean",
            ),
            (
                &format!(
                    r#"{{{page}, "by": "place", "points": [{{"x": 1, "y": 1}}, {{"y": 1, "x": null}}]}}"#
                ),
                "`it.points[1].x`: invalid type: null, expected an integer from -128 to 127",
            ),
        ] {
            check::<Search>(text, error);
        }
        check::<Vec<Order>>(
            r#"[{"by": "name", "reverse": true}, {"by": "name", "reverse": "yes"}]"#,
            "`it[1].reverse`: invalid type: string \"yes\", expected a boolean",
        );
    }

    /// An error of several members together has no member to name.
    #[test]
    fn an_error_of_a_whole_object_names_the_object() {
        let order = r#""text": "a", "by": "name", "reverse": true"#;
        for (text, error) in [
            (r#""first": 2, "last": 1"#, "`it`: the page ends before it begins"),
            (r#""last": 1"#, "`it`: missing field `first`"),
        ] {
            check::<Search>(&format!("{{{text}, {order}}}"), error);
        }
        #[derive(serde::Deserialize, Debug)]
        #[serde(untagged)]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Either {
            Order(Order),
            Point(Point),
        }
        check::<Either>(
            r#"{"x": 1, "y": true}"#,
            "`it`: data did not match any variant of untagged enum Either",
        );
    }

    #[test]
    fn the_search_ends_when_its_readings_are_used_up() {
        let many: Vec<_> = (0..9).map(|n| format!("\"{n}\": {n}")).collect();
        let text = format!(r#"{{{}, "by": "place", "points": [{{"x": "1"}}]}}"#, many.join(","));
        let (result, _) = read_leniently::<Order>(Raw::trusted(&text), &mut { text.len() * 5 });
        let error = result.unwrap_err().describe("it");
        assert!(error.starts_with("`it.points`: ") || error.starts_with("`it`: "), "{error}");
    }
}
