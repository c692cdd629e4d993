//! The builder that `server!()` returns: the settings of a server, and all checks before the server starts.

mod arguments;
#[cfg(feature = "auth")]
mod auth;
mod build;
mod check;
#[cfg(not(all(feature = "stdio", feature = "axum", feature = "auth", feature = "state-key")))]
mod disabled;
#[cfg(feature = "http")]
mod http;
mod serve;
mod settings;

#[cfg(feature = "stdio")]
pub(crate) use arguments::CallSite;
pub use arguments::{Items, Made, Opening, Setup, Size, items, named};
pub use settings::{Builder, builder};
