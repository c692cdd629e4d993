//! Structs with `#[config]`: what the attribute generates, and how a server gets their values from its command line and environment.
//!
//! The attribute generates one function for each struct, which hands each field to a [`ConfigReader`]. The reader either describes the
//! fields, for `--help`, or finds their values. This room knows no command line: the values that were given there are in a
//! [`ConfigPlan`].

mod definition;
mod parser;
mod plan;
mod reader;

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use definition::MCP_RUNTIME_CONFIGS_0;
pub(crate) use definition::registered;
pub use definition::{ConfigDef, Configuration};
pub use parser::{ConfigProbe, ConfigValueLevel, UnfitConfigLevel};
#[cfg(feature = "stdio")]
pub(crate) use plan::ConfigFieldView;
pub(crate) use plan::ConfigPlan;
#[cfg(all(test, feature = "stdio"))]
pub(crate) use plan::RESERVED;
#[cfg(feature = "workbench")]
pub(crate) use reader::ConfigPath;
pub(crate) use reader::GivenValues;
#[cfg(feature = "stdio")]
pub(crate) use reader::is_unchosen;
pub use reader::{ConfigField, ConfigReader};
