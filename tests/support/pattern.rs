//! Patterns for the messages that a transcript expects from a server. A pattern is JSON with wildcards.
//!
//! A pattern matches literally, member for member, except for these objects:
//!
//! | wildcard | matches |
//! |---|---|
//! | `{"$any": true}` | any value |
//! | `{"$type": "integer"}` | any value of a type: `null`, `boolean`, `integer`, `number`, `string`, `array`, `object` |
//! | `{"$string": "prefix"}` | a string that begins with this text |
//! | `{"$contains": "text"}` | a string that contains this text |
//! | `{"$unordered": [..]}` | an array with these elements in any order |
//! | `{"$as": "name"}` | any value, which is captured; every later use of the name must match the same value |
//! | `{"$absent": true}` | nothing: the member must not be there |
//!
//! The member `"$rest": true` allows further members in an object. The element
//! `{"$rest": true}` at the end of an array allows further elements. Keywords of JSON Schema
//! such as `$ref` are literal. Any other member that starts with `$` is an error.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value};

/// The values that `$as` has captured so far.
pub type Captures = BTreeMap<String, Value>;

/// Difference between a message and its pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Path of the value, such as `$.result.tools[0].name`.
    pub path: String,
    /// Description of the difference.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// A checked pattern.
#[derive(Clone, Debug)]
pub struct Pattern(Value);

const WILDCARDS: [&str; 8] =
    ["$any", "$type", "$string", "$contains", "$unordered", "$as", "$absent", "$rest"];
const KEYWORDS: [&str; 8] =
    ["$schema", "$ref", "$defs", "$id", "$anchor", "$comment", "$dynamicRef", "$dynamicAnchor"];

impl Pattern {
    /// Checks a pattern from a transcript.
    ///
    /// # Errors
    ///
    /// An unknown or misused wildcard.
    pub fn new(value: Value) -> Result<Self, String> {
        check(&value)?;
        Ok(Self(value))
    }

    /// Returns every difference of `actual`. `captures` grows only if there is none.
    pub fn differences(&self, actual: &Value, captures: &mut Captures) -> Vec<Difference> {
        let mut matching = Matching { found: Vec::new(), captures: captures.clone() };
        matching.value("$", &self.0, actual);
        if matching.found.is_empty() {
            *captures = matching.captures;
        }
        matching.found
    }
}

/// The name and argument of a wildcard, if `value` is one.
fn wildcard(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (name, argument) = object.iter().next()?;
    WILDCARDS.contains(&name.as_str()).then_some((name, argument))
}

fn check(value: &Value) -> Result<(), String> {
    if let Some((name, argument)) = wildcard(value) {
        let fits = match name {
            "$any" | "$absent" | "$rest" => argument == &Value::Bool(true),
            "$type" => argument.as_str().is_some_and(|name| is_type(name, &Value::Null).is_some()),
            "$unordered" => argument.is_array(),
            _ => argument.is_string(),
        };
        if !fits {
            return Err(format!("{name} cannot be {argument}"));
        }
        return argument.as_array().map_or(Ok(()), |elements| elements.iter().try_for_each(check));
    }
    match value {
        Value::Array(elements) => elements.iter().try_for_each(check),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            let known = !name.starts_with('$')
                || KEYWORDS.contains(&name.as_str())
                || (name == "$rest" && member == &Value::Bool(true));
            if known { check(member) } else { Err(format!("no such wildcard here: {name}")) }
        }),
        _ => Ok(()),
    }
}

fn is_type(name: &str, value: &Value) -> Option<bool> {
    Some(match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => return None,
    })
}

struct Matching {
    found: Vec<Difference>,
    captures: Captures,
}

impl Matching {
    fn report(&mut self, path: &str, what: String) {
        self.found.push(Difference { path: path.into(), what });
    }

