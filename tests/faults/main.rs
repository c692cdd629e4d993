//! Whole servers over real connections: what other clients see, and what it costs, when one client is slow, leaves, asks for
//! too much or does not read, and when the process is asked to end, or another one takes its place.
//!
//! Every wait has a deadline, which tells an answer from a hang, never a fast machine from a slow one. Tests assert lower bounds of
//! times only: `support::clock` says how to wait.

#![cfg(unix)]
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
mod eras;
mod exchange;
mod expiry;
mod files;
mod fleet;
mod flood;
mod hostile;
mod issuer;
mod listening;
mod login;
mod logins;
mod mounted;
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
mod shares;
mod shutdown;
mod slow;
mod tasks;
mod tls;
mod tokens;
mod two_users;
mod unread;
mod vanish;
mod visible;
mod withdrawn;
mod working;
mod wrapped;
