//! What a parameter is, in constants.
//!
//! Method look-up cannot choose there. An inherent constant wins over a trait's where its bounds hold, which makes one
//! question with two answers; so who has the value is asked apart from what its schema is.

use std::{any::type_name, fmt, str::FromStr};

use super::Probe;
use crate::{
    extract::{Args, FromCall},
    item::Param,
    schema::constant::{Schema, Top},
};

impl<'a, T: FromCall<'a>> Probe<T> {
    /// Comes from the server.
    pub const IS_SERVER: bool = true;
}

impl<T: FromStr<Err: fmt::Display>> Probe<T> {
    /// Made from a text by its author.
    pub const IS_PARSED: bool = true;
}

impl<T: Schema<Top> + ?Sized> Probe<T> {
    pub const PARAM: Param = Param::Argument(T::NODE);
}

impl<T: Schema<Top>> Probe<Args<T>> {
    pub const PARAM: Param = Param::Spread(T::NODE);
}

/// Every other parameter.
pub trait UnknownParam {
    const IS_SERVER: bool = false;
    const IS_PARSED: bool = false;
    const PARAM: Param;
}
impl<T: ?Sized> UnknownParam for Probe<T> {
    const PARAM: Param = Param::Unknown(type_name::<T>);
}
