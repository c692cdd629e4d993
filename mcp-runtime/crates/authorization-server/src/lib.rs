//! OAuth 2.1 authorization server inside the MCP server that accepts its tokens, for servers built with
//! [`mcp_runtime`](https://docs.rs/mcp-runtime).
//!
//! ```console
//! $ cargo add mcp-runtime --features auth
//! $ cargo add mcp-runtime-authorization-server
//! ```
//!
//! [`AuthorizationServer`] is the entry point. It takes the function that authenticates your users, or an [`Upstream`] provider that
//! authenticates them.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `sqlite` | `AuthorizationServer::keep_in`: logins that survive a restart, in a `SqliteStore`; builds SQLite from its C source |

// Protocol revision 2025-03-26 describes servers of this kind (rules A9, AUTH-13 in `docs/rules.md`).
//
// `server` routes each request to its endpoint (`metadata`). A `client` registers itself (`registration`) or is identified by the URL of
// its metadata. `authorize` starts an authorization, `pending` binds it to the browser, and `decide` handles the forms of the pages in
// `page`. With an `upstream` provider, the return of the browser from the `provider` replaces the login page. The result is a code in
// `codes`, which `token` exchanges for tokens in `grants`. `state` contains all of these records, and shares them with the author's
// `logins` handle. State that must outlast the process goes through `store`.

// On the documentation site, which builds with a nightly compiler, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

/// Compiles the example of README.md as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod authorization_request;
mod authorize;
mod client;
mod codes;
mod decide;
mod form;
mod grant;
mod grants;
mod login;
mod logins;
mod metadata;
mod oauth_error;
mod page;
mod pending;
mod provider;
mod redirect_uri;
mod registration;
mod response;
mod secret;
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod store;
mod token;
mod upstream;

pub use login::{LoginPage, LoginRequest, User};
pub use logins::{Login, Logins};
pub use server::AuthorizationServer;
pub use upstream::{Upstream, UpstreamUser};
