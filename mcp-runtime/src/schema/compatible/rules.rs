//! What is rewritten, and because of whom.

use serde_json::{Value, json};

use super::values::{constant, named_values};
use super::{Map, Side, conjoin, object};

/// One rewriting of one schema object; the schemas inside it have been rewritten before.
pub(super) struct Rule {
    #[allow(dead_code, reason = "for the tests")]
    pub(super) name: &'static str,
    /// Public threads that show what goes wrong without the rule.
    #[allow(dead_code, reason = "for the tests, and for those who want to drop a rule")]
    pub(super) because: &'static [&'static str],
    pub(super) sides: &'static [Side],
    pub(super) rewrite: fn(&mut Map, Side),
}

const BOTH: &[Side] = &[Side::Argument, Side::Result];
const ARGUMENTS: &[Side] = &[Side::Argument];

/// In the order they are applied.
pub(super) const RULES: &[Rule] = &[
    Rule {
        // `nullable` is OpenAPI's, and strict validators refuse it.
        name: "nullable",
        because: &["MikkoParkkola/nab#61"],
        sides: BOTH,
        rewrite: nullable,
    },
    Rule {
        // Older generators wrap a reference this way, and `allOf` is known to few dialects.
        name: "single allOf",
        because: &["eric-tramel/moraine#256"],
        sides: BOTH,
        rewrite: single_all_of,
    },
    Rule {
        // An argument that may be `null` may as well be left out. A result keeps its `null`, in a branch of its own.
        name: "null",
        because: &[
            "cursor/cursor#3778",
            "anthropics/claude-code#3966",
            "modelcontextprotocol/rust-sdk#135",
            "github/copilot-cli#4623",
        ],
        sides: ARGUMENTS,
        rewrite: null,
    },
    Rule {
        // Dialects with one `type` per schema cannot express a list of them; Inspector calls it `type-union`.
        name: "type list",
        because: &["google/adk-js#199", "anomalyco/opencode#48073"],
        sides: BOTH,
        rewrite: type_list,
    },
    Rule {
        // Only strings: Gemini refuses every other value in an `enum`, and clients that drop an unknown `const` go on.
        name: "const",
        because: &["danny-avila/LibreChat#11784", "cortexkit/antigravity-auth#17"],
        sides: BOTH,
        rewrite: constant,
    },
    Rule {
        // schemars describes an enum with documented variants as `oneOf` of constants.
        name: "enum",
        because: &["anomalyco/opencode#12908", "modelcontextprotocol/modelcontextprotocol#2806"],
        sides: BOTH,
        rewrite: named_values,
    },
    Rule {
        // The variants of a Rust enum exclude each other anyway. It also makes every other rule that widens a branch
        // safe for results: a second branch may match.
        name: "oneOf",
        because: &["can1357/oh-my-pi#920", "ayunis-core/ayunis-core#998"],
        sides: BOTH,
        rewrite: one_of,
    },
    Rule {
        // A whole number keeps its bound, one lower or higher. Any other number is published one value too wide, which
        // the check of the argument catches.
        name: "exclusive bounds",
        because: &["modelcontextprotocol/servers#1624", "ahmadrosid/nakama#292"],
        sides: BOTH,
        rewrite: exclusive_bounds,
    },
    Rule {
        // `uint32` and its like are schemars' own, and others are refused by name (`uri` by gpt-5-codex). These nine
        // are what OpenAI lists.
        name: "format",
        because: &[
            "anomalyco/opencode#31002",
            "Piebald-AI/splitrail#113",
            "longbridge/developers#1264",
            "cyanheads/git-mcp-server#47",
        ],
        sides: BOTH,
        rewrite: format,
    },
    Rule {
        // A tuple has `prefixItems` only. Its `items` describe what comes after them, which is nothing.
        name: "items",
        because: &[
            "microsoft/vscode#244467",
            "ckreiling/mcp-server-docker#25",
            "D4Vinci/Scrapling#150",
        ],
        sides: ARGUMENTS,
        rewrite: items,
    },
    Rule {
        // A bare `true` loses all tools of the server, `{}` makes clients send strings, and a list of all types fails
        // with Gemini. Left is a union of typed branches, in which every branch is usual.
        name: "any value",
        because: &[
            "anthropics/claude-code#92900",
            "ryan-voitiskis/reklawdbox#32",
            "cyanheads/mcp-ts-core#141",
            "modelcontextprotocol/inspector#1005",
        ],
        sides: BOTH,
        rewrite: any_value,
    },
    Rule {
        // Where `null` is not described it must not be proposed.
        name: "null default",
        because: &["cursor/cursor#3778"],
        sides: ARGUMENTS,
        rewrite: null_default,
    },
];

