//! Content of messages, results and resources.

use std::borrow::Cow;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::Meta;

/// Author of a message, or intended recipient of a piece of content.
///
/// ```
/// use mcp_runtime::content::{Role, Text};
///
/// let text = Text::new("Ask the user to confirm.").audience(&[Role::Assistant]);
/// ```
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

/// Hints on how a client should use a piece of content. Each type of content has methods that set them, such as [`Text::audience`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Annotations {
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

    /// Decodes base64. Accepts text with and without padding, because not all clients send padding.
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

/// Block of a tool's result or of a prompt's message.
///
/// Return a `Vec<Content>` for blocks of several kinds. A handler with a single block can return the type of the block itself, or a
/// `String`.
///
/// Specification: Server features, Tools (tool result).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Describes a chart and shows it.
/// #[tool]
/// fn chart() -> Vec<Content> {
///     vec!["Sales by month".into(), Image::png(vec![0x89, b'P', b'N', b'G']).into()]
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(Text),
    /// An image.
    Image(Image),
    /// Audio (2025-03-26 and later). Clients of older revisions get a text that describes it.
    Audio(Audio),
    /// A reference to a resource (2025-06-18 and later). Clients of older revisions get its URI as text.
    ResourceLink(ResourceLink),
    /// The contents of a resource.
    Embedded(Embedded),
}

impl Content {
    /// Creates a block of text. `Content::from` does the same, and [`Text::new`] creates text with annotations.
    ///
    /// ```
    /// use mcp_runtime::content::Content;
    ///
    /// assert_eq!(Content::text("3 files changed"), Content::from("3 files changed"));
    /// ```
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text::new(text))
    }
}

macro_rules! annotated {
    ($($ty:ident)*) => {$(
        impl $ty {
            /// Sets the roles that the content is for. By default the content is for all roles.
            #[must_use]
            pub fn audience(mut self, roles: &[Role]) -> Self {
                self.extras_mut().annotations.audience = roles.to_vec();
                self
            }

            /// Sets the importance of the content, from 0 (optional) to 1 (required). Values outside of this range are clamped.
            #[must_use]
            pub fn priority(mut self, priority: f64) -> Self {
                self.extras_mut().annotations.priority = Some(priority.clamp(0.0, 1.0));
                self
            }

            /// Sets the time of the last change to the content, in ISO 8601 (2025-06-18 and later).
            #[must_use]
            pub fn last_modified(mut self, time: impl Into<String>) -> Self {
                self.extras_mut().annotations.last_modified = Some(time.into());
                self
            }

            /// Sets the `_meta` of the content (2025-06-18 and later).
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

/// Text with annotations. If you need no annotations, use a plain `String`.
///
/// ```
/// use mcp_runtime::content::{Role, Text};
///
/// let text = Text::new("3 files changed").audience(&[Role::User]).priority(0.3);
/// assert_eq!(text.as_str(), "3 files changed");
/// ```
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

/// Image in a result or a message.
///
/// ```
/// use mcp_runtime::content::Image;
///
/// let image = Image::png(vec![0x89, b'P', b'N', b'G']);
/// assert_eq!(image.media_type(), "image/png");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub(crate) data: BinaryData,
    pub(crate) mime_type: String,
    pub(crate) extras: Option<Box<Extras>>,
}

/// Audio in a result or a message (2025-03-26 and later). Clients of older revisions get a text that describes it.
///
/// ```
/// use mcp_runtime::content::Audio;
///
/// let beep = Audio::wav(vec![b'R', b'I', b'F', b'F']);
/// assert_eq!(beep.media_type(), "audio/wav");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Audio {
    pub(crate) data: BinaryData,
    pub(crate) mime_type: String,
    pub(crate) extras: Option<Box<Extras>>,
}

macro_rules! binary {
    ($($ty:ident $what:literal, $($method:ident $mime:literal),*;)*) => {$(
        impl $ty {
            #[doc = concat!("Creates ", $what, " of this media type from its bytes.")]
            pub fn new(mime_type: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
                Self { data: BinaryData::Bytes(bytes.into()), mime_type: mime_type.into(), extras: None }
            }

            #[doc = concat!("Creates ", $what, " of this media type from bytes that are encoded in base64 already.")]
            pub fn base64(mime_type: impl Into<String>, text: impl Into<String>) -> Self {
                Self { data: BinaryData::Base64(text.into()), mime_type: mime_type.into(), extras: None }
            }

            /// Returns the media type.
            pub fn media_type(&self) -> &str {
                &self.mime_type
            }

            /// Returns the bytes, or `None` if the content was created from a text that is not base64. Content from a client always has
            /// bytes.
            pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
                self.data.bytes()
            }

            $(
                #[doc = concat!("Creates ", $what, " of the type `", $mime, "` from its bytes.")]
                pub fn $method(bytes: impl Into<Vec<u8>>) -> Self {
                    Self::new($mime, bytes)
                }
            )*
        }
    )*};
}
binary! {
    Image "an image", png "image/png", jpeg "image/jpeg";
    Audio "audio", wav "audio/wav", mpeg "audio/mpeg";
}

/// Reference to a resource that the client can read (2025-06-18 and later). To send the contents of the resource, use [`Embedded`].
///
/// ```
/// use mcp_runtime::content::ResourceLink;
///
/// let link = ResourceLink::new("file:///logs/today.txt", "today")
///     .mime_type("text/plain")
///     .size(1024);
/// ```
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
    /// Creates a link to `uri`. `name` identifies the resource.
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

    /// Sets the title, which clients show to users instead of the name.
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

/// Contents of a resource inside a result or a message. To send only a reference, use [`ResourceLink`].
///
/// ```
/// use mcp_runtime::content::Embedded;
///
/// let log = Embedded::text("file:///logs/today.txt", "nothing happened");
/// let readme = Embedded::text("file:///README.md", "# Shop").mime_type("text/markdown");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    pub(crate) contents: ResourceContents,
    pub(crate) extras: Option<Box<Extras>>,
}

