//! Ids of pages that users are sent to, which tell a client later that its user has been there (ELIC-08).

use std::hash::{BuildHasher as _, RandomState};

/// An id that no server gives twice, and that nobody can guess who was not told it.
pub(super) fn elicitation_id() -> String {
    #[cfg(any(feature = "http", feature = "ask"))]
    {
        let mut bits = [0; 16];
        if getrandom::fill(&mut bits).is_ok() {
            return format!("{:032x}", u128::from_ne_bytes(bits));
        }
    }
    // Without these features the standard library's keys are the only randomness there is: each is another one, and secret.
    let half = || RandomState::new().hash_one(());
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ids_are_alike() {
        let ids: std::collections::BTreeSet<_> = (0..1000).map(|_| elicitation_id()).collect();
        assert_eq!(ids.len(), 1000);
        // Neither do they count up, nor do they begin with what is the same in one process.
        let starts: std::collections::BTreeSet<_> = ids.iter().map(|it| &it[..8]).collect();
        assert!(ids.iter().all(|it| it.len() == 32) && starts.len() > 990, "{}", starts.len());
    }
}
