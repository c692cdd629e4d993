//! Writes the members of a struct.

use super::{Members, write};
use crate::schema::{
    compatible::Side,
    constant::{
        alike::is_before,
        node::{Node, Object, What},
        write::Out,
    },
};

impl Node {
    /// Writes the members of a struct into another object.
    pub(crate) const fn write_members(&self, out: &mut Out<'_>, first: &mut bool) {
        if let What::Object(object) = self.what {
            object.write_members(out, first, Side::Argument, None);
        }
    }
}

impl Object {
    /// Writes the members sorted by name, with the tag of a variant among them.
    const fn write_members(
        &self,
        out: &mut Out<'_>,
        first: &mut bool,
        side: Side,
        mut tag: Option<(&str, &str)>,
    ) {
        let mut i = 0;
        while i <= self.members.len() {
            if let Some((key, name)) = tag
                && (i == self.members.len() || is_before(key, self.members[i].name))
            {
                tag = None;
                out.comma(first);
                out.string(key);
                out.push(r#":{"enum":["#);
                out.string(name);
                out.push(r#"],"type":"string"}"#);
            }
            if i < self.members.len() {
                let member = &self.members[i];
                out.comma(first);
                out.string(member.name);
                out.push(":");
                write(out, &member.node, side, &member.notes());
            }
            i += 1;
        }
    }

    pub(super) const fn properties(
        &self,
        out: &mut Out<'_>,
        object: &mut Members,
        side: Side,
        tag: Option<(&str, &str)>,
    ) {
        if !self.members.is_empty() || tag.is_some() {
            object.key(out, "properties");
            out.push("{");
            self.write_members(out, &mut true, side, tag);
            out.push("}");
        }
        let mut first = true;
        let mut i = 0;
        while i < self.declared.len() {
            let member = &self.members[self.declared[i]];
            if member.is_required(side) {
                self.required(out, object, &mut first, member.name);
            }
            i += 1;
        }
        if let Some((key, _)) = tag {
            self.required(out, object, &mut first, key);
        }
        if !first {
            out.push("]");
        }
    }

    const fn required(
        &self,
        out: &mut Out<'_>,
        object: &mut Members,
        first: &mut bool,
        name: &str,
    ) {
        if *first {
            object.key(out, "required");
            out.push("[");
        }
        out.comma(first);
        out.string(name);
    }
}
