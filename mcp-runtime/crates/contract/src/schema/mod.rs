//! Comparison of two JSON Schemas, for arguments and for results.

mod containers;
mod difference;
mod document;
mod findings;
mod inclusion;
mod scalars;
mod set;
mod value;

pub(crate) use self::{
    difference::{Remedy, SchemaUse, ValuePath},
    findings::{compare, describe_change, type_key},
};

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod tests;
