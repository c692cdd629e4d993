use super::{Meta, content::Data};

/// One item of what a resource holds: a text or bytes, at a URI. What a resource returns with an empty URI is
/// at the URI that is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContents {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    /// Its media type where neither it nor its resource says one.
    pub(crate) usual: &'static str,
    pub(crate) body: Body,
    pub(crate) meta: Option<Meta>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    Text(String),
    Blob(Data),
}

impl ResourceContents {
    /// A text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of(uri.into(), "text/plain", Body::Text(text.into()))
    }

    /// Bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(uri.into(), "application/octet-stream", Body::Blob(Data::Bytes(bytes.into())))
    }

    pub(crate) fn of(uri: String, usual: &'static str, body: Body) -> Self {
        Self { uri, mime_type: None, usual, body, meta: None }
    }

    /// Its media type; the resource's own where it is not said.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Its `_meta` (2025-06-18 and later).
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The media type that is said, or the most general one: a prompt must not leave it out (PROMPT-04).
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
    /// These bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), mime_type: None }
    }

    /// Their media type; the resource's own where it is not said.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}
