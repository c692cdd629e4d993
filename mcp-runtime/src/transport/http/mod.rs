//! HTTP transport: every protocol revision on one endpoint.
//!
//! Each message is routed on its own. A request of the modern era is stateless, and [ends when its client disconnects](stateless). Every
//! other message belongs to a [session](session_requests), which survives its connections. Protocol revision 2024-11-05 has [two addresses
//! of its own](legacy_sse).
//!
//! A response is one JSON message by default. It is a stream of events if other messages precede the response message, or if the call takes
//! long. The server [delays](answer_source) the head of the response until the form is known.
//!
//! The modules follow the path of a request. Each module uses only modules of its own line and of the lines above it:
//!
//! 1. Contents of a request: [`head`], [`access`], [`route`].
//! 2. State that outlives a request: the [`session`] with its [`sse`] streams and their `expiry`, in a [`session_table`];
//!    [`open_connections`]; the [`endpoint`], which all connections share, and the [`connection_state`].
//! 3. Answer to a request: [`answer_source`], [`body`], [`reply`].
//! 4. Steps before the message is handled: the token (`token_gate`) and the [`request_body`].
//! 5. The eras: [`stateless`], [`session_requests`], [`legacy_sse`].
//! 6. Sessions of several nodes: their records ([`shared_sessions`], `session_copy`, `session_message`, `session_places`) and the logs of
//!    their streams ([`stream_log`], `log_memory`, [`shared_stream`]) belong to line 2, their copies ([`shared_copies`]) to line 4, their
//!    requests ([`shared_requests`]) to line 5. The nodes of HTTP+SSE streams ([`sse_owners`]) belong to line 2, messages for them to line 5
//!    ([`sse_relay`], [`sse_inbox`]).
//! 7. The whole path: [`request`]. Requests come from a [`connection`] of the [`server`], or from an application through the [`service`].
//!    With `--http`, connections run on [`reactors`].

mod access;
mod answer_source;
mod body;
#[cfg(feature = "stdio")]
mod command_line;
mod connection;
mod connection_state;
mod endpoint;
#[cfg(feature = "auth")]
mod expiry;
mod head;
mod legacy_sse;
mod log_memory;
mod open_connections;
#[cfg(feature = "playground")]
mod playground;
#[cfg(feature = "playground")]
mod playground_view;
#[cfg_attr(not(feature = "stdio"), expect(dead_code, reason = "only `.run()` brings threads"))]
mod reactors;
mod reply;
mod request;
mod request_body;
mod route;
mod server;
mod service;
mod session;
mod session_copy;
mod session_message;
mod session_places;
mod session_requests;
mod session_table;
mod shared_copies;
mod shared_requests;
mod shared_sessions;
mod shared_stream;
mod sse;
mod sse_inbox;
mod sse_owners;
mod sse_relay;
mod stateless;
mod stream_log;
#[cfg(feature = "auth")]
mod token_gate;

#[cfg(feature = "stdio")]
pub(crate) use self::command_line::{
    DEFAULT_ADDRESS, address_problem, complete_address, hint, run,
};
pub(crate) use self::server::HttpListener;
pub use self::{body::HttpBody, server::HttpServer, service::HttpService};
pub(crate) use tokio::net::ToSocketAddrs;
