//! Forms: what a person is asked, from a struct, and the struct from what the person answered.

mod field;

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

pub use field::field;

use super::{json, values};
use crate::{
    model::{Choices, FieldKind, FieldSchema, FormSchema},
    wire::Raw,
};

/// A struct that people can be asked to fill in: `#[form]` implements it.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[form]
/// enum Size {
///     /// One or two persons
///     Small,
///     /// Up to six
///     Large,
/// }
///
/// #[form]
/// struct Booking {
///     /// Whose table it is
///     #[arg(len(1..=80))]
///     name: String,
///     #[arg(title = "Table", default = Size::Small)]
///     size: Size,
///     #[arg(format = "date")]
///     day: String,
///     /// Anything we should know
///     remark: Option<String>,
/// }
///
/// fn asks_for<T: Form>() {}
/// asks_for::<Booking>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    label = "nobody can be asked to fill this in",
    note = "a form is a struct of yours with `#[form]`; a single question is a form with one field"
)]
pub trait Form: DeserializeOwned + Send + 'static {
    /// What is asked. Part of what `#[form]` generates.
    #[doc(hidden)]
    fn schema() -> &'static FormSchema;
}

/// What a field of a [`Form`] can be: `String`, any integer, `f32`, `f64`, `bool`, an enum with `#[form]` (one choice),
/// `Vec` or `BTreeSet` of such an enum (any of them), and `Option` of all these (need not be given).
///
/// ```
/// use std::collections::BTreeSet;
/// use mcp_runtime::prelude::*;
///
/// #[form]
/// #[derive(PartialEq, Eq, PartialOrd, Ord)]
/// #[serde(rename_all = "lowercase")]
/// enum Topping {
///     Cheese,
///     Olives,
/// }
///
/// #[form]
/// struct Pizza {
///     #[arg(len(..=2))]
///     toppings: BTreeSet<Topping>,
///     #[arg(default = 1, range(1..=4))]
///     count: u8,
///     extra_hot: Option<bool>,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "a form has flat fields only: text, numbers, bool, and choices",
    note = "a field is `String`, a number, `bool`, an enum with `#[form]` instead of `#[data]` (one choice), `Vec` or `BTreeSet` of such an enum (several), or `Option` of these",
    note = "what has more parts is asked in several forms, one after another"
)]
pub trait FormField {
    /// Part of what `#[form]` relies on.
    #[doc(hidden)]
    const REQUIRED: bool = true;

    /// Part of what `#[form]` relies on.
    #[doc(hidden)]
    fn kind() -> FieldKind;
}

/// An enum whose variants are choices; `#[form]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no choices",
    label = "not an enum with `#[form]`"
)]
pub trait FormChoice: DeserializeOwned {
    fn choices() -> Choices;
}

#[diagnostic::do_not_recommend]
impl<E: FormChoice> FormField for E {
    fn kind() -> FieldKind {
        FieldKind::Choice(E::choices())
    }
}

fn several<E: FormChoice>() -> FieldKind {
    FieldKind::Several { choices: E::choices(), least: None, most: None }
}

#[diagnostic::do_not_recommend]
impl<E: FormChoice> FormField for Vec<E> {
    fn kind() -> FieldKind {
        several::<E>()
    }
}

#[diagnostic::do_not_recommend]
impl<E: FormChoice> FormField for BTreeSet<E> {
    fn kind() -> FieldKind {
        several::<E>()
    }
}

#[diagnostic::do_not_recommend]
impl<T: FormField> FormField for Option<T> {
    const REQUIRED: bool = false;

    fn kind() -> FieldKind {
        T::kind()
    }
}

impl FormField for String {
    fn kind() -> FieldKind {
        FieldKind::TEXT
    }
}

impl FormField for bool {
    fn kind() -> FieldKind {
        FieldKind::Bool
    }
}

macro_rules! numbers {
    ($($ty:ident: $kind:expr;)*) => {$(
        impl FormField for $ty {
            fn kind() -> FieldKind {
                $kind
            }
        }
    )*};
}

/// As the schemas of arguments have it: bounds that nobody reaches by accident are left to the reader.
const fn integer(least: Option<i128>, most: Option<i128>) -> FieldKind {
    FieldKind::Integer { least, most }
}

numbers! {
    u8: integer(Some(0), Some(u8::MAX as i128));
    u16: integer(Some(0), Some(u16::MAX as i128));
    u32: integer(Some(0), None);
    u64: integer(Some(0), None);
    u128: integer(Some(0), None);
    usize: integer(Some(0), None);
    i8: integer(Some(i8::MIN as i128), Some(i8::MAX as i128));
    i16: integer(Some(i16::MIN as i128), Some(i16::MAX as i128));
    i32: integer(None, None);
    i64: integer(None, None);
    i128: integer(None, None);
    isize: integer(None, None);
    f32: FieldKind::NUMBER;
    f64: FieldKind::NUMBER;
}

/// The form of `T`, whose fields are named as serde names them. What generated code calls.
pub fn form<T: DeserializeOwned>(fields: impl Into<Vec<FieldSchema>>) -> FormSchema {
    FormSchema::new(&values::fields_of::<T>(), fields.into())
}

/// The choices of `T`, spelled as serde spells them. What generated code calls.
pub fn choices<T: DeserializeOwned>(titles: &[Option<&'static str>], enum_names: bool) -> Choices {
    Choices::new(&values::of::<T>(), titles, enum_names)
}

/// Reads an answer: a field that was left out takes its default.
///
/// # Errors
/// Everything that is wrong with the answer.
pub(crate) fn read<T: Form>(content: Raw<'_>) -> Result<T, Vec<String>> {
    let schema = T::schema();
    schema.check(content)?;
    let text = schema.completed(content);
    json::read(Raw::trusted(&text), true).map(|(form, _)| form).map_err(|it| vec![it])
}

#[cfg(test)]
mod tests;
