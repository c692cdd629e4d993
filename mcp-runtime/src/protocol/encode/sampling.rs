//! `sampling/createMessage`, in the form of a revision.

use mcp_runtime_wire::{self as wire, ArrayWriter, ObjectWriter};

use super::content;
use crate::{
    model::{
        IncludeContext, Role, SampledContent, Sampling, SamplingTool, SamplingTurn, ToolChoice,
        ToolResult, ToolUse,
    },
    protocol::revision::Revision,
};

/// Writes the parameters of the request.
///
/// # Errors
/// Fails if the question is wrong ([`Sampling::check`]), or the revision cannot express it. Nothing is written in that case.
pub(in crate::protocol) fn sampling(
    params: &mut ObjectWriter<'_>,
    revision: Revision,
    it: &Sampling,
) -> Result<(), String> {
    it.check()?;
    if it.needs_tools() && !revision.features().sampling_tools {
        return Err(format!(
            "the client's model cannot use tools in {revision}, which the client speaks: ask without tools, tool \
             choice, tool uses and tool results"
        ));
    }
    let mut messages = params.array("messages");
    for turn in &it.turns {
        match turn {
            SamplingTurn::Says(role, blocks) => says(&mut messages, revision, *role, blocks),
            SamplingTurn::Results(results) => {
                message(&mut messages, Role::User, results, |block, it| {
                    tool_result(block, revision, &it.0, &it.1);
                })
            }
        }
    }
    messages.end();
    preferences(params, it);
    params.opt_str("systemPrompt", it.system.as_deref());
    params.opt_str("includeContext", it.context.map(context));
    if let Some(temperature) = it.temperature {
        params.f64("temperature", temperature);
    }
    params.u64("maxTokens", it.max_tokens.into());
    texts(params, "stopSequences", &it.stop);
    if let Some(Ok(metadata)) = &it.metadata {
        params.raw("metadata", metadata);
    }
    if !it.tools.is_empty() {
        let mut tools = params.array("tools");
        for it in &it.tools {
            tool(&mut tools.object(), it);
        }
    }
    if let Some(choice) = it.tool_choice {
        params.object("toolChoice").str("mode", mode(choice));
    }
    Ok(())
}

/// Writes blocks of one role. In a revision with one block per message, each block becomes a message.
fn says(messages: &mut ArrayWriter<'_>, revision: Revision, role: Role, blocks: &[SampledContent]) {
    let most = if revision.features().sampling_tools { blocks.len() } else { 1 };
    for blocks in blocks.chunks(most.max(1)) {
        message(messages, role, blocks, |block, it| self::block(block, revision, it));
    }
}

/// Writes a message. A single block is written without an array, because clients of every revision read that (rule SAMP-05).
fn message<T>(
    messages: &mut ArrayWriter<'_>,
    role: Role,
    blocks: &[T],
    write: impl Fn(&mut Vec<u8>, &T),
) {
    let mut message = messages.object();
    message.str("role", role.name());
    match blocks {
        [one] => write(message.key("content"), one),
        several => {
            let mut content = message.array("content");
            for it in several {
                write(content.element(), it);
            }
        }
    }
}

fn block(out: &mut Vec<u8>, revision: Revision, it: &SampledContent) {
    match it {
        SampledContent::Text(it) => content::text(&mut ObjectWriter::begin(out), revision, it),
        SampledContent::Image(it) => content::image(&mut ObjectWriter::begin(out), revision, it),
        SampledContent::Audio(it) => content::audio(&mut ObjectWriter::begin(out), revision, it),
        SampledContent::ToolUse(it) => tool_use(&mut ObjectWriter::begin(out), it),
        SampledContent::Other(it) => wire::write::raw(out, it.json()),
    }
}

fn tool_use(object: &mut ObjectWriter<'_>, it: &ToolUse) {
    object.str("type", "tool_use").str("id", &it.id).str("name", &it.name);
    object.raw("input", it.input_json());
    if let Some(meta) = &it.meta {
        object.raw("_meta", meta);
    }
}

fn tool_result(out: &mut Vec<u8>, revision: Revision, id: &str, it: &ToolResult) {
    let mut object = ObjectWriter::begin(out);
    object.str("type", "tool_result").str("toolUseId", id);
    super::tool_content(&mut object, revision, it);
    content::own_meta(&mut object, revision, it.meta.as_ref());
}

fn preferences(params: &mut ObjectWriter<'_>, it: &Sampling) {
    let wishes = &it.preferences;
    let priorities = [
        ("costPriority", wishes.cost),
        ("speedPriority", wishes.speed),
        ("intelligencePriority", wishes.intelligence),
    ];
    if wishes.hints.is_empty() && priorities.iter().all(|it| it.1.is_none()) {
        return;
    }
    let mut preferences = params.object("modelPreferences");
    if !wishes.hints.is_empty() {
        let mut hints = preferences.array("hints");
        for name in &wishes.hints {
            hints.object().str("name", name);
        }
    }
    for (name, priority) in priorities {
        if let Some(priority) = priority {
            preferences.f64(name, priority);
        }
    }
}

fn texts(params: &mut ObjectWriter<'_>, name: &'static str, texts: &[String]) {
    if !texts.is_empty() {
        let mut array = params.array(name);
        for it in texts {
            array.str(it);
        }
    }
}

fn tool(object: &mut ObjectWriter<'_>, it: &SamplingTool) {
    object.str("name", &it.name).opt_str("description", it.description.as_deref());
    if let Ok(schema) = &it.schema {
        object.raw("inputSchema", schema);
    }
}

fn context(it: IncludeContext) -> &'static str {
    match it {
        IncludeContext::None => "none",
        IncludeContext::ThisServer => "thisServer",
        IncludeContext::AllServers => "allServers",
    }
}

fn mode(it: ToolChoice) -> &'static str {
    match it {
        ToolChoice::Auto => "auto",
        ToolChoice::Required => "required",
        ToolChoice::None => "none",
    }
}

#[cfg(test)]
mod tests;
