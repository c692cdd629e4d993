//! Field paths of a JSON Schema. Comparing the paths shows whether a converter has lost a field.

use std::collections::BTreeSet;

use serde_json::Value;

/// Maximum depth of the walk through a schema, because a schema can contain itself.
const DEEPEST: usize = 12;

/// Returns the paths of all fields that an instance of `schema` can have, such as `entities[].name`.
pub(crate) fn paths(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk(schema, schema, "", DEEPEST, &mut found);
    found
}

/// Whether the path leads to a field inside an argument, and the description of the argument names this field.
pub(crate) fn is_described(schema: &Value, path: &str) -> bool {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let description = schema["properties"][&path[..end]]["description"].as_str();
    let field = path.rsplit('.').next().unwrap_or_default();
    let mut words = description
        .unwrap_or_default()
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    end < path.len() && words.any(|word| word == field)
}

fn walk(root: &Value, schema: &Value, at: &str, depth: usize, found: &mut BTreeSet<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Some(target) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'))
    {
        if let Some(target) = root.pointer(target) {
            walk(root, target, at, depth, found);
        }
    }
    // The Gemini API uses other names for some keywords.
    for branches in ["anyOf", "any_of", "oneOf", "one_of", "allOf", "all_of", "prefixItems"] {
        let path = if branches == "prefixItems" { format!("{at}[]") } else { at.to_owned() };
        for branch in schema[branches].as_array().into_iter().flatten() {
            walk(root, branch, &path, depth, found);
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        walk(root, property, &path, depth, found);
        found.insert(path);
    }
    if schema["items"].is_object() {
        walk(root, &schema["items"], &format!("{at}[]"), depth, found);
    }
    for values in ["additionalProperties", "additional_properties"] {
        if schema[values].is_object() {
            walk(root, &schema[values], &format!("{at}.*"), depth, found);
        }
    }
}

#[support::test]
fn paths_go_through_arrays_branches_and_references() {
    let schema = serde_json::json!({
        "properties": {
            "a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/B"}]},
            "m": {"additionalProperties": {"properties": {"x": {}}}},
        },
        "$defs": {"B": {"items": {"properties": {"c": {}}}}},
    });
    let found: Vec<_> = paths(&schema).into_iter().collect();
    assert_eq!(found, ["a", "a[].c", "m", "m.*.x"]);
}

#[support::test]
fn a_description_names_a_field_by_a_whole_word() {
    let schema = serde_json::json!({
        "properties": {"a": {"description": "Pairs of `key` and `values`."}, "b": {}},
    });
    for (path, expected) in [
        ("a[].key", true),
        ("a.*.key", true),
        ("a[].value", false),
        ("a", false),
        ("b[].key", false),
    ] {
        assert_eq!(is_described(&schema, path), expected, "{path}");
    }
}

#[support::test]
fn the_paths_of_a_recursive_schema_are_finite() {
    let schema = serde_json::json!({"properties": {"a": {"$ref": "#"}}});
    assert!(paths(&schema).contains("a.a"));
}
