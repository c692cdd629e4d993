//! Keys of the attributes: their names, their grammar and their values.

pub(crate) mod arg;
pub(crate) mod attributes;
pub(crate) mod conditions;
mod expression;
mod grammar;
pub(crate) mod nested;
pub(crate) mod number;
mod suggest;
pub(crate) mod tables;
pub(crate) mod text;

pub(crate) use expression::expression;
pub(crate) use grammar::{Given, Keys, read, read_first, read_one};
pub(crate) use suggest::suggest;
pub(crate) use tables::Table;
