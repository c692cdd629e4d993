use super::{Meta, content::Data};

/// One item of what a resource holds: a text or bytes, at a URI. What a resource returns with an empty URI is at the URI that is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContents {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
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
        Self { uri: uri.into(), mime_type: None, body: Body::Text(text.into()), meta: None }
    }

    /// Bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            body: Body::Blob(Data::Bytes(bytes.into())),
            meta: None,
        }
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
        match (&self.mime_type, &self.body) {
            (Some(it), _) => it,
            (None, Body::Text(_)) => "text/plain",
            (None, Body::Blob(_)) => "application/octet-stream",
        }
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
