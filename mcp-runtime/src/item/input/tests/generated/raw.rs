//! Schema that schemars would make of the same type.

use serde_json::{Map, Value, json};

use super::tree::{Doc, Struct, Tree};
use crate::schema::SchemaSide;

/// Stands in for schemars' generator, and keeps what that would keep.
pub(super) struct Generator {
    pub(super) side: SchemaSide,
    pub(super) definitions: Map<String, Value>,
}

impl Generator {
    pub(super) fn reference(&mut self, schema: Value) -> Value {
        let name = format!("Type{}", self.definitions.len());
        self.definitions.insert(name.clone(), schema);
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    pub(super) fn raw(&mut self, tree: &Tree) -> Value {
        match tree {
            Tree::Leaf(leaf) => leaf.raw(),
            Tree::Optional(inner) => or_null(self.raw(inner)),
            Tree::List { items, len, unique } => {
                let mut list = json!({ "type": "array", "items": self.raw(items) });
                if let Some(len) = len {
                    list["minItems"] = json!(len);
                    list["maxItems"] = json!(len);
                }
                if *unique {
                    list["uniqueItems"] = json!(true);
                }
                list
            }
            Tree::Tuple(parts) => {
                let len = parts.len();
                let parts: Vec<_> = parts.iter().map(|it| self.raw(it)).collect();
                json!({ "type": "array", "prefixItems": parts, "minItems": len, "maxItems": len })
            }
            Tree::Map(values) => {
                json!({ "type": "object", "additionalProperties": self.raw(values) })
            }
            Tree::Newtype(inner, doc) => {
                let inner = self.raw(inner);
                self.reference(told(inner, doc))
            }
            Tree::Names(names, doc) => {
                let plain: Vec<_> =
                    names.iter().filter(|it| it.1.is_none()).map(|it| &it.0).collect();
                let list = json!({ "type": "string", "enum": plain });
                let mut branches = if plain.is_empty() { vec![] } else { vec![list.clone()] };
                for (name, doc) in names.iter().filter(|it| it.1.is_some()) {
                    branches.push(told(json!({ "type": "string", "const": name }), doc));
                }
                let all_plain = plain.len() == names.len();
                let schema = if all_plain { list } else { json!({ "oneOf": branches }) };
                self.reference(told(schema, doc))
            }
            Tree::Struct(it) => {
                let schema = self.raw_struct(it);
                self.reference(schema)
            }
            Tree::Tagged(it, name) => {
                let schema = self.raw_struct(it);
                let mut schema = self.reference(schema);
                schema["type"] = json!("object");
                schema["properties"] = json!({ "tag": { "type": "string", "const": name } });
                schema["required"] = json!(["tag"]);
                schema
            }
            Tree::OneOf { branches, untagged, doc } => {
                let branches: Vec<_> =
                    branches.iter().map(|(tree, doc)| told(self.raw(tree), doc)).collect();
                let keyword = if *untagged { "anyOf" } else { "oneOf" };
                self.reference(told(json!({ keyword: branches }), doc))
            }
        }
    }

    pub(super) fn raw_struct(&mut self, it: &Struct) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in &it.fields {
            let mut schema = told(self.raw(&field.tree), &field.doc);
            if let Some(title) = &field.title {
                schema = with(schema, "title", json!(title));
            }
            if let Some(empty) = field.tree.empty()
                && field.defaulted
                && !field.skipped
            {
                schema = with(schema, "default", empty);
            }
            properties.insert(field.name.clone(), schema);
            let is_optional = match self.side {
                SchemaSide::Argument => field.defaulted || field.tree.is_optional(),
                SchemaSide::Result => field.skipped,
            };
            if !is_optional {
                required.push(field.name.clone());
            }
        }
        let mut schema = json!({ "type": "object" });
        if !properties.is_empty() {
            schema["properties"] = properties.into();
        }
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        if it.closed {
            schema["additionalProperties"] = json!(false);
        }
        told(schema, &it.doc)
    }
}

pub(super) fn with(schema: Value, keyword: &str, value: Value) -> Value {
    let mut schema = if schema.is_object() { schema } else { json!({}) };
    schema[keyword] = value;
    schema
}

pub(super) fn told(schema: Value, doc: &Doc) -> Value {
    match doc {
        Some(doc) => with(schema, "description", json!(doc)),
        None => schema,
    }
}

pub(super) fn or_null(mut schema: Value) -> Value {
    let Some(map) = schema.as_object() else { return schema };
    let branches = map.get("anyOf").and_then(Value::as_array);
    if map.len() == 1 && branches.is_some_and(|it| it.iter().any(|it| it["type"] == "null")) {
        return schema;
    }
    if map.contains_key("$ref") || map.contains_key("anyOf") {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    }
    match schema["type"].take() {
        Value::String(name) if name != "null" => schema["type"] = json!([name, "null"]),
        other => schema["type"] = other,
    }
    schema
}
