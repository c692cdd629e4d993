use super::Limit;

/// What a server is doing and has refused: [`Handle::stats`](crate::Handle::stats).
///
/// ```
/// use mcp_runtime::{Limit, prelude::*};
///
/// /// How busy the server is.
/// #[tool]
/// fn load(server: Handle) -> String {
///     let stats = server.stats();
///     format!("{} calls wait, {} were too many", stats.calls(), stats.refused(Limit::AllCalls))
/// }
/// # fn main() {}
/// ```
///
/// It has all that [`Limits`](crate::Limits) names, the items with a `rate` or a `concurrency`, and what an `AuthorizationServer` has refused:
/// attempts to log in, registrations and what there was no room for.
///
/// Numbers are counted each for itself, so that two of them need not be of the same moment.
#[derive(Clone, Debug)]
pub struct Stats {
    pub(crate) calls: usize,
    pub(crate) refused: Vec<(Limit, u64)>,
    pub(crate) items: Vec<ItemStats>,
}

/// What an item with `rate` or `concurrency` has refused.
#[derive(Clone, Debug)]
pub struct ItemStats {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) rate: u64,
    pub(crate) concurrency: u64,
}

impl Stats {
    /// Calls that wait for their handlers now, of all clients together.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// How often this limit has refused something since the server started.
    pub fn refused(&self, limit: Limit) -> u64 {
        self.refused.iter().find(|it| it.0 == limit).map_or(0, |it| it.1)
    }

    /// Every limit, with how often it has refused something.
    pub fn all_refused(&self) -> impl Iterator<Item = (Limit, u64)> {
        self.refused.iter().copied()
    }

    /// The items there are now that have a `rate` or a `concurrency`.
    pub fn items(&self) -> &[ItemStats] {
        &self.items
    }
}

impl ItemStats {
    /// `"tool"`, `"resource"` or `"prompt"`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The name of the item.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls that came too often.
    pub fn too_often(&self) -> u64 {
        self.rate
    }

    /// Calls beyond those that may run at once.
    pub fn too_many(&self) -> u64 {
        self.concurrency
    }
}
