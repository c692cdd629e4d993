//! Command line of every server. Without arguments the program serves a client. With a command it tries out or checks the server instead.

mod arguments;
#[cfg(feature = "workbench")]
mod bundle;
mod check;
#[cfg(feature = "workbench")]
mod clients;
mod command;
mod commands;
#[cfg(feature = "workbench")]
mod complete;
#[cfg(feature = "workbench")]
mod completions;
#[cfg(feature = "workbench")]
mod dev;
mod exit;
mod help;
#[cfg(feature = "http")]
mod http;
#[cfg(not(feature = "http"))]
#[path = "no_http.rs"]
mod http;
#[cfg(all(feature = "auth", feature = "workbench"))]
mod kept;
mod lists;
mod manifest;
mod missing;
mod option;
mod person;
#[cfg(not(feature = "workbench"))]
mod plain_screen;
#[cfg(feature = "playground")]
mod playground;
#[cfg(feature = "workbench")]
mod published;
mod questions;
#[cfg(all(feature = "workbench", feature = "http"))]
mod ready;
#[cfg(feature = "workbench")]
mod record;
mod run;
mod screen;
#[cfg(feature = "workbench")]
mod server_json;
#[cfg(feature = "workbench")]
mod settings;
mod show;
mod status;
#[cfg(feature = "workbench")]
mod suggestions;
mod trial;
mod unknown;

pub use self::exit::Exit;
