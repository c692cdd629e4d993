//! Content of messages, results and resources.

use std::borrow::Cow;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::Meta;

/// Author of a message, or intended recipient of a piece of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::User, Self::Assistant].into_iter().find(|role| role.name() == name)
    }
}

/// Hints on how a client should use a piece of content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    pub(crate) audience: Vec<Role>,
    pub(crate) priority: Option<f64>,
    pub(crate) last_modified: Option<String>,
}

/// Binary data, as bytes or as base64 text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BinaryData {
    Bytes(Vec<u8>),
    Base64(String),
}

impl BinaryData {
    pub(crate) fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Bytes(bytes) => Some(Cow::Borrowed(bytes)),
            Self::Base64(text) => Self::decode(text).map(Cow::Owned),
        }
    }

    /// Accepts base64 with and without padding, since clients differ.
    pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
        const LENIENT: GeneralPurposeConfig =
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        GeneralPurpose::new(&alphabet::STANDARD, LENIENT).decode(text).ok()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extras {
    pub(crate) annotations: Annotations,
    pub(crate) meta: Option<Meta>,
}

/// A block of a tool's result or of a prompt's message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(Text),
    /// A picture.
    Image(Image),
    /// A sound (2025-03-26 and later; older clients get a text that says what it was).
    Audio(Audio),
    /// A reference to a resource (2025-06-18 and later; older clients get its URI as text).
    ResourceLink(ResourceLink),
    /// The contents of a resource.
    Embedded(Embedded),
}

macro_rules! annotated {
    ($($ty:ident)*) => {$(
        impl $ty {
            /// Sets the roles that the content is for. By default no audience is sent, so the content is for all roles.
            #[must_use]
            pub fn audience(mut self, roles: &[Role]) -> Self {
                self.extras_mut().annotations.audience = roles.to_vec();
                self
            }

            /// Sets how important the content is, from 0 (optional) to 1 (required).
            #[must_use]
            pub fn priority(mut self, priority: f64) -> Self {
                self.extras_mut().annotations.priority = Some(priority.clamp(0.0, 1.0));
                self
            }

            /// Sets when the content last changed, as an ISO 8601 time (2025-06-18 and later).
            #[must_use]
            pub fn last_modified(mut self, time: impl Into<String>) -> Self {
                self.extras_mut().annotations.last_modified = Some(time.into());
                self
            }

            /// Sets the `_meta` (2025-06-18 and later).
            #[must_use]
            pub fn meta(mut self, meta: Meta) -> Self {
                self.extras_mut().meta = Some(meta);
                self
            }

            fn extras_mut(&mut self) -> &mut Extras {
                self.extras.get_or_insert_default()
            }
        }

        impl From<$ty> for Content {
            fn from(content: $ty) -> Self {
                Self::$ty(content)
            }
        }
    )*};
}
annotated! { Text Image Audio ResourceLink Embedded }

/// A text with annotations. Without annotations a plain `String` is enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub(crate) text: String,
    pub(crate) extras: Option<Box<Extras>>,
}

impl Text {
    /// Creates a text without annotations.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), extras: None }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(Text { text, extras: None })
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// A picture.
///
/// ```
/// use mcp_runtime::content::Image;
///
/// let image = Image::png(vec![0x89, b'P', b'N', b'G']);
/// # let _ = image;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub(crate) data: BinaryData,
    pub(crate) mime_type: String,
    pub(crate) extras: Option<Box<Extras>>,
}

/// A sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Audio {
    pub(crate) data: BinaryData,
    pub(crate) mime_type: String,
    pub(crate) extras: Option<Box<Extras>>,
}

