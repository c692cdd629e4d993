//! Resources that a running call holds: a permit of its item, and the bytes of a large request.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::gate::Permit;

/// Permit and bytes that a call holds while it runs. Most calls have neither.
#[derive(Default)]
pub(crate) struct Reservation {
    permit: Option<Permit>,
    /// Size of the request, which the handler may keep in memory.
    request: Option<TakenBytes>,
}

impl Reservation {
    pub(crate) fn new(permit: Option<Permit>, request: Option<TakenBytes>) -> Self {
        Self { permit, request }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.permit.is_none() && self.request.is_none()
    }
}

/// Number of bytes that all holders together have taken.
#[derive(Debug, Default)]
pub(crate) struct ByteBudget(AtomicUsize);

/// Bytes that one holder has taken from a budget. Dropping the value returns them.
#[derive(Debug, Default)]
pub(crate) struct TakenBytes {
    budget: Option<Arc<ByteBudget>>,
    bytes: usize,
}

impl TakenBytes {
    /// Takes more bytes, unless all holders together would then have more than `most`. Returns whether the bytes were taken.
    #[must_use]
    pub(crate) fn grow(&mut self, budget: &Arc<ByteBudget>, bytes: usize, most: usize) -> bool {
        let budget = self.budget.get_or_insert_with(|| budget.clone());
        let grown = |all: usize| all.checked_add(bytes).filter(|all| *all <= most);
        let is_taken = budget.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, grown).is_ok();
        if is_taken {
            self.bytes += bytes;
        }
        is_taken
    }

    /// Takes more bytes, even beyond the maximum. The caller of this function has to ensure that other holders are about to return as many
    /// bytes.
    #[cfg(feature = "http")]
    pub(crate) fn grow_over(&mut self, budget: &Arc<ByteBudget>, bytes: usize) {
        self.budget.get_or_insert_with(|| budget.clone()).0.fetch_add(bytes, Ordering::AcqRel);
        self.bytes += bytes;
    }

    /// Returns bytes to the budget, but no more than were taken.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Some(budget) = &self.budget {
            let bytes = bytes.min(self.bytes);
            self.bytes -= bytes;
            budget.0.fetch_sub(bytes, Ordering::AcqRel);
        }
    }
}

impl Drop for TakenBytes {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_holders_together_take_no_more_than_the_budget() {
        let budget = Arc::<ByteBudget>::default();
        let [mut one, mut other] = [TakenBytes::default(), TakenBytes::default()];
        assert!(
            one.grow(&budget, 6, 10) && !other.grow(&budget, 5, 10) && other.grow(&budget, 4, 10)
        );
        assert!(!one.grow(&budget, usize::MAX, 10));
        one.shrink(1);
        assert!(other.grow(&budget, 1, 10) && !one.grow(&budget, 1, 10));
        drop(other);
        assert!(one.grow(&budget, 5, 10) && !one.grow(&budget, 1, 10));
    }
}
