//! Answers of the client's model, and the content of messages to and from it.

use mcp_runtime_wire::{JsonKind, Raw};
use serde_json::Map;

use super::ToolUse;
use crate::{
    error::shown,
    model::{Annotations, Audio, BinaryData, Extras, Image, Meta, Role, Text},
};

/// Answer of the client's model to a [`Sampling`](crate::sampling::Sampling). The user may have edited the answer.
///
/// Specification: Client features, Sampling.
///
/// ```
/// use mcp_runtime::sampling::{Sampled, SampledContent};
///
/// fn summary(answer: &Sampled) -> String {
///     let pictures = answer
///         .content
///         .iter()
///         .filter(|block| matches!(block, SampledContent::Image(_)))
///         .count();
///     format!("{} says: {} ({pictures} pictures)", answer.model, answer.text())
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// Author of the message: the model, unless the client sends another role.
    pub role: Role,
    /// Blocks of the answer.
    pub content: Vec<SampledContent>,
    /// Name of the model that answered; empty if the client did not send one.
    pub model: String,
    /// Reason why the answer ended: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a value that the model's provider defines.
    pub stop_reason: Option<String>,
}

impl Sampled {
    /// Returns the text blocks of the answer, joined without a separator.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            SampledContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the tool uses that the model requests. The next sampling request has to contain their results.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|block| match block {
            SampledContent::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }

    /// Reads the result of `sampling/createMessage`, in the form of any revision (rule SAMP-05).
    ///
    /// # Errors
    /// Fails if the result deviates from the specification. The error describes the deviation.
    pub(crate) fn read(raw: Raw<'_>) -> Result<Self, String> {
        let [role, content, model, stop_reason] =
            raw.pick(["role", "content", "model", "stopReason"]);
        let role = match role.filter(|role| !role.is_null()) {
            None => Role::Assistant,
            Some(role) => role.string().and_then(|name| Role::parse(&name)).ok_or_else(|| {
                format!("`role` must be `user` or `assistant`, not {}", shown(role.as_str()))
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

/// Content block of an answer ([`Sampled::content`]).
///
/// ```
/// use mcp_runtime::sampling::SampledContent;
///
/// fn describe(block: &SampledContent) -> String {
///     match block {
///         SampledContent::Text(text) => text.as_str().to_owned(),
///         SampledContent::ToolUse(call) => format!("uses `{}`", call.name),
///         _ => "something else".to_owned(),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SampledContent {
    /// Text.
    Text(Text),
    /// An image.
    Image(Image),
    /// Audio (2025-03-26 and later).
    Audio(Audio),
    /// A request from the model to use a tool (2025-11-25 and later).
    ToolUse(ToolUse),
    /// A block of a kind that this version of the crate does not know.
    Other(OtherContent),
}

/// Block of a kind that this version of the crate does not know, as the client sent it.
///
/// If the answer becomes part of the next sampling request, the block is sent back unchanged.
///
/// ```
/// use mcp_runtime::content::OtherContent;
///
/// fn log(block: &OtherContent) {
///     eprintln!("unknown block `{}`: {}", block.kind(), block.json());
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherContent {
    kind: String,
    /// JSON text of an object.
    json: Box<str>,
}

impl OtherContent {
    /// Returns the `type` of the block.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the whole block as JSON text.
    pub fn json(&self) -> &str {
        &self.json
    }
}

impl SampledContent {
    fn read(raw: Raw<'_>) -> Result<Self, String> {
        let kind = raw.get("type").and_then(Raw::string).ok_or("a block has no `type`")?;
        Ok(match &*kind {
            "text" => {
                let text = raw.get("text").and_then(Raw::string);
                let text = text.ok_or("`text` of a block must be a string")?.into_owned();
                Self::Text(Text { text, extras: read_extras(raw) })
            }
            "image" => {
                let (data, mime_type) = binary(raw)?;
                Self::Image(Image { data, mime_type, extras: read_extras(raw) })
            }
            "audio" => {
                let (data, mime_type) = binary(raw)?;
                Self::Audio(Audio { data, mime_type, extras: read_extras(raw) })
            }
            "tool_use" => Self::ToolUse(ToolUse::read(raw)?),
            _ => Self::Other(OtherContent { kind: kind.into_owned(), json: raw.as_str().into() }),
        })
    }
}

fn binary(raw: Raw<'_>) -> Result<(BinaryData, String), String> {
    let [data, mime_type] = raw.pick(["data", "mimeType"]);
    let data = data.and_then(Raw::string).and_then(|data| BinaryData::decode(&data));
    let mime_type = mime_type.and_then(Raw::string);
    Ok((
        BinaryData::Bytes(data.ok_or("`data` of a block must be base64")?),
        mime_type.ok_or("`mimeType` of a block must be a string")?.into_owned(),
    ))
}

/// Reads the annotations and the `_meta` of a block. Ignores invalid values, so that they do not make the whole answer invalid.
pub(crate) fn read_extras(raw: Raw<'_>) -> Option<Box<Extras>> {
    let [annotations, meta] = raw.pick(["annotations", "_meta"]);
    let [audience, priority, last_modified] = annotations.map_or([None; 3], |annotations| {
        annotations.pick(["audience", "priority", "lastModified"])
    });
    let role = |role: Raw<'_>| role.string().and_then(|name| Role::parse(&name));
    let extras = Extras {
        annotations: Annotations {
            audience: audience.unwrap_or(Raw::NULL).elements().filter_map(role).collect(),
            priority: priority.and_then(Raw::f64),
            last_modified: last_modified.and_then(Raw::string).map(Into::into),
        },
        meta: meta
            .filter(|meta| meta.kind() == JsonKind::Object)
            .and_then(|meta| serde_json::from_str::<Map<_, _>>(meta.as_str()).ok())
            .map(Meta),
    };
    (extras != Extras::default()).then(|| Box::new(extras))
}

/// Content of one message of a [`Sampling`](crate::sampling::Sampling).
///
/// Content is text, [`Text`], [`Image`], [`Audio`], [`ToolUse`], [`SampledContent`], or a whole answer ([`Sampled`] or `&Sampled`). Tuples,
/// arrays and `Vec`s of these are content too.
///
/// ```
/// use mcp_runtime::{content::Image, sampling::Sampling};
///
/// let logo = Image::png([0x89, b'P', b'N', b'G']);
/// let question =
///     Sampling::new(100).user(("Which of these is the logo?", vec![logo.clone(), logo]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a message to the client's model",
    label = "not something a `Sampling` can say",
    note = "a message is text, `Text`, `Image`, `Audio`, `ToolUse`, `SampledContent`, `&Sampled`, or a tuple, array or `Vec` of those; resources go in as their text"
)]
pub trait SamplingContent: Sized {
    /// Appends the blocks of this content.
    #[doc(hidden)]
    fn add_to(self, blocks: &mut Vec<SampledContent>);
}

macro_rules! blocks {
    ($($ty:ident)*) => {$(
        impl From<$ty> for SampledContent {
            fn from(block: $ty) -> Self {
                Self::$ty(block)
            }
        }

        #[diagnostic::do_not_recommend]
        impl SamplingContent for $ty {
            fn add_to(self, blocks: &mut Vec<SampledContent>) {
                blocks.push(self.into());
            }
        }
    )*};
}
blocks! { Text Image Audio ToolUse }

macro_rules! texts {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl SamplingContent for $ty {
            fn add_to(self, blocks: &mut Vec<SampledContent>) {
                Text::new(self).add_to(blocks);
            }
        }
    )*};
}
texts! { String &str &String Box<str> std::borrow::Cow<'_, str> }

#[diagnostic::do_not_recommend]
impl SamplingContent for SampledContent {
    fn add_to(self, blocks: &mut Vec<SampledContent>) {
        blocks.push(self);
    }
}

#[diagnostic::do_not_recommend]
impl SamplingContent for Sampled {
    fn add_to(mut self, blocks: &mut Vec<SampledContent>) {
        blocks.append(&mut self.content);
    }
}

#[diagnostic::do_not_recommend]
impl SamplingContent for &Sampled {
    fn add_to(self, blocks: &mut Vec<SampledContent>) {
        blocks.extend_from_slice(&self.content);
    }
}

#[diagnostic::do_not_recommend]
impl<T: SamplingContent> SamplingContent for Vec<T> {
    fn add_to(self, blocks: &mut Vec<SampledContent>) {
        self.into_iter().for_each(|part| part.add_to(blocks));
    }
}

#[diagnostic::do_not_recommend]
impl<T: SamplingContent, const N: usize> SamplingContent for [T; N] {
    fn add_to(self, blocks: &mut Vec<SampledContent>) {
        self.into_iter().for_each(|part| part.add_to(blocks));
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($name: SamplingContent),*> SamplingContent for ($($name,)*) {
            #[allow(non_snake_case, reason = "each value is named like its type parameter")]
            fn add_to(self, blocks: &mut Vec<SampledContent>) {
                let ($($name,)*) = self;
                $($name.add_to(blocks);)*
            }
        }
    )*};
}
tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

