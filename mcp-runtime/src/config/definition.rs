//! Definition of a struct with `#[config]`.

use std::{any::TypeId, fmt};

use super::reader::ConfigReader;
use crate::{call::extract::Shared, item::SourceLocation};

/// Struct whose fields are options of the command line and environment variables. The attribute `#[config]` implements it.
///
/// The server reads the struct when it starts. Handlers take it as `&Config`, and a closure of [`setup`](crate::Builder::setup) as
/// `State<Config>`. In a test, give it to the server with [`state`](crate::Builder::state): the server then reads nothing.
///
/// ```
/// use std::path::PathBuf;
///
/// use mcp_runtime::prelude::*;
///
/// /// Settings of the file server.
/// #[config]
/// struct Config {
///     /// Directory to serve
///     root: PathBuf,
///     /// Key of the service
///     #[config(secret)]
///     api_key: Option<String>,
///     /// Attempts per request
///     #[config(default = 5)]
///     retries: u8,
/// }
///
/// /// Returns the directory that this server serves.
/// #[tool(read_only)]
/// fn root(config: &Config) -> String {
///     config.root.display().to_string()
/// }
///
/// fn is_configurable<T: mcp_runtime::extract::Configuration>() {}
///
/// is_configurable::<Config>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `#[config]`",
    label = "not read from the command line and the environment",
    note = "write `#[config]` above the struct"
)]
pub trait Configuration: Shared + Sized {
    /// Hands each field to the reader. Returns the struct if all fields have a value.
    #[doc(hidden)]
    fn read(from: &mut ConfigReader<'_>) -> Option<Self>;
}

/// Definition of a struct with `#[config]`. It can be built at compile time.
pub struct ConfigDef {
    /// Location of the struct. Its name is in place of the function.
    pub(crate) origin: SourceLocation,
    /// First line of the doc comment, or an empty text.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) about: &'static str,
    /// Start of the names of its variables, in place of the name of the server.
    pub(super) prefix: Option<&'static str>,
    pub(super) id: fn() -> TypeId,
    pub(super) read: fn(&mut ConfigReader<'_>),
}

impl ConfigDef {
    pub const fn new<T: Configuration>(
        origin: SourceLocation,
        about: &'static str,
        prefix: Option<&'static str>,
    ) -> Self {
        Self { origin, about, prefix, id: TypeId::of::<T>, read: read::<T> }
    }

    /// Returns the identity of the struct.
    pub(crate) fn id(&self) -> TypeId {
        (self.id)()
    }
}

fn read<T: Configuration>(from: &mut ConfigReader<'_>) {
    if let Some(made) = T::read(from) {
        from.made = Some(Box::new(|states| states.insert(made)));
    }
}

impl fmt::Debug for ConfigDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigDef({})", self.origin)
    }
}
