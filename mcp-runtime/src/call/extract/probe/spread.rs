//! Structs whose fields are the arguments.

use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::{Argument, Describe, Probe, Slot, Spread};
use crate::{
    call::context::HasContext,
    call::extract::{Args, Call, Params, SpreadField, params::Source, spread},
    error::Result,
    item::ArgDef,
};

impl<T: Argument> Spread<T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<Slot<T>> {
        spread::read(call).map(|it| Slot(Some(it)))
    }

    pub fn pass<'a>(self, _: &'a impl HasContext, slot: &'a mut Slot<T>) -> Result<Args<T>> {
        slot.take().map(Args)
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

pub trait FieldLevel<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T>;
}
impl<F: Argument> FieldLevel<F> for &Probe<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T> {
        let schema = |generator: &mut SchemaGenerator| generator.subschema_for::<F>();
        SpreadField { get, read: spread::read, schema }
    }
}

/// Level of a struct from the macro whose derives have failed, and have reported the reason.
pub trait UnfitFieldLevel<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T>;
}
impl<F> UnfitFieldLevel<F> for Probe<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T> {
        SpreadField { get, read: |_| None, schema: |_| Schema::default() }
    }
}

impl<F, T> SpreadField<F, T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<Slot<F>> {
        (self.read)(call).map(|it| Slot(Some(it)))
    }

    pub fn pass<'a>(self, _: &'a impl HasContext, slot: &'a mut Slot<F>) -> Result<T> {
        slot.take().map(self.get)
    }
}

impl<F, T> Describe for SpreadField<F, T> {
    type Value = F;

    fn describe(self, params: &mut Params, def: &'static ArgDef) {
        params.field(def, Source::Spread { schema: self.schema });
    }

    fn default_json(self, _: F) -> Option<Value> {
        None
    }
}
