//! The definitions of a schema (`$defs`): finds what a reference names, and decides which references can be written out.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use mcp_runtime_contract::{collect::collect_by_insert, percent};
use serde_json::Value;

use super::{Map, sentences::SAID};

/// Maximum number of nodes of a schema with all references inlined. A larger schema keeps all of its references. The limit is needed
/// because definitions that refer to each other can make an inlined schema exponentially larger. It corresponds to about half a megabyte of
/// text, more than any client reads.
const MOST_NODES: usize = 20_000;

/// The definitions of one root schema.
#[derive(Debug)]
pub(super) struct Definitions {
    all: Map,
    /// Whether the schema would exceed `MOST_NODES` with all references inlined.
    too_large: bool,
}

/// What replaces a reference to a definition when the reference is written out.
#[derive(Debug)]
pub(super) enum Inlined<'a> {
    /// Name and schema of the definition.
    Meaning(&'a str, &'a Value),
    /// Name of a definition that already encloses the reference, so the type contains itself.
    Again(&'a str),
}

impl Definitions {
    /// Removes `$defs` and its older form `definitions` from `root`.
    pub(super) fn take(root: &mut Map) -> Self {
        name_targets(root);
        let mut all = Map::new();
        for keyword in ["definitions", "$defs"] {
            if let Some(Value::Object(definitions)) = root.remove(keyword) {
                all.extend(definitions);
            }
        }
        let mut definitions = Self { all, too_large: false };
        let mut room = MOST_NODES.saturating_sub(nodes_of_map(root));
        let fits = references_of_map(root)
            .iter()
            .all(|reference| definitions.fits(reference, &mut Vec::new(), &mut room));
        definitions.too_large = !fits;
        definitions
    }

    /// Returns the name of the definition that `reference` points to, if there is such a definition.
    pub(super) fn name(&self, reference: &str) -> Option<&str> {
        let name = definition_name(reference)?;
        self.all.get_key_value(&*name).map(|(name, _)| name.as_str())
    }

    /// Returns the replacement for `reference`, or `None` if the reference must stay. `path` contains the names of the definitions that
    /// enclose the reference. A reference to a recursive definition must stay if `can_cut` is false.
    pub(super) fn inlined(
        &self,
        reference: &str,
        path: &[String],
        can_cut: bool,
    ) -> Option<Inlined<'_>> {
        let name = self.name(reference).filter(|_| !self.too_large)?;
        if !can_cut && self.is_recursive(name) {
            return None;
        }
        if path.iter().any(|outer| outer == name) {
            return Some(Inlined::Again(name));
        }
        Some(Inlined::Meaning(name, &self.all[name]))
    }

    pub(super) fn are_too_large(&self) -> bool {
        self.too_large
    }

    fn is_recursive(&self, name: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![&self.all[name]];
        while let Some(schema) = open.pop() {
            for reference in references(schema) {
                match self.name(&reference) {
                    Some(found) if found == name => return true,
                    Some(found) if seen.insert(found.to_owned()) => open.push(&self.all[found]),
                    _ => {}
                }
            }
        }
        false
    }

    /// Returns the `type` that all values of a definition share, if there is one.
    pub(super) fn type_of(&self, name: &str) -> Option<&str> {
        self.type_in(&self.all[name], 0)
    }

    fn type_in<'a>(&'a self, schema: &'a Value, depth: u8) -> Option<&'a str> {
        if let Some(name) = schema["type"].as_str() {
            return Some(name);
        }
        let reference = schema["$ref"].as_str().filter(|_| depth < 16);
        if let Some(meaning) = reference.and_then(|reference| self.meaning(reference)) {
            return self.type_in(meaning, depth + 1);
        }
        let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
        let mut types = branches.iter().map(|branch| self.type_in(branch, depth + 1));
        let first = types.next().filter(|_| depth < 16)??;
        types.all(|kind| kind == Some(first)).then_some(first)
    }

    /// Returns the definition that `reference` names, even if the reference must stay.
    pub(super) fn meaning(&self, reference: &str) -> Option<&Value> {
        self.all.get(self.name(reference)?)
    }

    /// Returns the definitions that `root` refers to, directly or indirectly, each rewritten by `publish`.
    pub(super) fn needed(&self, root: &Map, publish: impl Fn(Map) -> Map) -> Map {
        let mut needed = Map::new();
        let mut open = references_of_map(root);
        while let Some(reference) = open.pop() {
            let Some(name) = self.name(&reference).filter(|name| !needed.contains_key(*name))
            else {
                continue;
            };
            let schema = Value::Object(publish(object(self.all[name].clone())));
            open.extend(references(&schema));
            needed.insert(name.to_owned(), schema);
        }
        needed
    }

    /// Whether a reference and all references in its definition can be inlined with at most `room` nodes. Subtracts the number of these
    /// nodes from `room`.
    fn fits(&self, reference: &str, path: &mut Vec<String>, room: &mut usize) -> bool {
        let Some(name) =
            self.name(reference).filter(|name| !path.iter().any(|outer| outer == name))
        else {
            return true;
        };
        let Some(left) = room.checked_sub(nodes(&self.all[name])) else { return false };
        *room = left;
        path.push(name.to_owned());
        let below = references(&self.all[name]);
        let fits = below.iter().all(|reference| self.fits(reference, path, room));
        path.pop();
        fits
    }
}

