//! How deep a schema goes.
//!
//! A constant that refers to itself is an error of the compiler (E0391), and two structs that contain each other would have
//! such constants. So the constants of a struct are a type's, [`Body::At`], which exists once for each depth, and at depth
//! zero there is none.

use std::marker::PhantomData;

use super::node::Node;

/// A number of structs.
pub trait Depth: Sized + 'static {
    /// The schema of `T` at this depth.
    type Of<T: Body + ?Sized>: Part;
}

/// A type whose fields are one less deep: `At` is always [`Full`].
pub trait Body {
    type At<D: Depth>: Part;
}

/// The node of a struct or an enum, made of what is in it at depth `D`.
pub trait Described<D: Depth> {
    const NODE: Node;
}

/// [`Described`] as a type.
#[derive(Debug)]
pub struct Full<T: ?Sized, D>(PhantomData<D>, PhantomData<fn() -> PhantomData<T>>);

impl<T: Described<D> + ?Sized, D: Depth> Part for Full<T, D> {
    const NODE: Node = T::NODE;
}

/// A node as a type.
pub trait Part {
    const NODE: Node;
}

#[derive(Debug)]
pub struct Zero;

#[derive(Debug)]
pub struct More<D>(PhantomData<D>);

/// Where a tool starts. What is deeper is made at run time.
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
