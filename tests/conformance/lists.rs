//! Scenarios that `everything` cannot pass yet, under the names that the suite gives them. Every other scenario must pass, even if the
//! suite does not score it.

/// Groups of scenarios, each with the reason why they cannot pass yet.
pub(crate) type NotYet = &'static [(&'static [&'static str], &'static str)];

/// Revisions for which the suite has requirements, each with its list.
pub(crate) const REVISIONS: [(&str, NotYet); 2] = [("2025-11-25", LEGACY), ("2026-07-28", MODERN)];

const LEGACY: NotYet = &[];

const MODERN: NotYet =
    &[(&["tasks-status-notifications"], "the suite skips it, whatever the server does")];
