//! Types that a `#[resource]` function can return, and their conversion to the contents that the client gets.

use serde::Serialize;

use super::{IntoFailure, Json, WithMeta, json::to_json};
use crate::{
    call::{context::HasContext, extract::Probe},
    error::Error,
    model::{Blob, Done, Image, OperationResult, ReadResult, ResourceBody, ResourceContents},
};

/// Result type of a resource.
///
/// A resource can return these types:
///
/// - text, as `text/plain`
/// - [`Json<T>`](Json): the JSON text of the value, as `application/json`
/// - [`Blob`] and [`Image`]: bytes
/// - [`ResourceContents`], or a `Vec` of them: contents with a URI and a media type of their own
/// - `Option`, where `None` means that the resource does not exist
/// - [`WithMeta`], and a `Result` of any of these
///
/// Lists show the media type of text and JSON. The key `mime_type` of the attribute sets another media type.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// A note.
/// #[resource("notes://{id}")]
/// fn note(id: u32) -> Option<String> {
///     (id == 1).then(|| "Buy milk.".to_owned())
/// }
/// # fn main() {}
/// ```
///
/// Specification: Server features, Resources.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a resource can return",
    label = "cannot become a resource's contents",
    note = "bytes go out as a `Blob`: for `Vec<u8>` return `Blob`, made with `Blob::new(bytes)`",
    note = "numbers, lists and types of your own go out as JSON: write `Json<u32>`, or `Json<YourType>` with `#[data]` on the type",
    note = "a resource returns text, `Json<T>`, `Blob`, `Image`, `ResourceContents`, `Vec<ResourceContents>`, an `Option` of those (`None` is \"not found\"), or a `Result` of any of them"
)]
pub trait ResourceReply: Sized {
    /// Media type of all values of this type. `None` if each value has a media type of its own.
    #[doc(hidden)]
    const MEDIA_TYPE: Option<&'static str> = None;

    /// Adds this value to the contents of the resource at `uri`.
    #[doc(hidden)]
    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error>;
}

/// Converts the return value of a resource. Called by generated code.
pub fn resource_reply<T: ResourceReply>(context: &impl HasContext, value: T) -> OperationResult {
    let mut contents = Vec::new();
    value
        .contents(context.uri().unwrap_or_default(), &mut contents)
        .map(|()| Done::Read(ReadResult { contents, cache: None }))
}

/// Level of types that implement [`ResourceReply`]. For other types the fallback returns no media type, so that only [`resource_reply`]
/// reports the error.
pub trait MediaTypeLevel {
    /// Returns the media type that the type decides, if it decides one.
    fn media_type(&self) -> Option<&'static str>;
}
impl<T: ResourceReply> MediaTypeLevel for &Probe<T> {
    fn media_type(&self) -> Option<&'static str> {
        T::MEDIA_TYPE
    }
}

/// Level of types that a resource cannot return.
pub trait NoMediaTypeLevel {
    /// Returns `None`.
    fn media_type(&self) -> Option<&'static str> {
        None
    }
}
impl<T> NoMediaTypeLevel for Probe<T> {}

macro_rules! texts {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ResourceReply for $ty {
            const MEDIA_TYPE: Option<&'static str> = Some("text/plain");

            fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
                contents.push(ResourceContents::text(uri, self));
                Ok(())
            }
        }
    )*};
}
texts! { String &str Box<str> std::borrow::Cow<'_, str> }

impl<T: Serialize> ResourceReply for Json<T> {
    const MEDIA_TYPE: Option<&'static str> = Some("application/json");

    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        let text = to_json(&self.0)?;
        contents.push(ResourceContents::of(
            uri.to_owned(),
            "application/json",
            ResourceBody::Text(text),
        ));
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl ResourceReply for Blob {
    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        let blob = ResourceContents::blob(uri, self.bytes);
        contents.push(ResourceContents { mime_type: self.mime_type, ..blob });
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl ResourceReply for Image {
    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        let image =
            ResourceContents::of(uri.to_owned(), "image/png", ResourceBody::Blob(self.data));
        contents.push(image.mime_type(self.mime_type));
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
/// Contents with an empty URI get the URI that the client reads.
impl ResourceReply for ResourceContents {
    fn contents(mut self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        if self.uri.is_empty() {
            uri.clone_into(&mut self.uri);
        }
        contents.push(self);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl ResourceReply for Vec<ResourceContents> {
    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        self.into_iter().try_for_each(|part| part.contents(uri, contents))
    }
}

impl<T: ResourceReply> ResourceReply for Option<T> {
    const MEDIA_TYPE: Option<&'static str> = T::MEDIA_TYPE;

    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        self.ok_or_else(|| Error::no_resource(uri))?.contents(uri, contents)
    }
}

impl<T: ResourceReply, E: IntoFailure> ResourceReply for Result<T, E> {
    const MEDIA_TYPE: Option<&'static str> = T::MEDIA_TYPE;

    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        self.map_err(E::into_failure)?.contents(uri, contents)
    }
}

impl<T: ResourceReply> ResourceReply for WithMeta<T> {
    const MEDIA_TYPE: Option<&'static str> = T::MEDIA_TYPE;

    fn contents(self, uri: &str, contents: &mut Vec<ResourceContents>) -> Result<(), Error> {
        let from = contents.len();
        self.0.contents(uri, contents)?;
        for part in &mut contents[from..] {
            part.meta.get_or_insert_with(|| self.1.clone());
        }
        Ok(())
    }
}
