use std::sync::{Arc, OnceLock};

use super::refusal::Refusal;
use crate::limits::{Limit, Tally};

/// The counters of the server that these pages are a part of, once there is one: nobody is refused before.
#[derive(Clone, Default)]
pub(super) struct Counts(Arc<OnceLock<Arc<Tally>>>);

impl Counts {
    /// Those of somebody who looks at them.
    #[cfg(test)]
    pub(super) fn of_test() -> (Self, Arc<Tally>) {
        let (counts, tally) = (Self::default(), Arc::<Tally>::default());
        counts.are(tally.clone());
        (counts, tally)
    }

    pub(super) fn are(&self, tally: Arc<Tally>) {
        let _ = self.0.set(tally);
    }

    /// Somebody had to give way.
    pub(super) fn count(&self, limit: Limit) {
        if let Some(tally) = self.0.get() {
            tally.refuse_of(limit, "the authorization server");
        }
    }

    /// What whoever is one too many is told.
    pub(super) fn busy(&self, limit: Limit, why: &'static str) -> Refusal {
        self.count(limit);
        Refusal::busy(why)
    }
}
