//! Users, login pages, and the author's function that checks what a user has entered.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use http::HeaderMap;
use mcp_runtime::auth::Authorization;
use serde::{Deserialize, Serialize};

use crate::{authorization_request::AuthorizationRequest, form::Form, store::time};

/// User who has logged in, as returned by the `login` function of an [`AuthorizationServer`](crate::AuthorizationServer) or by the function
/// of `Upstream::user`.
///
/// ```
/// use mcp_runtime_authorization_server::User;
///
/// #[derive(serde::Serialize)]
/// struct Account {
///     plan: &'static str,
/// }
///
/// let ada = User::new("ada").name("Ada Lovelace").claims(&Account { plan: "free" }).may_grant(["notes:read"]);
/// # let _ = ada;
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct User {
    principal: String,
    name: Option<String>,
    claims: Option<String>,
    /// Scopes that the user may grant. `None` means all.
    may: Option<Vec<String>>,
    /// Reason why the user is invalid.
    #[serde(skip)]
    problem: Option<String>,
}

impl User {
    /// Creates a user with this name, which becomes the caller's [`Principal`](mcp_runtime::auth::Principal). The name must differ from the names of
    /// all other users, and must never be given to another user.
    pub fn new(principal: impl Into<String>) -> Self {
        let principal = principal.into();
        let problem = principal.is_empty().then(|| {
            "the name of the user is empty: each user needs a name of their own".to_owned()
        });
        Self { principal, name: None, claims: None, may: None, problem }
    }

    /// Sets the name that pages show. By default, pages show the principal's name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets more data about the user, for handlers that take [`Auth<T>`](mcp_runtime::auth::Auth). The data is stored as JSON for as long
    /// as the user stays signed in. For data that can change in that time, let handlers look it up instead.
    #[must_use]
    pub fn claims(mut self, claims: &impl Serialize) -> Self {
        match serde_json::to_string(claims) {
            Ok(claims) => self.claims = Some(claims),
            Err(why) => {
                self.problem = Some(format!("the claims cannot be serialized as JSON: {why}"))
            }
        }
        self
    }

    /// Limits the scopes that the user can grant, regardless of what a client requests. By default, a user may grant all scopes of the
    /// server.
    #[must_use]
    pub fn may_grant<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.may = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    pub(crate) fn principal(&self) -> &str {
        &self.principal
    }

    pub(crate) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.principal)
    }

    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub(crate) fn may(&self, scope: &str) -> bool {
        self.may.as_ref().is_none_or(|scopes| scopes.iter().any(|name| name == scope))
    }

    /// Returns the authorization of a token with these scopes, which expires at `expires` (seconds since 1970).
    pub(crate) fn authorization(&self, scopes: &[String], expires: u64) -> Authorization {
        let authorization = Authorization::new(&*self.principal)
            .scopes(scopes.iter().map(|scope| &**scope))
            .expires(time(expires));
        match &self.claims {
            Some(claims) => authorization.claims_json(&**claims),
            None => authorization,
        }
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("principal", &self.principal).finish_non_exhaustive()
    }
}

/// Login attempt of a user, for one client. The login function of an [`AuthorizationServer`](crate::AuthorizationServer) checks it.
#[derive(Clone)]
pub struct LoginRequest {
    pub(crate) form: Form,
    pub(crate) headers: HeaderMap,
    pub(crate) authorization: Arc<AuthorizationRequest>,
}

impl LoginRequest {
    /// Returns the value of the field `name` of the page.
    pub fn name(&self) -> &str {
        self.field("name")
    }

    /// Returns the value of the field `password` of the page.
    pub fn password(&self) -> &str {
        self.field("password")
    }

    /// Returns the value of a field of your own page, or an empty string if the field is missing.
    pub fn field(&self, name: &str) -> &str {
        self.form.all(name).next().unwrap_or_default()
    }

    /// Returns the headers of the HTTP request.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the id of the client that wants to act for the user. A client that registered itself has a random id; otherwise the id is
    /// the URL of the client's metadata.
    pub fn client(&self) -> &str {
        &self.authorization.client.id
    }

    /// Returns the requested scopes that the server has.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.authorization.scopes.iter().map(|scope| &**scope)
    }
}

impl fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest").field("client", &self.client()).finish_non_exhaustive()
    }
}

/// Login page, with a name and a password or with your own HTML.
///
/// ```
/// use mcp_runtime_authorization_server::LoginPage;
///
/// let again = LoginPage::form().message("No user has this name and this password.");
/// let own = LoginPage::html(
///     "<!doctype html><title>{{server}}</title><p>{{message}}</p>\
///      <form method=post>{{hidden}}<input name=token placeholder='Your key'><button>Log in for {{client}}</button></form>",
/// );
/// # let _ = (again, own);
/// ```
#[derive(Clone, Default)]
pub struct LoginPage {
    pub(crate) html: Option<Arc<str>>,
    pub(crate) message: Option<String>,
}

impl LoginPage {
    /// Creates the default page, with a name and a password.
    pub fn form() -> Self {
        Self::default()
    }

    /// Creates a page from your own HTML.
    ///
    /// The form must post to the page's own address and contain `{{hidden}}`, which becomes the hidden fields of the framework.
    /// `{{client}}`, `{{server}}` and `{{message}}` become escaped texts. A button with the name `action` and the value `deny` sends the
    /// browser back to the client.
    ///
    /// The page may contain styles. Scripts do not run, and nothing is loaded from elsewhere.
    pub fn html(html: impl Into<Arc<str>>) -> Self {
        Self { html: Some(html.into()), message: None }
    }

    /// Shows a message on the page, such as why the login failed. The message must not reveal whether a name is known.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Returns the mistake that makes a login with this page impossible, if there is one.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let is_whole = self.html.as_deref().is_none_or(|html| html.contains("{{hidden}}"));
        (!is_whole).then_some("the page of `LoginPage::html` has no `{{hidden}}` in its form")
    }
}

impl fmt::Debug for LoginPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginPage").field("message", &self.message).finish_non_exhaustive()
    }
}

type LoggingIn = Pin<Box<dyn Future<Output = Result<User, LoginPage>> + Send>>;

/// The author's login function.
pub(crate) struct LoginFunction(Box<dyn Fn(LoginRequest) -> LoggingIn + Send + Sync>);

impl LoginFunction {
    pub(crate) fn new<F, L>(login: F) -> Self
    where
        F: Fn(LoginRequest) -> L + Send + Sync + 'static,
        L: Future<Output = Result<User, LoginPage>> + Send + 'static,
    {
        Self(Box::new(move |request| Box::pin(login(request))))
    }

    pub(crate) fn begin(&self, request: LoginRequest) -> LoggingIn {
        self.0(request)
    }
}
