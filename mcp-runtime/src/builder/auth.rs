//! Who may call over HTTP.

use std::sync::Arc;

use super::Builder;
use crate::auth::ProtectedResource;

impl Builder {
    /// Lets in over HTTP only who shows an access token that this verifies: [`Jwt`](crate::Jwt) for those that an issuer has signed, a
    /// [`TokenVerifier`](crate::TokenVerifier) of your own for others, or a [`ProtectedResource`] where more is to be said of it.
    ///
    /// Every request is verified, before its body is looked at. Handlers take [`Auth`](crate::Auth) to know who calls, and what a call
    /// leaves behind is its [`Principal`](crate::Principal)'s alone. Clients are told where to get a token: in the answer 401, and at
    /// `/.well-known/oauth-protected-resource` with and without the path of the endpoint.
    ///
    /// Over stdio it changes nothing: credentials come from the environment there.
    ///
    /// ```
    /// use mcp_runtime::Jwt;
    ///
    /// let server = mcp_runtime::server!().auth(Jwt::new("https://login.example.com", "https://api.example.com/mcp"));
    /// # let _ = server;
    /// ```
    #[must_use]
    #[track_caller]
    pub fn auth(mut self, resource: impl Into<ProtectedResource>) -> Self {
        let resource = resource.into();
        for problem in resource.problems() {
            self.refuse("auth", problem);
        }
        #[cfg(feature = "auth-server")]
        if let Some(origin) = resource.pages().and_then(|it| it.own_origin()) {
            // What an issuer is called is what its clients and its own pages call it.
            let host = origin.split_once("://").map_or(origin, |it| it.1);
            self.http.hosts.push(host.to_ascii_lowercase());
            self.http.origins.push(origin.to_ascii_lowercase());
        }
        if self.http.protected.replace(Arc::new(resource)).is_some() {
            self.refuse("auth", "it was said before: one verifier decides who may call");
        }
        self
    }
}
