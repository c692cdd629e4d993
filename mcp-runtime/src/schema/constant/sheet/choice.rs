//! A choice between schemas: `anyOf`.

use super::Members;
use crate::schema::{
    compatible::Side,
    constant::{
        node::{Branch, Node},
        notes::Notes,
        write::Out,
    },
};

#[derive(Clone, Copy)]
pub(super) enum Choice {
    None,
    OrNull(&'static Node),
    Any,
    Of(&'static [Branch]),
}

/// Scalar branches of a schema for any JSON, as [`any_value`](crate::schema::compatible) makes them.
const SCALARS: &str = r#"{"type":"string"},{"type":"number"},{"type":"boolean"}"#;

/// Writes the schema of a member of an object that takes any members, as an argument.
pub(super) const fn any_member(out: &mut Out<'_>) {
    out.push(r#"{"anyOf":["#);
    out.push(SCALARS);
    out.push(r#",{"type":"object"},"#);
    any_list(out);
    out.push("]}");
}

/// Writes the schema of a list that takes anything, as an argument.
const fn any_list(out: &mut Out<'_>) {
    out.push(r#"{"items":{"anyOf":["#);
    out.push(SCALARS);
    out.push(r#",{"type":"object"}]},"type":"array"}"#);
}

/// Returns the only branch that is not `null`; `None` if there are several.
pub(super) const fn only(branches: &'static [Branch]) -> Option<&'static Branch> {
    let mut only = None;
    let mut i = 0;
    while i < branches.len() {
        if !branches[i].node.is_null() {
            if only.is_some() {
                return None;
            }
            only = Some(&branches[i]);
        }
        i += 1;
    }
    only
}

const fn are_null(branches: &[Branch]) -> bool {
    let mut i = 0;
    while i < branches.len() && branches[i].node.is_null() {
        i += 1;
    }
    i == branches.len()
}

impl Choice {
    pub(super) const fn write(&self, out: &mut Out<'_>, object: &mut Members, side: Side) {
        match *self {
            Self::None => return,
            Self::OrNull(inner) => {
                object.key(out, "anyOf");
                out.push("[");
                super::write(out, inner, side, &Notes::NONE);
                out.push(r#",{"type":"null"}"#);
            }
            Self::Any => {
                object.key(out, "anyOf");
                out.push("[");
                out.push(SCALARS);
                match side {
                    Side::Argument => {
                        out.push(r#",{"additionalProperties":"#);
                        any_member(out);
                        out.push(r#","type":"object"},"#);
                        any_list(out);
                    }
                    Side::Result => {
                        out.push(r#",{"type":"object"},{"type":"array"},{"type":"null"}"#);
                    }
                }
            }
            Self::Of(branches) => {
                object.key(out, "anyOf");
                out.push("[");
                let mut first = true;
                let mut i = 0;
                let skips_null = matches!(side, Side::Argument) && !are_null(branches);
                while i < branches.len() {
                    if skips_null && branches[i].node.is_null() {
                        i += 1;
                        continue;
                    }
                    out.comma(&mut first);
                    let notes = Notes { description: branches[i].description, ..Notes::NONE };
                    super::write(out, &branches[i].node, side, &notes);
                    i += 1;
                }
            }
        }
        out.push("]");
    }
}
