//! An MCP server over HTTP, with a login. `cargo run -- help` lists its commands, options and environment variables.

mod accounts;
mod notes;

use std::sync::Arc;

use accounts::Accounts;
use mcp_runtime::{Builder, prelude::*};
use mcp_runtime_authorization_server::{AuthorizationServer, LoginRequest};
use notes::Notes;

/// Settings of the server.
///
/// Each field is an option of the command line and an environment variable.
#[config]
struct Config {
    /// Password of the user `ada`; without it, no user can log in
    #[config(secret)]
    password: Option<String>,
}

/// Returns the server that `main` runs and that the tests call.
fn server() -> Builder {
    let accounts = Arc::new(Accounts::default());
    let users = accounts.clone();
    let login = move |request: LoginRequest| {
        let users = users.clone();
        async move { users.log_in(&request).await }
    };
    // Behind a proxy or on another address than loopback, add the public address: `.issuer("https://mcp.example.com")`.
    let authorization = AuthorizationServer::new(login)
        .scope("notes:read", "Read your notes")
        .scope("notes:write", "Add notes");
    server!(instructions = "The notes belong to the user who has logged in.")
        .auth(authorization)
        .state(Notes::default())
        .setup(async move |config: State<Config>| {
            accounts.set_password(config.password.clone());
            Ok::<_, Error>(())
        })
}

fn main() -> Exit {
    server().run()
}

#[cfg(test)]
mod tests;
