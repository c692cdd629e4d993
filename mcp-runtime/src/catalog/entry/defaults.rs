//! The server's word, where an item has none of its own.

use super::{Entry, EntryKind};
use crate::{limits::Wanted, schema::SchemaProfile};

impl Entry {
    /// Gives a tool that says nothing of its own the server's profile. To be said before anybody is told its schemas.
    pub(crate) fn default_profile(&mut self, profile: SchemaProfile) {
        if let EntryKind::Tool(tool) = &mut self.kind {
            let before = tool.profile();
            tool.server_profile = profile;
            if tool.profile() != before {
                (tool.made_input, tool.made_output) = Default::default();
            }
        }
    }

    /// Lets callers in as the item says, or else the server. Completions run as often as people type.
    pub(crate) fn default_wanted(&mut self, server: Wanted) {
        if !matches!(self.kind, EntryKind::Completion { .. }) {
            self.gate = self.wanted.or(server).gate();
        }
    }

    /// Lets callers in whom the server's policies let in, where it has some. Completions belong to what they complete.
    #[cfg(feature = "auth")]
    pub(crate) fn default_guard(&mut self, guards_all: bool) {
        if guards_all && !matches!(self.kind, EntryKind::Completion { .. }) {
            self.guard.get_or_insert_default();
        }
    }
}
