//! Rules about an item's texts and media type.

use serde_json::Value;

use super::{Item, Problem, Published, member};

/// Longest description, in characters. OpenAI's API has rejected longer ones.
const LONG: usize = 1024;

/// Number of characters after which Claude Code cuts off descriptions and instructions.
const CUT_OFF: usize = 2048;

pub(super) fn long_instructions(published: &Published) -> Vec<Problem> {
    let length = published.identity.instructions.as_deref().map_or(0, |it| it.chars().count());
    if length <= CUT_OFF {
        return Vec::new();
    }
    let what = format!(
        "the instructions have {length} characters; Claude Code drops what comes after {CUT_OFF}"
    );
    vec![Problem::new(what, "say less, and what matters first")]
}

pub(super) fn no_description(tool: &Item<'_>) -> Vec<Problem> {
    if !member(tool.value, "description").trim().is_empty() {
        return Vec::new();
    }
    let what = "it has no description: models do not know what it is for, and models on Amazon Bedrock refuse the request";
    let fix = match tool.is_added() {
        true => "`.description(\"…\")` on the `Tool`",
        false => "a doc comment above the function",
    };
    vec![Problem::new(what, fix)]
}

pub(super) fn long_description(tool: &Item<'_>) -> Vec<Problem> {
    let length = member(tool.value, "description").chars().count();
    if length <= LONG {
        return Vec::new();
    }
    let cut_off = if length > CUT_OFF {
        format!(", and Claude Code drops what comes after {CUT_OFF} without a word")
    } else {
        String::new()
    };
    let what = format!(
        "its description has {length} characters: OpenAI's API has refused more than {LONG}{cut_off}"
    );
    vec![Problem::new(
        what,
        "say less: what it does and when to use it; the rest is for the arguments, or for the repository",
    )]
}

/// Finds descriptions that contain the end of a comment. Clients that write TypeScript for a tool put its descriptions into comments.
pub(super) fn ends_of_comments(tool: &Item<'_>) -> Vec<Problem> {
    let ends = |value: &Value| member(value, "description").contains("*/");
    let own = ends(tool.value).then(|| "its description".to_owned());
    let arguments = tool.arguments().filter(|(_, schema)| ends(schema));
    let arguments = arguments.map(|(name, _)| format!("the description of the argument `{name}`"));
    let problem = |place: String| {
        let what = format!(
            "{place} has `*/`, which ends the comment that mcporter writes it into: its TypeScript is not valid then"
        );
        Problem::new(what, "another example or another word, such as `src/*.rs` for `src/**/*.rs`")
    };
    own.into_iter().chain(arguments).map(problem).collect()
}

pub(super) fn no_media_type(resource: &Item<'_>) -> Vec<Problem> {
    if !member(resource.value, "mimeType").is_empty() {
        return Vec::new();
    }
    let what = "it does not say of which media type it is, and some hosts cannot show it then";
    vec![Problem::new(what, "`mime_type = \"text/plain\"`, or whatever it is")]
}
