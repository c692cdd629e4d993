//! Behaviour that the author of a server can rely on, tested by a client in the same process. Most tests run in both eras: with a client
//! that makes a handshake, and with one that makes none.
//!
//! Every module declares its items as an author does. The items of all modules are in one binary, so each test selects the items that it
//! serves with `items![…]` or a group.

// A handler takes its arguments by value, even if a reference would be enough.
#![allow(clippy::needless_pass_by_value)]

mod static_schemas;
mod stores;
mod support;
mod tasks;

mod added_schemas;
mod args_struct;
mod arguments;
mod around;
mod asking;
mod asks;
mod blocking;
#[cfg(feature = "auth")]
mod callers;
mod cancellation;
mod completion;
mod config;
mod constraints;
mod faulty_store;
mod groups;
mod handle;
#[cfg(feature = "http")]
mod http;
mod kept;
mod large_requests;
#[cfg(feature = "client-log")]
mod logging;
mod max_result;
mod meta;
mod methods;
mod nodes;
mod nodes_limits;
#[cfg(feature = "http")]
mod nodes_sse;
mod nodes_states;
mod nodes_tasks;
mod pages;
mod pagination;
mod progress;
mod prompts;
mod rates;
mod replay;
mod resources;
mod results;
#[cfg(feature = "auth")]
mod rights;
mod rounds;
mod server_values;
mod shared_store;
mod state;
mod test_client;
mod timeouts;
mod unknown_arguments;
