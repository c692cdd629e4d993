//! What a tool of a question to the client's model takes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::SamplingTool;

impl SamplingTool {
    /// The arguments are the fields of `T`; their doc comments are the descriptions. `#[data]` on `T` is enough, and
    /// [`ToolUse::input`](crate::ToolUse::input) reads them.
    #[must_use]
    pub fn schema<T: JsonSchema>(mut self) -> Self {
        self.schema = super::input_of::<T>(super::SchemaProfile::Compatible)
            .map_err(|problems| problems.join("; "));
        self
    }

    /// The arguments are what this schema says: JSON text, or anything that serializes to it. Its root has to be an
    /// object schema, as the protocol requires.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Serialize) -> Self {
        self.schema = super::given(schema);
        self
    }
}
