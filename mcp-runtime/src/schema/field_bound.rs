//! Checks that each field of a type with `#[data]` can be converted to and from JSON, so that the compiler reports an unsuitable field with
//! our message.
//!
//! serde's derives alone would report such a field four times, with their own messages. So `#[data]` makes the derives assume that the
//! field's type implements their traits (`#[serde(bound)]`), and adds an impl of [`FieldBound`] for that type. The compiler checks the
//! assumption only at this impl. The impl has no conditions, so types that contain each other cause no cycle. The derive of schemars
//! reports the field once more, because it accepts no such bounds on types without generics.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// Type of a field in a type with `#[data]`.
///
/// `M` is always [`Whole`]. The parameter allows a second impl, which never applies: with a single impl, the compiler's error would be
/// about the bounds of that impl. With two candidates, the error is about this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is in a type with `#[data]`, but does not have `#[data]` itself",
    label = "cannot be converted to and from JSON",
    note = "put `#[data]` on your own type, or `#[serde(skip)]` on a field that need not be sent",
    note = "a type from another crate needs that crate's feature for serde, and the feature of schemars for that crate: for `chrono::NaiveDate`, run `cargo add chrono --features serde` and `cargo add schemars --features chrono04`"
)]
pub trait Data<M>: Serialize + DeserializeOwned + JsonSchema {}

/// The only type that is used as the parameter `M` of [`Data`].
#[derive(Debug)]
pub struct Whole;

/// A trait without implementations, so that the second impl of [`Data`] never applies.
pub trait Nobody {}

impl<T: Serialize + DeserializeOwned + JsonSchema> Data<Whole> for T {}
impl<T: Serialize + DeserializeOwned + JsonSchema, M: Nobody> Data<M> for T {}

/// Assertion that the type of a field of `Owner` implements [`Data`]. The lifetime makes the bounds that assume the assertion higher-ranked
/// (`for<'a>`). The compiler does not check such bounds where they are assumed.
pub trait FieldBound<'a, Owner, const INDEX: usize>: Data<Whole> {}
