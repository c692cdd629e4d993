//! The parameters of an item, and the defaults of its arguments.

use std::{any::TypeId, fmt};

use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::{FromCall, Requirements};
use crate::item::ArgDef;

/// The parameters of an item, collected once when the server is built.
#[derive(Default)]
pub struct ItemParams {
    pub(crate) fields: Vec<ArgumentField>,
    pub(crate) needs: Requirements,
    /// Whether the item is a plain `fn`, which runs in place.
    pub(crate) in_place: bool,
    /// Whether the item is a `#[completion]` function that takes the typed text. Such a function filters its values itself.
    pub(crate) takes_typed_text: bool,
    /// Name of the argument whose default is being evaluated. If the author's expression panics, the error names this argument.
    pub(crate) making_default: Option<&'static str>,
}

/// A parameter whose value the client sends.
pub(crate) struct ArgumentField {
    pub(crate) def: &'static ArgDef,
    pub(crate) source: ArgumentSource,
    pub(crate) default: Option<Value>,
    pub(crate) has_default: bool,
}

pub(crate) enum ArgumentSource {
    /// A JSON argument of a tool.
    Json { schema: fn(&mut SchemaGenerator) -> Schema, required: fn() -> bool },
    /// An object whose members are arguments.
    Spread { schema: fn(&mut SchemaGenerator) -> Schema },
    /// A text argument of a prompt or template. `values` returns the allowed values, or an empty list if they are not known. `read_as` is
    /// the type that the text is parsed into.
    Text { required: bool, values: fn() -> Vec<&'static str>, read_as: TypeId },
}

impl fmt::Debug for ItemParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.fields.iter().map(|field| field.def.name)).finish()
    }
}

impl ItemParams {
    /// Marks the item as a plain `fn`, which runs in place.
    pub fn in_place(&mut self) {
        self.in_place = true;
    }

    pub fn add<H: Describe>(&mut self, handle: H, def: &'static ArgDef) {
        handle.describe(self, def);
    }

    /// Adds a parameter with a default. Clients see the default if it can be written as JSON.
    pub fn add_default<H: Describe>(
        &mut self,
        handle: H,
        def: &'static ArgDef,
        default: impl FnOnce() -> H::Value,
    ) {
        handle.describe(self, def);
        if let Some(field) = self.fields.last_mut().filter(|field| std::ptr::eq(field.def, def)) {
            field.has_default = true;
            self.making_default = Some(def.name);
            field.default = handle.default_json(default());
            self.making_default = None;
        }
    }

    pub(crate) fn field(&mut self, def: &'static ArgDef, source: ArgumentSource) {
        self.fields.push(ArgumentField { def, source, default: None, has_default: false });
    }

    pub(crate) fn server<'a, T: FromCall<'a>>(&mut self) {
        T::needs(&mut self.needs);
    }
}

/// Description of a parameter for [`ItemParams::add`], implemented by every handle.
pub trait Describe: Copy {
    /// Type of the value that the handle reads. Generated code stores this value until all arguments have been read, and then passes or
    /// lends it to the user's function.
    type Value;

    fn describe(self, params: &mut ItemParams, def: &'static ArgDef);

    /// Returns the default as JSON, or `None` if its type cannot be written as JSON.
    fn default_json(self, default: Self::Value) -> Option<Value>;
}

/// Types that can be created from the string in `#[arg(default = "…")]`.
#[diagnostic::on_unimplemented(
    message = "a string cannot be the default of type `{Self}`",
    label = "cannot be made from a string",
    note = "the default can be any expression of that type, such as `default = 1`, `default = Color::Red`, `default = vec![]`"
)]
pub trait FromText {
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}

/// Converts a text into a default value. Called by generated code.
pub fn from_text<T: FromText>(text: &'static str) -> T {
    T::from_text(text)
}

/// Types that `#[arg(default)]` applies to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default of its own",
    label = "does not implement `Default`",
    note = "write the default, as in `#[arg(default = Color::Red)]`, or `#[derive(Default)]` on the type"
)]
pub trait FromDefault {
    fn from_default() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> FromDefault for T {
    fn from_default() -> Self {
        T::default()
    }
}

/// Returns the type's `Default`. Called by generated code.
pub fn from_default<T: FromDefault>() -> T {
    T::from_default()
}
