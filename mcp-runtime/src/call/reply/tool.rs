//! Results of tools and their output schemas. Tools that the client's model uses during sampling have the same result types.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use super::{IntoFailure, Json, WithMeta, WithText, json::to_json};
use crate::{
    call::extract::Probe,
    error::{Error, ErrorKind},
    model::{
        Audio, Content, Done, Embedded, Image, OperationResult, ResourceLink, Sampling, Text,
        ToolResult,
    },
    schema::constant::{MOST, Node, Out, Schema, Top, dot_before, panic_with, write_root},
};

/// Source of an output schema that schemars generates at run time.
#[derive(Clone, Copy, Debug)]
pub struct OutputSchemaSource {
    pub(crate) schema: fn(&mut SchemaGenerator) -> schemars::Schema,
    /// Returns the name of the result type.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "only the command line tells"))]
    pub(crate) name: fn() -> &'static str,
}

/// Result type of a tool.
///
/// A tool can return these types:
///
/// - `()`, text, numbers, `bool` and `char`: text content
/// - [`Json<T>`](Json): structured content, and the same JSON as text
/// - [`WithText<Json<T>>`](WithText): structured content, and another text
/// - [`Text`], [`Image`], [`Audio`], [`ResourceLink`], [`Embedded`], [`Content`] and `Vec<Content>`: content as it is
/// - tuples of up to eight of these: the content of all parts
/// - `Option`, [`WithMeta`], and a `Result` of any of these
///
/// An `Err` is a failure that the model can read. Several clients treat a result without content as a failure. Therefore `()` is sent as
/// the text "Done.", and `None` as "Nothing.". To send no content at all, return an empty `Vec<Content>`:
///
/// ```
/// use mcp_runtime::{content::Content, prelude::*};
///
/// /// Returns no content.
/// #[tool]
/// fn keep_quiet() -> Vec<Content> {
///     Vec::new()
/// }
/// # fn main() {}
/// ```
///
/// Specification: Server features, Tools.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a tool can return",
    label = "cannot become a tool's result",
    note = "types of your own go out as JSON: write `Json<YourType>` with `#[data]` on the type; a list is a field of such a type, because older clients get `Json<Vec<String>>` only as text",
    note = "a tool returns `()`, text, numbers, `bool`, `Json<T>`, `Image`, `Audio`, `ResourceLink`, `Embedded`, `Content`, `Vec<Content>`, an `Option`, a tuple or a `Result` of those"
)]
pub trait ToolReply: Sized {
    #[doc(hidden)]
    const OUTPUT: Option<OutputSchemaSource> = None;

    /// Text sent if the result has no content, because several clients treat an empty result as a failure. The constant is empty for types
    /// whose content the author chooses.
    #[doc(hidden)]
    const INSTEAD_OF_NOTHING: &'static str = "";

    /// Adds this value to the result.
    #[doc(hidden)]
    fn reply(self, result: &mut ToolResult) -> Result<(), Error>;
}

/// Converts the return value of a tool. Called by generated code.
pub fn tool_reply<T: ToolReply>(value: T) -> OperationResult {
    let mut result = ToolResult::default();
    value.reply(&mut result)?;
    if !T::INSTEAD_OF_NOTHING.is_empty() && result.content.is_empty() {
        result.push(T::INSTEAD_OF_NOTHING.into());
    }
    Ok(Done::Tool(result))
}

/// Types whose values a tool can return as `Json<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent as JSON with a schema",
    label = "the type in `Json<…>` must implement `Serialize` and `JsonSchema`",
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
    const OUTPUT: Option<OutputSchemaSource> = Some(OutputSchemaSource {
        schema: SchemaGenerator::subschema_for::<T>,
        name: std::any::type_name::<T>,
    });

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        let text = to_json(&self.0)?;
        result.push(Content::from(text.as_str()));
        // Keeps the first structured value, because the output schema describes that one (see `first_of`).
        result.structured.get_or_insert(text);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Structured> ToolReply for WithText<Json<T>> {
    const OUTPUT: Option<OutputSchemaSource> = <Json<T> as ToolReply>::OUTPUT;

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        let json = to_json(&self.0.0)?;
        result.push(self.1.into());
        result.structured.get_or_insert(json);
        Ok(())
    }
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
        self.map_or(Ok(()), |value| value.reply(result))
    }
}

