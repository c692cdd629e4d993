//! Contracts of servers, and the reports of their changes: the lock files of the examples, copies of `quickstart` with one change
//! each, and `assert_contract!` in a test of its own.

#![forbid(unsafe_code)]

mod asserted;
mod copies;
mod literals;
mod locks;
