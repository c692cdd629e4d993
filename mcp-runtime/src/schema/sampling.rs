//! Input schemas of the tools in a question to the client's model.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::SamplingTool;

impl SamplingTool {
    /// Sets the arguments: the fields of `T`, with their doc comments as descriptions. `#[data]` on `T` is enough, and
    /// [`ToolUse::input`](crate::ToolUse::input) reads them.
    #[must_use]
    pub fn schema<T: JsonSchema>(mut self) -> Self {
        self.schema = super::input_of::<T>(super::SchemaProfile::Compatible)
            .map_err(|problems| problems.join("; "));
        self
    }

    /// Sets the schema of the arguments: JSON text, or a value that serializes to the schema. The root must be an object schema, as the
    /// protocol requires.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Serialize) -> Self {
        self.schema = super::given(schema);
        self
    }
}
