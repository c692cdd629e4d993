//! What a type with `#[data]` holds has a JSON form itself, or the compiler says so once, in our words.
//!
//! serde's derives would say it four times, in theirs. So `#[data]` has them assume it (`#[serde(bound)]`), and what they assume is promised by an
//! impl of [`Held`] for each field's type, which is where it is checked. The impl has no conditions, so nothing is asked in circles
//! of types that contain each other. schemars takes no bounds for types without generics and says it once more.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// What can be in a type with `#[data]`.
///
/// `M` is [`Whole`]. With one impl the compiler would blame what that asks for, and with two that could apply it blames this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is in a type with `#[data]` and has none itself",
    label = "not known as JSON",
    note = "put `#[data]` on `{Self}` too; what need not travel gets `#[serde(skip)]`",
    note = "a type of another crate has `Serialize`, `Deserialize` and `JsonSchema` behind its features, mostly `serde` and `schemars`"
)]
pub trait Data<M>: Serialize + DeserializeOwned + JsonSchema {}

/// What [`Data`] is asked for.
#[derive(Debug)]
pub struct Whole;

/// No type has it.
pub trait Nobody {}

impl<T: Serialize + DeserializeOwned + JsonSchema> Data<Whole> for T {}
impl<T: Serialize + DeserializeOwned + JsonSchema, M: Nobody> Data<M> for T {}

/// Promises that a field of `Owner` is [`Data`]. The lifetime keeps the compiler from checking the promise wherever it is assumed.
pub trait Held<'a, Owner, const INDEX: usize>: Data<Whole> {}
