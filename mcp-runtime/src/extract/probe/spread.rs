//! Structs whose fields are the arguments.

use serde_json::Value;

use super::{Argument, Describe, Slot, Spread};
use crate::{
    context::Context,
    error::Result,
    extract::{Args, Call, Params, SpreadField, params::Source, spread},
    item::ArgDef,
};

impl<T: Argument> Spread<T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<Slot<T>> {
        spread::read(call).map(|it| Slot(Some(it)))
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<T>) -> Result<Args<T>> {
        slot.take().map(Args)
    }

    pub fn ready_pass<'a>(self, context: &'a Context, slot: &'a mut Slot<T>) -> Result<Args<T>> {
        self.pass(context, slot)
    }
}

impl<T: Argument> Describe for Spread<T> {
    type Value = T;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        params.field(def, Source::Spread { schema: |generator| generator.subschema_for::<T>() });
    }

    fn default_json(self, _: T) -> Option<Value> {
        None
    }
}

impl<F: Argument, T> SpreadField<F, T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<Slot<F>> {
        spread::read(call).map(|it| Slot(Some(it)))
    }

    pub fn read_or(
        self,
        call: &mut Call<'_>,
        def: &'static ArgDef,
        _: impl FnOnce() -> std::convert::Infallible,
    ) -> Option<Slot<F>> {
        self.read(call, def)
    }

    pub fn pass<'a>(self, _: &'a Context, slot: &'a mut Slot<F>) -> Result<T> {
        slot.take().map(self.get)
    }

    pub fn ready_pass<'a>(self, context: &'a Context, slot: &'a mut Slot<F>) -> Result<T> {
        self.pass(context, slot)
    }
}

impl<F: Argument, T> Describe for SpreadField<F, T> {
    type Value = F;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        params.field(def, Source::Spread { schema: |generator| generator.subschema_for::<F>() });
    }

    fn default_json(self, _: F) -> Option<Value> {
        None
    }
}
