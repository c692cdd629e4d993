//! Encoding of `sampling/createMessage` for a protocol revision.

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
/// Fails if [`Sampling::check`] rejects the request, or if the revision cannot express it. Nothing is written in that case.
pub(super) fn sampling(
    params: &mut ObjectWriter<'_>,
    revision: Revision,
    request: &Sampling,
) -> Result<(), String> {
    request.check()?;
    if request.needs_tools() && !revision.features().sampling_tools {
        return Err(format!(
            "the client's model cannot use tools in {revision}, which the client speaks: ask without tools, tool \
             choice, tool uses and tool results"
        ));
    }
    let mut messages = params.array("messages");
    for turn in &request.turns {
        match turn {
            SamplingTurn::Says(role, blocks) => says(&mut messages, revision, *role, blocks),
            SamplingTurn::Results(results) => {
                message(&mut messages, Role::User, results, |block, result| {
                    tool_result(block, revision, &result.0, &result.1);
                })
            }
        }
    }
    messages.end();
    preferences(params, request);
    params.opt_str("systemPrompt", request.system.as_deref());
    params.opt_str("includeContext", request.context.map(context));
    if let Some(temperature) = request.temperature {
        params.f64("temperature", temperature);
    }
    params.u64("maxTokens", request.max_tokens.into());
    texts(params, "stopSequences", &request.stop);
    if let Some(Ok(metadata)) = &request.metadata {
        params.raw("metadata", metadata);
    }
    if !request.tools.is_empty() {
        let mut tools = params.array("tools");
        for definition in &request.tools {
            tool(&mut tools.object(), definition);
        }
    }
    if let Some(choice) = request.tool_choice {
        params.object("toolChoice").str("mode", mode(choice));
    }
    Ok(())
}

/// Writes blocks of one role. If the revision allows only one block per message, each block becomes a message.
fn says(messages: &mut ArrayWriter<'_>, revision: Revision, role: Role, blocks: &[SampledContent]) {
    let most = if revision.features().sampling_tools { blocks.len() } else { 1 };
    for blocks in blocks.chunks(most.max(1)) {
        message(messages, role, blocks, |block, content| self::block(block, revision, content));
    }
}

/// Writes a message. A single block is written without an array, because clients of every revision accept this form (rule SAMP-05).
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
            for block in several {
                write(content.element(), block);
            }
        }
    }
}

fn block(out: &mut Vec<u8>, revision: Revision, content: &SampledContent) {
    match content {
        SampledContent::Text(content) => {
            content::text(&mut ObjectWriter::begin(out), revision, content)
        }
        SampledContent::Image(content) => {
            content::image(&mut ObjectWriter::begin(out), revision, content)
        }
        SampledContent::Audio(content) => {
            content::audio(&mut ObjectWriter::begin(out), revision, content)
        }
        SampledContent::ToolUse(content) => tool_use(&mut ObjectWriter::begin(out), content),
        SampledContent::Other(content) => wire::write::raw(out, content.json()),
    }
}

fn tool_use(object: &mut ObjectWriter<'_>, call: &ToolUse) {
    object.str("type", "tool_use").str("id", &call.id).str("name", &call.name);
    object.raw("input", call.input_json());
    if let Some(meta) = &call.meta {
        object.raw("_meta", meta);
    }
}

fn tool_result(out: &mut Vec<u8>, revision: Revision, id: &str, result: &ToolResult) {
    let mut object = ObjectWriter::begin(out);
    object.str("type", "tool_result").str("toolUseId", id);
    content::tool_content(&mut object, revision, result);
    content::own_meta(&mut object, revision, result.meta.as_ref());
}

fn preferences(params: &mut ObjectWriter<'_>, request: &Sampling) {
    let wishes = &request.preferences;
    let priorities = [
        ("costPriority", wishes.cost),
        ("speedPriority", wishes.speed),
        ("intelligencePriority", wishes.intelligence),
    ];
    if wishes.hints.is_empty() && priorities.iter().all(|priority| priority.1.is_none()) {
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
        for text in texts {
            array.str(text);
        }
    }
}

