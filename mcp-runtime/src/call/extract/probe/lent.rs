//! Borrowed texts: the handle makes an owned value and lends it.

use serde_json::Value;

use super::{
    Describe, JsonArgument, OptionalStr, OptionalTextStr, ParsedArgument, ParsedOption, Slot,
    StrArgument, TextStr, TypedStr, TypedText,
};
use crate::{
    call::context::HasContext,
    call::extract::{Call, Params},
    error::Result,
    item::ArgDef,
};

/// Declares handles that read an owned value like `$inner` and lend it.
macro_rules! lent {
    ($($handle:ident for $given:ty: $inner:ident<$kind:ty> holds $value:ty, lends |$slot:ident| $lend:expr $(, or $or:ident)?;)*) => {$(
        impl<'s> $handle<$given> {
            pub fn read(self, call: &mut Call<'_>, def: &'static ArgDef) -> Option<Slot<$value>> {
                $inner::<$kind>::NEW.read(call, def)
            }

            $(
                pub fn $or(
                    self,
                    call: &mut Call<'_>,
                    def: &'static ArgDef,
                    default: impl FnOnce() -> $value,
                ) -> Option<Slot<$value>> {
                    $inner::<$kind>::NEW.$or(call, def, default)
                }
            )?

            pub fn pass<'a>(self, _: &'a impl HasContext, $slot: &'a mut Slot<$value>) -> Result<$given>
            where
                'a: 's,
            {
                Ok($lend)
            }
        }

        impl<'s> Describe for $handle<$given> {
            type Value = $value;

            fn describe(self, params: &mut Params, def: &'static ArgDef) {
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
