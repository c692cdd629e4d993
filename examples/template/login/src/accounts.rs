//! Users who may log in.

use std::sync::OnceLock;

use mcp_runtime_authorization_server::{LoginPage, LoginRequest, User};

/// The only account, `ada`.
///
/// Replace it with your table of users, and store a hash of each password. If your users have an OpenID provider, replace
/// `AuthorizationServer::new` with `AuthorizationServer::delegated`.
#[derive(Default)]
pub(crate) struct Accounts {
    password: OnceLock<String>,
}

impl Accounts {
    /// Sets the password when the server starts.
    pub(crate) fn set_password(&self, password: Option<String>) {
        if let Some(password) = password {
            self.password.get_or_init(|| password);
        }
    }

    /// Checks the name and the password that a user has entered. The server limits the number of attempts.
    pub(crate) async fn log_in(&self, request: &LoginRequest) -> Result<User, LoginPage> {
        let password = self.password.get().map(String::as_str);
        if request.name() == "ada" && Some(request.password()) == password {
            return Ok(User::new("ada").name("Ada Lovelace"));
        }
        Err(LoginPage::form().message("No user has this name and this password."))
    }
}