/// Applies the rules for `side` to one schema whose subschemas are done.
pub(super) fn apply(map: &mut Map, side: Side) {
    for rule in RULES.iter().filter(|rule| rule.sides.contains(&side)) {
        (rule.rewrite)(map, side);
    }
}

fn nullable(map: &mut Map, side: Side) {
    if map.remove("nullable") == Some(Value::Bool(true)) && side == Side::Result {
        match map.get_mut("type") {
            Some(Value::Array(types)) if !types.contains(&json!("null")) => {
                types.push(json!("null"));
            }
            Some(Value::String(name)) if name != "null" => {
                let name = std::mem::take(name);
                map.insert("type".into(), json!([name, "null"]));
            }
            _ => {}
        }
    }
}

fn null(map: &mut Map, _: Side) {
    if let Some(Value::Array(types)) = map.get_mut("type")
        && types.len() > 1
    {
        types.retain(|name| name != "null");
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && values.len() > 1
    {
        values.retain(|value| !value.is_null());
    }
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = map.get_mut(union) else { continue };
        if branches.iter().all(is_null) {
            continue;
        }
        branches.retain(|branch| !is_null(branch));
        if branches.len() == 1
            && let Some(Value::Array(mut branches)) = map.remove(union)
            && let Some(branch) = branches.pop()
        {
            *map = conjoin(object(branch), std::mem::take(map));
        }
    }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
        || schema.get("const").is_some_and(Value::is_null)
        || schema["enum"]
            .as_array()
            .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_null))
}

fn type_list(map: &mut Map, side: Side) {
    let Some(Value::Array(types)) = map.get("type") else { return };
    if let [only] = types.as_slice() {
        let only = only.clone();
        map.insert("type".into(), only);
        return;
    }
    if map.contains_key("anyOf") || types.is_empty() {
        return;
    }
    let types = types.clone();
    map.remove("type");
    let values = map.remove("enum");
    let mut branches = Vec::new();
    for name in &types {
        let Some(name) = name.as_str() else { continue };
        let mut branch = Map::from_iter([("type".to_owned(), json!(name))]);
        for keyword in keywords_of(name) {
            if let Some(value) = map.get(*keyword) {
                branch.insert((*keyword).to_owned(), value.clone());
            }
        }
        match &values {
            Some(Value::Array(values)) if name != "null" => {
                let values: Vec<_> =
                    values.iter().filter(|value| has_type(value, name)).cloned().collect();
                if values.is_empty() {
                    continue;
                }
                branch.insert("enum".into(), Value::Array(values));
            }
            Some(Value::Array(values)) if !values.contains(&Value::Null) => continue,
            _ => {}
        }
        apply(&mut branch, side);
        branches.push(Value::Object(branch));
    }
    for keyword in types.iter().filter_map(Value::as_str).flat_map(keywords_of) {
        map.remove(*keyword);
    }
    map.insert("anyOf".into(), Value::Array(branches));
}

/// The keywords that only bear on values of one type.
fn keywords_of(name: &str) -> &'static [&'static str] {
    match name {
        "integer" | "number" => {
            &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"]
        }
        "string" => {
            &["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"]
        }
        "array" => &[
            "items",
            "prefixItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
            "uniqueItems",
            "unevaluatedItems",
        ],
        "object" => OBJECT_KEYWORDS,
        _ => &[],
    }
}

