//! Configuration files of MCP clients: where they are, and how a server is added to them or removed.
//!
//! ```
//! use mcp_runtime_workbench::{ClientApp, Launch, ServerEntry};
//!
//! let (command, args, env) = ("/opt/notes".to_owned(), Vec::new(), Vec::new());
//! let launch = Launch::Process { command, args, env };
//! let entry = ServerEntry { name: "notes".to_owned(), launch };
//! let text = ClientApp::Cursor.add(&entry, "").unwrap();
//! assert!(text.contains(r#""command": "/opt/notes""#));
//! ```

// `client_app` knows the clients, `place` where their files are, and `entry` what they are told about a server. `edit` changes a file of one of
// the three forms.

mod client_app;
mod edit;
mod entry;
mod json_file;
mod place;
mod toml_file;
mod yaml_file;

pub use client_app::ClientApp;
pub use edit::difference;
pub use entry::{EditError, Launch, ServerEntry, Variable, VariableValue};
pub use place::{Home, Scope};

#[cfg(test)]
mod tests;
