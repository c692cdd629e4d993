//! Structs with `#[config]`: what the attribute generates, and how a server gets their values from its command line and environment.
//!
//! The attribute generates one function for each struct, which hands each field to a [`ConfigReader`]. The reader either describes the
//! fields, for `--help`, or finds their values. `options` reads values from the command line.

mod definition;
#[cfg(feature = "stdio")]
mod options;
mod parser;
mod plan;
mod reader;
mod registration;

pub use definition::{ConfigDef, Configuration};
#[cfg(feature = "workbench")]
pub(crate) use options::is_option;
#[cfg(feature = "stdio")]
pub(crate) use options::{HelpSection, OwnOptions, needs_value, value_of_option};
pub use parser::{ConfigChoice, ConfigProbe, ConfigValueLevel, UnfitConfigLevel};
#[cfg(feature = "workbench")]
pub(crate) use plan::ConfigFieldView;
#[cfg(all(test, feature = "stdio"))]
pub(crate) use plan::RESERVED;
pub(crate) use reader::GivenValues;
pub use reader::{ConfigField, ConfigReader};
#[cfg(feature = "workbench")]
pub(crate) use reader::{ConfigPath, is_chosen};
pub use registration::ConfigRegistration;
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use registration::MCP_RUNTIME_CONFIGS_0;
pub(crate) use registration::{DeclaredConfig, registered};
