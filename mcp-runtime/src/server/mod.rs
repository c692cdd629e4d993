//! A server that has been checked, and the same server once it runs: its identity, its settings, and the services that all of its
//! connections share. The [`builder`](crate::builder) makes it; protocol and transports serve it.

#[cfg(feature = "http")]
mod http;
mod identity;
mod lifecycle;
#[cfg(feature = "http")]
mod network;

#[cfg(feature = "http")]
pub(crate) use http::HttpSettings;
#[cfg(feature = "http")]
pub(crate) use http::{host_problem, origin_problem, path_problem};
pub use identity::Identity;
pub use lifecycle::Server;
pub(crate) use lifecycle::{ShutdownHook, Started, StateInsert, StateSetup};
#[cfg(feature = "http")]
pub(crate) use network::{Network, written_address};
