//! Methods of the probe's handles that read arguments sent by the client. A tool reads JSON, a prompt or template reads text, and a
//! completion function reads the text that the user has typed so far.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    fmt::Display,
    str::FromStr,
};

use serde_json::Value;

use super::{
    Argument, Call, Describe, ItemParams,
    params::ArgumentSource,
    probe::{
        JsonArgument, OptionalStr, OptionalTextStr, ParsedArgument, ParsedOption, ReadArgument,
        SliceArgument, SliceOption, StrArgument, TextArgument, TextStr, TypedStr, TypedText,
        ValueSlot,
    },
};
use crate::{
    call::{
        context::HasContext,
        read::{introspect, json, text},
    },
    error::{Result, shown},
    item::ArgDef,
    schema::argument_schema,
};

/// Records a problem with an argument, and returns `None` because the argument has no usable value.
fn refuse<T>(call: &mut Call<'_>, def: &ArgDef, problem: impl Display) -> Option<T> {
    // The `FromStr` of an author may fail with an error that prints its causes only in this form.
    call.problem(format!("`{}`: {problem:#}", def.name));
    None
}

/// Returns `None` for an argument without a default. The concrete type `fn() -> T` lets the compiler infer the parameter of type
/// `Option<impl FnOnce() -> T>`.
fn none<T>() -> Option<fn() -> T> {
    None
}

/// Reads a JSON argument, or returns its default if the client left it out.
fn read_json<T: Argument>(
    call: &mut Call<'_>,
    def: &'static ArgDef,
    default: Option<impl FnOnce() -> T>,
) -> Option<T> {
    let raw = call.json(def.name);
    // Some clients send `null` instead of omitting an argument.
    let raw = raw.filter(|value| !(value.is_null() && default.is_some()));
    let Some(raw) = raw else {
        return match default {
            Some(default) => Some(default()),
            None => match introspect::missing_value() {
                Ok(value) => Some(value),
                Err(expected) => refuse(call, def, format_args!("missing, expected {expected}")),
            },
        };
    };
    let (result, notes) = match json::read::<T>(raw, call.is_strict()) {
        Ok((value, None)) => {
            return match def.constraints.check(raw.as_str()) {
                None => Some(value),
                Some(problem) => refuse(call, def, problem),
            };
        }
        Ok((value, Some(notes))) => (Ok(value), *notes),
        Err(failure) => (Err(failure.error), failure.notes),
    };
    let text = notes.text(raw);
    if !notes.unknown.is_empty() {
        call.unknown_members(def.name, text, &notes.unknown);
    }
    match result.map(|value| (value, def.constraints.check(text))) {
        Ok((value, None)) => Some(value),
        Ok((_, Some(problem))) => refuse(call, def, problem),
        Err(error) => {
            call.problem(error.describe(def.name));
            None
        }
    }
}

/// Returns the value as JSON if its type is in the list below. The list is needed because argument types need not implement `Serialize`.
/// Enums are converted by `name_of`.
fn primitive_json<T: 'static>(value: &T) -> Option<Value> {
    let value: &dyn Any = value;
    macro_rules! try_types {
        ($($ty:ty)*) => {$(
            if let Some(primitive) = value.downcast_ref::<$ty>() {
                return serde_json::to_value(primitive).ok();
            }
            if let Some(Some(primitive)) = value.downcast_ref::<Option<$ty>>() {
                return serde_json::to_value(primitive).ok();
            }
            if let Some(list) = value.downcast_ref::<Vec<$ty>>() {
                return serde_json::to_value(list).ok();
            }
        )*};
    }
    try_types! { bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 String std::path::PathBuf }
    None
}