impl<T: ToolReply, E: IntoFailure> ToolReply for Result<T, E> {
    const OUTPUT: Option<OutputSchemaSource> = T::OUTPUT;
    const INSTEAD_OF_NOTHING: &'static str = T::INSTEAD_OF_NOTHING;

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        self.map_err(E::into_failure)?.reply(result)
    }
}

impl<T: ToolReply> ToolReply for WithMeta<T> {
    const OUTPUT: Option<OutputSchemaSource> = T::OUTPUT;
    const INSTEAD_OF_NOTHING: &'static str = T::INSTEAD_OF_NOTHING;

    fn reply(self, result: &mut ToolResult) -> Result<(), Error> {
        result.meta = Some(self.1);
        self.0.reply(result)
    }
}

/// Returns the schema of the first part that has structured content.
const fn first_of(parts: &[Option<OutputSchemaSource>]) -> Option<OutputSchemaSource> {
    let mut i = 0;
    while i < parts.len() {
        if parts[i].is_some() {
            return parts[i];
        }
        i += 1;
    }
    None
}

/// Returns the text for a tuple whose parts have no content. The text is empty if the author chooses the content of one of the parts.
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
            const OUTPUT: Option<OutputSchemaSource> = first_of(&[$($name::OUTPUT),*]);
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

/// Level of types that implement [`ToolReply`]. For other types the fallback returns no schema, so that only [`tool_reply`] reports the
/// error.
pub trait OutputLevel {
    /// Returns the schema, if there is one.
    fn output(&self) -> Option<OutputSchemaSource>;
}
impl<T: ToolReply> OutputLevel for &Probe<T> {
    fn output(&self) -> Option<OutputSchemaSource> {
        T::OUTPUT
    }
}

/// Level of types that do not implement [`ToolReply`].
pub trait NoOutputLevel {
    /// Returns `None`.
    fn output(&self) -> Option<OutputSchemaSource> {
        None
    }
}
impl<T> NoOutputLevel for Probe<T> {}

/// Output schema of a result type, as far as it is known at compile time.
#[derive(Clone, Copy, Debug)]
pub struct ConstantOutput(Option<Node>);

impl ConstantOutput {
    const fn of(node: Node) -> Self {
        Self(Some(node))
    }

    /// Returns whether every value of the result type is known to be sent as a JSON object. Returns `false` if the type is not known at
    /// compile time.
    pub const fn is_object(&self) -> bool {
        match &self.0 {
            Some(node) => node.is_json_object(),
            None => false,
        }
    }

    /// Returns the length of the schema text. It is 0 if there is no schema, if the schema is not known at compile time, or if its text
    /// is longer than `MOST`.
    pub const fn len(&self) -> usize {
        let mut out = Out::counting();
        self.write(&mut out);
        if out.len() > MOST { 0 } else { out.len() }
    }

    /// Returns whether there is no text.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the schema text. `N` must be [`len`](Self::len).
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = [0; N];
        if N > 0 {
            self.write(&mut Out::new(&mut text));
        }
        text
    }

    /// Implements `schema = "static"`: fails to compile if the result has a schema that cannot be generated at compile time.
    #[must_use]
    #[track_caller]
    pub const fn demanded(self, has_schema: bool) -> Self {
        if has_schema && self.is_empty() {
            let [first, second, third] = match &self.0 {
                Some(node) => node.unknown_path(),
                None => [""; 3],
            };
            panic_with(&[
                "the compiler does not know the schema of ",
                if first.is_empty() { "" } else { "`" },
                first,
                dot_before(second),
                second,
                dot_before(third),
                third,
                if first.is_empty() { "" } else { "` in " },
                "the result: put `#[data]` on its type and on the types in it, without attributes of schemars, or remove `schema = \"static\"`; only schemars knows types of other crates, and types that contain themselves",
            ]);
        }
        self
    }

    const fn write(&self, out: &mut Out<'_>) {
        if let Some(node) = &self.0
            && node.is_constant()
        {
            write_root(out, node);
        }
    }
}

macro_rules! outputs {
    ($($ty:ty $(, or $e:ident)?;)*) => {$(
        impl<T: Schema<Top> $(, $e)?> Probe<$ty> {
            /// The output schema, as far as it is known at compile time.
            pub const OUTPUT: ConstantOutput = ConstantOutput::of(T::NODE);
        }

        impl<T $(, $e)?> Probe<$ty> {
            /// Whether there is an output schema, generated at compile time or by schemars.
            pub const HAS_OUTPUT: bool = true;
        }
    )*};
}
outputs! {
    Json<T>;
    WithText<Json<T>>;
    WithMeta<Json<T>>;
    WithMeta<WithText<Json<T>>>;
    Result<Json<T>, E>, or E;
    Result<WithText<Json<T>>, E>, or E;
    Result<WithMeta<Json<T>>, E>, or E;
    Result<WithMeta<WithText<Json<T>>>, E>, or E;
}