/// Converts a schema to an object: `true` to `{}`, `false` to `{"not": {}}`.
pub(super) fn object(schema: Value) -> Map {
    match schema {
        Value::Object(map) => map,
        Value::Bool(false) => {
            collect_by_insert::<Map, _>([("not".to_owned(), Value::Object(Map::new()))])
        }
        _ => Map::new(),
    }
}

/// Returns the name of the definition that a reference points to: `#/$defs/A~1B` is `A/B`.
pub(super) fn definition_name(reference: &str) -> Option<Cow<'_, str>> {
    let pointer =
        reference.strip_prefix("#/$defs/").or_else(|| reference.strip_prefix("#/definitions/"))?;
    if pointer.contains('/') {
        return None;
    }
    let name = percent::decode(pointer)?;
    Some(if name.contains('~') {
        Cow::Owned(name.replace("~1", "/").replace("~0", "~"))
    } else {
        name
    })
}

/// Checks that `schema` contains what it refers to. `key` names the schema in the error.
///
/// # Errors
/// Returns the first reference that cannot be followed, with the fix.
pub(super) fn check_references(key: &str, schema: &Value) -> Result<(), String> {
    match references(schema).into_iter().find(|reference| target(schema, reference).is_none()) {
        None => Ok(()),
        Some(reference) => Err(format!(
            "`{key}` refers to `{reference}`, which it does not contain: put the definition into the `$defs` of the schema, and refer to it as `#/$defs/…`"
        )),
    }
}

/// Returns the schema in `root` that `reference` names: the root, a place in it, or a schema with an `$anchor`.
fn target<'a>(root: &'a Value, reference: &str) -> Option<Cow<'a, Value>> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&percent::decode(fragment)?).map(Cow::Borrowed);
    }
    let mut found = None;
    visit(root, &mut |schema| {
        if schema.get("$anchor").is_some_and(|anchor| anchor == fragment) {
            found = found.or(Some(schema));
        }
    });
    found.cloned().map(Value::Object).map(Cow::Owned)
}

