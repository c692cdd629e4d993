//! Whole servers over real connections. The tests check the answers that other clients get, and the memory that the server uses, while one
//! client is slow, disconnects, requests too much or does not read. They also cover shutdown, and a new process that takes over from an old
//! one.
//!
//! Every wait has a deadline that only a hang exceeds, even on a slow machine. Tests assert upper bounds of times only on
//! tokio's clock. `support::clock` has the functions to wait with.

#![forbid(unsafe_code)]

mod attack;
mod authorization;
mod authorization_server;
mod banner;
mod bodies;
mod browser;
mod budgets;
mod client;
mod connections;
mod crowd;
mod delegation;
mod documents;
mod drain;
mod eras;
mod exchange;
mod expiry;
mod files;
mod fleet;
mod flood;
mod hostile;
mod idle;
mod issuer;
mod killed_node;
mod listening;
mod logged;
mod login;
mod logins;
mod mounted;
mod nodes;
mod owners;
mod pages;
mod pair;
mod panics;
mod phishing;
mod places;
mod principals;
mod provider;
mod proxies;
mod rates;
mod refused;
mod rounds;
mod scopes;
mod server;
mod sessions;
mod shared_logins;
mod shared_sessions;
mod shared_sessions_copies;
mod shared_streams;
mod shares;
mod shutdown;
mod slow;
mod tasks;
mod tls;
mod tokens;
mod two_users;
mod two_users_at_nodes;
mod unread;
mod vanish;
mod visible;
mod withdrawn;
mod working;
mod wrapped;

fn main() -> std::process::ExitCode {
    support::harness::run()
}
