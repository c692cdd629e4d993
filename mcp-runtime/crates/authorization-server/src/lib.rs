//! Authorization server inside the MCP server that accepts its tokens (OAuth 2.1). Protocol revision 2025-03-26 describes servers of this
//! kind (rules A9, AUTH-13).
//!
//! `core` routes each request to its address. `authorize` starts an authorization, `waiting` binds it to the browser, and `decide` handles
//! the forms of the pages in `page`. The result is a code in `codes`, which `token` exchanges for tokens in `grants`. `records` holds this
//! state and shares it with the author's `logins`. State that must outlast the process goes through `journal`. With an upstream `provider`,
//! `callback` replaces the login page.

mod access;
mod address;
mod authorize;
mod callback;
mod client;
mod clock;
mod codes;
mod core;
mod counts;
mod credentials;
mod decide;
mod discovery;
mod document;
mod farewell;
mod form;
mod grant;
mod grants;
mod journal;
mod login;
mod logins;
mod metadata;
mod page;
mod pkce;
mod provider;
mod records;
mod redirect;
mod refusal;
mod registration;
mod reply;
mod seal;
mod secret;
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
mod token;
mod upstream;
mod user;
mod waiting;

pub use login::{LoginPage, LoginRequest};
pub use logins::{Login, Logins};
pub use server::AuthorizationServer;
pub use upstream::{Upstream, UpstreamUser};
pub use user::User;