    fn value(&mut self, path: &str, expected: &Value, actual: &Value) {
        if let Some((name, argument)) = wildcard(expected) {
            return self.wildcard(path, name, argument, actual);
        }
        match (expected, actual) {
            (Value::Object(expected), Value::Object(actual)) => self.object(path, expected, actual),
            (Value::Array(expected), Value::Array(actual)) => self.array(path, expected, actual),
            _ if expected == actual => {}
            _ => self.report(path, format!("expected {expected}, got {actual}")),
        }
    }

    fn object(&mut self, path: &str, expected: &Map<String, Value>, actual: &Map<String, Value>) {
        for (name, pattern) in expected.iter().filter(|(name, _)| *name != "$rest") {
            let path = format!("{path}.{name}");
            let absent = wildcard(pattern).is_some_and(|(name, _)| name == "$absent");
            match actual.get(name) {
                Some(value) if absent => self.report(&path, format!("must be absent, got {value}")),
                Some(value) => self.value(&path, pattern, value),
                None if absent => {}
                None => self.report(&path, format!("missing, expected {pattern}")),
            }
        }
        if expected.contains_key("$rest") {
            return;
        }
        for (name, value) in actual.iter().filter(|(name, _)| !expected.contains_key(*name)) {
            self.report(&format!("{path}.{name}"), format!("not expected, got {value}"));
        }
    }

