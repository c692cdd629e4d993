//! Check of the arguments of a tool whose input schema its author has created at run time.

use std::{collections::BTreeMap, mem, sync::Arc};

use mcp_runtime_wire::{JsonKind, Raw};
use serde_json::Value;

use super::entry::DynHandler;
use crate::{
    call::extract::{ArgumentMember, Arguments, Call, Running, stringified},
    error::shown,
    schema::not_usable,
};

/// The part of an input schema that the server checks: the required arguments, their types, and whether there may be others.
pub(super) struct ArgumentCheck {
    /// Types of each argument. Empty if its schema has no `type`, so that any value fits.
    properties: BTreeMap<String, Vec<ValueType>>,
    required: Vec<String>,
    /// Whether arguments without a property are rejected.
    is_closed: bool,
}

const NO_ARGUMENTS: &str = "`input_schema` needs a handler with arguments: set it with `handler_with`, such as \
     `handler_with(async |arguments: serde_json::Map<String, Value>, context: Context| …)`";

/// Type of a JSON value, as the keyword `type` names it.
#[derive(Clone, Copy, PartialEq)]
enum ValueType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl ValueType {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    fn fits(self, value: Raw<'_>) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.kind() == JsonKind::Bool,
            // JSON Schema counts `1.0` as an integer.
            Self::Integer => value.f64().is_some_and(|number| number.fract() == 0.0),
            Self::Number => value.kind() == JsonKind::Number,
            Self::String => value.kind() == JsonKind::String,
            Self::Array => value.kind() == JsonKind::Array,
            Self::Object => value.kind() == JsonKind::Object,
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

impl ArgumentCheck {
    /// Takes the check from an object schema.
    ///
    /// # Errors
    /// Fails if a keyword that is checked has a value that JSON Schema does not allow, or if the handler takes no arguments.
    pub(super) fn of(schema: &Value, takes_arguments: bool) -> Result<Self, String> {
        if !takes_arguments {
            return Err(NO_ARGUMENTS.to_owned());
        }
        let wrong = |problem: String| not_usable("input_schema", problem);
        let mut properties = BTreeMap::new();
        match schema.get("properties") {
            None => {}
            Some(Value::Object(members)) => {
                for (name, schema) in members {
                    let types = types(schema).map_err(|kind| {
                        wrong(format!("the `type` of `{name}` is {kind}, which is no type of JSON"))
                    })?;
                    properties.insert(name.clone(), types);
                }
            }
            Some(_) => return Err(wrong("`properties` must be an object".to_owned())),
        }
        let required = schema.get("required").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
        let required = serde_json::from_value(required)
            .map_err(|_| wrong("`required` must be an array of strings".to_owned()))?;
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
            && schema.get("patternProperties").is_none();
        Ok(Self { properties, required, is_closed })
    }

    /// Returns a handler that checks the arguments, and runs `handler` if they fit.
    pub(super) fn before(self, handler: DynHandler) -> DynHandler {
        Arc::new(move |call| self.run(call, &handler))
    }

    fn run(&self, mut call: Call<'_>, handler: &DynHandler) -> Running {
        let mut members = call.arguments.listed().map(mem::take).unwrap_or_default();
        // Content of each quoted argument, with the position of the argument.
        let mut unquoted: Vec<(usize, String)> = Vec::new();
        for (at, member) in members.iter_mut().enumerate() {
            let types = self.properties.get(&*member.name);
            // `accept` reports the arguments that are not taken, with the names that exist.
            member.taken = types.is_some() || !self.is_closed;
            let value = member.value;
            let Some(types) = types.filter(|types| !fits(types, value)) else { continue };
            let is_required = self.required.iter().any(|name| *name == member.name);
            if value.is_null() && !is_required {
                continue;
            }
            match stringified(value.as_str()).filter(|text| fits(types, Raw::trusted(text))) {
                Some(text) => unquoted.push((at, text)),
                None => call.problem(mismatch(&member.name, value, types)),
            }
        }
        for name in &self.required {
            if !members.iter().any(|member| member.name == *name) {
                call.problem(format!("`{name}`: missing"));
            }
        }
        call.arguments = Arguments::Json(members);
        if !call.accept() {
            return call.refuse();
        }
        if unquoted.is_empty() {
            return handler(call);
        }
        let Arguments::Json(members) = call.arguments else { return handler(call) };
        let mut members: Vec<ArgumentMember<'_, Raw<'_>>> = members;
        for (at, text) in &unquoted {
            members[*at].value = Raw::trusted(text);
        }
        handler(Call::new(call.mode, Arguments::Json(members), call.names, call.context))
    }
}

/// Returns the types that a schema allows. The list is empty if the schema has no `type`.
///
/// # Errors
/// Returns the JSON text of a value that names no type.
fn types(schema: &Value) -> Result<Vec<ValueType>, String> {
    let Some(kind) = schema.get("type") else { return Ok(Vec::new()) };
    let named =
        |kind: &Value| kind.as_str().and_then(ValueType::named).ok_or_else(|| format!("`{kind}`"));
    match kind {
        Value::Array(kinds) => kinds.iter().map(named).collect(),
        kind => named(kind).map(|kind| vec![kind]),
    }
}

fn fits(types: &[ValueType], value: Raw<'_>) -> bool {
    types.is_empty() || types.iter().any(|kind| kind.fits(value))
}

#[cold]
fn mismatch(name: &str, value: Raw<'_>, types: &[ValueType]) -> String {
    let found = match value.kind() {
        JsonKind::Object => "object".to_owned(),
        JsonKind::Array => "array".to_owned(),
        JsonKind::String => format!("string {}", shown(value.as_str())),
        _ => shown(value.as_str()).to_owned(),
    };
    let types: Vec<_> = types.iter().map(|kind| kind.described()).collect();
    format!("`{}`: invalid type: {found}, expected {}", shown(name), types.join(" or "))
}
