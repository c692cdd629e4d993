//! Redis and Valkey as the store of MCP servers built with [`mcp_runtime`].
//!
//! ```no_run
//! use mcp_runtime_redis::Redis;
//!
//! let store = Redis::new("redis://cache.example.com:6379").prefix("notes:");
//! let server = mcp_runtime::server!().store(store);
//! ```
//!
//! Servers with the same Redis and the same prefix act as nodes of one server: each of them takes any request, and continues calls, sessions,
//! tasks and logins that another has begun.
//!
//! A server without `.store(…)` uses the Redis that the environment variable `MCP_REDIS_URL` names, with the prefix `<name of the server>:`.
//! Rust links a crate only if the program mentions it, so such a program has this line:
//!
//! ```
//! use mcp_runtime_redis as _;
//! ```
//!
//! Tasks and logins survive a restart of the server as far as Redis keeps its own data: with `appendonly yes`, Redis
//! loses at most the last second of writes when it crashes, and with `appendfsync always` none.
//!
//! Redis 6.2 or later is required. Valkey works as well.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `tls` | URLs that begin with `rediss` |

// A transaction is a script that runs inside Redis (`script`), on a connection that is replaced when it breaks (`connection`). `subscriber`
// has the connection on which Redis announces new events, `mailbox` keeps them for a follower, and `follower` reads the others.

// On the documentation site, which builds with a nightly compiler, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod connection;
mod follower;
mod mailbox;
mod redis_core;
mod redis_store;
mod script;
mod subscriber;

pub use redis_store::Redis;
