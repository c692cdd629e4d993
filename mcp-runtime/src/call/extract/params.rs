use std::{any::TypeId, fmt};

use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::{FromCall, Needs, probe::Describe};
use crate::item::ArgDef;

/// The parameters of an item, collected once when the server is built.
#[derive(Default)]
pub struct Params {
    pub(crate) fields: Vec<Field>,
    pub(crate) needs: Needs,
    /// Whether the item is a plain `fn`, which runs in place.
    pub(crate) in_place: bool,
    /// Whether a `#[completion]` function takes the typed text, and so filters the values itself.
    pub(crate) takes_typed_text: bool,
    /// Argument whose default is being made by the author's own expression.
    pub(crate) making_default: Option<&'static str>,
}

/// A parameter that is an argument.
pub(crate) struct Field {
    pub(crate) def: &'static ArgDef,
    pub(crate) source: Source,
    pub(crate) default: Option<Value>,
    pub(crate) has_default: bool,
}

pub(crate) enum Source {
    /// A JSON argument of a tool.
    Json { schema: fn(&mut SchemaGenerator) -> Schema, required: fn() -> bool },
    /// An object whose members are arguments.
    Spread { schema: fn(&mut SchemaGenerator) -> Schema },
    /// A text argument of a prompt or template. `values` returns the allowed values of a type that allows only some, and `read_as` is the
    /// type that the text is parsed into.
    Text { required: bool, values: fn() -> Vec<&'static str>, read_as: TypeId },
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.fields.iter().map(|it| it.def.name)).finish()
    }
}

impl Params {
    /// Marks the item as a plain `fn`, which runs in place.
    pub fn in_place(&mut self) {
        self.in_place = true;
    }

    pub fn add<H: Describe>(&mut self, handle: H, def: &'static ArgDef) {
        handle.describe(self, def);
    }

    /// Adds a parameter with a default. The default is published if it can be written as JSON.
    pub fn add_default<H: Describe>(
        &mut self,
        handle: H,
        def: &'static ArgDef,
        default: impl FnOnce() -> H::Value,
    ) {
        handle.describe(self, def);
        if let Some(field) = self.fields.last_mut().filter(|it| std::ptr::eq(it.def, def)) {
            field.has_default = true;
            self.making_default = Some(def.name);
            field.default = handle.default_json(default());
            self.making_default = None;
        }
    }

    pub(crate) fn field(&mut self, def: &'static ArgDef, source: Source) {
        self.fields.push(Field { def, source, default: None, has_default: false });
    }

    pub(crate) fn server<'a, T: FromCall<'a>>(&mut self) {
        T::needs(&mut self.needs);
    }
}
