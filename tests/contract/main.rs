//! Contracts of servers, and the reports of their changes. The tests use the lock files of the examples, copies of `quickstart` that each
//! have one change, and `assert_contract!`.

#![forbid(unsafe_code)]

mod asserted;
mod copies;
mod literals;
mod locks;

fn main() -> std::process::ExitCode {
    support::harness::run()
}
