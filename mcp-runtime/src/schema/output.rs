//! The output schema of a tool that returns `Json<T>`.

use serde_json::{Value, json};

use super::compatible::{compatible_result, full};
use super::definitions::target;
use super::{Map, SchemaProfile};

/// Published schema of a structured result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputSchema {
    pub(crate) text: Box<str>,
    /// Whether every result is an object and the schema says so at its root. 2025-06-18 and 2025-11-25 allow no other output schema (rules
    /// TOOLS-11 and C-20).
    pub(crate) root_is_object: bool,
}

impl OutputSchema {
    /// `schema` is the root schema that schemars made for serialisation, with its `$defs`.
    pub(crate) fn render(schema: Value, profile: SchemaProfile) -> Self {
        let mut schema = match profile {
            SchemaProfile::Compatible => compatible_result(schema),
            SchemaProfile::Full => full(schema),
        };
        let root_is_object = is_object(&schema, &schema, 0);
        // An enum whose variants are all objects is an object too, but clients look for the `type`.
        if root_is_object && let Value::Object(root) = &mut schema {
            root.insert("type".into(), json!("object"));
        }
        Self { text: schema.to_string().into_boxed_str(), root_is_object }
    }
}

fn is_object(schema: &Value, root: &Value, depth: u8) -> bool {
    let all = |branches: &Value| {
        branches.as_array().is_some_and(|branches| {
            !branches.is_empty() && branches.iter().all(|branch| is_object(branch, root, depth + 1))
        })
    };
    let any = |schemas: &Value| {
        schemas
            .as_array()
            .is_some_and(|schemas| schemas.iter().any(|schema| is_object(schema, root, depth + 1)))
    };
    let Some(map) = schema.as_object().filter(|_| depth < 16) else { return false };
    map.get("type") == Some(&json!("object"))
        || map.get("anyOf").is_some_and(all)
        || map.get("oneOf").is_some_and(all)
        || map.get("allOf").is_some_and(any)
        || map.get("$ref").and_then(Value::as_str).is_some_and(|reference| {
            meaning(reference, root).is_some_and(|schema| is_object(schema, root, depth + 1))
        })
}

fn meaning<'a>(reference: &str, root: &'a Value) -> Option<&'a Value> {
    let definitions: &Map = root.get("$defs").or_else(|| root.get("definitions"))?.as_object()?;
    definitions.get(&*target(reference)?)
}

#[cfg(test)]
mod tests;