fn tool(object: &mut ObjectWriter<'_>, tool: &SamplingTool) {
    object.str("name", &tool.name).opt_str("description", tool.description.as_deref());
    if let Ok(schema) = &tool.schema {
        object.raw("inputSchema", schema);
    }
}

fn context(context: IncludeContext) -> &'static str {
    match context {
        IncludeContext::None => "none",
        IncludeContext::ThisServer => "thisServer",
        IncludeContext::AllServers => "allServers",
    }
}

fn mode(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Required => "required",
        ToolChoice::None => "none",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mcp_runtime_wire::Raw;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        call::reply::{Json, WithMeta},
        model::{Annotations, Audio, Image, Meta, Sampled, Text},
    };

    fn written(revision: Revision, request: &Sampling) -> Result<String, String> {
        let mut out = Vec::new();
        let mut params = ObjectWriter::begin(&mut out);
        let done = sampling(&mut params, revision, request);
        assert!(done.is_ok() || params.is_empty(), "a refused question leaves nothing behind");
        params.end();
        done.map(|()| String::from_utf8(out).unwrap())
    }

    fn place(city: &str) -> BTreeMap<&str, &str> {
        BTreeMap::from([("city", city)])
    }

    /// Checks how a sampling request is written in each revision, oldest first.
    fn check(request: &Sampling, expected: [Result<&str, &str>; 5]) {
        for (revision, expected) in Revision::ALL.into_iter().zip(expected) {
            match (written(revision, request), expected) {
                (Ok(written), Ok(expected)) => assert_eq!(written, expected, "{revision}"),
                (Err(reason), Err(expected)) => assert!(reason.contains(expected), "{reason}"),
                (written, _) => panic!("{revision}: {written:?}"),
            }
        }
    }

    #[test]
    fn a_request_with_every_option_is_the_same_in_every_revision() {
        let question = Sampling::ask("Hello \"you\"\n", 100)
            .system("Be brief")
            .assistant("Hi")
            .user(Text::new("Why?").priority(0.5))
            .temperature(0.7)
            .stop("END")
            .stop("\n")
            .hint("claude")
            .hint("gpt")
            .cost_priority(0.25)
            .speed_priority(-1.0)
            .intelligence_priority(3.0)
            .include_context(IncludeContext::ThisServer)
            .metadata(place("Lyon"));
        let everywhere = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Hello \"you\"\n"}},{"role":"assistant","content":{"type":"text","text":"Hi"}},{"role":"user","content":{"type":"text","text":"Why?","annotations":{"priority":0.5}}}],"modelPreferences":{"hints":[{"name":"claude"},{"name":"gpt"}],"costPriority":0.25,"speedPriority":0,"intelligencePriority":1},"systemPrompt":"Be brief","includeContext":"thisServer","temperature":0.7,"maxTokens":100,"stopSequences":["END","\n"],"metadata":{"city":"Lyon"}}"#;
        check(&question, [Ok(everywhere); 5]);
    }

    #[test]
    fn content_blocks_are_split_into_messages_for_older_revisions() {
        let question = Sampling::new(1).user(("What is this?", Image::png([1]), Audio::wav([2])));
        let text = r#"{"type":"text","text":"What is this?"}"#;
        let image = r#"{"type":"image","data":"AQ==","mimeType":"image/png"}"#;
        let audio = r#"{"type":"audio","data":"Ag==","mimeType":"audio/wav"}"#;
        let instead = r#"{"type":"text","text":"[a sound of type audio/wav]"}"#;
        let split = |sound: &str| {
            let messages =
                [text, image, sound].map(|block| format!(r#"{{"role":"user","content":{block}}}"#));
            format!(r#"{{"messages":[{}],"maxTokens":1}}"#, messages.join(","))
        };
        let (oldest, split) = (split(instead), split(audio));
        let whole = format!(
            r#"{{"messages":[{{"role":"user","content":[{text},{image},{audio}]}}],"maxTokens":1}}"#
        );
        check(&question, [Ok(&oldest), Ok(&split), Ok(&split), Ok(&whole), Ok(&whole)]);
    }

    #[test]
    fn tools_are_written_only_in_revisions_that_have_them() {
        let tool = SamplingTool::new("weather").description("Tells the weather").input_schema(
            r#"{
                "properties": {"city": {"type": "string"}}, "type": "object"
            }"#,
        );
        let question = Sampling::ask("Warm?", 9)
            .assistant(ToolUse::new("1", "weather", place("Lyon")))
            .tool_result("1", "yes")
            .assistant((
                "And",
                ToolUse::new("2", "weather", place("Oslo")),
                ToolUse::new("3", "today", place("")),
            ))
            .tool_result("2", WithMeta(Json(place("Oslo")), Meta::new().with("k", 1)))
            .tool_error("3", "no calendar")
            .tool(tool)
            .tool(SamplingTool::new("today"))
            .tool_choice(ToolChoice::None);
        let whole = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Warm?"}},{"role":"assistant","content":{"type":"tool_use","id":"1","name":"weather","input":{"city":"Lyon"}}},{"role":"user","content":{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"yes"}]}},{"role":"assistant","content":[{"type":"text","text":"And"},{"type":"tool_use","id":"2","name":"weather","input":{"city":"Oslo"}},{"type":"tool_use","id":"3","name":"today","input":{"city":""}}]},{"role":"user","content":[{"type":"tool_result","toolUseId":"2","content":[{"type":"text","text":"{\"city\":\"Oslo\"}"}],"structuredContent":{"city":"Oslo"},"_meta":{"k":1}},{"type":"tool_result","toolUseId":"3","content":[{"type":"text","text":"no calendar"}],"isError":true}]}],"maxTokens":9,"tools":[{"name":"weather","description":"Tells the weather","inputSchema":{"properties":{"city":{"type":"string"}},"type":"object"}},{"name":"today","inputSchema":{"type":"object","properties":{},"additionalProperties":false}}],"toolChoice":{"mode":"none"}}"#;
        let none = Err("cannot use tools in 20");
        check(&question, [none, none, none, Ok(whole), Ok(whole)]);
    }

    #[test]
    fn structured_results_are_objects_before_they_may_be_anything() {
        let question = Sampling::ask("?", 1)
            .assistant(ToolUse::new("1", "list", place("")))
            .tool_result("1", Json([1]));
        for (revision, expected) in Revision::ALL.into_iter().skip(3).zip([false, true]) {
            let text = written(revision, &question).unwrap();
            assert_eq!(text.contains(r#""structuredContent":[1]"#), expected, "{revision}");
        }
    }

    #[test]
    fn an_answer_goes_back_as_it_came() {
        let answer = r#"[{"type":"text","text":"Let me see","_meta":{"a":1}},{"type":"tool_use","id":"1","name":"look","input":{"at": [1, 2]},"_meta":{"cache":"x"}},{"type":"thought","of":null}]"#;
        let raw = format!(r#"{{"role":"assistant","model":"m","content":{answer}}}"#);
        let sampled = Sampled::read(Raw::trusted(&raw)).unwrap();
        let question = Sampling::ask("?", 1).assistant(&sampled).tool_result("1", "x");
        for revision in Revision::ALL.into_iter().skip(3) {
            let text = written(revision, &question).unwrap();
            assert!(text.contains(&format!(r#""content":{answer}"#)), "{text}");
        }
    }

    #[test]
    fn an_invalid_or_unsupported_sampling_request_is_not_written() {
        let wrong = "needs a message";
        check(&Sampling::new(1), [Err(wrong); 5]);
        let tools = "cannot use tools in 20";
        let choice = Sampling::ask("?", 1).tool_choice(ToolChoice::Auto);
        let whole = r#"{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1,"toolChoice":{"mode":"auto"}}"#;
        check(&choice, [Err(tools), Err(tools), Err(tools), Ok(whole), Ok(whole)]);
    }

    fn annotations() -> impl Strategy<Value = Option<Annotations>> {
        let roles =
            prop::collection::vec(prop::sample::select(vec![Role::User, Role::Assistant]), 1..3);
        prop::option::of((roles, 0.0..=1.0_f64)).prop_map(|annotations| {
            annotations.map(|(audience, priority)| Annotations {
                audience,
                priority: Some(priority),
                last_modified: None,
            })
        })
    }

    fn says() -> impl Strategy<Value = SampledContent> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..8);
        prop_oneof![
            ("\\PC{0,12}|[\\x00-\\x20\"\\\\]{1,4}", annotations()).prop_map(
                |(text, annotations)| {
                    let text = Text::new(text);
                    match annotations {
                        Some(annotations) => text
                            .audience(&annotations.audience)
                            .priority(annotations.priority.unwrap_or(0.0)),
                        None => text,
                    }
                    .into()
                }
            ),
            ("[a-z]{1,5}/[a-z]{1,5}", bytes())
                .prop_map(|(mime, bytes)| Image::new(mime, bytes).into()),
            ("[a-z]{1,5}/[a-z]{1,5}", bytes())
                .prop_map(|(mime, bytes)| Audio::new(mime, bytes).into()),
        ]
    }

    fn uses() -> impl Strategy<Value = Vec<SampledContent>> {
        let input = prop::collection::btree_map("\\PC{0,4}", "\\PC{0,4}", 0..3);
        prop::collection::btree_map("\\PC{0,6}", ("\\PC{0,6}", input), 0..3).prop_map(|uses| {
            let used = |(id, (name, input))| ToolUse::new(id, name, input).into();
            uses.into_iter().map(used).collect()
        })
    }

    /// Generates conversations of several rounds: the user says something, and the model answers.
    fn conversations() -> impl Strategy<Value = Sampling> {
        let blocks = || prop::collection::vec(says(), 1..4);
        prop::collection::vec((blocks(), blocks(), uses()), 1..4).prop_map(|rounds| {
            rounds.into_iter().fold(Sampling::new(7), |request, (user, model, uses)| {
                let ids: Vec<_> = uses
                    .iter()
                    .filter_map(|content| match content {
                        SampledContent::ToolUse(call) => Some(call.id.clone()),
                        _ => None,
                    })
                    .collect();
                let request = request.user(user).assistant((model, uses));
                ids.into_iter().rev().fold(request, |request, id| request.tool_result(id, "done"))
            })
        })
    }

    /// Returns the blocks of all messages in their order, each with its role. Tool results are read as `SampledContent::Other`.
    fn read_back(params: &str) -> Vec<(Role, SampledContent)> {
        let messages = Raw::trusted(params).get("messages").unwrap();
        messages
            .elements()
            .flat_map(|message| {
                let read = Sampled::read(message).unwrap();
                read.content.into_iter().map(move |block| (read.role, block))
            })
            .collect()
    }

    fn is_result((_, block): &(Role, SampledContent), of: &str) -> bool {
        let SampledContent::Other(other) = block else { return false };
        let id = Raw::trusted(other.json()).get("toolUseId").and_then(Raw::string);
        other.kind() == "tool_result" && id.as_deref() == Some(of)
    }

    proptest! {
        #[test]
        fn a_conversation_that_is_written_is_read_back_in_every_revision(question in conversations()) {
            prop_assert_eq!(question.check(), Ok(()));
            for revision in Revision::ALL {
                let Ok(params) = written(revision, &question) else {
                    prop_assert!(question.needs_tools() && !revision.features().sampling_tools);
                    continue;
                };
                let mut found = read_back(&params).into_iter();
                for turn in &question.turns {
                    match turn {
                        SamplingTurn::Results(results) => for (id, _) in results {
                            prop_assert!(is_result(&found.next().unwrap(), id));
                        }
                        SamplingTurn::Says(role, blocks) => for block in blocks {
                            let (of, read) = found.next().unwrap();
                            prop_assert_eq!(of, *role);
                            match block {
                                SampledContent::Audio(_) if !revision.features().hints_and_audio => {
                                    prop_assert!(matches!(read, SampledContent::Text(_)));
                                }
                                block => prop_assert_eq!(&read, block),
                            }
                        }
                    }
                }
                prop_assert_eq!(found.next(), None);
            }
        }
    }
}