macro_rules! json_handles {
    ($($handle:ident<$t:ident> holds $value:ty, gives $given:ty, lends |$slot:ident| $lend:expr;)*) => {$(
        impl<$t: Argument> $handle<$t> {
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<ValueSlot<$value>> {
                read_json(call, def, none()).map(|value| ValueSlot(Some(value)))
            }

            pub fn read_or(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: impl FnOnce() -> $value,
            ) -> Option<ValueSlot<$value>> {
                read_json(call, def, Some(default)).map(|value| ValueSlot(Some(value)))
            }

            pub fn pass<'a>(self, _: &'a impl HasContext, $slot: &'a mut ValueSlot<$value>) -> Result<$given> {
                $lend
            }
        }

        impl<$t: Argument> Describe for $handle<$t> {
            type Value = $value;

            fn describe(self, params: &mut ItemParams, def: &'static ArgDef) {
                params.field(
                    def,
                    ArgumentSource::Json {
                        schema: argument_schema::<$value>,
                        required: introspect::is_required::<$value>,
                    },
                );
            }

            fn default_json(self, default: $value) -> Option<Value> {
                primitive_json(&default).or_else(|| introspect::name_of(&default).map(Value::from))
            }
        }
    )*};
}
json_handles! {
    JsonArgument<T> holds T, gives T, lends |slot| slot.take();
    SliceArgument<T> holds Vec<T>, gives &'a [T], lends |slot| Ok(slot.0.as_deref().unwrap_or_default());
    SliceOption<T> holds Option<Vec<T>>, gives Option<&'a [T]>,
        lends |slot| Ok(slot.0.as_ref().and_then(Option::as_deref));
}

/// Returns the text of an argument, or `None` if the client left the argument out. Fails if the text violates a constraint of the argument.
fn read_text<'a>(
    call: &mut Call<'a>,
    def: &'static ArgDef,
) -> Result<Option<Cow<'a, str>>, String> {
    let Some(text) = call.text(def.name) else { return Ok(None) };
    match def.constraints.check_text(&text) {
        Some(problem) => Err(problem),
        None => Ok(Some(text)),
    }
}

macro_rules! text_handles {
    ($($handle:ident<$t:ty> [$($generics:tt)*] holds $value:ty, gives $given:ty, lends |$slot:ident| $lend:expr,
        parses |$text:ident, $separator:ident| $parse:expr, absent $absent:expr, required $required:expr, values $values:expr;)*) => {$(
        impl<$($generics)*> $handle<$t> {
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<ValueSlot<$value>> {
                self.fill(call, def, none())
            }

            pub fn read_or(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: impl FnOnce() -> $value,
            ) -> Option<ValueSlot<$value>> {
                self.fill(call, def, Some(default))
            }

            fn fill(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: Option<impl FnOnce() -> $value>,
            ) -> Option<ValueSlot<$value>> {
                let $text = match read_text(call, def) {
                    Ok(Some(text)) => text,
                    Ok(None) => {
                        let absent: Result<$value, String> = match default {
                            Some(default) => Ok(default()),
                            None => $absent,
                        };
                        return match absent {
                            Ok(value) => Some(ValueSlot(Some(value))),
                            Err(problem) => refuse(call, def, problem),
                        };
                    }
                    Err(problem) => return refuse(call, def, problem),
                };
                let $separator = call.list_separator();
                let parsed: Result<$value, String> = $parse;
                match parsed {
                    Ok(value) => Some(ValueSlot(Some(value))),
                    Err(problem) => refuse(call, def, problem),
                }
            }

            pub fn pass<'a>(self, _: &'a impl HasContext, $slot: &'a mut ValueSlot<$value>) -> Result<$given> {
                $lend
            }
        }

        impl<$($generics)*> Describe for $handle<$t> {
            type Value = $value;

            fn describe(self, params: &mut ItemParams, def: &'static ArgDef) {
                params.field(def, ArgumentSource::Text { required: $required, values: $values, read_as: TypeId::of::<$t>() });
            }

            fn default_json(self, default: $value) -> Option<Value> {
                primitive_json(&default)
            }
        }
    )*};
}
text_handles! {
    ParsedArgument<T> [T: FromStr<Err: Display> + Send + 'static] holds T, gives T, lends |slot| slot.take(),
        parses |text, _separator| text.parse().map_err(|error: T::Err| format!("{:?}: {error}", shown(&text))),
        absent Err("missing".to_owned()),
        required true,
        values parsed_values::<T>;
    ParsedOption<T> [T: FromStr<Err: Display> + Send + 'static] holds Option<T>, gives Option<T>,
        lends |slot| slot.take(),
        parses |text, _separator| text.parse().map(Some).map_err(|error: T::Err| format!("{:?}: {error}", shown(&text))),
        absent Ok(None),
        required false,
        values parsed_values::<T>;
    ReadArgument<T> [T: TextArgument] holds T, gives T, lends |slot| slot.take(),
        parses |text, separator| text::read(&text, separator),
        absent introspect::missing_value().map_err(|expected| format!("missing, expected {expected}")),
        required introspect::is_required::<T>(),
        values introspect::values_of::<T>;
}

/// Returns the allowed values of a type that is parsed with `FromStr`, or an empty list. Lists only the values of `bool`. The values of an
/// enum are not known, because its `FromStr` may spell the variants differently from serde.
fn parsed_values<T: 'static>() -> Vec<&'static str> {
    if TypeId::of::<T>() == TypeId::of::<bool>() { vec!["true", "false"] } else { Vec::new() }
}

impl<T: FromStr<Err: Display> + Send + 'static> TypedText<T> {
    pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<ValueSlot<T>> {
        match call.typed().parse() {
            Ok(value) => Some(ValueSlot(Some(value))),
            Err(error) => refuse(call, def, error),
        }
    }

    pub fn pass<'a>(self, _: &'a impl HasContext, slot: &'a mut ValueSlot<T>) -> Result<T> {
        slot.take()
    }
}