/// Fallback for every other type of result.
pub trait UnknownOutput {
    /// No schema is known.
    const OUTPUT: ConstantOutput = ConstantOutput(None);
    /// There is no output schema.
    const HAS_OUTPUT: bool = false;
}
impl<T: ?Sized> UnknownOutput for Probe<T> {}

impl Sampling {
    /// Adds the result of a tool that the model asked to use.
    ///
    /// The result is any value that a `#[tool]` function can return. The model can read an `Err`. For an internal error, the server logs
    /// the message, and the model gets only the text "internal error".
    ///
    /// Consecutive results form one message. This message must have a result for each [`tool_use`](crate::sampling::Sampled::tool_uses) of
    /// the preceding answer. For a tool that failed without a value, use [`tool_error`](Self::tool_error).
    ///
    /// ```
    /// use mcp_runtime::sampling::{Sampled, Sampling};
    ///
    /// fn add_results(mut conversation: Sampling, answer: &Sampled) -> Sampling {
    ///     conversation = conversation.assistant(answer);
    ///     for call in answer.tool_uses() {
    ///         let result = match call.name.as_str() {
    ///             "today" => Ok("Monday"),
    ///             other => Err(format!("there is no tool `{other}`")),
    ///         };
    ///         conversation = conversation.tool_result(&call.id, result);
    ///     }
    ///     conversation
    /// }
    /// # let _ = add_results;
    /// ```
    pub fn tool_result(self, id: impl Into<String>, result: impl ToolReply) -> Self {
        let result = match tool_reply(result) {
            Ok(Done::Tool(result)) => result,
            Ok(_) => ToolResult::default(),
            // As in a call, the message of an internal error is logged and does not reach the model.
            Err(error) if error.kind() == ErrorKind::Internal => {
                tracing::error!("{}", error.message());
                ToolResult::failure("internal error")
            }
            Err(error) => ToolResult::failure(error.message()),
        };
        self.result(id.into(), result)
    }

    /// Adds the failure of a tool that the model asked to use. The model reads the `reason`.
    ///
    /// ```
    /// use mcp_runtime::sampling::{Sampled, Sampling};
    ///
    /// fn refuse(conversation: Sampling, answer: &Sampled) -> Sampling {
    ///     let all = answer.tool_uses();
    ///     all.fold(conversation.assistant(answer), |next, call| {
    ///         next.tool_error(&call.id, "not today")
    ///     })
    /// }
    /// # let _ = refuse;
    /// ```
    pub fn tool_error(self, id: impl Into<String>, reason: impl Into<String>) -> Self {
        self.result(id.into(), ToolResult::failure(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Meta, SamplingTurn};

    fn check(value: impl ToolReply, content: &[&str], structured: Option<&str>) {
        let Ok(Done::Tool(result)) = tool_reply(value) else { panic!("not a tool's result") };
        let texts: Vec<_> = result
            .content
            .iter()
            .map(|content| match content {
                Content::Text(text) => text.text.as_str(),
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

    #[test]
    fn results_are_what_tools_return() {
        fn check(sampling: Sampling, content: &[&str], structured: Option<&str>, is_error: bool) {
            let Some(SamplingTurn::Results(results)) = sampling.turns.last() else {
                panic!("no results")
            };
            let (id, result) = &results[0];
            let expected = ToolResult {
                content: content.iter().map(|text| Content::from(*text)).collect(),
                structured: structured.map(str::to_owned),
                is_error,
                meta: None,
            };
            assert_eq!((id.as_str(), results.len(), result), ("1", 1, &expected));
        }
        let ask = || Sampling::new(1);
        check(ask().tool_result("1", ("a", 2)), &["a", "2"], None, false);
        check(ask().tool_result("1", Json([1])), &["[1]"], Some("[1]"), false);
        check(ask().tool_result("1", Err::<(), _>("no")), &["no"], None, true);
        check(
            ask().tool_result("1", Err::<(), _>(Error::internal("password"))),
            &["internal error"],
            None,
            true,
        );
        check(ask().tool_error("1", "no"), &["no"], None, true);
    }
}
