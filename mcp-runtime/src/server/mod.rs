//! Server that has passed its checks or has started: identity, settings, and the services that all connections share. The
//! [`builder`](crate::builder) creates the server. The protocol and the transports serve it.

#[cfg(feature = "http")]
mod http;
mod identity;
mod lifecycle;
#[cfg(feature = "http")]
mod network;

#[cfg(feature = "http")]
pub(crate) use http::HttpSettings;
#[cfg(feature = "playground")]
pub(crate) use http::Playground;
#[cfg(all(feature = "http", feature = "stdio"))]
pub(crate) use http::parse_time;
#[cfg(feature = "http")]
pub(crate) use http::{host_problem, origin_problem, path_problem};
pub use identity::Identity;
pub use lifecycle::Server;
pub(crate) use lifecycle::{ShutdownHook, Started, StateInsert, StateSetup};
#[cfg(feature = "http")]
pub(crate) use network::{Network, written_address};
