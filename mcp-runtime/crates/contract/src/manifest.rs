//! Manifest of everything that a server publishes, and the text form of a manifest in a lock file.

use std::collections::BTreeMap;

use serde_json::Value;

/// Members of a JSON object.
pub type JsonObject = serde_json::Map<String, Value>;

/// Version of the lock format. The version is increased when older lock files can no longer be read as before.
pub(crate) const FORMAT: u64 = 1;

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    /// A tool, known by its name.
    Tool,
    /// A resource, known by its URI.
    Resource,
    /// A resource template, known by its URI template.
    Template,
    /// A prompt, known by its name.
    Prompt,
}

impl ItemKind {
    /// All kinds, in the order of the lists.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// Returns the member of the manifest that lists items of this kind.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Prompt => "prompts",
        }
    }
}

/// Items of one kind. The key is the value of the member that identifies an item.
pub(crate) type ItemList = BTreeMap<String, JsonObject>;

/// Everything that a server publishes, at present or at the time when its lock file was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Description of the server, without the server's version, because a new version alone is not a change of the contract.
    pub(crate) server: JsonObject,
    pub(crate) lists: BTreeMap<ItemKind, ItemList>,
}

impl Manifest {
    /// Creates a manifest without items. `server` describes the server.
    pub fn new(mut server: JsonObject) -> Self {
        server.remove("version");
        Self { server, lists: ItemKind::ALL.map(|kind| (kind, ItemList::new())).into() }
    }

    /// Adds an item. `key` is the value of the member that identifies the item.
    pub fn add(&mut self, kind: ItemKind, key: &str, mut item: JsonObject) {
        for schema in ["inputSchema", "outputSchema"] {
            if let Some(schema) = item.get_mut(schema) {
                sort_unordered(schema);
            }
        }
        self.lists.entry(kind).or_default().insert(key.to_owned(), item);
    }

    pub(crate) fn list(&self, kind: ItemKind) -> &ItemList {
        static NONE: ItemList = ItemList::new();
        self.lists.get(&kind).unwrap_or(&NONE)
    }

    /// Returns the text of a lock file. The text is sorted, has one member per line, and is always the same for the same server.
    pub fn text(&self) -> String {
        let mut all = JsonObject::new();
        all.insert("format".to_owned(), FORMAT.into());
        all.insert("server".to_owned(), self.server.clone().into());
        for kind in ItemKind::ALL {
            let list = self.list(kind).values().cloned().map(Value::Object);
            all.insert(kind.list().to_owned(), list.collect::<Vec<_>>().into());
        }
        pretty(&all.into())
    }
}

/// Formats a value with its members sorted by name and one member per line, so that changing one member changes only one line.
fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.push('\n');
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by_key(|member| member.0);
            text.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                next_line(text, at > 0, depth + 1);
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push_str(": ");
                write(text, value, depth + 1);
            }
            next_line(text, false, depth);
            text.push('}');
        }
        Value::Array(list) if !list.is_empty() => {
            text.push('[');
            for (at, value) in list.iter().enumerate() {
                next_line(text, at > 0, depth + 1);
                write(text, value, depth + 1);
            }
            next_line(text, false, depth);
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

fn next_line(text: &mut String, after_another: bool, depth: usize) {
    text.push_str(if after_another { ",\n" } else { "\n" });
    text.push_str(&"  ".repeat(depth));
}

/// Sorts the parts of a schema whose order has no meaning: `required`, and a `type` that is a list. The lock therefore stays the same when
/// parameters are reordered.
fn sort_unordered(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for (keyword, said) in map {
        match (keyword.as_str(), said) {
            ("required" | "type", Value::Array(names)) => {
                names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => schemas.values_mut().for_each(sort_unordered),
            // Values of these keywords are not schemas.
            ("const" | "default" | "enum" | "examples", _) => {}
            (_, Value::Array(schemas)) => schemas.iter_mut().for_each(sort_unordered),
            (_, other) => sort_unordered(other),
        }
    }
}
