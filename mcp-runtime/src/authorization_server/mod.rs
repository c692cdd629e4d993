//! An authorization server inside of the server whose tokens it gives out (OAuth 2.1; A9, AUTH-13).
//!
//! `core` leads requests to their addresses. An authorization begins in `authorize`, `waiting` binds it to its browser, `decide` takes what
//! is entered on the pages of `page`, and what comes of it is one of `codes`. `token` gives tokens of `grants` for it. All that is known is in
//! `records`, which the author's `logins` sees too; what must outlast the process goes through `journal`. Where another `provider` knows the
//! users, `callback` takes the place of a page to log in.

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
mod token;
mod upstream;
mod user;
mod waiting;

#[cfg(feature = "sqlite")]
pub(crate) use journal::{Change, Kind, Ledger, Row};
pub use login::{LoginPage, LoginRequest};
pub use logins::{Login, Logins};
pub use server::AuthorizationServer;
pub use upstream::{Identity, Upstream};
pub use user::User;