/// Gives each schema that is referred to outside of `$defs` a definition, so that a reference always names a definition.
fn name_targets(root: &mut Map) {
    let mut unnamed = references_of_map(root);
    unnamed.retain(|reference| definition_name(reference).is_none());
    if unnamed.is_empty() {
        return;
    }
    let whole = Value::Object(root.clone());
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    let mut added = Map::new();
    for reference in unnamed {
        let is_new = !renamed.contains_key(&reference);
        let Some(meaning) = target(&whole, &reference).filter(|_| is_new) else { continue };
        let mut meaning = object(meaning.into_owned());
        meaning.remove("$anchor");
        for keyword in ["$defs", "definitions"] {
            meaning.remove(keyword);
        }
        let last = reference.rsplit(['#', '/']).next().filter(|name| !name.is_empty());
        let base = percent::decode(last.unwrap_or("root")).unwrap_or_default().into_owned();
        let is_taken = |name: &str| {
            added.contains_key(name)
                || ["$defs", "definitions"].iter().any(|keyword| !whole[*keyword][name].is_null())
        };
        let name = (1..)
            .map(|number| if number == 1 { base.clone() } else { format!("{base}{number}") })
            .find(|name| !is_taken(name));
        let Some(name) = name else { continue };
        added.insert(name.clone(), meaning.into());
        renamed.insert(reference, name);
    }
    let mut whole = Value::Object(std::mem::take(root));
    for schema in std::iter::once(&mut whole).chain(added.values_mut()) {
        rename(schema, &renamed);
    }
    *root = object(whole);
    if let Value::Object(definitions) = root.entry("$defs").or_insert_with(|| Map::new().into()) {
        definitions.extend(added);
    }
}

/// Replaces the references that have a new name, in `schema` and in the schemas inside it.
fn rename(schema: &mut Value, renamed: &BTreeMap<String, String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref")
                && let Some(name) = renamed.get(reference)
            {
                *reference = format!("#/$defs/{}", name.replace('~', "~0").replace('%', "%25"));
            }
            for (keyword, value) in map {
                match value {
                    _ if is_data(keyword) => {}
                    Value::Object(schemas) if has_names(keyword) => {
                        schemas.values_mut().for_each(|schema| rename(schema, renamed));
                    }
                    value => rename(value, renamed),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|schema| rename(schema, renamed)),
        _ => {}
    }
}

/// Whether the value of a keyword is data and no schema, so that a `$ref` in it is no reference.
fn is_data(keyword: &str) -> bool {
    ["default", "examples", "example", "enum", "const"].contains(&keyword)
}

/// Whether the value of a keyword has a name for each schema in it. A name may be that of a keyword.
fn has_names(keyword: &str) -> bool {
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]
        .contains(&keyword)
}

/// Calls `look` with each schema in `value`.
fn visit<'a>(value: &'a Value, look: &mut impl FnMut(&'a Map)) {
    match value {
        Value::Object(schema) => visit_map(schema, look),
        Value::Array(list) => list.iter().for_each(|value| visit(value, look)),
        _ => {}
    }
}

fn visit_map<'a>(schema: &'a Map, look: &mut impl FnMut(&'a Map)) {
    look(schema);
    for (keyword, value) in schema {
        match value {
            _ if is_data(keyword) => {}
            Value::Object(schemas) if has_names(keyword) => {
                schemas.values().for_each(|schema| visit(schema, look));
            }
            value => visit(value, look),
        }
    }
}

/// Whether a schema, or a schema inside it, has the keyword.
#[cfg(feature = "stdio")]
pub(crate) fn has_keyword(schema: &Value, keyword: &str) -> bool {
    let mut has = false;
    visit(schema, &mut |schema| has |= schema.contains_key(keyword));
    has
}

/// Returns every `$ref` in `schema`.
fn references(schema: &Value) -> Vec<String> {
    schema.as_object().map(references_of_map).unwrap_or_default()
}

fn references_of_map(schema: &Map) -> Vec<String> {
    let mut found = Vec::new();
    visit_map(schema, &mut |schema| {
        found.extend(schema.get("$ref").and_then(Value::as_str).map(str::to_owned));
    });
    found
}

fn nodes(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => nodes_of_map(map),
        Value::Array(list) => 1 + list.iter().map(nodes).sum::<usize>(),
        _ => 1,
    }
}

fn nodes_of_map(map: &Map) -> usize {
    1 + map.values().map(nodes).sum::<usize>()
}

