//! The builder that `server!()` returns: the settings of a server, and all checks before the server starts.

// The documentation shows the methods of `Builder` in the order of these modules.
mod settings;

#[cfg(feature = "http")]
mod http;

#[cfg(feature = "auth")]
mod auth;

mod build;
mod serve;

mod arguments;
mod check;
#[cfg(not(all(feature = "stdio", feature = "axum", feature = "auth", feature = "state-key")))]
mod disabled;

#[cfg(feature = "stdio")]
pub(crate) use arguments::CallSite;
pub use arguments::{Items, Made, Opening, Setup, Size, items, named};
pub use settings::{Builder, builder};
