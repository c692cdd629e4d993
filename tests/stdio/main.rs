//! Tests of whole server processes over real pipes, with tools, clients and streams that misbehave.
//!
//! Every wait has a deadline. Each deadline is about twenty times the expected time, so that a hang exceeds it and a slow machine does not.

#![forbid(unsafe_code)]

mod accepted;
mod checks;
mod clients_set_up;
mod closed;
mod command_line;
mod completions;
mod configuration;
mod database;
mod diary;
mod ending;
mod flow;
mod framing;
mod help;
mod home;
mod logs;
mod merged;
mod noise;
mod published;
mod questions;
mod recorded;
mod server;
mod styled;
mod terminal;
mod unread;

fn main() -> std::process::ExitCode {
    support::harness::run()
}
