//! Sets of values on one side of a comparison. A set is described by several schemas, and contains the values that all of them accept.

use std::fmt;

use serde_json::Value;

use super::{document::SchemaDocument, value::TypeSet};
use crate::JsonObject;

/// One of the schemas that describe a set. The flags tell whether the set has already been narrowed to one branch of this schema's `anyOf`
/// or `oneOf`.
#[derive(Clone, Copy)]
pub(super) struct SetPart<'a> {
    pub(super) schema: &'a JsonObject,
    /// The same schema, as written in the document.
    pub(super) written: &'a Value,
    any_chosen: bool,
    one_chosen: bool,
}

/// Set of the values that have one of these types and that all parts accept.
#[derive(Clone)]
pub(super) struct ValueSet<'a> {
    pub(super) parts: Vec<SetPart<'a>>,
    pub(super) types: TypeSet,
    is_empty: bool,
}

/// Identity of a set: the address and the two flags of each part, and the types.
pub(super) type SetKey = (Vec<(usize, bool, bool)>, TypeSet);

impl<'a> ValueSet<'a> {
    /// Creates the set of all values that every one of the schemas accepts.
    pub(super) fn new(schemas: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut set = Self { parts: Vec::new(), types: TypeSet::ALL, is_empty: false };
        schemas.into_iter().for_each(|schema| set.add(schema));
        set
    }

    /// Adds a schema. A JSON value that is not a schema is ignored. The set may then be too large, but never too small.
    fn add(&mut self, schema: &'a Value) {
        match schema {
            Value::Bool(false) => self.is_empty = true,
            Value::Object(map) if !self.parts.iter().any(|part| std::ptr::eq(part.schema, map)) => {
                self.parts.push(SetPart {
                    schema: map,
                    written: schema,
                    any_chosen: false,
                    one_chosen: false,
                });
            }
            _ => {}
        }
    }

    /// Returns the schema, as written in the document, if the set contains exactly the values of one schema.
    pub(super) fn single(&self) -> Option<&'a Value> {
        match self.parts.as_slice() {
            [SetPart { written, any_chosen: false, one_chosen: false, .. }]
                if self.types == TypeSet::ALL && !self.is_empty =>
            {
                Some(written)
            }
            _ => None,
        }
    }

    pub(super) fn key(&self) -> SetKey {
        let one = |part: &SetPart<'a>| {
            (std::ptr::from_ref(part.schema) as usize, part.any_chosen, part.one_chosen)
        };
        let mut parts: Vec<_> = self.parts.iter().map(one).collect();
        parts.sort_unstable();
        (parts, self.types)
    }

    /// Adds the targets of `$ref` and the branches of `allOf` to the set, each as a part of its own. Returns `None` if the set has no
    /// value.
    pub(super) fn flatten(mut self, document: SchemaDocument<'a>) -> Option<Self> {
        let mut at = 0;
        while let Some(part) = self.parts.get(at) {
            let schema = part.schema;
            let meaning = schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| document.resolve(reference));
            meaning.into_iter().for_each(|schema| self.add(schema));
            let all = schema.get("allOf").and_then(Value::as_array);
            all.into_iter().flatten().for_each(|schema| self.add(schema));
            let types = schema.get("type").and_then(TypeSet::parse).unwrap_or(TypeSet::ALL);
            self.types = self.types.and(types);
            at += 1;
        }
        Some(self).filter(|set| !set.is_empty && !set.types.is_empty())
    }

    /// Divides the set by the first `anyOf` or `oneOf` of which no branch has been chosen yet. Returns `None` if there is none.
    pub(super) fn choices(&self) -> Option<Vec<Self>> {
        for (at, part) in self.parts.iter().enumerate() {
            for (keyword, chosen) in [("anyOf", part.any_chosen), ("oneOf", part.one_chosen)] {
                let Some(Value::Array(branches)) = part.schema.get(keyword).filter(|_| !chosen)
                else {
                    continue;
                };
                let made = |branch| {
                    let mut set = self.clone();
                    match keyword {
                        "anyOf" => set.parts[at].any_chosen = true,
                        _ => set.parts[at].one_chosen = true,
                    }
                    set.add(branch);
                    set
                };
                return Some(branches.iter().map(made).collect());
            }
        }
        None
    }

    pub(super) fn with_types(&self, types: TypeSet) -> Self {
        Self { types, ..self.clone() }
    }

    /// Returns the values of a keyword in all parts.
    pub(super) fn keyword_values(&self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        self.parts.iter().filter_map(move |part| part.schema.get(keyword))
    }

    /// Returns all values of the set, if a keyword lists them, or if the set's type is boolean or null. The flag is `true` if a keyword
    /// lists them.
    pub(super) fn values(&self) -> Option<(Vec<Value>, bool)> {
        if let Some(Value::Array(values)) = self.keyword_values("enum").next() {
            return Some((values.clone(), true));
        }
        if let Some(value) = self.keyword_values("const").next() {
            return Some((vec![value.clone()], true));
        }
        match self.types {
            TypeSet::NULL => Some((vec![Value::Null], false)),
            TypeSet::BOOLEAN => Some((vec![true.into(), false.into()], false)),
            _ => None,
        }
    }

    pub(super) fn requires(&self, name: &str) -> bool {
        self.keyword_values("required")
            .filter_map(Value::as_array)
            .flatten()
            .any(|required| required == name)
    }

    /// Returns the schemas that the parts declare for a member.
    pub(super) fn member(&self, name: &str) -> Vec<&'a Value> {
        self.keyword_values("properties").filter_map(|properties| properties.get(name)).collect()
    }

    /// Whether it is known that no value of the set has this member.
    pub(super) fn rules_out(&self, name: &str) -> bool {
        self.parts.iter().any(|part| {
            part.schema.get("additionalProperties") == Some(&Value::Bool(false))
                && !part.schema.contains_key("patternProperties")
                && part
                    .schema
                    .get("properties")
                    .and_then(|properties| properties.get(name))
                    .is_none()
        })
    }
}

