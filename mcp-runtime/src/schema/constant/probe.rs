//! Constants that tell what is known of a type. The compiler prefers an inherent constant, if its bounds hold, to the constant of a trait.
//! So each question has an inherent answer, and a trait answers it for every other type.

use std::{any::type_name, marker::PhantomData};

use super::{
    depth::{Depth, Top},
    node::{Node, Schema},
};

/// The node of `T`.
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

/// Whether a type is `Serialize`.
#[derive(Debug)]
pub struct Serialized<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: serde::Serialize + ?Sized> Serialized<T> {
    pub const IS: bool = true;
}

pub trait NotSerialized {
    const IS: bool = false;
}
impl<T: ?Sized> NotSerialized for Serialized<T> {}
