//! Finds the value to which an error belongs, where serde has buffered the value.

use std::collections::BTreeMap;

use mcp_runtime_wire::{JsonKind, Raw};
use serde::de::DeserializeOwned;

use super::{
    error::ReadError,
    reader::{ArgumentReader, Leniency},
    unknown::{Step, index_in},
};

/// Adds the path to an error of a value that serde has buffered. Serde buffers the members of structs with a `flatten` field and of internally
/// tagged enums before it knows their types, so the error of such a member names only the object around it. `may_read` limits the number of
/// readings.
#[cold]
pub(super) fn located<T: DeserializeOwned>(
    raw: Raw<'_>,
    leniency: &mut Leniency,
    mut error: ReadError,
    may_read: &mut impl FnMut() -> bool,
) -> ReadError {
    if !error.is_of_value() && !error.is_custom() {
        return error;
    }
    let message = error.to_string();
    let Some(mut value) = error.value_in(raw) else { return error };
    loop {
        let mut inner = values_in(raw, value);
        let last = last_asked_for::<T>(raw, &inner, leniency, &message, may_read);
        let Some((at, (step, found))) = last.and_then(|at| inner.remove_entry(&at)) else { break };
        // A type may also reject its members together, after it has read all of them. If it rejects one of them alone, this is the last one
        // that it asks for even if the member comes first.
        if error.is_custom() {
            let (text, start) = with_first(raw, value, at);
            let raw = Raw::trusted(&text);
            let inner = values_in(raw, Raw::first_of(&text[start..]));
            let last = last_asked_for::<T>(raw, &inner, leniency, &message, may_read);
            if last.as_ref() != inner.keys().next() {
                break;
            }
        }
        error = error.at_inner(step);
        value = found;
    }
    error
}

/// Returns the index of the last of the values that a type asks for before the error.
///
/// To find it, the function reads `raw` again with marks in place of the values. Types that read texts or numbers accept no mark, so the error names the first mark
/// that a type has asked for. This value is read without a mark from then on. When the original error comes back, its value is the last one
/// that lost its mark, or is inside it.
fn last_asked_for<T: DeserializeOwned>(
    raw: Raw<'_>,
    values: &BTreeMap<usize, (Step, Raw<'_>)>,
    leniency: &mut Leniency,
    message: &str,
    may_read: &mut impl FnMut() -> bool,
) -> Option<usize> {
    let mut last = None;
    leniency.marked = values.keys().copied().collect();
    let mut is_found = false;
    while !is_found && !values.is_empty() && may_read() {
        let Err(found) = T::deserialize(&mut ArgumentReader::new(raw, leniency)) else { break };
        match found.mark().filter(|at| leniency.marked.remove(at)) {
            Some(at) => last = Some(at),
            None if found.to_string() == message => is_found = true,
            None => break,
        }
    }
    leniency.marked.clear();
    last.filter(|_| is_found)
}

/// Returns the members or elements of `value`, by their indexes in `raw`.
fn values_in<'a>(raw: Raw<'a>, value: Raw<'a>) -> BTreeMap<usize, (Step, Raw<'a>)> {
    match value.kind() {
        JsonKind::Object => value
            .members()
            .map(|(name, value)| (index_in(raw, value), (Step::Member(name.into_owned()), value)))
            .collect(),
        JsonKind::Array => value
            .elements()
            .enumerate()
            .map(|(index, value)| (index_in(raw, value), (Step::Element(index), value)))
            .collect(),
        _ => BTreeMap::new(),
    }
}

/// Returns `raw` with the member or element at the index before all others of `value`, and the index of `value` in the new text.
fn with_first(raw: Raw<'_>, value: Raw<'_>, at: usize) -> (String, usize) {
    let values = values_in(raw, value);
    let (first, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| value.0 == at);
    let all = first.into_iter().chain(others).map(|(_, (step, value))| match step {
        Step::Member(name) => {
            let name = serde_json::to_string(&name).unwrap_or_default();
            format!("{name}:{}", value.as_str())
        }
        Step::Element(_) => value.as_str().to_owned(),
    });
    let all = all.collect::<Vec<_>>().join(",");
    let (text, part) = (raw.as_str(), value.as_str());
    let start = index_in(raw, value);
    let (open, close) = (&part[..1], &part[part.len() - 1..]);
    let text = [&text[..start], open, &all, close, &text[start + part.len()..]].concat();
    (text, start)
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

    /// Code of a type may reject a single value, or several members together.
    #[test]
    fn an_error_of_a_parser_has_the_path_of_its_text() {
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Host {
            #[serde(flatten)]
            at: Address,
        }
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Address {
            name: String,
            addresses: Vec<std::net::IpAddr>,
        }
        let error = "`it.addresses[1]`: invalid IP address syntax";
        check::<Host>(r#"{"name": "a", "addresses": ["::1", "x"]}"#, error);
        check::<Host>(r#"{"addresses": ["::1", "x", "::1"], "name": "a"}"#, error);
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
