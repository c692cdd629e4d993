//! Items whose arguments the protocol completes: prompts and resource templates, by the names that a person gives them.

use super::show::{ServerLists, member};
use crate::{catalog::Snapshot, model::ListKind, testing::CompletionTarget};

/// Returns the names by which a person names prompts and templates. A template has two: its URI template and its name.
pub(super) fn targets(
    everything: &ServerLists,
) -> impl Iterator<Item = (&str, CompletionTarget<'_>)> {
    let templates = everything.templates.iter();
    let templates = templates.flat_map(|template| {
        let uri = member(template, "uriTemplate");
        [member(template, "name"), uri].map(|name| (name, CompletionTarget::Template(uri)))
    });
    let prompts = everything.prompts.iter().map(|prompt| member(prompt, "name"));
    prompts.map(|name| (name, CompletionTarget::Prompt(name))).chain(templates)
}

/// Returns the prompt or the template that a person has named. Returns `None` if there is no such item.
pub(super) fn target_of<'a>(
    everything: &'a ServerLists,
    item: &str,
) -> Option<CompletionTarget<'a>> {
    targets(everything).find(|(name, _)| *name == item).map(|(_, target)| target)
}

/// Returns the names and the descriptions of the arguments of a prompt, or of a template with this name or this text.
pub(super) fn arguments_of(
    target: &str,
    lists: &ServerLists,
    snapshot: &Snapshot,
) -> Vec<(String, String)> {
    let template = lists.templates.iter().find(|template| {
        ["name", "uriTemplate"].into_iter().any(|key| member(template, key) == target)
    });
    let entry = match template {
        Some(template) => snapshot.find(ListKind::Templates, member(template, "uriTemplate")),
        None => snapshot.find(ListKind::Prompts, target),
    };
    let arguments = entry.iter().flat_map(|entry| entry.arguments());
    let described = arguments.map(|argument| {
        let about = argument.description.as_deref().unwrap_or_default();
        (argument.name.to_string(), about.to_owned())
    });
    described.collect()
}
