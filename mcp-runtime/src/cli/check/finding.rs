//! The server and the items to check, and the findings about them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    builder::Builder,
    catalog::{Entry, Snapshot},
    cli::{
        exit::CommandError,
        lists::{ServerLists, member},
    },
    model::ListKind,
    server::Identity,
    testing::TestClient,
};

/// Lists that the server publishes, and the catalog with the source locations of the items.
pub(super) struct CheckedServer {
    pub(super) identity: Identity,
    pub(super) everything: ServerLists,
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// Error of `setup`, if it failed. In that case, the items that `setup` adds are missing.
    pub(super) incomplete: Option<String>,
}

impl CheckedServer {
    pub(super) async fn of(builder: Builder) -> Result<Self, CommandError> {
        let identity = builder.identity.clone();
        let (mut client, incomplete) =
            TestClient::looking(builder).await.map_err(CommandError::failure)?;
        client.wait_without_end();
        let everything = ServerLists::ask(&mut client).await.map_err(CommandError::failure)?;
        let snapshot = Some(client.snapshot());
        client.close().await;
        Ok(Self { identity, everything, snapshot, incomplete })
    }

    /// Returns all listed items, in the order of the lists.
    pub(super) fn items(&self) -> impl Iterator<Item = CheckedItem<'_>> {
        let lists = [
            (ListKind::Tools, "tool", "name", &self.everything.tools),
            (ListKind::Resources, "resource", "uri", &self.everything.resources),
            (ListKind::Templates, "template", "uriTemplate", &self.everything.templates),
            (ListKind::Prompts, "prompt", "name", &self.everything.prompts),
        ];
        lists.into_iter().flat_map(move |(list, kind, key, values)| {
            values.iter().map(move |value| {
                let key = member(value, key);
                let entry = self.snapshot.as_ref().and_then(|snapshot| snapshot.find(list, key));
                CheckedItem {
                    kind,
                    key,
                    value,
                    entry: entry.map(|entry| &**entry),
                    server: &self.identity.name,
                }
            })
        })
    }
}

/// An item as it is published.
pub(super) struct CheckedItem<'a> {
    pub(super) kind: &'static str,
    pub(super) key: &'a str,
    pub(super) value: &'a Value,
    pub(super) entry: Option<&'a Entry>,
    /// The server's name.
    pub(super) server: &'a str,
}

impl CheckedItem<'_> {
    /// Returns the kind and the key, such as ``tool `add` ``.
    pub(super) fn name(&self) -> String {
        format!("{} `{}`", self.kind, self.key)
    }

    /// Returns the heading of the item's findings: the name and the source location of the item.
    pub(super) fn title(&self) -> String {
        let place = self.entry.map(|entry| format!(", {}", entry.place())).unwrap_or_default();
        self.name() + &place
    }

    /// Returns whether the item was added at run time instead of being declared with an attribute.
    pub(super) fn is_added(&self) -> bool {
        self.entry.is_some_and(|entry| entry.origin.is_none())
    }

    /// Returns the attribute that gives an argument another name: that of a parameter, or that of a field of the argument struct.
    pub(super) fn rename(&self, argument: &str, name: &str) -> String {
        let is_field =
            self.entry.is_some_and(|entry| entry.names.spread.iter().any(|name| name == argument));
        match is_field {
            true => format!("`#[serde(rename = \"{name}\")]`"),
            false => format!("`#[arg(name = \"{name}\")]`"),
        }
    }

    /// Returns the names and schemas of a tool's arguments.
    pub(super) fn arguments(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.value["inputSchema"]["properties"].as_object();
        properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
    }
}

/// Problem that a rule has found, and its fix.
pub(super) struct Problem {
    /// Description of the problem, in terms that the author of the server uses.
    pub(super) what: String,
    pub(super) fix: String,
}

impl Problem {
    pub(super) fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// Problem together with the rule that found it.
pub(super) struct CheckFinding {
    pub(super) rule: &'static str,
    pub(super) severity: Severity,
    pub(super) problem: Problem,
    /// Public issue threads that show the problem.
    pub(super) because: &'static [&'static str],
}

/// Findings about one item, or about the server as a whole.
pub(super) struct FindingGroup {
    /// Name of the item, or `server`. Unlike the title, it stays the same when the item moves to another line.
    pub(super) item: String,
    pub(super) title: String,
    pub(super) findings: Vec<CheckFinding>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// A known client drops the item or the whole server, or its requests fail.
    Error,
    /// A known client or model works worse.
    Warning,
}

impl Severity {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}
