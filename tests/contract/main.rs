//! What servers promise, and whether a change of it is noticed: the lock files of the examples, copies of `quickstart` with one
//! change each, and `assert_contract!` in a test of its own.

#![forbid(unsafe_code)]

mod asserted;
mod copies;
mod locks;
