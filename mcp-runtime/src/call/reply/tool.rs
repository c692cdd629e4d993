use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::{IntoFailure, Json, WithMeta};
use crate::{
    call::extract::Probe,
    error::Error,
    model::{
        Audio, Content, Done, Embedded, Image, OperationResult, ResourceLink, Text, ToolResult,
    },
};

/// Generator of the schema of structured content.
#[derive(Clone, Copy, Debug)]
pub struct OutputSchema {
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// The name of the type.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "only the command line tells"))]
    pub(crate) name: fn() -> &'static str,
}

/// Result type of a tool: `()`, text, numbers, `bool`, [`Json<T>`], [`Image`], [`Audio`], [`ResourceLink`], [`Embedded`], [`Content`],
/// `Vec<Content>`, tuples and `Option`s of these, [`WithMeta`], or a `Result` of any of these.
///
/// Several clients take a result without content for a failure. Therefore `()` is sent as the text "Done.", and `None` as "Nothing.". To
/// send no content, return an empty `Vec<Content>`, which is sent as it is:
///
/// ```
/// use mcp_runtime::{Content, prelude::*};
///
/// /// Says nothing at all.
/// #[tool]
/// fn keep_quiet() -> Vec<Content> {
///     Vec::new()
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a tool can return",
    label = "cannot become a tool's result",
    note = "lists and types of your own go out as JSON: write `Json<Vec<String>>`, or `Json<YourType>` with `#[data]` on the type",
    note = "a tool returns `()`, text, numbers, `bool`, `Json<T>`, `Image`, `Audio`, `ResourceLink`, `Embedded`, `Content`, `Vec<Content>`, an `Option`, a tuple or a `Result` of those"
)]
pub trait ToolReply: Sized {
    #[doc(hidden)]
    const OUTPUT: Option<OutputSchema> = None;

    /// Text of a result that would otherwise have no content, which several clients take for a failure. Empty for types with which the
    /// author chooses the content.
    #[doc(hidden)]
    const INSTEAD_OF_NOTHING: &'static str = "";

    /// Adds this value to the result.
    #[doc(hidden)]
    fn reply(self, result: &mut ToolResult) -> Result<(), Error>;
}

/// Converts the return value of a tool. Generated code calls it.
pub fn tool_reply<T: ToolReply>(value: T) -> OperationResult {
    let mut result = ToolResult::default();
    value.reply(&mut result)?;
    if !T::INSTEAD_OF_NOTHING.is_empty() && result.content.is_empty() {
        result.push(T::INSTEAD_OF_NOTHING.into());
    }
    Ok(Done::Tool(result))
}

/// Level of types that implement [`ToolReply`]. Other types have no output schema, so that only [`tool_reply`] reports the error.
pub trait OutputLevel {
    /// Returns the schema, if there is one.
    fn output(&self) -> Option<OutputSchema>;
}
impl<T: ToolReply> OutputLevel for &Probe<T> {
    fn output(&self) -> Option<OutputSchema> {
        T::OUTPUT
    }
}

/// Level of types that do not implement [`ToolReply`].
pub trait NoOutputLevel {
    /// Returns `None`.
    fn output(&self) -> Option<OutputSchema> {
        None
    }
}
impl<T> NoOutputLevel for Probe<T> {}

/// Types that `Json<T>` can hold in the result of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go out as JSON with a schema",
    label = "the type in `Json<…>` implements `Serialize` and `JsonSchema`",
    note = "put `#[data]` on your own types"
)]
pub trait Structured: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Structured for T {}

#[diagnostic::do_not_recommend]
impl ToolReply for () {
    const INSTEAD_OF_NOTHING: &'static str = "Done.";

    fn reply(self, _: &mut ToolResult) -> Result<(), Error> {
        Ok(())
    }
}

macro_rules! content {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToolReply for $ty {
            fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
                result.push(self.into());
                Ok(())
            }
        }
    )*};
}
content! { String &str Content Text Image Audio ResourceLink Embedded }

macro_rules! as_text {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToolReply for $ty {
            fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
                self.to_string().reply(result)
            }
        }
    )*};
}
as_text! { bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Box<str> std::borrow::Cow<'_, str> }

impl<T: Structured> ToolReply for Json<T> {
    const OUTPUT: Option<OutputSchema> = Some(OutputSchema {
        schema: SchemaGenerator::subschema_for::<T>,
        name: std::any::type_name::<T>,
    });

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        let text = serde_json::to_string(&self.0).map_err(|it| unwritable(&it))?;
        result.push(Content::from(text.as_str()));
        // The schema describes the first structured value, see `first_of`.
        result.structured.get_or_insert(text);
        Ok(())
    }
}

