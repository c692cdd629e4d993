//! The members of JSON objects, and of the structs that are written as such.

use super::{
    node::{Node, Object, What},
    sheet,
    write::Out,
};
use crate::schema::{Edge, compatible::Side};

/// The members of a JSON object on their way out.
pub(super) struct Members {
    first: bool,
}

impl Members {
    pub(super) const fn new() -> Self {
        Self { first: true }
    }

    pub(super) const fn key(&mut self, out: &mut Out<'_>, key: &str) {
        out.comma(&mut self.first);
        out.push("\"");
        out.push(key);
        out.push("\":");
    }

    pub(super) const fn raw(&mut self, out: &mut Out<'_>, key: &str, json: &str) {
        self.key(out, key);
        out.push(json);
    }

    pub(super) const fn text(&mut self, out: &mut Out<'_>, key: &str, text: &str) {
        self.key(out, key);
        out.string(text);
    }

    pub(super) const fn number(&mut self, out: &mut Out<'_>, key: &str, number: Option<usize>) {
        if let Some(number) = number {
            self.key(out, key);
            out.integer(number as i128);
        }
    }

    pub(super) const fn edge(&mut self, out: &mut Out<'_>, key: &str, edge: Edge) {
        match edge {
            Edge::None | Edge::Unwritable => {}
            Edge::Int(number) => {
                self.key(out, key);
                out.integer(number);
            }
            Edge::Json(json) => self.raw(out, key, json),
        }
    }
}

impl Node {
    /// The members of a struct as members of another object.
    pub(crate) const fn write_members(&self, out: &mut Out<'_>, first: &mut bool) {
        if let What::Object(object) = self.what {
            object.write_members(out, first, Side::Argument);
        }
    }
}

impl Object {
    const fn write_members(&self, out: &mut Out<'_>, first: &mut bool, side: Side) {
        let mut i = 0;
        while i < self.members.len() {
            let member = &self.members[i];
            out.comma(first);
            out.string(member.name);
            out.push(":");
            sheet::write(out, &member.node, side, &member.notes());
            i += 1;
        }
    }

    pub(super) const fn properties(&self, out: &mut Out<'_>, object: &mut Members, side: Side) {
        if !self.members.is_empty() {
            object.key(out, "properties");
            out.push("{");
            self.write_members(out, &mut true, side);
            out.push("}");
        }
        let mut first = true;
        let mut i = 0;
        while i < self.declared.len() {
            let member = &self.members[self.declared[i]];
            if member.is_required(side) {
                if first {
                    object.key(out, "required");
                    out.push("[");
                }
                out.comma(&mut first);
                out.string(member.name);
            }
            i += 1;
        }
        if !first {
            out.push("]");
        }
    }
}