impl<T: FromStr<Err: Display> + Send + 'static> Describe for TypedText<T> {
    type Value = T;

    fn describe(self, params: &mut ItemParams, _: &'static ArgDef) {
        params.takes_typed_text = true;
    }

    fn default_json(self, _: T) -> Option<Value> {
        None
    }
}

// Handles for borrowed text. Each handle reads an owned value and lends it to the user's function.

/// Declares handles that read an owned value with the handle `$inner`, and lend that value to the user's function.
macro_rules! lent {
    ($($handle:ident for $given:ty: $inner:ident<$kind:ty> holds $value:ty, lends |$slot:ident| $lend:expr $(, or $or:ident)?;)*) => {$(
        impl<'s> $handle<$given> {
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<ValueSlot<$value>> {
                $inner::<$kind>::NEW.read(call, def)
            }

            $(
                pub fn $or(
                    self,
                    call: &mut Call<'_>,
                    def: &'static ArgDef,
                    default: impl FnOnce() -> $value,
                ) -> Option<ValueSlot<$value>> {
                    $inner::<$kind>::NEW.$or(call, def, default)
                }
            )?

            pub fn pass<'a>(self, _: &'a impl HasContext, $slot: &'a mut ValueSlot<$value>) -> Result<$given>
            where
                'a: 's,
            {
                Ok($lend)
            }
        }

        impl<'s> Describe for $handle<$given> {
            type Value = $value;

            fn describe(self, params: &mut ItemParams, def: &'static ArgDef) {
                $inner::<$kind>::NEW.describe(params, def);
            }

            fn default_json(self, default: $value) -> Option<Value> {
                $inner::<$kind>::NEW.default_json(default)
            }
        }
    )*};
}
lent! {
    StrArgument for &'s str: JsonArgument<String> holds String,
        lends |slot| slot.0.as_deref().unwrap_or_default(), or read_or;
    OptionalStr for Option<&'s str>: JsonArgument<Option<String>> holds Option<String>,
        lends |slot| slot.0.as_ref().and_then(Option::as_deref), or read_or;
    TextStr for &'s str: ParsedArgument<String> holds String,
        lends |slot| slot.0.as_deref().unwrap_or_default(), or read_or;
    OptionalTextStr for Option<&'s str>: ParsedOption<String> holds Option<String>,
        lends |slot| slot.0.as_ref().and_then(Option::as_deref), or read_or;
    TypedStr for &'s str: TypedText<String> holds String,
        lends |slot| slot.0.as_deref().unwrap_or_default();
}