macro_rules! binary {
    ($($ty:ident $what:literal, $($method:ident $mime:literal),*;)*) => {$(
        impl $ty {
            #[doc = concat!("A ", $what, " of this media type.")]
            pub fn new(mime_type: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
                Self { data: BinaryData::Bytes(bytes.into()), mime_type: mime_type.into(), extras: None }
            }

            #[doc = concat!("A ", $what, " whose bytes are base64 already.")]
            pub fn base64(mime_type: impl Into<String>, text: impl Into<String>) -> Self {
                Self { data: BinaryData::Base64(text.into()), mime_type: mime_type.into(), extras: None }
            }

            /// Returns the media type.
            pub fn media_type(&self) -> &str {
                &self.mime_type
            }

            /// Returns the bytes. `None` if it was created from a text that is not base64; content from a client always has bytes.
            pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
                self.data.bytes()
            }

            $(
                #[doc = concat!("A ", $what, " of type `", $mime, "`.")]
                pub fn $method(bytes: impl Into<Vec<u8>>) -> Self {
                    Self::new($mime, bytes)
                }
            )*
        }
    )*};
}
binary! {
    Image "picture", png "image/png", jpeg "image/jpeg";
    Audio "sound", wav "audio/wav", mpeg "audio/mpeg";
}

/// A reference to a resource the client can read.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceLink {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) extras: Option<Box<Extras>>,
}

impl ResourceLink {
    /// A link to `uri`, called `name`.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            extras: None,
        }
    }

    /// Sets the name that is shown to users.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }
}

/// The contents of a resource inside a result or message.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    pub(crate) contents: ResourceContents,
    pub(crate) extras: Option<Box<Extras>>,
}

impl Embedded {
    /// Embeds these contents.
    pub fn new(contents: ResourceContents) -> Self {
        Self { contents, extras: None }
    }

    /// Embeds a text at this URI.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(ResourceContents::text(uri, text))
    }

    /// Embeds bytes at this URI.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(ResourceContents::blob(uri, bytes))
    }
}

/// Part of a resource: a text or bytes, at a URI. An empty URI stands for the URI that is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContents {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    /// Media type if neither the contents nor the resource have one.
    pub(crate) usual: &'static str,
    pub(crate) body: ResourceBody,
    pub(crate) meta: Option<Meta>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResourceBody {
    Text(String),
    Blob(BinaryData),
}

impl ResourceContents {
    /// Creates contents from a text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of(uri.into(), "text/plain", ResourceBody::Text(text.into()))
    }

    /// Creates contents from bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(
            uri.into(),
            "application/octet-stream",
            ResourceBody::Blob(BinaryData::Bytes(bytes.into())),
        )
    }

    pub(crate) fn of(uri: String, usual: &'static str, body: ResourceBody) -> Self {
        Self { uri, mime_type: None, usual, body, meta: None }
    }

    /// Sets the media type. The default is the media type of the resource.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the `_meta` (2025-06-18 and later).
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Returns the media type, or the most general one if there is none: a prompt must not leave it out (rule PROMPT-04).
    pub(crate) fn media_type(&self) -> &str {
        self.mime_type.as_deref().unwrap_or(self.usual)
    }
}

/// Bytes as the contents of a resource, at the URI that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Blob {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime_type: Option<String>,
}

impl Blob {
    /// Wraps these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), mime_type: None }
    }

    /// Sets the media type. The default is the media type of the resource.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// A message of a prompt.
///
/// ```
/// use mcp_runtime::content::Message;
///
/// let chat = [Message::user("What is 40 + 2?"), Message::assistant("42")];
/// # let _ = chat;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub(crate) role: Role,
    pub(crate) content: Content,
}

impl Message {
    /// Creates a message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Creates a message of the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_given_back() {
        fn check(text: &str, expected: Option<&[u8]>) {
            assert_eq!(Audio::base64("audio/wav", text).bytes().as_deref(), expected, "{text}");
        }
        check("", Some(b""));
        check("aGk=", Some(b"hi"));
        check("aGk", Some(b"hi"));
        check("a", None);
        check("aG k=", None);
        let image = Image::png([1, 2]);
        assert_eq!(
            (image.media_type(), image.bytes().as_deref()),
            ("image/png", Some(&[1, 2][..]))
        );
        assert_eq!(Text::new("x").as_str(), "x");
    }
}
