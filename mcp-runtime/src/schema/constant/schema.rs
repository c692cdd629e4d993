//! The trait [`Schema`], which describes a type as a node, and probes that find out whether a type implements a trait.
//!
//! **Depth.** A constant that refers to itself is a compile error (E0391), and two structs that contain each other would have such
//! constants. Therefore the constants of a struct belong to the type [`Body::At`], which has the depth as a parameter. At depth zero, the
//! type `TooDeep` takes its place.
//!
//! **Probes.** The compiler prefers an inherent constant, if its bounds hold, to the constant of a trait. Therefore each probe has an
//! inherent constant for types that fulfil its bounds, and a trait with the constant for all other types.

use std::{any::type_name, marker::PhantomData};

use super::node::Node;

/// A type with a schema that constants can describe.
///
/// `D` is the number of nested structs that the schema may still contain. This limit ends the recursion in types that contain themselves.
///
/// Implemented for std's types and by `#[derive(Schema)]`.
#[diagnostic::on_unimplemented(
    message = "the compiler does not know the schema of `{Self}`",
    label = "its schema is made at run time",
    note = "put `#[data]` or `#[derive(Schema)]` on the type, with nothing but serde's plain attributes in it"
)]
pub trait Schema<D: Depth> {
    const NODE: Node;

    /// Reference to [`NODE`](Self::NODE).
    const AT: &'static Node = &Self::NODE;
}

/// Number of nested structs that a schema may still contain, as a type.
pub trait Depth: Sized + 'static {
    /// Describes `T` at this depth, or is `TooDeep` at depth zero.
    type Of<T: Body + ?Sized>: Part;
}

/// A struct or an enum. `At<D>` describes its fields at depth `D`, which is one less than the depth of the type. `#[derive(Schema)]` always
/// sets `At` to [`Full`].
pub trait Body {
    type At<D: Depth>: Part;
}

/// The node of a struct or an enum, with its fields at depth `D`.
pub trait Described<D: Depth> {
    const NODE: Node;
}

/// Type that carries the node of a type that implements [`Described`].
#[derive(Debug)]
pub struct Full<T: ?Sized, D>(PhantomData<D>, PhantomData<fn() -> PhantomData<T>>);

impl<T: Described<D> + ?Sized, D: Depth> Part for Full<T, D> {
    const NODE: Node = T::NODE;
}

/// A type that carries a `Node`, which describes another type.
pub trait Part {
    const NODE: Node;
}

#[derive(Debug)]
pub struct Zero;

#[derive(Debug)]
pub struct More<D>(PhantomData<D>);

/// Depth at which the schema of a tool starts. A schema with more nested structs is generated at run time.
pub type Top = More<More<More<More<More<More<More<More<Zero>>>>>>>>;

impl Depth for Zero {
    type Of<T: Body + ?Sized> = TooDeep;
}

impl<D: Depth> Depth for More<D> {
    type Of<T: Body + ?Sized> = T::At<D>;
}

#[derive(Debug)]
pub struct TooDeep;

impl Part for TooDeep {
    const NODE: Node = Node::TOO_DEEP;
}

/// Probe for the node of `T`.
#[derive(Debug)]
pub struct Known<T: ?Sized, D = Top>(PhantomData<D>, PhantomData<fn() -> PhantomData<T>>);

impl<T: Schema<D> + ?Sized, D: Depth> Known<T, D> {
    pub const NODE: Node = T::NODE;
}

pub trait NotKnown {
    const NODE: Node;
}
impl<T: ?Sized, D> NotKnown for Known<T, D> {
    const NODE: Node = Node::unknown(type_name::<T>);
}

/// Probe for whether a type implements `Serialize`.
#[derive(Debug)]
pub struct Serialized<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: serde::Serialize + ?Sized> Serialized<T> {
    pub const IS: bool = true;
}

pub trait NotSerialized {
    const IS: bool = false;
}
impl<T: ?Sized> NotSerialized for Serialized<T> {}
