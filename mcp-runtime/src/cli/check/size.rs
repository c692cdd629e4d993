//! Rules about the number and the size of the tools, which use up the context of a model.

use serde_json::{Value, json};

use super::finding::{CheckedServer, Problem};
use crate::cli::lists::member;

/// Maximum number of tools that hosts accept in a request, for all servers together.
const MOST_TOOLS: usize = 128;

/// Number of tools above which Cursor warns, for all servers together.
const MANY_TOOLS: usize = 80;

/// Number of tokens above which Claude Code warns, for the tools of all servers together.
const MANY_TOKENS: usize = 25_000;

pub(super) fn too_many_tools(published: &CheckedServer) -> Vec<Problem> {
    let count = published.everything.tools.len();
    if count <= MOST_TOOLS {
        return Vec::new();
    }
    let what =
        format!("{count} tools: GitHub Copilot refuses every request with more than {MOST_TOOLS}");
    vec![Problem::new(what, FEWER)]
}

pub(super) fn many_tools(published: &CheckedServer) -> Vec<Problem> {
    let count = published.everything.tools.len();
    if !(MANY_TOOLS + 1..=MOST_TOOLS).contains(&count) {
        return Vec::new();
    }
    let what = format!(
        "{count} tools: Cursor warns about more than {MANY_TOOLS}, including those of other servers"
    );
    vec![Problem::new(what, FEWER)]
}

const FEWER: &str =
    "split the server into several, one for each `group = \"…\"`, or offer fewer tools";

pub(super) fn many_tokens(published: &CheckedServer) -> Vec<Problem> {
    let tokens = ListSizes::of(published).tokens();
    if tokens <= MANY_TOKENS {
        return Vec::new();
    }
    let what = format!(
        "the tools take up about {tokens} tokens of every conversation; Claude Code warns about more than {MANY_TOKENS}"
    );
    vec![Problem::new(what, FEWER)]
}

/// Sizes of a server's lists, in bytes.
pub(super) struct ListSizes {
    /// Size of all lists as JSON.
    pub(super) manifest: usize,
    /// Name of each tool, and its size in the form that models get. The largest tool comes first.
    pub(super) tools: Vec<(String, usize)>,
}

impl ListSizes {
    pub(super) fn of(published: &CheckedServer) -> Self {
        let everything = &published.everything;
        let lists =
            [&everything.tools, &everything.resources, &everything.templates, &everything.prompts];
        let manifest = lists.into_iter().flatten().map(|list| list.to_string().len()).sum();
        let mut tools: Vec<_> = everything
            .tools
            .iter()
            .map(|tool| (member(tool, "name").to_owned(), told(tool).to_string().len()))
            .collect();
        tools.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Self { manifest, tools }
    }

    /// Estimates the number of tokens as one for each 3.5 bytes of the tools' JSON. In modelcontextprotocol/python-sdk#3391, 49 tools of
    /// 43,710 bytes were about 12,600 tokens.
    pub(super) fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.1).sum::<usize>() * 2 / 7
    }
}

/// Returns the members of a tool that hosts pass on to models.
fn told(tool: &Value) -> Value {
    json!({
        "name": tool["name"],
        "description": tool["description"],
        "input_schema": tool["inputSchema"],
    })
}
