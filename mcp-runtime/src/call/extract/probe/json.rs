//! Arguments of tools, read from JSON.

use std::any::Any;

use serde_json::Value;

use super::{Argument, Describe, JsonArgument, SliceArgument, SliceOption, Slot, none, refuse};
use crate::{
    call::context::HasContext,
    call::extract::{Call, Params, json, missing, params::Source, values},
    error::Result,
    item::ArgDef,
};

fn read_json<T: Argument>(
    call: &mut Call<'_>,
    def: &'static ArgDef,
    default: Option<impl FnOnce() -> T>,
) -> Option<T> {
    let raw = call.json(def.name);
    // Some clients send null for an argument that they leave out.
    let raw = raw.filter(|it| !(it.is_null() && default.is_some()));
    let Some(raw) = raw else {
        return match default {
            Some(default) => Some(default()),
            None => match missing::value() {
                Ok(value) => Some(value),
                Err(expected) => refuse(call, def, format_args!("missing, expected {expected}")),
            },
        };
    };
    match json::read::<T>(raw, call.is_strict()) {
        Ok((value, reread)) => {
            match def.constraints.check(reread.as_deref().unwrap_or(raw.as_str())) {
                None => Some(value),
                Some(problem) => refuse(call, def, problem),
            }
        }
        Err(problem) => refuse(call, def, problem),
    }
}

/// Returns a known primitive as JSON. Other types would need a `Serialize`, which arguments need not have. Enums have names instead.
pub(super) fn primitive_json<T: 'static>(value: &T) -> Option<Value> {
    let value: &dyn Any = value;
    macro_rules! try_types {
        ($($ty:ty)*) => {$(
            if let Some(it) = value.downcast_ref::<$ty>() {
                return serde_json::to_value(it).ok();
            }
            if let Some(Some(it)) = value.downcast_ref::<Option<$ty>>() {
                return serde_json::to_value(it).ok();
            }
            if let Some(it) = value.downcast_ref::<Vec<$ty>>() {
                return serde_json::to_value(it).ok();
            }
        )*};
    }
    try_types! { bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 String std::path::PathBuf }
    None
}

macro_rules! json_handles {
    ($($handle:ident<$t:ident> holds $value:ty, gives $given:ty, lends |$slot:ident| $lend:expr;)*) => {$(
        impl<$t: Argument> $handle<$t> {
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<$value>> {
                read_json(call, def, none()).map(|it| Slot(Some(it)))
            }

            pub fn read_or(
                self,
                call: &mut Call<'_>,
                def: &'static ArgDef,
                default: impl FnOnce() -> $value,
            ) -> Option<Slot<$value>> {
                read_json(call, def, Some(default)).map(|it| Slot(Some(it)))
            }

            pub fn pass<'a>(self, _: &'a impl HasContext, $slot: &'a mut Slot<$value>) -> Result<$given> {
                $lend
            }
        }

        impl<$t: Argument> Describe for $handle<$t> {
            type Value = $value;

            fn describe(self, params: &mut Params, def: &'static ArgDef) {
                params.field(
                    def,
                    Source::Json {
                        schema: |generator| generator.subschema_for::<$value>(),
                        required: missing::is_required::<$value>,
                    },
                );
            }

            fn default_json(self, default: $value) -> Option<Value> {
                primitive_json(&default).or_else(|| values::name_of(&default).map(Value::from))
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
