//! The levels that method look-up goes through. An impl on an earlier receiver wins where its bounds hold.

use std::str::FromStr;

use super::{
    Argument, JsonArgument, LiveValue, ParsedArgument, ParsedOption, Probe, ReadArgument,
    ServerValue, SliceArgument, Spread, StrArgument, StrOption, TextArgument, TextStr,
    TextStrOption, TypedStr, TypedText,
};
use crate::{
    context::{Cancel, Progress},
    extract::{Args, FromCall},
};

/// Told apart from other server values, so that a plain `fn` cannot take them.
pub trait Live {}
impl Live for Progress {}
impl Live for Cancel {}

pub trait LiveLevel<T> {
    fn tool_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
    fn text_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
    fn server_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
    fn completion_param(&self) -> LiveValue<T> {
        LiveValue::NEW
    }
}
impl<T: Live> LiveLevel<T> for &&Probe<T> {}

pub trait ServerLevel<T> {
    fn tool_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
    fn text_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
    fn server_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
    fn completion_param(&self) -> ServerValue<T> {
        ServerValue::NEW
    }
}
impl<'a, T: FromCall<'a>> ServerLevel<T> for &&&Probe<T> {}

pub trait NotServerLevel<T> {
    fn server_param<'a>(&self) -> ServerValue<T>
    where
        T: FromCall<'a>,
    {
        ServerValue::NEW
    }
}
impl<T> NotServerLevel<T> for Probe<T> {}

pub trait StrLevel<'s> {
    fn tool_param(&self) -> StrArgument<&'s str> {
        StrArgument::NEW
    }
    fn text_param(&self) -> TextStr<&'s str> {
        TextStr::NEW
    }
    fn completion_param(&self) -> TypedStr<&'s str> {
        TypedStr::NEW
    }
}
impl<'s> StrLevel<'s> for &Probe<&'s str> {}

pub trait StrOptionLevel<'s> {
    fn tool_param(&self) -> StrOption<Option<&'s str>> {
        StrOption::NEW
    }
    fn text_param(&self) -> TextStrOption<Option<&'s str>> {
        TextStrOption::NEW
    }
    fn completion_param(&self) -> TextStrOption<Option<&'s str>> {
        TextStrOption::NEW
    }
}
impl<'s> StrOptionLevel<'s> for &Probe<Option<&'s str>> {}

pub trait SliceLevel<T> {
    fn tool_param(&self) -> SliceArgument<T>
    where
        T: Argument,
    {
        SliceArgument::NEW
    }
}
impl<T> SliceLevel<T> for &Probe<&[T]> {}

pub trait SpreadLevel<T> {
    fn tool_param(&self) -> Spread<T>
    where
        T: Argument,
    {
        Spread::NEW
    }
}
impl<T> SpreadLevel<T> for &Probe<Args<T>> {}

pub trait ArgumentLevel<T> {
    fn tool_param(&self) -> JsonArgument<T>
    where
        T: Argument,
    {
        JsonArgument::NEW
    }
}
impl<T> ArgumentLevel<T> for Probe<T> {}

pub trait ParsedLevel<T> {
    fn text_param(&self) -> ParsedArgument<T> {
        ParsedArgument::NEW
    }
    fn completion_param(&self) -> TypedText<T> {
        TypedText::NEW
    }
}
impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> ParsedLevel<T> for &Probe<T> {}

pub trait ParsedOptionLevel<T> {
    fn text_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
    fn completion_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
}
impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> ParsedOptionLevel<T>
    for &Probe<Option<T>>
{
}

pub trait ReadLevel<T> {
    fn text_param(&self) -> ReadArgument<T>
    where
        T: TextArgument,
    {
        ReadArgument::NEW
    }
    fn completion_param(&self) -> ReadArgument<T>
    where
        T: TextArgument,
    {
        ReadArgument::NEW
    }
}
impl<T> ReadLevel<T> for Probe<T> {}