/// Joins two schemas in one object, such as the meaning of a `$ref` (`base`) and the keywords beside it (`over`). Annotations of `over`
/// take precedence, the tighter bounds stay, and properties and required names are merged. Schemas that cannot share an object, such as two
/// schemas with an `anyOf`, become separate parts of an `allOf`.
pub(super) fn conjoin(base: Map, mut over: Map) -> Map {
    if base
        .iter()
        .any(|(keyword, value)| over.get(keyword).is_some_and(|over| clash(keyword, value, over)))
    {
        match over.entry("allOf").or_insert_with(|| Value::Array(Vec::new())) {
            Value::Array(all) => all.insert(0, Value::Object(base)),
            other => *other = Value::Array(vec![Value::Object(base)]),
        }
        return over;
    }
    let values = base.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    for (keyword, value) in base {
        let Some(present) = over.get_mut(&keyword) else {
            over.insert(keyword, value);
            continue;
        };
        match (keyword.as_str(), value, present) {
            ("properties", Value::Object(base), Value::Object(over)) => {
                for (name, schema) in base {
                    over.entry(name).or_insert(schema);
                }
            }
            ("required" | "allOf" | SAID, Value::Array(mut base), Value::Array(over)) => {
                base.retain(|value| !over.contains(value));
                base.append(over);
                *over = base;
            }
            ("description", Value::String(base), Value::String(over)) if !values.is_empty() => {
                keep_values(&values, &base, over);
            }
            ("type" | "enum", base, over) if within(&base, over) => *over = base,
            ("additionalProperties", Value::Bool(false), over) => *over = Value::Bool(false),
            (bound, base, over) => {
                if let Some(ordering) = tighter_is(bound)
                    && compare_numbers(&base, over) == Some(ordering)
                {
                    *over = base;
                }
            }
        }
    }
    over
}

/// Keeps lines such as "- `loud`: Hurts.", which explain the values of an enum, when an argument replaces the description.
fn keep_values(values: &[Value], base: &str, over: &mut String) {
    let explains = |line: &str, value: &str| {
        let rest = line.strip_prefix("- `").and_then(|rest| rest.strip_prefix(value));
        rest.is_some_and(|rest| rest.starts_with("`: "))
    };
    let is_one =
        |line: &str| values.iter().filter_map(Value::as_str).any(|value| explains(line, value));
    let lines: Vec<_> = base.lines().filter(|line| is_one(line) && !over.contains(line)).collect();
    if !lines.is_empty() {
        over.push_str("\n\n");
        over.push_str(&lines.join("\n"));
    }
}

/// Whether the two values of a keyword cannot be merged in one object.
fn clash(keyword: &str, base: &Value, over: &Value) -> bool {
    match keyword {
        "$ref" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "items" | "prefixItems"
        | "contains" | "propertyNames" | "patternProperties" | "const" => base != over,
        "type" | "enum" => !within(base, over) && !within(over, base),
        "additionalProperties" => base != over && !base.is_boolean() && !over.is_boolean(),
        _ => false,
    }
}

/// Whether each value of `these`, a `type` or an `enum`, is also a value of `those`. An integer is a number.
fn within(these: &Value, those: &Value) -> bool {
    fn list(value: &Value) -> &[Value] {
        value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
    }
    list(these).iter().all(|value| {
        list(those).contains(value) || value == "integer" && list(those).contains(&"number".into())
    })
}

/// Returns `Greater` if the tighter of two values of the keyword is the greater one, and `Less` if it is the smaller one.
pub(super) fn tighter_is(keyword: &str) -> Option<std::cmp::Ordering> {
    match keyword {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            Some(std::cmp::Ordering::Greater)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            Some(std::cmp::Ordering::Less)
        }
        _ => None,
    }
}

/// Orders two JSON numbers.
pub(super) fn compare_numbers(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    fn whole(number: &Value) -> Option<i128> {
        number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
    }
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}
