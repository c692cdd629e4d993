//! Parts of the commands for authors of servers: configuration files of MCP clients, bundles, entries of the registry, and recorded sessions.
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

// Recorded sessions have the form of `transcript`. `redaction` removes secrets from them, `removals` counts these
// secrets, and `comparison` compares recorded messages with new ones.
//
// Configuration files: `client_app` knows the clients, `place` where their files are, and `entry` contains the facts about a server. `note` tells
// the user what a client makes of an entry. `edit` changes a file of one of the three forms, and `replacement` writes it.
//
// Publication: `setting` describes a value that clients ask their users for. `mcpb` writes a `bundle`, and `server_json` writes an entry of
// the registry under a `registry_name`.
//
// Output: `screen` knows the terminal, `painted` lays out texts for it, and `status` replaces a line in place. `shell` has the scripts with which
// shells complete the command line.

mod bundle;
mod client_app;
mod comparison;
mod edit;
mod entry;
mod json_file;
mod mcpb;
mod note;
mod painted;
mod place;
mod redaction;
mod registry_name;
mod removals;
mod replacement;
mod screen;
mod server_json;
mod setting;
mod shell;
mod status;
mod toml_file;
mod transcript;
mod yaml_file;

pub use bundle::{Bundle, BundleIcon, BundlePlatform, BundledPrompt, BundledTool};
pub use client_app::ClientApp;
pub use comparison::{Comparison, Difference};
pub use edit::difference;
pub use entry::{EditError, Launch, ServerEntry, Variable, VariableValue};
pub use mcpb::ArchiveError;
pub use painted::{ListedItem, bar};
pub use place::{Home, Scope, System};
pub use redaction::{REMOVED, Redaction, Removal};
pub use registry_name::{ReadmeProblem, RegistryName, RegistryNameError};
pub use removals::Removals;
pub use replacement::{FolderLock, Replaced, Replacement};
pub use screen::{Screen, columns, cut};
pub use server_json::{
    EntryProblem, RegistryEntry, RegistryIcon, RegistryTarget, SourceRepository,
};
pub use setting::{Setting, SettingKind};
pub use shell::{Shell, Suggestion};
pub use status::{LogStderr, StatusText};
pub use transcript::{Sender, Transcript, TranscriptError, TranscriptLine, recorded};

#[cfg(test)]
mod tests;
