//! Whole server processes over real pipes: what the client sees when tools, clients and streams misbehave.
//!
//! Every wait has a deadline, and bounds are about twenty times what they should be: they tell an answer from a hang,
//! never a fast machine from a slow one.

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
