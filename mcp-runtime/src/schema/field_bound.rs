//! Checks that the fields of a type with `#[data]` have a JSON form, so that the compiler reports a missing form once, with our message.
//!
//! serde's derives alone would report a missing form four times, with their own messages. So `#[data]` makes the derives assume that the
//! form exists (`#[serde(bound)]`), and adds an impl of [`FieldBound`] for each field's type. The compiler checks the assumption at that
//! impl. The impl has no conditions, so types that contain each other cause no cycle. schemars accepts no such bounds on types without
//! generics, so it reports the missing form once more.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// A type that a field of a type with `#[data]` can have.
///
/// `M` is [`Whole`]. With a single impl, the compiler's error would be about the bounds of that impl. With two candidates, the error is
/// about this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is in a type with `#[data]`, but does not have `#[data]` itself",
    label = "cannot be converted to and from JSON",
    note = "put `#[data]` on `{Self}` too, or `#[serde(skip)]` on a field that need not be sent",
    note = "a type from another crate implements `Serialize`, `Deserialize` and `JsonSchema` behind features of that crate, usually `serde` and `schemars`"
)]
pub trait Data<M>: Serialize + DeserializeOwned + JsonSchema {}

/// The type that is always used as the parameter `M` of [`Data`].
#[derive(Debug)]
pub struct Whole;

/// A trait without implementations, so that the second impl of [`Data`] never applies.
pub trait Nobody {}

impl<T: Serialize + DeserializeOwned + JsonSchema> Data<Whole> for T {}
impl<T: Serialize + DeserializeOwned + JsonSchema, M: Nobody> Data<M> for T {}

/// Promises that a field of `Owner` is [`Data`]. The lifetime keeps the compiler from checking the promise at each bound that assumes it.
pub trait FieldBound<'a, Owner, const INDEX: usize>: Data<Whole> {}
