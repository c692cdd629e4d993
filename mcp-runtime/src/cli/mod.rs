//! Command line of every server. Without arguments the program serves a client. The commands try out and check the server.

mod arguments;
mod check;
mod command;
mod exit;
mod http;
mod manifest;
mod person;
mod questions;
mod show;

pub use self::exit::Exit;
