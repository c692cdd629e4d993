//! Description of one field of a form. The compiler checks that the properties fit the type of the field.

use std::{collections::BTreeSet, fmt, marker::PhantomData};

use serde::Serialize;

use super::{FormChoice, FormField};
use crate::model::{FieldKind, FieldSchema, TextFormat};

/// A field of type `T`; generated code builds it.
pub struct Field<T> {
    schema: FieldSchema,
    of: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Field<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.schema.fmt(f)
    }
}

pub fn field<T: FormField>() -> Field<T> {
    let schema = FieldSchema {
        name: "",
        title: None,
        description: None,
        required: T::REQUIRED,
        default: None,
        kind: T::kind(),
    };
    Field { schema, of: PhantomData }
}

// No bound here, so that a type that cannot be a field gives one error, at `field`.
impl<T> Field<T> {
    #[must_use]
    pub fn title(mut self, title: &'static str) -> Self {
        self.schema.title = Some(title);
        self
    }

    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.schema.description = Some(description);
        self
    }

    #[must_use]
    pub fn range(self, least: Option<i128>, most: Option<i128>) -> Self
    where
        T: Ranged,
    {
        self.with(|kind| kind.within(least, most))
    }

    #[must_use]
    pub fn range_float(self, least: Option<f64>, most: Option<f64>) -> Self
    where
        T: Fractional,
    {
        self.with(|kind| kind.within_float(least, most))
    }

    #[must_use]
    pub fn len(self, least: Option<usize>, most: Option<usize>) -> Self
    where
        T: Measured,
    {
        self.with(|kind| kind.of_length(least, most))
    }

    #[must_use]
    pub fn format(self, format: TextFormat) -> Self
    where
        T: Written,
    {
        self.with(|kind| kind.in_format(format))
    }

    /// Sets the default. A number that JSON cannot express is not set.
    #[must_use]
    pub fn default(mut self, default: impl FnOnce() -> T) -> Self
    where
        T: Certain + Serialize,
    {
        let json = serde_json::to_string(&default()).ok().filter(|it| it != "null");
        self.schema.required = json.is_none();
        self.schema.default = json.map(String::into_boxed_str);
        self
    }

    pub fn done(self) -> FieldSchema {
        self.schema
    }

    fn with(mut self, change: impl FnOnce(&mut FieldKind)) -> Self {
        change(&mut self.schema.kind);
        self
    }
}

/// Types that `range` bounds.
#[diagnostic::on_unimplemented(
    message = "a range bounds numbers, and this field is `{Self}`",
    label = "nothing to bound: `len` is for text and for several choices"
)]
pub trait Ranged {}

/// Types whose `range` may have bounds with a fraction, such as `0.5..=1.5`.
#[diagnostic::on_unimplemented(
    message = "a range with fractions bounds `f32` and `f64`, and this field is `{Self}`",
    label = "write whole numbers, or `f64`"
)]
pub trait Fractional {}

/// Types that have a length.
#[diagnostic::on_unimplemented(
    message = "a length bounds text and several choices, and this field is `{Self}`",
    label = "nothing to count: `range` is for numbers, and one choice has no bounds"
)]
pub trait Measured {}

/// Types that have a format.
#[diagnostic::on_unimplemented(
    message = "a format describes text, and this field is `{Self}`",
    label = "nothing to describe: write `String`"
)]
pub trait Written {}

/// Types whose value is present in every answer.
#[diagnostic::on_unimplemented(
    message = "a field with a default is never missing, and this field is `{Self}`",
    label = "remove the default, or the `Option` of the type"
)]
pub trait Certain {}

macro_rules! all {
    ($($name:ident: $($ty:ty),*;)*) => {$( $(impl $name for $ty {})* )*};
}
all! {
    Ranged: u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64;
    Certain: u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, String;
}

// Written one by one, because the compiler lists these impls in its error.
impl Fractional for f32 {}
impl Fractional for f64 {}
impl Measured for String {}
impl Written for String {}

macro_rules! through {
    ($($name:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: $name> $name for Option<T> {}
    )*};
}
through! { Ranged Fractional Measured Written }

macro_rules! of_choices {
    ($($name:ident: $($ty:ty),*;)*) => {$( $(
        #[diagnostic::do_not_recommend]
        impl<E: FormChoice> $name for $ty {}
    )* )*};
}
of_choices! {
    Measured: Vec<E>, BTreeSet<E>;
    Certain: E, Vec<E>, BTreeSet<E>;
}
