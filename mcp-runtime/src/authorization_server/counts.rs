use std::sync::{Arc, OnceLock};

use super::refusal::Refusal;
use crate::limits::{Limit, RefusalCounters};

/// Refusal counters of the server, available once the server has started. Before that, no request can be refused.
#[derive(Clone, Default)]
pub(super) struct Counts(Arc<OnceLock<Arc<RefusalCounters>>>);

impl Counts {
    /// Returns counters, with the tally for a test to read.
    #[cfg(test)]
    pub(super) fn of_test() -> (Self, Arc<RefusalCounters>) {
        let (counts, tally) = (Self::default(), Arc::<RefusalCounters>::default());
        counts.are(tally.clone());
        (counts, tally)
    }

    pub(super) fn are(&self, tally: Arc<RefusalCounters>) {
        let _ = self.0.set(tally);
    }

    /// Counts a refusal or an eviction.
    pub(super) fn count(&self, limit: Limit) {
        if let Some(tally) = self.0.get() {
            tally.refuse_of(limit, "the authorization server");
        }
    }

    /// Counts a refusal and returns it.
    pub(super) fn busy(&self, limit: Limit, why: &'static str) -> Refusal {
        self.count(limit);
        Refusal::busy(why)
    }
}