#[cfg(test)]
mod tests {
    use super::*;

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
        let uses: Vec<_> = answer
            .tool_uses()
            .map(|tool_use| (tool_use.id.as_str(), tool_use.name.as_str()))
            .collect();
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

    #[test]
    fn blocks_are_read() {
        fn check(json: &str, expected: impl SamplingContent) {
            let mut blocks = Vec::new();
            expected.add_to(&mut blocks);
            assert_eq!(SampledContent::read(Raw::trusted(json)).as_ref(), Ok(&blocks[0]), "{json}");
        }
        check(r#"{"type":"text","text":"\u0041"}"#, "A");
        check(r#"{"text":"","type":"text","annotations":{"audience":["dog"]},"_meta":3}"#, "");
        check(
            r#"{"type":"text","text":"A","annotations":{"audience":["user"],"priority":0.5}}"#,
            Text::new("A").audience(&[Role::User]).priority(0.5),
        );
        check(
            r#"{"type":"text","text":"A","_meta":{"k":1}}"#,
            Text::new("A").meta(Meta::new().with("k", 1)),
        );
        check(r#"{"type":"image","data":"AQI=","mimeType":"image/png"}"#, Image::png([1, 2]));
        check(
            r#"{"type":"audio","data":"AQI","mimeType":"audio/wav","annotations":{"lastModified":"x"}}"#,
            Audio::wav([1, 2]).last_modified("x"),
        );
        let video = r#"{"type":"video","data":[1, 2]}"#;
        let other = OtherContent { kind: "video".into(), json: video.into() };
        assert_eq!((other.kind(), other.json()), ("video", video));
        check(video, SampledContent::Other(other));
    }

    #[test]
    fn json_that_is_no_content_block_is_refused() {
        fn check(json: &str, expected: &str) {
            assert_eq!(
                SampledContent::read(Raw::trusted(json)),
                Err(expected.to_owned()),
                "{json}"
            );
        }
        check("{}", "a block has no `type`");
        check("3", "a block has no `type`");
        check(r#"{"type":"text"}"#, "`text` of a block must be a string");
        check(r#"{"type":"image","mimeType":"image/png"}"#, "`data` of a block must be base64");
        check(
            r#"{"type":"audio","data":"?","mimeType":"a/b"}"#,
            "`data` of a block must be base64",
        );
        check(r#"{"type":"image","data":""}"#, "`mimeType` of a block must be a string");
    }
}
