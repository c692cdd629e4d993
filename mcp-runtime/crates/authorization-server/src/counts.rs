use std::sync::{Arc, OnceLock};

use super::refusal::Refusal;
use mcp_runtime::{__companion::Tally, Limit};

/// Refusal counters of the server, available once the server has started. Before that, no request can be refused.
#[derive(Clone, Default)]
pub(crate) struct Counts(Arc<OnceLock<Arc<Tally>>>);

impl Counts {
    /// Returns counters, with the tally for a test to read.
    #[cfg(test)]
    pub(crate) fn of_test() -> (Self, Arc<Tally>) {
        let (counts, tally) = (Self::default(), Arc::<Tally>::default());
        counts.are(tally.clone());
        (counts, tally)
    }

    pub(crate) fn are(&self, tally: Arc<Tally>) {
        let _ = self.0.set(tally);
    }

    /// Counts a refusal or an eviction.
    pub(crate) fn count(&self, limit: Limit) {
        if let Some(tally) = self.0.get() {
            tally.refuse_of(limit, "the authorization server");
        }
    }

    /// Counts a refusal and returns it.
    pub(crate) fn busy(&self, limit: Limit, why: &'static str) -> Refusal {
        self.count(limit);
        Refusal::busy(why)
    }
}
