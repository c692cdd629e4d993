//! Everything that items may return.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
// These lints are about the functions as written here, not about the code that the attributes generate.
#![allow(
    clippy::many_single_char_names,
    clippy::needless_arbitrary_self_type,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self
)]

use mcp_runtime::prelude::*;
use std::borrow::Cow;
use std::fmt;

/// An error of the user's.
#[derive(Debug)]
struct Failure;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it failed")
    }
}

impl std::error::Error for Failure {}

/// Like `anyhow::Error`: converts from every error, but is not an error itself.
struct Anything(String);

impl<E: std::error::Error> From<E> for Anything {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Anything {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! returns {
    ($($kind:ident $name:ident: $type:ty = $value:expr;)*) => {$(
        #[doc = "Returns."]
        #[$kind]
        fn $name() -> $type {
            $value
        }
    )*};
}

returns! {
    tool returns_unit: () = ();
    tool returns_str: &'static str = "x";
    tool returns_string: String = String::new();
    tool returns_cow: Cow<'static, str> = "x".into();
    tool returns_boxed: Box<str> = "x".into();
    tool returns_char: char = 'x';
    tool returns_bool: bool = true;
    tool returns_float: f32 = 0.5;
    tool returns_big: u128 = 1;
    tool returns_json: Json<Vec<u8>> = Json(vec![1]);
    tool returns_image: Image = Image::png([1]);
    tool returns_content: Content = Content::from("x");
    tool returns_contents: Vec<Content> = vec![Content::from("x")];
    tool returns_option: Option<u8> = Some(1);
    tool returns_pair: (String, Image) = (String::new(), Image::png([1]));
    tool returns_meta: WithMeta<u8> = WithMeta(1, Meta::new());
    tool returns_result: Result<u8> = Ok(1);
    tool returns_failure: Result<u8, Failure> = Err(Failure);
    tool returns_anything: Result<Option<Json<u8>>, Anything> = Err(Failure.into());
    tool returns_text_error: Result<(), &'static str> = Err("no");
    tool returns_display: Result<(), Box<dyn std::error::Error>> = Err(Failure.into());
    prompt returns_prompt_str: &'static str = "x";
    prompt returns_message: Message = Message::user("x");
    prompt returns_messages: Vec<Message> = vec![Message::assistant("x")];
    prompt returns_dialogue: (Message, Message) = (Message::user("x"), Message::assistant("y"));
    prompt returns_prompt_result: Result<[Message; 1], Anything> = Ok([Message::user("x")]);
    completion returns_values: Vec<String> = Vec::new();
    completion returns_array: [&'static str; 1] = ["x"];
    completion returns_completion_result: Result<Vec<&'static str>, Failure> = Err(Failure);
}

/// Text.
#[resource("returns://text")]
fn returns_text() -> Cow<'static, str> {
    "x".into()
}

/// Bytes.
#[resource("returns://blob")]
async fn returns_blob() -> Result<Option<Blob>, Anything> {
    Ok(None)
}

/// Data.
#[resource("returns://json")]
fn returns_resource_json() -> Json<u8> {
    Json(1)
}

/// What a parameter lends.
#[tool]
async fn returns_borrowed<'a>(text: &'a str, other: &str) -> Option<&'a str> {
    (text != other).then_some(text)
}
