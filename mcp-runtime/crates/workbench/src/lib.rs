//! Configuration files of MCP clients: where they are, and how a server is added to them or removed.
//!
//! ```
//! use mcp_runtime_workbench::{ClientApp, Launch, ServerEntry};
//!
//! let launch = Launch::Process { command: "/opt/notes".to_owned(), args: Vec::new() };
//! let entry = ServerEntry { name: "notes".to_owned(), launch };
//! let text = ClientApp::Cursor.add(&entry, "").unwrap();
//! assert!(text.contains(r#""command": "/opt/notes""#));
//! ```

// `client_app` knows the clients, `entry` what they are told about a server, `place` where their files are, and `file` how the files are
// edited.

mod client_app;
mod difference;
mod entry;
mod file;
mod place;

pub use client_app::ClientApp;
pub use difference::difference;
pub use entry::{Launch, ServerEntry};
pub use file::EditError;
pub use place::{Home, Scope};

#[cfg(test)]
mod tests;
