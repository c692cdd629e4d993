//! Prompts, from a text to several kinds of content.

use mcp_runtime::prelude::*;

use crate::content::PNG;

/// Is a text.
#[prompt]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// Has two arguments, both of which can be completed.
#[prompt]
fn test_prompt_with_arguments(
    /// The first of two
    #[complete("testValue1", "testing", "other")]
    arg1: &str,
    /// The second, completed after what the first is
    #[complete(after_arg1)]
    arg2: &str,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

#[completion]
fn after_arg1(arg1: Option<&str>) -> Vec<String> {
    arg1.map(|value| format!("{value} and more")).into_iter().collect()
}

/// Has a resource before its text.
#[prompt]
fn test_prompt_with_embedded_resource(
    /// URI that the prompt gives the resource
    #[arg(name = "resourceUri", example = "test://example-resource")]
    uri: &str,
) -> (Embedded, &'static str) {
    let resource = Embedded::text(uri, "Embedded resource content for testing.");
    (resource, "Please process the embedded resource above.")
}

/// Has a picture before its text.
#[prompt]
fn test_prompt_with_image() -> (Image, &'static str) {
    (Image::base64("image/png", PNG), "Please analyze the image above.")
}
