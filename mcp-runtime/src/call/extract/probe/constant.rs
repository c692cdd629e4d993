//! Classification of parameters in constants.
//!
//! Method look-up cannot choose in constants. There, an inherent constant wins over a trait's constant if its bounds hold, so each choice
//! has two outcomes. Therefore the source of the value and its schema are separate constants.

use std::{any::type_name, fmt, str::FromStr};

use super::Probe;
use crate::{
    call::extract::{Args, FromCall},
    item::Param,
    schema::constant::{Schema, Top},
};

impl<'a, T: FromCall<'a>> Probe<T> {
    /// The value comes from the server.
    pub const IS_SERVER: bool = true;
}

impl<T: FromStr<Err: fmt::Display>> Probe<T> {
    /// The author has implemented `FromStr` for the type.
    pub const IS_PARSED: bool = true;
}

impl<T: Schema<Top> + ?Sized> Probe<T> {
    pub const PARAM: Param = Param::Argument(T::NODE);
}

impl<T: Schema<Top>> Probe<Args<T>> {
    pub const PARAM: Param = Param::Spread(T::NODE);
}

/// Fallback for every other parameter.
pub trait UnknownParam {
    const IS_SERVER: bool = false;
    const IS_PARSED: bool = false;
    const PARAM: Param;
}
impl<T: ?Sized> UnknownParam for Probe<T> {
    const PARAM: Param = Param::Unknown(type_name::<T>);
}
