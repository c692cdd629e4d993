//! OAuth 2.1 authorization server that runs inside an MCP server built with [`mcp_runtime`](https://docs.rs/mcp-runtime). It issues the
//! access tokens that the MCP server accepts.
//!
//! ```console
//! $ cargo add mcp-runtime --features auth
//! $ cargo add mcp-runtime-authorization-server
//! ```
//!
//! [`AuthorizationServer`] is the entry point. Create it with [a function of yours](AuthorizationServer::new) that authenticates users, or
//! with [an OpenID provider](AuthorizationServer::delegated). If another authorization server issues your tokens, you do not need this
//! crate: pass [`Jwt`](mcp_runtime::auth::Jwt) to [`Builder::auth`](mcp_runtime::Builder::auth) instead.
//!
//! ```
//! use mcp_runtime_authorization_server::{
//!     AuthorizationServer, LoginPage, LoginRequest, User,
//! };
//!
//! async fn login(request: LoginRequest) -> Result<User, LoginPage> {
//!     if request.name() == "ada" && request.password() == "correct horse" {
//!         Ok(User::new("ada"))
//!     } else {
//!         Err(LoginPage::form().message("No user has this name and this password."))
//!     }
//! }
//!
//! let server = mcp_runtime::server!().auth(AuthorizationServer::new(login));
//! # let _ = server;
//! ```
//!
//! | type | purpose |
//! |---|---|
//! | [`AuthorizationServer`] | settings of the server; passed to [`Builder::auth`](mcp_runtime::Builder::auth) |
//! | [`LoginRequest`], [`LoginPage`], [`User`] | input and output of your login function |
//! | [`Upstream`], [`UpstreamUser`] | OpenID provider that authenticates users instead of your function |
//! | [`Logins`], [`Login`] | handle that lists and ends logins |
//!
//! Specification: Base protocol, Authorization.
//!
//! **Restarts.** Clients and grants are in the store of the server. With a store that outlasts the process, such as `SqliteStore` (feature
//! `sqlite` of mcp-runtime), logins survive a restart. See [`Builder::store`](mcp_runtime::Builder::store).
//!
//! **Several nodes.** Processes that share a store, such as the one of the crate `mcp-runtime-redis`, act as one authorization server. See
//! [`AuthorizationServer`].

// Protocol revision 2025-03-26 describes servers of this kind (rules A9, AUTH-13 in `docs/rules.md`).
//
// `server` routes each request to the handler of its endpoint; `metadata` lists the endpoints. An authorization has these steps:
//
// 1. The client registers itself (`registration`), or its id is the URL of its metadata (`client`).
// 2. `authorize` checks the request of the client, and `pending` binds the authorization to the user's browser.
// 3. The user logs in and decides on the pages of `page`, whose forms `decide` handles. With an `upstream` provider, the user logs in at
//    the `provider` instead, which then redirects the browser back to `decide`.
// 4. The client gets a code from `codes`, which `token` exchanges for the tokens of a grant in `grants`.
//
// `records` contains all of these, and shares them with the author's `logins` handle. `store` saves those that must outlast the process. If
// several nodes share the store, `records` passes each call on to `nodes` instead, where each record is read when it is needed.

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
mod nodes;
mod oauth_error;
mod page;
mod pending;
mod provider;
mod records;
mod redirect_uri;
mod registration;
mod response;
mod secret;
mod server;
mod state;
mod store;
mod token;
mod upstream;

#[doc(hidden)]
pub use login::LoginFuture;
pub use login::{LoginPage, LoginRequest, User};
pub use logins::{Login, Logins};
pub use server::AuthorizationServer;
pub use upstream::{Upstream, UpstreamUser};
