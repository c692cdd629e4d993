//! Levels of the method look-up. An impl on an earlier receiver wins if its bounds hold. Types that fit no level are in `unfit`.

use std::str::FromStr;

use super::{
    Argument, JsonArgument, LiveValue, OptionalStr, OptionalTextStr, ParsedArgument, ParsedOption,
    Probe, ReadArgument, ServerValue, SliceArgument, SliceOption, Spread, StrArgument,
    TextArgument, TextStr, TypedStr, TypedText,
};
use crate::{
    call::context::{Cancel, Progress},
    call::extract::{Args, FromCall},
};

/// Server values that a plain `fn` cannot take.
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
impl<T: Live> LiveLevel<T> for &&&Probe<T> {}

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
impl<'a, T: FromCall<'a>> ServerLevel<T> for &&&&Probe<T> {}

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
impl<'s> StrLevel<'s> for &&Probe<&'s str> {}

pub trait OptionalStrLevel<'s> {
    fn tool_param(&self) -> OptionalStr<Option<&'s str>> {
        OptionalStr::NEW
    }
    fn text_param(&self) -> OptionalTextStr<Option<&'s str>> {
        OptionalTextStr::NEW
    }
    fn completion_param(&self) -> OptionalTextStr<Option<&'s str>> {
        OptionalTextStr::NEW
    }
}
impl<'s> OptionalStrLevel<'s> for &&Probe<Option<&'s str>> {}

pub trait SliceLevel<T> {
    fn tool_param(&self) -> SliceArgument<T> {
        SliceArgument::NEW
    }
}
impl<T: Argument> SliceLevel<T> for &&Probe<&[T]> {}

pub trait SliceOptionLevel<T> {
    fn tool_param(&self) -> SliceOption<T> {
        SliceOption::NEW
    }
}
impl<T: Argument> SliceOptionLevel<T> for &&Probe<Option<&[T]>> {}

pub trait SpreadLevel<T> {
    fn tool_param(&self) -> Spread<T> {
        Spread::NEW
    }
}
impl<T: Argument> SpreadLevel<T> for &&Probe<Args<T>> {}

pub trait ArgumentLevel<T> {
    fn tool_param(&self) -> JsonArgument<T> {
        JsonArgument::NEW
    }
}
impl<T: Argument> ArgumentLevel<T> for &Probe<T> {}

pub trait ParsedLevel<T> {
    fn text_param(&self) -> ParsedArgument<T> {
        ParsedArgument::NEW
    }
    fn completion_param(&self) -> TypedText<T> {
        TypedText::NEW
    }
}
impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> ParsedLevel<T> for &&Probe<T> {}

pub trait ParsedOptionLevel<T> {
    fn text_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
    fn completion_param(&self) -> ParsedOption<T> {
        ParsedOption::NEW
    }
}
impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> ParsedOptionLevel<T>
    for &&Probe<Option<T>>
{
}

pub trait ReadLevel<T> {
    fn text_param(&self) -> ReadArgument<T> {
        ReadArgument::NEW
    }
    fn completion_param(&self) -> ReadArgument<T> {
        ReadArgument::NEW
    }
}
impl<T: TextArgument> ReadLevel<T> for &Probe<T> {}
