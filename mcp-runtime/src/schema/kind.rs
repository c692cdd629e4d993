//! The JSON type of an argument, as its schema states it. It decides which constraints apply to the argument.

use std::fmt;

use serde_json::Value;

/// JSON type of an argument, as far as the schema of the argument determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaKind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    /// Several types, or any type.
    Other,
}

impl SchemaKind {
    /// Returns the kind of values that `schema` describes; `meaning` resolves its references. A `null` beside another type is ignored.
    pub(crate) fn of<'a>(schema: &'a Value, meaning: &impl Fn(&str) -> Option<&'a Value>) -> Self {
        Self::within(schema, meaning, 0)
    }

    fn within<'a>(
        schema: &'a Value,
        meaning: &impl Fn(&str) -> Option<&'a Value>,
        depth: u8,
    ) -> Self {
        if depth > 16 {
            return Self::Other;
        }
        if let Some(name) = schema["type"].as_str() {
            return Self::named(name);
        }
        let kinds: Vec<Self> = if let Some(names) = schema["type"].as_array() {
            names
                .iter()
                .filter_map(Value::as_str)
                .filter(|n| *n != "null")
                .map(Self::named)
                .collect()
        } else if let Some(reference) = schema["$ref"].as_str() {
            meaning(reference)
                .map(|schema| Self::within(schema, meaning, depth + 1))
                .into_iter()
                .collect()
        } else if let Some(values) = schema["enum"].as_array() {
            values.iter().filter(|value| !value.is_null()).map(Self::of_value).collect()
        } else if let Some(value) = schema.get("const") {
            vec![Self::of_value(value)]
        } else {
            let branches =
                schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
            let branches = branches.into_iter().flatten().filter(|branch| branch["type"] != "null");
            branches.map(|branch| Self::within(branch, meaning, depth + 1)).collect()
        };
        match kinds.split_first() {
            Some((first, rest)) if rest.iter().all(|kind| kind == first) => *first,
            _ => Self::Other,
        }
    }

    pub(crate) const fn phrase(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Other => "a value of several types",
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => Self::Other,
        }
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::String,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
            Value::Null => Self::Other,
        }
    }
}

impl fmt::Display for SchemaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}
