/// A picture a client may show for the server or an item (2025-11-25 and later).
///
/// `src` is an `https:` or `data:` URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icon {
    pub(crate) src: &'static str,
    pub(crate) mime_type: Option<&'static str>,
    pub(crate) sizes: &'static [&'static str],
}

impl Icon {
    /// Creates an icon with this URI.
    pub const fn new(src: &'static str) -> Self {
        Self { src, mime_type: None, sizes: &[] }
    }

    /// Sets the media type, such as `image/png`.
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'static str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// Sets the sizes, such as `48x48` or `any`.
    #[must_use]
    pub const fn sizes(mut self, sizes: &'static [&'static str]) -> Self {
        self.sizes = sizes;
        self
    }
}
