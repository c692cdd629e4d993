//! The command `dev` of each server of mcp-runtime: builds the server after each change of its sources, and replaces it while its clients stay
//! connected.
//!
//! ```no_run
//! use std::{env, path::Path};
//!
//! use mcp_runtime_dev::{DevError, Launch, Project, serve_stdio};
//!
//! # async fn f() -> Result<(), DevError> {
//! let program = env::current_exe()?;
//! let project = Project::new(&program, Path::new("."), Vec::new())?;
//! serve_stdio(project, Launch::default(), tokio::io::empty(), tokio::io::sink()).await
//! # }
//! ```

// `project` knows the program and its sources. `watch`, `cargo` and `builds` build it, `copies` and `process` run it. `message` and `record`
// contain the parts of the protocol that this crate has to know. `conversation` is the state of a client over stdio, and `http` serves clients
// over HTTP.

mod builds;
mod cargo;
mod conversation;
mod copies;
mod error;
#[cfg(feature = "http")]
mod http;
mod message;
mod process;
mod project;
mod record;
mod stdio;
mod watch;

pub use error::DevError;
#[cfg(feature = "http")]
pub use http::{KeptFile, ServerAddress, Supervisor, serve_http};
pub use process::Launch;
pub use project::Project;
pub use stdio::serve_stdio;
