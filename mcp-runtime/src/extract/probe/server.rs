//! Values from the server.

use serde_json::Value;

use super::{Describe, InPlace, LiveValue, ServerValue};
use crate::{
    context::Context,
    error::Result,
    extract::{Call, FromCall, Params},
    item::ArgDef,
};

macro_rules! from_call {
    ($handle:ident $(: $bound:ident)?) => {
        impl<T> $handle<T> {
            pub fn read(self, _: &mut Call<'_>, _: &'static ArgDef) -> Option<()> {
                Some(())
            }

            pub fn pass<'a>(self, context: &'a Context, _: &'a mut ()) -> Result<T>
            where
                T: FromCall<'a>,
            {
                T::from_call(context)
            }

            pub fn ready_pass<'a>(self, context: &'a Context, _: &'a mut ()) -> Result<T>
            where
                T: FromCall<'a> $(+ $bound)?,
            {
                T::from_call(context)
            }
        }

        impl<'a, T: FromCall<'a>> Describe for $handle<T> {
            type Value = ();

            fn describe(self, params: &mut Params, _: &'static ArgDef) {
                params.server::<T>();
            }

            fn default_json(self, (): ()) -> Option<Value> {
                None
            }
        }
    };
}
from_call!(ServerValue);
from_call!(LiveValue: InPlace);
