//! Lists of a server, as clients get them. The commands find the items in them.

use serde_json::{Value, json};

use crate::testing::{RpcError, TestClient};
#[cfg(feature = "workbench")]
use crate::{catalog::Snapshot, model::ListKind, testing::CompletionTarget};

/// All lists of a server. A list that the server does not offer is empty.
#[derive(Default)]
pub(super) struct ServerLists {
    pub(super) tools: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) templates: Vec<Value>,
    pub(super) prompts: Vec<Value>,
}

impl ServerLists {
    pub(super) async fn ask(client: &mut TestClient) -> Result<Self, RpcError> {
        let has = client.request("server/discover", json!({})).await?;
        let has = &has["capabilities"];
        let mut everything = Self::default();
        if has.get("tools").is_some() {
            everything.tools = client.tools().await?;
        }
        if has.get("resources").is_some() {
            everything.resources = client.resources().await?;
            everything.templates = client.templates().await?;
        }
        if has.get("prompts").is_some() {
            everything.prompts = client.prompts().await?;
        }
        Ok(everything)
    }

    /// Returns the lists as a single object, each under its name in the protocol.
    pub(super) fn json(&self) -> Value {
        json!({
            "tools": self.tools,
            "resources": self.resources,
            "resourceTemplates": self.templates,
            "prompts": self.prompts,
        })
    }

    /// Returns prompts and templates with the names that a user may type. A template has two: its name and its URI template.
    #[cfg(feature = "workbench")]
    pub(super) fn targets(&self) -> impl Iterator<Item = (&str, CompletionTarget<'_>)> {
        let templates = self.templates.iter().flat_map(|template| {
            let uri = member(template, "uriTemplate");
            [member(template, "name"), uri].map(|name| (name, CompletionTarget::Template(uri)))
        });
        let prompts = self.prompts.iter().map(|prompt| member(prompt, "name"));
        prompts.map(|name| (name, CompletionTarget::Prompt(name))).chain(templates)
    }

    /// Returns the prompt or the template that a person has named. Returns `None` if there is no such item.
    #[cfg(feature = "workbench")]
    pub(super) fn target(&self, item: &str) -> Option<CompletionTarget<'_>> {
        self.targets().find(|(name, _)| *name == item).map(|(_, target)| target)
    }
}

/// Returns the names and the descriptions of the arguments of a prompt or a template.
#[cfg(feature = "workbench")]
pub(super) fn arguments_of(
    target: CompletionTarget<'_>,
    snapshot: &Snapshot,
) -> Vec<(String, String)> {
    let entry = match target {
        CompletionTarget::Prompt(name) => snapshot.find(ListKind::Prompts, name),
        CompletionTarget::Template(uri) => snapshot.find(ListKind::Templates, uri),
    };
    let arguments = entry.iter().flat_map(|entry| entry.arguments());
    let described = arguments.map(|argument| {
        let about = argument.description.as_deref().unwrap_or_default();
        (argument.name.to_string(), about.to_owned())
    });
    described.collect()
}

/// Returns the string member `name` of a JSON object, or an empty string if there is none.
pub(super) fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Returns the elements of a JSON array. Other values have no elements.
pub(super) fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