const OBJECT_KEYWORDS: &[&str] = &[
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

fn has_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || name == "integer" && !number.is_f64(),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

fn one_of(map: &mut Map, _: Side) {
    let Some(branches) = map.remove("oneOf") else { return };
    *map = conjoin(Map::from_iter([("anyOf".to_owned(), branches)]), std::mem::take(map));
}

fn single_all_of(map: &mut Map, _: Side) {
    if let Some(Value::Array(schemas)) = map.get_mut("allOf")
        && schemas.len() == 1
        && let Some(schema) = schemas.pop()
    {
        map.remove("allOf");
        *map = conjoin(object(schema), std::mem::take(map));
    }
}

fn exclusive_bounds(map: &mut Map, _: Side) {
    for (exclusive, inclusive, step) in
        [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)]
    {
        let Some(bound) = map.get(exclusive).filter(|bound| bound.is_number()).cloned() else {
            continue;
        };
        map.remove(exclusive);
        let bound = match bound.as_i64().and_then(|bound| bound.checked_add(step)) {
            Some(bound) if map.get("type") == Some(&json!("integer")) => json!(bound),
            _ => bound,
        };
        *map = conjoin(Map::from_iter([(inclusive.to_owned(), bound)]), std::mem::take(map));
    }
}

fn format(map: &mut Map, _: Side) {
    const KNOWN: [&str; 9] =
        ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    if map.get("format").and_then(Value::as_str).is_some_and(|name| !KNOWN.contains(&name)) {
        map.remove("format");
    }
}

fn items(map: &mut Map, side: Side) {
    if map.get("type") != Some(&json!("array")) {
        return;
    }
    let prefix = map.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
    if map.get("items") == Some(&Value::Bool(false)) {
        map.remove("items");
        let bound = Map::from_iter([("maxItems".to_owned(), json!(prefix.len()))]);
        *map = conjoin(bound, std::mem::take(map));
    }
    if map.contains_key("items") {
        return;
    }
    let closed =
        map.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= prefix.len() as u64);
    let mut branches: Vec<Value> = Vec::new();
    for schema in prefix.into_iter().filter(|_| closed) {
        if !branches.contains(&schema) {
            branches.push(schema);
        }
    }
    let items = match branches.len() {
        0 => json!({ "anyOf": scalars_and_objects() }),
        1 => branches.remove(0),
        _ => json!({ "anyOf": branches }),
    };
    let mut items = object(items);
    apply(&mut items, side);
    map.insert("items".into(), Value::Object(items));
}

fn any_value(map: &mut Map, side: Side) {
    const TELLING: [&str; 10] =
        ["type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if"];
    if TELLING.iter().any(|keyword| map.contains_key(*keyword)) {
        return;
    }
    if side == Side::Argument {
        for name in ["object", "array"] {
            if keywords_of(name).iter().any(|keyword| map.contains_key(*keyword)) {
                map.insert("type".into(), json!(name));
                if name == "array" {
                    items(map, side);
                }
                return;
            }
        }
    }
    let mut branches = scalars_and_objects();
    branches.push(match side {
        Side::Argument => json!({ "type": "array", "items": { "anyOf": scalars_and_objects() } }),
        Side::Result => json!({ "type": "array" }),
    });
    if side == Side::Result {
        branches.push(json!({ "type": "null" }));
    }
    map.insert("anyOf".into(), Value::Array(branches));
}

fn scalars_and_objects() -> Vec<Value> {
    vec![
        json!({ "type": "string" }),
        json!({ "type": "number" }),
        json!({ "type": "boolean" }),
        json!({ "type": "object", "additionalProperties": true }),
    ]
}

fn null_default(map: &mut Map, _: Side) {
    if map.get("default") == Some(&Value::Null) && map.get("type") != Some(&json!("null")) {
        map.remove("default");
    }
}
