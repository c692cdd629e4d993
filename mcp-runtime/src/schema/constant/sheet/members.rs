//! Writer of a JSON object.

use crate::schema::{Edge, constant::write::Out};

/// Writes the members of a JSON object.
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