    fn array(&mut self, path: &str, expected: &[Value], actual: &[Value]) {
        let open = expected.last().and_then(wildcard).is_some_and(|(name, _)| name == "$rest");
        let expected = &expected[..expected.len() - usize::from(open)];
        for (index, pattern) in expected.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match actual.get(index) {
                Some(value) => self.value(&path, pattern, value),
                None => self.report(&path, format!("missing, expected {pattern}")),
            }
        }
        for (index, value) in actual.iter().enumerate().skip(expected.len()).filter(|_| !open) {
            self.report(&format!("{path}[{index}]"), format!("not expected, got {value}"));
        }
    }

    fn wildcard(&mut self, path: &str, name: &str, argument: &Value, actual: &Value) {
        let text = argument.as_str().unwrap_or_default();
        let fits = match name {
            "$any" => true,
            // `{"$rest": true}` alone is an object pattern without members that allows further members, so every object matches.
            "$rest" => actual.is_object(),
            "$type" => is_type(text, actual).unwrap_or(false),
            "$string" => actual.as_str().is_some_and(|actual| actual.starts_with(text)),
            "$contains" => actual.as_str().is_some_and(|actual| actual.contains(text)),
            "$unordered" => return self.unordered(path, argument, actual),
            "$as" => return self.capture(path, text, actual),
            _ => false,
        };
        if !fits {
            self.report(path, format!("expected {{\"{name}\": {argument}}}, got {actual}"));
        }
    }

    fn capture(&mut self, path: &str, name: &str, actual: &Value) {
        match self.captures.get(name) {
            None => drop(self.captures.insert(name.into(), actual.clone())),
            Some(earlier) if earlier == actual => {}
            Some(earlier) => {
                let what = format!("`{name}` was {earlier} before, got {actual}");
                self.report(path, what);
            }
        }
    }

    /// Pairs each pattern with the first remaining element that matches it.
    fn unordered(&mut self, path: &str, expected: &Value, actual: &Value) {
        let (Value::Array(expected), Value::Array(actual)) = (expected, actual) else {
            return self.report(path, format!("expected an array, got {actual}"));
        };
        let mut left: Vec<_> = actual.iter().collect();
        for pattern in expected {
            let found = left.iter().position(|value| {
                let mut attempt = Matching { found: Vec::new(), captures: self.captures.clone() };
                attempt.value(path, pattern, value);
                let fits = attempt.found.is_empty();
                if fits {
                    self.captures = attempt.captures;
                }
                fits
            });
            match found {
                Some(index) => drop(left.remove(index)),
                None => self.report(path, format!("no element matches {pattern}")),
            }
        }
        for value in left {
            self.report(path, format!("not expected, got {value}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(expected: Value, actual: &Value, differences: &[&str]) {
        let pattern = Pattern::new(expected).unwrap();
        let found = pattern.differences(actual, &mut Captures::new());
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, differences);
    }

    #[test]
    fn literals_are_exact() {
        check(json!({"id": 1}), &json!({"id": 1}), &[]);
        check(json!({"id": 1}), &json!({"id": "1"}), &["$.id: expected 1, got \"1\""]);
        check(json!({"id": 1}), &json!({"id": 1.0}), &["$.id: expected 1, got 1.0"]);
        check(
            json!({"a": 1, "b": [1, 2]}),
            &json!({"b": [1, 3, 4], "c": null}),
            &[
                "$.a: missing, expected 1",
                "$.b[1]: expected 2, got 3",
                "$.b[2]: not expected, got 4",
                "$.c: not expected, got null",
            ],
        );
        check(json!({"$ref": "#/$defs/A"}), &json!({"$ref": "#/$defs/A"}), &[]);
    }

    #[test]
    fn wildcards_stand_for_values() {
        check(json!({"a": {"$any": true}}), &json!({"a": null}), &[]);
        check(
            json!({"a": {"$any": true}}),
            &json!({}),
            &["$.a: missing, expected {\"$any\":true}"],
        );
        check(json!({"$string": "un"}), &json!("unknown"), &[]);
        check(
            json!({"$string": "un"}),
            &json!("known"),
            &["$: expected {\"$string\": \"un\"}, got \"known\""],
        );
        check(json!({"$contains": "no"}), &json!("unknown"), &[]);
        check(json!({"$type": "integer"}), &json!(7), &[]);
        check(
            json!({"$type": "integer"}),
            &json!(7.5),
            &["$: expected {\"$type\": \"integer\"}, got 7.5"],
        );
        check(json!({"a": {"$absent": true}}), &json!({}), &[]);
        check(json!({"a": {"$absent": true}}), &json!({"a": 1}), &["$.a: must be absent, got 1"]);
    }

    #[test]
    fn rest_opens_objects_and_arrays() {
        check(json!({"a": 1, "$rest": true}), &json!({"a": 1, "b": 2}), &[]);
        check(json!([1, {"$rest": true}]), &json!([1]), &[]);
        check(json!([1, {"$rest": true}]), &json!([1, 2, 3]), &[]);
        check(json!([1, {"$rest": true}]), &json!([2, 3]), &["$[0]: expected 1, got 2"]);
    }

    #[test]
    fn unordered_elements_match_once_each() {
        let expected = json!({"$unordered": [{"id": 1}, {"id": 2}]});
        check(expected.clone(), &json!([{"id": 2}, {"id": 1}]), &[]);
        check(
            expected,
            &json!([{"id": 2}, {"id": 2}]),
            &["$: no element matches {\"id\":1}", "$: not expected, got {\"id\":2}"],
        );
    }

    #[test]
    fn captures_must_stay_the_same_and_survive_only_a_match() {
        let pattern = Pattern::new(json!({"a": {"$as": "x"}, "b": {"$as": "x"}})).unwrap();
        let mut captures = Captures::new();
        assert_eq!(
            pattern.differences(&json!({"a": 1, "b": 2}), &mut captures),
            [Difference { path: "$.b".into(), what: "`x` was 1 before, got 2".into() }]
        );
        assert!(captures.is_empty());
        assert!(pattern.differences(&json!({"a": 3, "b": 3}), &mut captures).is_empty());
        assert_eq!(captures["x"], 3);
    }

    #[test]
    fn mistakes_in_a_pattern_are_refused() {
        let error = |value| Pattern::new(value).unwrap_err();
        assert_eq!(error(json!({"a": {"$anny": true}})), "no such wildcard here: $anny");
        assert_eq!(error(json!({"a": 1, "$any": true})), "no such wildcard here: $any");
        assert_eq!(error(json!({"$type": "int"})), "$type cannot be \"int\"");
        assert_eq!(error(json!([{"$unordered": [{"$string": 1}]}])), "$string cannot be 1");
    }
}