impl Embedded {
    /// Creates a block from these contents.
    pub fn new(contents: ResourceContents) -> Self {
        Self { contents, extras: None }
    }

    /// Creates a block from a text and its URI.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(ResourceContents::text(uri, text))
    }

    /// Creates a block from bytes and their URI.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(ResourceContents::blob(uri, bytes))
    }

    /// Sets the media type. The default is `text/plain` for text, and `application/octet-stream` for bytes.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.contents = self.contents.mime_type(mime_type);
        self
    }
}

/// Part of a resource: a text or bytes, with a URI. An empty URI stands for the requested URI.
///
/// Return a `Vec<ResourceContents>` from a resource that has several parts. For a single part, return a `String` or a [`Blob`].
///
/// Specification: Server features, Resources.
///
/// ```
/// use mcp_runtime::content::ResourceContents;
///
/// let parts = [
///     ResourceContents::text("file:///site/index.html", "<h1>Hi</h1>")
///         .mime_type("text/html"),
///     ResourceContents::blob("file:///site/logo.png", [0x89, b'P', b'N', b'G'])
///         .mime_type("image/png"),
/// ];
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContents {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    /// Media type that is used if neither the contents nor the resource has one.
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
    /// Creates contents from a text and its URI.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of(uri.into(), "text/plain", ResourceBody::Text(text.into()))
    }

    /// Creates contents from bytes and their URI.
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

    /// Sets the `_meta` of the contents (2025-06-18 and later).
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Returns the media type. If none is set, returns the usual type of the body, because the specification requires a media type in a
    /// prompt (rule PROMPT-04).
    pub(crate) fn media_type(&self) -> &str {
        self.mime_type.as_deref().unwrap_or(self.usual)
    }
}

/// Bytes as the contents of a resource. For a part with a URI of its own, use [`ResourceContents`].
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// The logo.
/// #[resource("logo://main", mime_type = "image/png")]
/// fn logo() -> Blob {
///     Blob::new([0x89, b'P', b'N', b'G'])
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Blob {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime_type: Option<String>,
}

impl Blob {
    /// Creates contents from bytes.
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

/// Message of a prompt.
///
/// A prompt with a single message from the user can return a `String` instead.
///
/// Specification: Server features, Prompts.
///
/// ```
/// use mcp_runtime::content::Message;
///
/// let chat = [Message::user("What is 40 + 2?"), Message::assistant("42")];
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub(crate) role: Role,
    pub(crate) content: Content,
}

impl Message {
    /// Creates a message from the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Creates a message from the model.
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
