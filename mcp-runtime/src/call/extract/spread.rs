//! [`Args`], a parameter whose fields are the arguments of a tool, and the code that reads such a struct from the arguments.

use std::{collections::HashSet, ops::Deref};

use mcp_runtime_wire::{JsonKind, Raw, validate};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::{
    Argument, Call, Describe, ItemParams, Probe,
    params::ArgumentSource,
    probe::{Spread, ValueSlot},
};
use crate::{
    call::{
        context::HasContext,
        read::{
            BoundedForm,
            json::{MOST_BYTES, read_leniently},
            reader::DEPTH,
        },
    },
    error::Result,
    item::{ArgDef, Param},
    schema::{
        argument_schema,
        constant::{self, Top},
    },
};

/// Parameter whose fields are the arguments of the tool.
///
/// Use it for a struct that you already have, or that several tools share. Without `Args`, a parameter of such a type is a single argument,
/// which is an object. A tool can have other arguments beside the fields, but not two of the same name. `T` must be a struct with named
/// fields, for example one with `#[data]`. Prompts and templates cannot take `Args`, because their arguments are texts.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[data]
/// struct Trip {
///     /// Place of departure
///     from: String,
///     /// Destination
///     to: String,
/// }
///
/// /// Plans a trip.
/// #[tool]
/// fn plan(trip: Args<Trip>) -> String {
///     format!("{} to {}", trip.from, trip.to)
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Args<T>(pub T);

impl<T> Deref for Args<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Handle for a parameter with serde or schemars attributes. The macro wraps such a parameter in a struct of its own.
#[derive(Debug)]
pub struct SpreadField<F, T> {
    get: fn(F) -> T,
    read: fn(&mut Call<'_>) -> Option<F>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl<F, T> Clone for SpreadField<F, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, T> Copy for SpreadField<F, T> {}

/// Reads `T` from the arguments that have no parameter of their own, and marks the arguments that `T` has a field for.
pub(crate) fn read<T: Argument>(call: &mut Call<'_>) -> Option<T> {
    let strict = call.is_strict();
    let names = call.names;
    let members = call.arguments.listed()?;
    let mut open: Vec<(usize, String)> = Vec::new();
    for (i, member) in
        members.iter().enumerate().filter(|(_, member)| !names.own.contains(&member.name))
    {
        open.push((i, member.value.as_str().to_owned()));
    }
    let mut bytes = MOST_BYTES;
    loop {
        let mut text = String::from("{");
        for (i, value) in &open {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&serde_json::to_string(&members[*i].name).unwrap_or_default());
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        let (result, mut unknown) = read_leniently::<T>(Raw::trusted(&text), &mut bytes);
        if let Err(error) = &result
            && let Some(first) = error.outermost_member()
            && let Some((_, value)) = open.iter_mut().find(|(i, _)| members[*i].name == first)
            && !strict
            && let Some(inner) = stringified(value)
        {
            *value = inner;
            continue;
        }
        let skipped: HashSet<_> = unknown.take_outer(&text).into_iter().collect();
        for (i, _) in &open {
            members[*i].taken |= !skipped.contains(&members[*i].name);
        }
        if !unknown.is_empty() {
            call.unknown_members("", &text, &unknown);
        }
        return result.map_err(|error| call.problem(error.describe(""))).ok();
    }
}

/// Returns the JSON text inside a JSON string. `None` if the content of the string is not JSON, is itself a string, or has an object with a
/// duplicate name.
pub(crate) fn stringified(value: &str) -> Option<String> {
    let inner = Raw::trusted(value).string()?;
    let inner = validate(inner.as_bytes(), DEPTH).ok()?;
    (inner.kind() != JsonKind::String && inner.duplicate_name().is_none())
        .then(|| inner.as_str().to_owned())
}

pub trait SpreadLevel<T> {
    fn tool_param(&self) -> Spread<T> {
        Spread::NEW
    }
}
impl<T: Argument> SpreadLevel<T> for &&Probe<Args<T>> {}

impl<T: constant::Schema<Top>> Probe<Args<T>> {
    pub const PARAM: Param = Param::Spread(T::NODE);
}

impl<T: BoundedForm> Probe<Args<T>> {
    pub const BOUND: Option<&'static str> = Some(T::FIELD);
}

impl<T: Argument> Spread<T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<ValueSlot<T>> {
        read(call).map(|value| ValueSlot(Some(value)))
    }

    pub fn pass<'a>(self, _: &'a impl HasContext, slot: &'a mut ValueSlot<T>) -> Result<Args<T>> {
        slot.take().map(Args)
    }
}

impl<T: Argument> Describe for Spread<T> {
    type Value = T;

    fn describe(self, params: &mut ItemParams, def: &'static ArgDef) {
        params.field(def, ArgumentSource::Spread { schema: argument_schema::<T> });
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
        SpreadField { get, read, schema: argument_schema::<F> }
    }
}

/// Level of a macro-generated struct whose derives have failed. The derives have already reported the error.
pub trait UnfitFieldLevel<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T>;
}
impl<F> UnfitFieldLevel<F> for Probe<F> {
    fn field_param<T>(&self, get: fn(F) -> T) -> SpreadField<F, T> {
        SpreadField { get, read: |_| None, schema: |_| Schema::default() }
    }
}

impl<F, T> SpreadField<F, T> {
    pub fn read(self, call: &mut Call<'_>, _: &'static ArgDef) -> Option<ValueSlot<F>> {
        (self.read)(call).map(|value| ValueSlot(Some(value)))
    }

    pub fn pass<'a>(self, _: &'a impl HasContext, slot: &'a mut ValueSlot<F>) -> Result<T> {
        slot.take().map(self.get)
    }
}

impl<F, T> Describe for SpreadField<F, T> {
    type Value = F;

    fn describe(self, params: &mut ItemParams, def: &'static ArgDef) {
        params.field(def, ArgumentSource::Spread { schema: self.schema });
    }

    fn default_json(self, _: F) -> Option<Value> {
        None
    }
}
