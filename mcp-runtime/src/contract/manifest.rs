//! Everything that a server publishes, and its places in the sources.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{lock, place::Places, text};
use crate::{
    catalog::{Entry, Snapshot},
    model::ListKind,
    protocol,
    schema::Map,
    server::Identity,
};

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Template,
    Prompt,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    fn listed(self) -> ListKind {
        match self {
            Self::Tool => ListKind::Tools,
            Self::Resource => ListKind::Resources,
            Self::Template => ListKind::Templates,
            Self::Prompt => ListKind::Prompts,
        }
    }

    /// Returns the member of the manifest that lists items of this kind.
    pub(super) fn list(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Prompt => "prompts",
        }
    }

    /// Returns the member that identifies an item of this kind.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
        }
    }
}

/// Items of one kind, by the member that identifies them.
pub(super) type List = BTreeMap<String, Map>;

/// Everything that a server publishes now, or published when its lock was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    /// Description of the server. Its version is left out, because it changes without any other change.
    pub(super) server: Map,
    pub(super) lists: BTreeMap<Kind, List>,
}

impl Manifest {
    pub(super) fn name(&self) -> &str {
        self.server.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn list(&self, kind: Kind) -> &List {
        static NONE: List = List::new();
        self.lists.get(&kind).unwrap_or(&NONE)
    }

    /// Returns the text of a lock file. It is sorted, has one member a line, and is always the same for the same server.
    pub(crate) fn text(&self) -> String {
        let mut all = Map::new();
        all.insert("format".to_owned(), lock::FORMAT.into());
        all.insert("server".to_owned(), self.server.clone().into());
        for kind in Kind::ALL {
            let list = self.list(kind).values().cloned().map(Value::Object);
            all.insert(kind.list().to_owned(), list.collect::<Vec<_>>().into());
        }
        text::pretty(&all.into())
    }
}

/// Manifest of the current server, and the places of its items.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) manifest: Manifest,
    pub(super) places: Places,
}

impl Published {
    pub(crate) fn of(identity: &Identity, snapshot: &Snapshot) -> Self {
        let mut places = Places::default();
        let mut lists = BTreeMap::new();
        for kind in Kind::ALL {
            let mut list = List::new();
            for entry in snapshot.list(kind.listed()) {
                places.add(kind, entry);
                list.insert(entry.key().to_owned(), item(entry));
            }
            lists.insert(kind, list);
        }
        Self { manifest: Manifest { server: server(identity), lists }, places }
    }
}

fn server(identity: &Identity) -> Map {
    let mut server = object(&protocol::presented(identity));
    server.remove("version");
    if let Some(instructions) = &identity.instructions {
        server.insert("instructions".to_owned(), instructions.as_str().into());
    }
    server
}

/// Returns an entry as the newest revision lists it, with the facts that such a list has no place for.
fn item(entry: &Entry) -> Map {
    let mut item = object(&protocol::listed(entry));
    for schema in ["inputSchema", "outputSchema"] {
        if let Some(schema) = item.get_mut(schema) {
            text::settle(schema);
        }
    }
    if let Some(task) = entry.task() {
        let support = if task.required { "required" } else { "optional" };
        item.insert("execution".to_owned(), json!({ "taskSupport": support }));
    }
    let asks: Vec<&str> = entry.asks.names().collect();
    let completes = entry.arguments().iter().filter(|it| it.can_complete());
    let completes: Vec<&str> = completes.map(|it| &*it.name).collect();
    let scopes: Vec<&str> = entry.scopes().collect();
    for (member, mut names) in [("asks", asks), ("completes", completes), ("scopes", scopes)] {
        if !names.is_empty() {
            names.sort_unstable();
            item.insert(member.to_owned(), names.into());
        }
    }
    if entry.resource().is_some_and(|it| it.subscribe) {
        item.insert("subscribe".to_owned(), true.into());
    }
    item
}

fn object(text: &[u8]) -> Map {
    // This crate has written the text, so it is valid JSON.
    serde_json::from_slice(text).unwrap_or_default()
}

#[cfg(all(test, feature = "auth"))]
mod tests {
    use super::*;
    use crate::{
        call::context::Context,
        catalog::{Item as _, Tool},
    };

    #[test]
    fn the_manifest_publishes_the_scopes_that_an_item_requires() {
        let tool = || Tool::new("write").handler(async |_: Context| "");
        let published = |tool: Tool| item(&tool.into_entry().expect("a good tool").0);
        let scopes = published(tool().scopes(["notes:write", "notes:read"]));
        assert_eq!(scopes["scopes"], json!(["notes:read", "notes:write"]));
        assert!(published(tool().auth(|_, _| true)).get("scopes").is_none());
    }
}
