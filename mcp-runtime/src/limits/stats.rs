use super::Limit;

/// Counts of the calls and the refusals of a server: [`Handle::stats`](crate::Handle::stats).
///
/// ```
/// use mcp_runtime::{Limit, prelude::*};
///
/// /// How busy the server is.
/// #[tool]
/// fn load(server: Handle) -> String {
///     let stats = server.stats();
///     format!("{} calls wait, {} were too many", stats.calls(), stats.refused(Limit::MaxTotalCalls))
/// }
/// # fn main() {}
/// ```
///
/// The refusals are those of the [`Limits`](crate::Limits), of items with a `rate` or a `concurrency`, and of an `AuthorizationServer`. The
/// last are login attempts, registrations, and requests for which there was no room.
///
/// Each number is counted on its own, so two of them may belong to different moments.
#[derive(Clone, Debug)]
pub struct Stats {
    pub(crate) calls: usize,
    pub(crate) refused: Vec<(Limit, u64)>,
    pub(crate) items: Vec<ItemStats>,
}

/// Refusals of an item with `rate` or `concurrency`.
#[derive(Clone, Debug)]
pub struct ItemStats {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) rate: u64,
    pub(crate) concurrency: u64,
}

impl Stats {
    /// Returns the number of calls that wait for their handlers now, of all clients together.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Returns how often this limit has refused something since the server started.
    pub fn refused(&self, limit: Limit) -> u64 {
        self.refused.iter().find(|it| it.0 == limit).map_or(0, |it| it.1)
    }

    /// Returns every limit, with how often it has refused something.
    pub fn all_refused(&self) -> impl Iterator<Item = (Limit, u64)> {
        self.refused.iter().copied()
    }

    /// Returns the current items that have a `rate` or a `concurrency`.
    pub fn items(&self) -> &[ItemStats] {
        &self.items
    }
}

impl ItemStats {
    /// Returns the kind of the item: `"tool"`, `"resource"` or `"prompt"`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the name of the item.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of calls that were refused by the `rate`, because they came too often.
    pub fn too_often(&self) -> u64 {
        self.rate
    }

    /// Returns the number of calls that were refused by the `concurrency`, because too many were running.
    pub fn too_many(&self) -> u64 {
        self.concurrency
    }
}
