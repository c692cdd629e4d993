//! Comparison of the messages of a recorded session with those of a new one.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use serde_json::{Map, Number, Value};

use crate::redaction::{REMOVED, TextPart, parts};

/// Members of the protocol whose values the server chooses anew in each session.
const CHOSEN: [&str; 6] =
    ["requestState", "taskId", "createdAt", "lastUpdatedAt", "nextCursor", "elicitationId"];

/// Members with content of the author. Below them, members with a name in [`CHOSEN`] are compared, too.
const OF_THE_AUTHOR: [&str; 5] =
    ["structuredContent", "content", "contents", "messages", "requestedSchema"];

/// Longest text of a value in a report, in characters.
const LONGEST: usize = 200;

/// Difference between a recorded value and a new one.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// Place in the message, such as `result.content[0].text`. Empty for the whole message.
    pub path: String,
    /// Recorded value. `None` if there was none.
    pub was: Option<Value>,
    /// New value. `None` if there is none.
    pub is: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| {
            let text = value.to_string();
            let short: String = text.chars().take(LONGEST).collect();
            if short.len() < text.len() { short + "…" } else { text }
        };
        let path = if self.path.is_empty() { "the message" } else { &self.path };
        match (&self.was, &self.is) {
            (Some(was), Some(is)) => write!(f, "`{path}` was {}, and is {}", text(was), text(is)),
            (Some(was), None) => write!(f, "`{path}` was {}, and is missing", text(was)),
            (None, is) => {
                write!(f, "`{path}` is new: {}", is.as_ref().map(text).unwrap_or_default())
            }
        }
    }
}

/// Comparison of two sessions. It knows the values that both servers have chosen for the same thing, such as the id of a task.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// New texts, by the recorded texts that they replace.
    chosen: HashMap<String, String>,
    /// New ids of requests of the server, by the recorded ids as JSON.
    ids: HashMap<String, Value>,
}

impl Comparison {
    /// Replaces ids and other values of the recorded server in a message of the client by those of the new server.
    pub fn translate(&self, message: &mut Value) {
        let is_response = message.get("method").is_none();
        if let Some(id) = message.get_mut("id").filter(|_| is_response)
            && let Some(new) = self.ids.get(&id.to_string())
        {
            *id = new.clone();
        }
        self.translate_texts(message);
    }

