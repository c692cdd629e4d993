use mcp_runtime_wire::{JsonKind, Raw};
use serde_json::Map;

use super::{Sampled, ToolUse};
use crate::model::{
    Annotations, Audio, Image, Meta, Role, Text,
    content::{BinaryData, Extras},
};

/// A block of the answer of the client's model ([`Sampled::content`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SampledContent {
    /// Text.
    Text(Text),
    /// A picture.
    Image(Image),
    /// A sound (2025-03-26 and later).
    Audio(Audio),
    /// A request of the model to use a tool (2025-11-25 and later).
    ToolUse(ToolUse),
    /// A kind of block that this version does not know.
    Other(OtherContent),
}

/// A block of a kind that this version does not know, as the client sent it. The block is sent back unchanged when the answer becomes a
/// part of the next question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherContent {
    kind: String,
    /// JSON text of an object.
    json: Box<str>,
}

impl OtherContent {
    /// Returns the `type`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the whole block as JSON text.
    pub fn json(&self) -> &str {
        &self.json
    }
}

impl SampledContent {
    pub(super) fn read(raw: Raw<'_>) -> Result<Self, String> {
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
    let data = data.and_then(Raw::string).and_then(|it| BinaryData::decode(&it));
    let mime_type = mime_type.and_then(Raw::string);
    Ok((
        BinaryData::Bytes(data.ok_or("`data` of a block must be base64")?),
        mime_type.ok_or("`mimeType` of a block must be a string")?.into_owned(),
    ))
}

/// Reads the annotations and the `_meta` of a block. Mistakes in them are ignored, so that the answer is not lost.
pub(crate) fn read_extras(raw: Raw<'_>) -> Option<Box<Extras>> {
    let [annotations, meta] = raw.pick(["annotations", "_meta"]);
    let [audience, priority, last_modified] =
        annotations.map_or([None; 3], |it| it.pick(["audience", "priority", "lastModified"]));
    let role = |it: Raw<'_>| it.string().and_then(|name| Role::parse(&name));
    let extras = Extras {
        annotations: Annotations {
            audience: audience.into_iter().flat_map(Raw::elements).filter_map(role).collect(),
            priority: priority.and_then(Raw::f64),
            last_modified: last_modified.and_then(Raw::string).map(Into::into),
        },
        meta: meta
            .filter(|it| it.kind() == JsonKind::Object)
            .and_then(|it| serde_json::from_str::<Map<_, _>>(it.as_str()).ok())
            .map(Meta),
    };
    (extras != Extras::default()).then(|| Box::new(extras))
}

/// Content of a message of a [`Sampling`](crate::Sampling): text, [`Text`], [`Image`], [`Audio`], [`ToolUse`], [`SampledContent`], a whole
/// answer ([`Sampled`] or `&Sampled`), and tuples, arrays and `Vec`s of those.
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
            fn from(it: $ty) -> Self {
                Self::$ty(it)
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
        self.into_iter().for_each(|it| it.add_to(blocks));
    }
}

#[diagnostic::do_not_recommend]
impl<T: SamplingContent, const N: usize> SamplingContent for [T; N] {
    fn add_to(self, blocks: &mut Vec<SampledContent>) {
        self.into_iter().for_each(|it| it.add_to(blocks));
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
