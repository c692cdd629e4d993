//! HTTP transport: every protocol revision on one endpoint.
//!
//! Each message is routed on its own. A request of the modern era is stateless, and [ends when its client leaves](alone). Every other
//! message belongs to a [session](legacy), which survives its connections. Protocol revision 2024-11-05 has [two addresses of its
//! own](pair). An answer is one JSON message, unless other messages come before it or it takes long. The head of the response
//! [waits](source) until that is decided.

mod accept;
mod access;
mod alone;
mod answering;
mod body;
mod connection;
mod cors;
mod deadlines;
mod desk;
mod endpoint;
mod events;
#[cfg(feature = "auth")]
mod expiry;
mod forwarded;
#[cfg(feature = "auth")]
mod gate;
mod head;
mod legacy;
mod open;
mod pair;
mod place;
mod pulse;
mod quiet;
#[cfg_attr(not(feature = "stdio"), expect(dead_code, reason = "only `.run()` brings threads"))]
mod reactors;
mod read;
mod reply;
mod resumable;
#[cfg(feature = "axum")]
mod router;
#[cfg(feature = "stdio")]
mod run;
mod server;
mod service;
mod session;
mod source;
mod sse;
mod table;

pub use body::Body;
#[cfg(feature = "stdio")]
pub(crate) use run::{DEFAULT, address, run};
pub use server::HttpServer;
pub use service::HttpService;
