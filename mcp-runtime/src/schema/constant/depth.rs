//! Limits the depth of schemas in constants.
//!
//! A constant that refers to itself is a compile error (E0391), and two structs that contain each other would have such constants. So the
//! constants of a struct belong to a type, [`Body::At`], which exists once for each depth. At depth zero it is replaced by `TooDeep`.

use std::marker::PhantomData;

use super::node::Node;

/// Number of structs that a schema may still go into, as a type.
pub trait Depth: Sized + 'static {
    /// The schema of `T` at this depth.
    type Of<T: Body + ?Sized>: Part;
}

/// A type whose fields are described at depth `D`, which is one less than its own. `At` is always [`Full`].
pub trait Body {
    type At<D: Depth>: Part;
}

/// The node of a struct or an enum, with its fields at depth `D`.
pub trait Described<D: Depth> {
    const NODE: Node;
}

/// Carries the node of [`Described`] as a type.
#[derive(Debug)]
pub struct Full<T: ?Sized, D>(PhantomData<D>, PhantomData<fn() -> PhantomData<T>>);

impl<T: Described<D> + ?Sized, D: Depth> Part for Full<T, D> {
    const NODE: Node = T::NODE;
}

/// A type that carries a node.
pub trait Part {
    const NODE: Node;
}

#[derive(Debug)]
pub struct Zero;

#[derive(Debug)]
pub struct More<D>(PhantomData<D>);

/// Depth that the schema of a tool starts with. Deeper schemas are made at run time.
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