pub(super) fn unwritable(error: &serde_json::Error) -> Error {
    Error::internal(format_args!("the result cannot be written as JSON: {error}"))
}

#[diagnostic::do_not_recommend]
impl ToolReply for Vec<Content> {
    fn reply(mut self, result: &mut ToolResult) -> Result<(), Error> {
        result.content.append(&mut self);
        Ok(())
    }
}

impl<T: ToolReply> ToolReply for Option<T> {
    const INSTEAD_OF_NOTHING: &'static str = "Nothing.";

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        self.map_or(Ok(()), |it| it.reply(result))
    }
}

impl<T: ToolReply, E: IntoFailure> ToolReply for Result<T, E> {
    const OUTPUT: Option<OutputSchema> = T::OUTPUT;
    const INSTEAD_OF_NOTHING: &'static str = T::INSTEAD_OF_NOTHING;

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        self.map_err(E::into_failure)?.reply(result)
    }
}

impl<T: ToolReply> ToolReply for WithMeta<T> {
    const OUTPUT: Option<OutputSchema> = T::OUTPUT;
    const INSTEAD_OF_NOTHING: &'static str = T::INSTEAD_OF_NOTHING;

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        result.meta = Some(self.1);
        self.0.reply(result)
    }
}

/// Returns the schema of the first part that has structured content.
const fn first_of(parts: &[Option<OutputSchema>]) -> Option<OutputSchema> {
    let mut i = 0;
    while i < parts.len() {
        if parts[i].is_some() {
            return parts[i];
        }
        i += 1;
    }
    None
}

/// Returns the text for a tuple whose parts have no content. Empty if the author chooses the content of one of the parts.
const fn text_of(parts: &[&'static str]) -> &'static str {
    let mut i = 0;
    while i < parts.len() {
        if parts[i].is_empty() {
            return "";
        }
        i += 1;
    }
    parts[0]
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($name: ToolReply),*> ToolReply for ($($name,)*) {
            const OUTPUT: Option<OutputSchema> = first_of(&[$($name::OUTPUT),*]);
            const INSTEAD_OF_NOTHING: &'static str = text_of(&[$($name::INSTEAD_OF_NOTHING),*]);

            #[allow(non_snake_case, reason = "each value is named like its type parameter")]
            fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
                let ($($name,)*) = self;
                $($name.reply(result)?;)*
                Ok(())
            }
        }
    )*};
}
tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::ErrorKind, model::Meta};

    fn check(value: impl ToolReply, content: &[&str], structured: Option<&str>) {
        let Ok(Done::Tool(result)) = tool_reply(value) else { panic!("not a tool's result") };
        let texts: Vec<_> = result
            .content
            .iter()
            .map(|it| match it {
                Content::Text(it) => it.text.as_str(),
                _ => "…",
            })
            .collect();
        assert_eq!((texts.as_slice(), result.structured.as_deref()), (content, structured));
    }

    #[test]
    fn every_shape_of_result() {
        check((), &["Done."], None);
        check(((), ()), &["Done."], None);
        check(("a", ()), &["a"], None);
        check(Ok::<(), String>(()), &["Done."], None);
        check(Vec::<Content>::new(), &[], None);
        check((None::<String>, Vec::<Content>::new()), &[], None);
        check(42, &["42"], None);
        check(("a", 1.5, true), &["a", "1.5", "true"], None);
        check(Json([1, 2]), &["[1,2]"], Some("[1,2]"));
        check((Json(1), Json(2)), &["1", "2"], Some("1"));
        check(Json(()), &["null"], Some("null"));
        check(None::<String>, &["Nothing."], None);
        check(WithMeta(None::<String>, Meta::new()), &["Nothing."], None);
        check(("a", None::<String>), &["a"], None);
        check(WithMeta("x", Meta::new()), &["x"], None);
        check(vec![Content::from("x"), Image::png([1]).into()], &["x", "…"], None);
    }

    #[test]
    fn an_error_keeps_its_kind() {
        let check = |answer: OperationResult, kind| assert_eq!(answer.unwrap_err().kind(), kind);
        check(tool_reply(Err::<String, _>("no")), ErrorKind::Failed);
        check(tool_reply(Err::<String, _>(Error::invalid_params("no"))), ErrorKind::InvalidParams);
    }
}
