//! Whole server processes over real pipes, and what a client sees when tools, clients or streams misbehave.
//!
//! Every wait has a deadline. Bounds are about twenty times the expected time, so only a hang exceeds them, and not a slow machine.

#![cfg(unix)]
#![forbid(unsafe_code)]

mod closed;
mod command_line;
mod ending;
mod flow;
mod framing;
mod logs;
mod merged;
mod noise;
mod questions;
mod server;
mod terminal;
