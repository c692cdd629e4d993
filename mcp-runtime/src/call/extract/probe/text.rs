//! Arguments of prompts and templates, which are sent as texts, and the text that the user has typed for a completion.

use std::{any::TypeId, borrow::Cow, str::FromStr};

use serde_json::Value;

use super::{
    Describe, ParsedArgument, ParsedOption, ReadArgument, Slot, TextArgument, TypedText,
    json::primitive_json, none, refuse,
};
use crate::{
    call::context::HasContext,
    call::extract::{Call, Params, missing, params::Source, text, values},
    error::{Result, shown},
    item::ArgDef,
};

/// Returns the text of an argument after the checks that all types share. Fails with the problem that a check has found.
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
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<$value>> {
                self.fill(call, def, none())
            }

            pub fn read_or(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: impl FnOnce() -> $value,
            ) -> Option<Slot<$value>> {
                self.fill(call, def, Some(default))
            }

            fn fill(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: Option<impl FnOnce() -> $value>,
            ) -> Option<Slot<$value>> {
                let $text = match read_text(call, def) {
                    Ok(Some(text)) => text,
                    Ok(None) => {
                        let absent: Result<$value, String> = match default {
                            Some(default) => Ok(default()),
                            None => $absent,
                        };
                        return match absent {
                            Ok(value) => Some(Slot(Some(value))),
                            Err(problem) => refuse(call, def, problem),
                        };
                    }
                    Err(problem) => return refuse(call, def, problem),
                };
                let $separator = call.list_separator();
                let parsed: Result<$value, String> = $parse;
                match parsed {
                    Ok(value) => Some(Slot(Some(value))),
                    Err(problem) => refuse(call, def, problem),
                }
            }

            pub fn pass<'a>(self, _: &'a impl HasContext, $slot: &'a mut Slot<$value>) -> Result<$given> {
                $lend
            }
        }

        impl<$($generics)*> Describe for $handle<$t> {
            type Value = $value;

            fn describe(self, params: &mut Params, def: &'static ArgDef) {
                params.field(def, Source::Text { required: $required, values: $values, read_as: TypeId::of::<$t>() });
            }

            fn default_json(self, default: $value) -> Option<Value> {
                primitive_json(&default)
            }
        }
    )*};
}
text_handles! {
    ParsedArgument<T> [T: FromStr<Err: std::fmt::Display> + Send + 'static] holds T, gives T, lends |slot| slot.take(),
        parses |text, _separator| text.parse().map_err(|error: T::Err| format!("{:?}: {error}", shown(&text))),
        absent Err("missing".to_owned()),
        required true,
        values parsed_values::<T>;
    ParsedOption<T> [T: FromStr<Err: std::fmt::Display> + Send + 'static] holds Option<T>, gives Option<T>,
        lends |slot| slot.take(),
        parses |text, _separator| text.parse().map(Some).map_err(|error: T::Err| format!("{:?}: {error}", shown(&text))),
        absent Ok(None),
        required false,
        values parsed_values::<T>;
    ReadArgument<T> [T: TextArgument] holds T, gives T, lends |slot| slot.take(),
        parses |text, separator| text::read(&text, separator),
        absent missing::value().map_err(|expected| format!("missing, expected {expected}")),
        required missing::is_required::<T>(),
        values values::of::<T>;
}

/// Returns the values of a type that is parsed with `FromStr`. Only those of `bool` are known, because the `FromStr` of an enum need not
/// spell its values as serde does.
fn parsed_values<T: 'static>() -> Vec<&'static str> {
    if std::any::TypeId::of::<T>() == std::any::TypeId::of::<bool>() {
        vec!["true", "false"]
    } else {
        Vec::new()
    }
}

impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> TypedText<T> {
    pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<T>> {
        match call.typed().parse() {
            Ok(value) => Some(Slot(Some(value))),
            Err(error) => refuse(call, def, error),
        }
    }

    pub fn pass<'a>(self, _: &'a impl HasContext, slot: &'a mut Slot<T>) -> Result<T> {
        slot.take()
    }
}

impl<T: FromStr<Err: std::fmt::Display> + Send + 'static> Describe for TypedText<T> {
    type Value = T;

    fn describe(self, params: &mut Params, _: &'static ArgDef) {
        params.takes_typed_text = true;
    }

    fn default_json(self, _: T) -> Option<Value> {
        None
    }
}