    fn translate_texts(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(new) = self.chosen.get(text) {
                    text.clone_from(new);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.translate_texts(value)),
            Value::Object(members) => {
                members.values_mut().for_each(|value| self.translate_texts(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Compares a message of the server with the recorded one. Values that each server chooses itself are no differences, nor is the version
    /// of the server. A recorded text or name with [`REMOVED`] in it stands for all texts that have something in this place. JSON in
    /// both texts is compared as JSON, because the removal has written it anew.
    pub fn compare(&mut self, was: &Value, is: &Value) -> Vec<Difference> {
        let mut differences = Vec::new();
        self.compare_at("", (was, is), true, &mut differences);
        differences
    }

    /// Returns whether two notifications with these parameters cancel the same request of the server.
    fn is_cancelled(&self, was: &Map<String, Value>, is: &Map<String, Value>) -> bool {
        let recorded = was.get("requestId").and_then(|id| self.ids.get(&id.to_string()));
        recorded.is_some() && recorded == is.get("requestId")
    }

    fn compare_at(
        &mut self,
        path: &str,
        (was, is): (&Value, &Value),
        is_of_protocol: bool,
        differences: &mut Vec<Difference>,
    ) {
        let difference = |was: Option<&Value>, is: Option<&Value>, path: String| Difference {
            path,
            was: was.cloned(),
            is: is.cloned(),
        };
        match (was, is) {
            (Value::Object(was), Value::Object(is)) => {
                let is_request = was.contains_key("method") && is.contains_key("method");
                let is_cancelled = path == "params" && self.is_cancelled(was, is);
                let mut met = HashSet::new();
                for (name, old) in was {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let Some((name, new)) = counterpart(name, was, is, &met) else {
                        differences.push(difference(Some(old), None, path));
                        continue;
                    };
                    met.insert(name);
                    match (&**name, old, new) {
                        ("id", ..) if is_request && path == "id" => {
                            self.ids.insert(old.to_string(), new.clone());
                        }
                        ("requestId", ..) if is_cancelled => {}
                        ("version", Value::String(_), Value::String(_))
                            if path.ends_with("serverInfo.version") => {}
                        (name, Value::String(old), Value::String(new))
                            if is_of_protocol && CHOSEN.contains(&name) =>
                        {
                            self.chosen.insert(old.clone(), new.clone());
                        }
                        _ => {
                            let is_of_protocol =
                                is_of_protocol && !OF_THE_AUTHOR.contains(&&**name);
                            self.compare_at(&path, (old, new), is_of_protocol, differences);
                        }
                    }
                }
                for (name, new) in is.iter().filter(|(name, _)| !met.contains(name)) {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    differences.push(difference(None, Some(new), path));
                }
            }
            (Value::Array(was), Value::Array(is)) => {
                for at in 0..was.len().max(is.len()) {
                    let path = format!("{path}[{at}]");
                    match (was.get(at), is.get(at)) {
                        (Some(was), Some(is)) => {
                            self.compare_at(&path, (was, is), is_of_protocol, differences);
                        }
                        (was, is) => differences.push(difference(was, is, path)),
                    }
                }
            }
            (Value::String(was), _) if was == REMOVED => {}
            (Value::String(was), Value::String(is)) if was.contains(REMOVED) => {
                if let Some(pairs) = pairs_of_json(was, is) {
                    for (was, is) in pairs {
                        self.compare_at(path, (&was, &is), false, differences);
                    }
                } else if !fits(was, is) {
                    let (was, is) = (was.clone().into(), is.clone().into());
                    differences.push(difference(Some(&was), Some(&is), path.to_owned()));
                }
            }
            (Value::String(was), Value::String(is)) if self.chosen.get(was) == Some(is) => {}
            (Value::Number(was), Value::Number(is)) if is_same_number(was, is) => {}
            _ if was == is => {}
            _ => differences.push(difference(Some(was), Some(is), path.to_owned())),
        }
    }
}

/// Whether two numbers are equal. JSON has no types of numbers, so programs such as browsers write `5` in place of `5.0`.
fn is_same_number(was: &Number, is: &Number) -> bool {
    was == is || ((was.is_f64() || is.is_f64()) && was.as_f64() == is.as_f64())
}

/// Returns the pairs of JSON values in two texts, if the texts between them match.
fn pairs_of_json(was: &str, is: &str) -> Option<Vec<(Value, Value)>> {
    let (was, is) = (parts(was), parts(is));
    if was.len() != is.len() {
        return None;
    }
    let mut pairs = Vec::new();
    for pair in was.into_iter().zip(is) {
        match pair {
            (TextPart::Json(_, was), TextPart::Json(_, is)) => pairs.push((was, is)),
            (TextPart::Plain(was), TextPart::Plain(is)) if fits(was, is) => {}
            _ => return None,
        }
    }
    Some(pairs)
}

/// Returns the member of `is` that belongs to the recorded member `name`. A part of its name may have been removed.
fn counterpart<'a>(
    name: &String,
    was: &Map<String, Value>,
    is: &'a Map<String, Value>,
    met: &HashSet<&String>,
) -> Option<(&'a String, &'a Value)> {
    is.get_key_value(name).or_else(|| {
        let mut others = is.iter().filter(|(new, _)| !was.contains_key(*new) && !met.contains(new));
        others.find(|(new, _)| name.contains(REMOVED) && fits(name, new))
    })
}

/// Returns whether a text matches `pattern`, in which each [`REMOVED`] stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let parts: Vec<&str> = pattern.split(REMOVED).collect();
    let [first, parts @ .., last] = &parts[..] else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    parts.iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn told(was: &Value, is: &Value) -> Vec<String> {
        Comparison::default().compare(was, is).iter().map(Difference::to_string).collect()
    }

    #[test]
    fn each_difference_has_its_place() {
        let was = json!({ "id": 1, "result": { "content": [{ "text": "5" }], "old": true } });
        let is = json!({ "id": 1, "result": { "content": [{ "text": "6" }, 7], "new": null } });
        let expected = [
            "`result.content[0].text` was \"5\", and is \"6\"",
            "`result.content[1]` is new: 7",
            "`result.old` was true, and is missing",
            "`result.new` is new: null",
        ];
        assert_eq!(told(&was, &is), expected);
        assert_eq!(told(&was, &was), [""; 0]);
        assert_eq!(told(&json!([]), &json!({})), ["`the message` was [], and is {}"]);
    }

    #[test]
    fn values_that_a_server_chooses_are_translated_for_the_client() {
        let mut comparison = Comparison::default();
        let was = json!({ "id": 2, "result": { "taskId": "a", "serverInfo": { "version": "1" } } });
        let is = json!({ "id": 2, "result": { "taskId": "b", "serverInfo": { "version": "2" } } });
        assert_eq!(comparison.compare(&was, &is), []);
        let asks = |id: Value| json!({ "id": id, "method": "elicitation/create" });
        assert_eq!(comparison.compare(&asks(json!("x1")), &asks(json!("y1"))), []);
        let mut message = json!({ "id": 3, "method": "tasks/get", "params": { "taskId": "a" } });
        comparison.translate(&mut message);
        assert_eq!(message["params"]["taskId"], "b");
        let mut answer = json!({ "id": "x1", "result": {} });
        comparison.translate(&mut answer);
        assert_eq!(answer["id"], "y1");
        // The same name in the content of the author is compared.
        let of = |id: &str| json!({ "structuredContent": { "taskId": id } });
        assert_eq!(comparison.compare(&of("a"), &of("b")), []);
        assert_eq!(comparison.compare(&of("c"), &of("d")).len(), 1);
    }

    #[test]
    fn removed_texts_stand_for_all_texts() {
        assert_eq!(told(&json!(["<removed>", "<removed>"]), &json!([5, "x"])), [""; 0]);
        assert!(fits("a <removed> c <removed>", "a b c d"));
        assert!(!fits("a <removed> c", "a b d"));
        assert!(!fits("ab<removed>bc", "abc"));
    }

    #[test]
    fn texts_of_json_with_removed_values_are_compared_as_json() {
        let removed = "{\"a\":[1],\"b\":\"x\",\"password\":\"<removed>\"}";
        let text = |text: &str| json!({ "result": { "content": [{ "text": text }] } });
        let told = |is: &str| told(&text(removed), &text(is));
        assert_eq!(told("\n{ \"password\": \"open\", \"b\": \"x\", \"a\": [1] }"), [""; 0]);
        assert_eq!(
            told("{\"a\":[1],\"b\":\"y\",\"password\":\"open\"}"),
            ["`result.content[0].text.b` was \"x\", and is \"y\""]
        );
        // The removed part of a text does not hide other members.
        assert_eq!(
            told("{\"a\":[1],\"b\":\"x\",\"password\":\"open\",\"z\":\"\"}"),
            ["`result.content[0].text.z` is new: \"\""]
        );
        assert_eq!(told("no JSON").len(), 1);
    }

    #[test]
    fn json_with_removed_values_within_a_text_is_compared_as_json() {
        let told = |was: &str, is: &str| told(&json!([was]), &json!([is]));
        let removed = "ok: {\"a\":1,\"password\":\"<removed>\"}\nby <removed>";
        assert_eq!(told(removed, "ok: { \"password\": 5, \"a\": 1 }\nby Ada"), [""; 0]);
        assert_eq!(
            told(removed, "ok: { \"password\": 5, \"a\": 2 }\nby Ada"),
            ["`[0].a` was 1, and is 2"]
        );
        assert_eq!(told(removed, "no: { \"password\": 5, \"a\": 1 }\nby Ada").len(), 1);
        // The removed part contained JSON.
        assert_eq!(told("by <removed>", "by {\"a\":1}"), [""; 0]);
    }

    #[test]
    fn removed_names_stand_for_all_names() {
        let was = json!({ "<removed>": 1, "<removed><removed>": 2, "of <removed>": 3, "z": 4 });
        assert_eq!(told(&was, &json!({ "a": 1, "b": 2, "of c": 3, "z": 4 })), [""; 0]);
        assert_eq!(told(&was, &json!({ "a": 1, "b": 2, "of c": 0, "z": 4 })).len(), 1);
        assert_eq!(
            told(&json!({ "of <removed>": 3 }), &json!({ "for c": 3 })),
            ["`of <removed>` was 3, and is missing", "`for c` is new: 3"]
        );
    }

    #[test]
    fn numbers_are_compared_by_their_values() {
        let was = json!([0, 600, 0.5, u64::MAX]);
        assert_eq!(told(&was, &json!([0.0, 600.0, 0.5, u64::MAX])), [""; 0]);
        assert_eq!(told(&was, &json!([-1.0, 600.5, 0.25, u64::MAX - 1])).len(), 4);
    }

    #[test]
    fn a_cancelled_question_has_the_id_of_its_server() {
        let mut comparison = Comparison::default();
        let asked = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "roots/list" });
        let cancelled = |id: u64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        assert_eq!(comparison.compare(&asked(1), &asked(2)).len(), 0);
        assert_eq!(comparison.compare(&cancelled(1), &cancelled(2)).len(), 0);
        assert_eq!(comparison.compare(&cancelled(1), &cancelled(3)).len(), 1);
    }
}
