//! Defaults of the server, for items that set nothing of their own.

use super::{Entry, EntryKind};
use crate::{limits::RateConfig, schema::SchemaProfile};

impl Entry {
    /// Sets the server's schema profile, for a tool that has none. It must be called before the schemas are published.
    pub(crate) fn default_profile(&mut self, profile: SchemaProfile) {
        if let EntryKind::Tool(tool) = &mut self.kind {
            let before = tool.profile();
            tool.server_profile = profile;
            if tool.profile() != before {
                (tool.made_input, tool.made_output) = Default::default();
            }
        }
    }

    /// Sets the gate from the item's rate and concurrency, or else from the server's. Completions have no gate, because they run as often
    /// as users type.
    pub(crate) fn default_wanted(&mut self, server: RateConfig) {
        if !matches!(self.kind, EntryKind::Completion { .. }) {
            self.gate = self.wanted.or(server).gate();
        }
    }

    /// Restricts access to the item if the server has policies. Completions need no guard, because the item that they complete has one.
    #[cfg(feature = "auth")]
    pub(crate) fn default_guard(&mut self, guards_all: bool) {
        if guards_all && !matches!(self.kind, EntryKind::Completion { .. }) {
            self.guard.get_or_insert_default();
        }
    }
}
