//! The output schema of a tool that returns `Json<T>`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Map, SchemaProfile,
    compatible::{compatible_result, full},
    definitions::{check_references, definition_name},
    input::{given_schema, not_usable},
};

/// Published schema of a structured result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultSchema {
    pub(crate) text: Box<str>,
    /// Whether every result is an object and the root of the schema has the type `object`. Protocol revisions 2025-06-18 and 2025-11-25
    /// allow no other output schema (rules TOOLS-11 and C-20).
    pub(crate) root_is_object: bool,
}

impl ResultSchema {
    /// Renders the schema for publication. `schema` is the root schema that schemars has generated for serialization, with its `$defs`.
    pub(crate) fn render(schema: Value, profile: SchemaProfile) -> Self {
        let mut schema = match profile {
            SchemaProfile::Compatible => compatible_result(schema),
            SchemaProfile::Full => full(schema),
        };
        let root_is_object = is_object(&schema, &schema, 0);
        // An enum whose variants are all objects has no `type` at its root. Clients look for that keyword, so it is added.
        if root_is_object && let Value::Object(root) = &mut schema {
            root.insert("type".into(), json!("object"));
        }
        Self { text: schema.to_string().into_boxed_str(), root_is_object }
    }
}

/// Reads a schema that the author of the server has written as `output_schema = …`: JSON text, or a value that serializes to the schema. The
/// schema is published unchanged.
///
/// # Errors
///
/// Fails if the text is not JSON, or the schema is not a JSON object.
pub fn output_schema(schema: impl Serialize) -> Result<ResultSchema, String> {
    let value = given_schema("output_schema", schema)?;
    if !value.is_object() {
        return Err(not_usable("output_schema", "it is not a JSON object"));
    }
    let root_is_object = value.get("type") == Some(&json!("object"));
    Ok(ResultSchema { text: value.to_string().into_boxed_str(), root_is_object })
}

/// Reads the output schema of a tool that is added at run time: JSON text, or a value that serializes to the schema.
///
/// # Errors
/// Fails if the schema is not a JSON object, or if a reference names a definition that it does not contain.
pub(crate) fn given_output(schema: impl Serialize) -> Result<Value, String> {
    let schema = given_schema("output_schema", schema)?;
    if !schema.is_object() {
        return Err(not_usable("output_schema", "it is not a JSON object"));
    }
    check_references("output_schema", &schema)?;
    Ok(schema)
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
    definitions.get(&*definition_name(reference)?)
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, generate::SchemaSettings};

    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    struct Profile {
        name: String,
        age: Option<u8>,
        extra: Value,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    #[serde(tag = "kind")]
    enum Event {
        Started { at: u64 },
        Ended,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    struct Tree {
        children: Vec<Tree>,
    }

    fn render<T: JsonSchema>(profile: SchemaProfile) -> ResultSchema {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        ResultSchema::render(generator.into_root_schema_for::<T>().to_value(), profile)
    }

    #[test]
    fn null_stays_in_results() {
        let schema: Value =
            serde_json::from_str(&render::<Profile>(SchemaProfile::Compatible).text).unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(
            schema["properties"]["age"],
            json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}]})
        );
        assert!(schema["properties"]["extra"]["anyOf"].is_array());
        assert_eq!(schema["required"], json!(["name", "age", "extra"]));
        assert!(schema.get("$schema").is_none() && schema.get("title").is_none());
    }

    #[test]
    fn which_roots_are_objects() {
        fn check<T: JsonSchema>(expected: bool) {
            for profile in [SchemaProfile::Compatible, SchemaProfile::Full] {
                let schema = render::<T>(profile);
                assert_eq!(schema.root_is_object, expected, "{}", schema.text);
                let value: Value = serde_json::from_str(&schema.text).unwrap();
                assert_eq!(value["type"] == "object", expected, "{value}");
            }
        }
        check::<Profile>(true);
        check::<Tree>(true);
        check::<Event>(true);
        check::<std::collections::BTreeMap<String, u8>>(true);
        check::<Result<Profile, Tree>>(true);
        check::<Option<Profile>>(false);
        check::<Vec<Profile>>(false);
        check::<Value>(false);
        check::<()>(false);
        check::<f64>(false);
    }

    #[test]
    fn full_keeps_the_dialect() {
        let text = render::<Profile>(SchemaProfile::Full).text;
        assert!(text.contains("2020-12") && text.contains("uint8"), "{text}");
    }
}
