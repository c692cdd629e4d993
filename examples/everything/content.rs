//! Kinds of content that tools can return.

use mcp_runtime::prelude::*;

/// A red pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A single sample of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// Answers with a text. The first in the list: it needs no arguments and never fails.
#[tool(read_only, order = -1)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answers with a picture.
#[tool(read_only)]
fn test_image_content() -> Image {
    Image::base64("image/png", PNG)
}

/// Answers with a sound.
#[tool(read_only)]
fn test_audio_content() -> Audio {
    Audio::base64("audio/wav", WAV)
}

/// Answers with the contents of a resource.
#[tool(read_only)]
fn test_embedded_resource() -> Embedded {
    Embedded::text("test://embedded-resource", "This is an embedded resource content.")
}

/// Answers with a text, a picture and a resource.
#[tool(read_only)]
fn test_multiple_content_types() -> (&'static str, Image, Embedded) {
    let resource =
        ResourceContents::text("test://mixed-content-resource", r#"{"test":"data","value":123}"#)
            .mime_type("application/json");
    ("Multiple content types test:", Image::base64("image/png", PNG), Embedded::new(resource))
}

/// Fails, as the model sees it.
#[tool(read_only)]
fn test_error_handling() -> Result<(), &'static str> {
    Err("This tool intentionally returns an error for testing")
}

/// Greets somebody.
#[tool(read_only, idempotent)]
fn greet(
    /// Name of the greeted person
    #[arg(example = "Ada")]
    name: &str,
) -> String {
    format!("Hello, {name}!")
}