/// Whether the two sets are known to have no value in common.
pub(super) fn are_disjoint<'a>(
    (a, in_a): (&ValueSet<'a>, SchemaDocument<'a>),
    (b, in_b): (&ValueSet<'a>, SchemaDocument<'a>),
    depth: u8,
) -> bool {
    let (Some(a), Some(b)) = (a.clone().flatten(in_a), b.clone().flatten(in_b)) else {
        return true;
    };
    if a.types.and(b.types).is_empty() {
        return true;
    }
    let none_in = |values: &[Value], set: &ValueSet<'a>, document: SchemaDocument<'a>| {
        values.iter().all(|value| {
            set.parts.iter().any(|part| document.accepts(part.written, value) == Some(false))
        })
    };
    if a.values().is_some_and(|(values, _)| none_in(&values, &b, in_b))
        || b.values().is_some_and(|(values, _)| none_in(&values, &a, in_a))
    {
        return true;
    }
    if a.types.and(b.types) != TypeSet::OBJECT || depth == 0 {
        return false;
    }
    let required = |set: &ValueSet<'a>| -> Vec<&'a str> {
        let lists = set.keyword_values("required").filter_map(Value::as_array);
        lists.flatten().filter_map(Value::as_str).collect()
    };
    required(&a).into_iter().chain(required(&b)).any(|name| {
        let members = (ValueSet::new(a.member(name)), ValueSet::new(b.member(name)));
        a.requires(name) && b.rules_out(name)
            || b.requires(name) && a.rules_out(name)
            || are_disjoint((&members.0, in_a), (&members.1, in_b), depth - 1)
    })
}

/// Property that distinguishes the values of an alternative from those of the other alternatives.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AlternativeTag {
    /// A member with one possible value, as `#[serde(tag = "kind")]` produces.
    Value(String, Value),
    /// The name of the only member.
    Member(String),
}

impl fmt::Display for AlternativeTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(name, value) => write!(f, "`{name}` = `{value}`"),
            Self::Member(name) => write!(f, "`{name}`"),
        }
    }
}

/// Returns the tag of an alternative, or `None` if it has none.
pub(super) fn alternative_tag<'a>(
    set: &ValueSet<'a>,
    document: SchemaDocument<'a>,
) -> Option<AlternativeTag> {
    let set = set.clone().flatten(document)?;
    let required: Vec<&'a str> = set
        .keyword_values("required")
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for name in &required {
        let member = ValueSet::new(set.member(name)).flatten(document)?;
        if let Some((values, true)) = member.values()
            && let [value] = values.as_slice()
        {
            return Some(AlternativeTag::Value((*name).to_owned(), value.clone()));
        }
    }
    let declared: Vec<&String> = set
        .keyword_values("properties")
        .filter_map(Value::as_object)
        .flat_map(|properties| properties.keys())
        .collect();
    match (declared.as_slice(), required.as_slice()) {
        ([only], [name]) if only == name => Some(AlternativeTag::Member((*only).clone())),
        _ => None,
    }
}
