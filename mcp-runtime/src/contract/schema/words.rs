//! Compares the words about values: descriptions, examples, defaults and headers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Finding, Remedy, Side,
    gap::{Path, Step},
};
use crate::{
    collect::collect_by_insert,
    contract::change::Class,
    schema::{Map, header::KEYWORD as HEADER},
};

/// Keywords for people and models.
pub(super) static ANNOTATIONS: [&str; 7] =
    ["title", "description", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];

/// Adds the differences in words to the findings.
pub(super) fn compare(side: Side, old: &Value, new: &Value, to: &mut Vec<Finding>) {
    let mut walk = Walk { side, path: Path::default(), to };
    walk.schema(old, new);
}

struct Walk<'a> {
    side: Side,
    path: Path,
    to: &'a mut Vec<Finding>,
}

impl Walk<'_> {
    fn find(&mut self, class: Class, text: String, remedy: Remedy) {
        let finding = Finding { class, path: self.path.clone(), text, remedy };
        if !self.to.contains(&finding) {
            self.to.push(finding);
        }
    }

    fn at(&mut self, step: Step, old: &Value, new: &Value) {
        self.path.0.push(step);
        self.schema(old, new);
        self.path.0.pop();
    }

    fn schema(&mut self, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        let (Value::Object(old), Value::Object(new)) = (old, new) else { return };
        self.annotations(old, new);
        self.default(old, new);
        self.header(old, new);
        self.order(old, new);
        self.inside(old, new);
    }

    fn annotations(&mut self, old: &Map, new: &Map) {
        let extensions = || {
            let keys = old.keys().chain(new.keys()).map(String::as_str);
            collect_by_insert::<BTreeSet<_>, _>(
                keys.filter(|it| it.starts_with("x-") && *it != HEADER),
            )
        };
        for keyword in ANNOTATIONS.into_iter().chain(extensions()) {
            if let Some(text) = differs(keyword, old.get(keyword), new.get(keyword)) {
                self.find(Class::Cosmetic, text, Remedy::None);
            }
        }
    }

    /// Compares defaults. A call that leaves the argument out means its default, so another default breaks.
    fn default(&mut self, old: &Map, new: &Map) {
        let (was, is) = (old.get("default"), new.get("default"));
        if was == is {
            return;
        }
        // An argument that must be given now has no use for a default. The finding that it became required is enough.
        let is_required = self.to.iter().any(|it| {
            it.class == Class::Breaking && it.path == self.path && it.remedy == Remedy::MakeOptional
        });
        match (was, is) {
            _ if self.side == Side::Result || is_required => {
                let text = differs("default", was, is).unwrap_or_default();
                self.find(Class::Cosmetic, text, Remedy::None);
            }
            (None, Some(is)) => {
                let text = format!("has a default now: left out, it means {is}");
                self.find(Class::Additive, text, Remedy::None);
            }
            (Some(was), None) => {
                let text = format!(
                    "has no default any more: left out, it meant {was}, and what it means now is not said"
                );
                self.find(Class::Breaking, text, Remedy::KeepDefault);
            }
            (Some(was), Some(is)) => {
                let text =
                    format!("has another default: left out, it meant {was}, and means {is} now");
                self.find(Class::Breaking, text, Remedy::KeepDefault);
            }
            (None, None) => {}
        }
    }

    /// Compares headers. Clients that know the old header send that one, and routers miss it if it is gone.
    fn header(&mut self, old: &Map, new: &Map) {
        let (was, is) = (old.get(HEADER), new.get(HEADER));
        let name = |it: &Value| it.as_str().unwrap_or_default().to_lowercase();
        match (was, is) {
            (Some(was), Some(is)) if name(was) == name(is) => return,
            (None, None) => return,
            _ => {}
        }
        let shown = |it: Option<&Value>| it.map_or_else(|| "none".to_owned(), ToString::to_string);
        let text = format!("has another header: was {}, is {}", shown(was), shown(is));
        self.find(Class::Breaking, text, Remedy::KeepHeader);
    }

    /// Finds an `enum` that lists the same values in another order.
    fn order(&mut self, old: &Map, new: &Map) {
        let (Some(Value::Array(was)), Some(Value::Array(is))) = (old.get("enum"), new.get("enum"))
        else {
            return;
        };
        let all_in = |some: &[Value], others: &[Value]| some.iter().all(|it| others.contains(it));
        if was != is && all_in(was, is) && all_in(is, was) {
            let text = "lists its values in another order".to_owned();
            self.find(Class::Cosmetic, text, Remedy::None);
        }
    }

    fn inside(&mut self, old: &Map, new: &Map) {
        let both = |keyword: &str| Some((old.get(keyword)?, new.get(keyword)?));
        for (keyword, step) in
            [("properties", Step::Member as fn(String) -> Step), ("$defs", Step::Definition)]
        {
            let Some((Value::Object(was), Value::Object(is))) = both(keyword) else { continue };
            for (name, was) in was {
                if let Some(is) = is.get(name) {
                    self.at(step(name.clone()), was, is);
                }
            }
        }
        if let Some((was, is)) = both("items") {
            self.at(Step::Element, was, is);
        }
        if let Some((was, is)) = both("additionalProperties") {
            self.at(Step::Others, was, is);
        }
        for keyword in ["prefixItems", "anyOf", "oneOf", "allOf"] {
            let Some((Value::Array(was), Value::Array(is))) = both(keyword) else { continue };
            for (index, (was, is)) in was.iter().zip(is).enumerate() {
                if keyword == "prefixItems" {
                    self.at(Step::Place(index), was, is);
                } else {
                    self.schema(was, is);
                }
            }
        }
    }
}

/// Describes how words differ, without repeating long ones.
pub(in crate::contract) fn differs(
    name: &str,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Option<String> {
    // Plural names, such as `examples`, `icons` and `instructions`.
    let are_many = name.ends_with('s');
    match (old, new) {
        (old, new) if old == new => None,
        (None, _) if are_many => Some(format!("has {name} now")),
        (None, _) if name.starts_with('x') => Some(format!("has an {name} now")),
        (None, _) => Some(format!("has a {name} now")),
        (_, None) => Some(format!("has no {name} any more")),
        _ if are_many => Some(format!("has other {name}")),
        _ => Some(format!("has another {name}")),
    }
}
