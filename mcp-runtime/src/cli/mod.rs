//! Command line of every server. Without arguments the program serves a client. With a command it tries out or checks the server instead.

mod arguments;
#[cfg(feature = "workbench")]
mod bundle;
mod check;
#[cfg(feature = "workbench")]
mod clients;
mod command;
#[cfg(feature = "workbench")]
mod complete;
#[cfg(feature = "workbench")]
mod completions;
#[cfg(feature = "workbench")]
mod dev;
mod exit;
mod http;
#[cfg(all(feature = "auth", feature = "workbench"))]
mod kept;
mod manifest;
#[cfg(feature = "workbench")]
mod overview;
mod person;
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

pub use self::exit::Exit;
