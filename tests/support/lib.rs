//! Helpers shared by the whole-server suites beside this folder.
//!
//! - [`browser`]: a user who logs in and agrees to an authorization.
//! - [`clock`]: waiting for conditions, measuring time, and controlling the clock.
//! - [`cluster`]: several nodes of a server that share a Redis, behind nginx.
//! - [`examples`]: the example servers, built once per test binary.
//! - [`schema`]: validates a server's messages against the official schema of their revision.
//! - [`transcript`], [`pattern`], [`replay`]: recorded conversations, and their replay against a server.
//! - [`http`]: recorded conversations over HTTP, and a client that can send any bytes.
//! - [`server`]: a server for clients that are processes of their own.
//! - [`slow`]: a slow network between two programs.
//! - [`install`], [`node`], [`crates_io`]: third-party programs, which are installed into `target` at pinned versions.
//! - [`process`]: servers and clients as processes that end with the test.
//! - [`proxy`]: passes requests to several servers in turn.
//! - [`python`]: programs from PyPI.
//! - [`redis`]: a Redis server of a test.
//! - [`harness`]: runs the tests of a suite.
//! - [`requirement`]: programs and packages that a test needs. Without them it is ignored, and fails under CI.

#![forbid(unsafe_code)]

pub use mcp_tests_attribute::test;

pub mod accepted;
pub mod browser;
pub mod clock;
#[cfg(unix)]
pub mod cluster;
pub mod crates_io;
pub mod examples;
pub mod harness;
pub mod http;
pub mod install;
mod judge;
pub mod node;
pub mod pattern;
pub mod process;
pub mod proxy;
pub mod python;
#[cfg(unix)]
pub mod redis;
pub mod replay;
pub mod requirement;
pub mod schema;
pub mod server;
pub mod slow;
pub mod transcript;
