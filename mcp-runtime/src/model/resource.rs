use super::{Meta, content::BinaryData};

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
