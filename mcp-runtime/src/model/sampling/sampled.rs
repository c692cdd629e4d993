use mcp_runtime_wire::{JsonKind, Raw};

use super::{SampledContent, ToolUse};
use crate::{error::shown, model::Role};

/// The answer of the client's model to a [`Sampling`](crate::Sampling). The user may have changed it (client/sampling).
///
/// ```
/// use mcp_runtime::{Sampled, SampledContent};
///
/// fn summary(answer: &Sampled) -> String {
///     let pictures = answer.content.iter().filter(|it| matches!(it, SampledContent::Image(_))).count();
///     format!("{} says: {} ({pictures} pictures)", answer.model, answer.text())
/// }
/// # let _ = summary;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// Author of the message: the model, unless the client says otherwise.
    pub role: Role,
    /// Blocks of the answer.
    pub content: Vec<SampledContent>,
    /// Name of the model that answered; empty if the client did not send one.
    pub model: String,
    /// Reason why the answer ended: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a word of the provider.
    pub stop_reason: Option<String>,
}

impl Sampled {
    /// Returns all text of the answer. The blocks are joined without a separator.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|it| match it {
            SampledContent::Text(it) => Some(it.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Iterates over the tool uses that the model asks for before it continues.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|it| match it {
            SampledContent::ToolUse(it) => Some(it),
            _ => None,
        })
    }

    /// Reads the result of `sampling/createMessage`, from any revision (rule SAMP-05).
    ///
    /// # Errors
    /// Returns where the result deviates from the specification, in words for the log.
    pub(crate) fn read(raw: Raw<'_>) -> Result<Self, String> {
        let [role, content, model, stop_reason] =
            raw.pick(["role", "content", "model", "stopReason"]);
        let role = match role.filter(|it| !it.is_null()) {
            None => Role::Assistant,
            Some(it) => it.string().and_then(|name| Role::parse(&name)).ok_or_else(|| {
                format!("`role` must be `user` or `assistant`, not {}", shown(it.as_str()))
            })?,
        };
        let content = content.ok_or("`content` is missing")?;
        let content = match content.kind() {
            JsonKind::Object => vec![SampledContent::read(content)?],
            JsonKind::Array => {
                content.elements().map(SampledContent::read).collect::<Result<_, _>>()?
            }
            _ => return Err("`content` must be a block or an array of blocks".to_owned()),
        };
        let text = |member: Option<Raw<'_>>| member.and_then(Raw::string).map(Into::into);
        let model = text(model).unwrap_or_default();
        Ok(Self { role, content, model, stop_reason: text(stop_reason) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Text;

    fn read(json: &str) -> Result<Sampled, String> {
        Sampled::read(Raw::trusted(json))
    }

    #[test]
    fn answers_of_all_revisions() {
        fn check(json: &str, blocks: usize, text: &str, rest: (Role, &str, Option<&str>)) {
            let read = read(json).unwrap();
            assert_eq!((read.content.len(), read.text().as_str()), (blocks, text), "{json}");
            let found = (read.role, read.model.as_str(), read.stop_reason.as_deref());
            assert_eq!(found, rest, "{json}");
        }
        check(
            r#"{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m-1","stopReason":"endTurn"}"#,
            1,
            "Paris",
            (Role::Assistant, "m-1", Some("endTurn")),
        );
        check(
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"x"},{"type":"text","text":"b"}],"stopReason":"refusal","model":"m","_meta":{}}"#,
            3,
            "ab",
            (Role::User, "m", Some("refusal")),
        );
        check(r#"{"content":[],"stopReason":null}"#, 0, "", (Role::Assistant, "", None));
    }

    #[test]
    fn tool_uses_are_found() {
        let answer = read(
            r#"{"role":"assistant","content":[{"type":"text","text":"Let me see."},
                {"type":"tool_use","id":"1","name":"weather","input":{"city":"Paris"}},
                {"type":"tool_use","id":"2","name":"time","input":{}}],
                "model":"m","stopReason":"toolUse"}"#,
        )
        .unwrap();
        let uses: Vec<_> =
            answer.tool_uses().map(|it| (it.id.as_str(), it.name.as_str())).collect();
        assert_eq!(uses, [("1", "weather"), ("2", "time")]);
        assert_eq!(answer.content[0], SampledContent::Text(Text::new("Let me see.")));
    }

    #[test]
    fn json_that_is_no_sampling_answer_is_refused() {
        fn check(json: &str, expected: &str) {
            assert_eq!(read(json), Err(expected.to_owned()), "{json}");
        }
        check("null", "`content` is missing");
        check("{}", "`content` is missing");
        check(r#"{"content":"Paris"}"#, "`content` must be a block or an array of blocks");
        check(r#"{"content":[{}]}"#, "a block has no `type`");
        check(
            r#"{"role":"system","content":[]}"#,
            "`role` must be `user` or `assistant`, not \"system\"",
        );
    }
}
