//! Users, login pages, and the author's function that checks a login attempt.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use http::HeaderMap;
use mcp_runtime::auth::Authorization;
use serde::{Deserialize, Serialize};

use crate::{authorization_request::AuthorizationRequest, form::Form, store::time};

/// User who has logged in.
///
/// Returned by the login function of an [`AuthorizationServer`](crate::AuthorizationServer), or by the function that was set with
/// [`Upstream::user`](crate::Upstream::user).
///
/// ```
/// use mcp_runtime_authorization_server::User;
///
/// #[derive(serde::Serialize)]
/// struct Account {
///     plan: &'static str,
/// }
///
/// let ada = User::new("ada")
///     .name("Ada Lovelace")
///     .claims(&Account { plan: "free" })
///     .may_grant(["notes:read"]);
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
    /// Creates a user with this identifier, which becomes the caller's [`Principal`](mcp_runtime::auth::Principal).
    ///
    /// The identifier must be unique, and must never be assigned to another user later. The key of an account in your database is a good
    /// choice. A login with an empty identifier fails.
    pub fn new(principal: impl Into<String>) -> Self {
        let principal = principal.into();
        let problem = principal.is_empty().then(|| {
            "the name of the user is empty: each user needs a name of their own".to_owned()
        });
        Self { principal, name: None, claims: None, may: None, problem }
    }

    /// Sets the name that pages show. By default, pages show the identifier.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets further data about the user, which handlers read with a parameter of type [`Auth<T>`](mcp_runtime::auth::Auth).
    ///
    /// The server stores the data as JSON until the login ends. If the data can change in that time, let the handlers look it up instead.
    /// A login whose claims cannot be serialized fails.
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

    /// Limits the scopes that the user may grant, whichever scopes a client requests. By default, a user may grant all scopes of the
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

/// Login attempt of a user who authorizes a client.
///
/// Passed to the login function of an [`AuthorizationServer`](crate::AuthorizationServer), which checks it.
///
/// ```
/// use mcp_runtime_authorization_server::{LoginPage, LoginRequest, User};
///
/// async fn login(request: LoginRequest) -> Result<User, LoginPage> {
///     if request.name() == "ada" && request.field("code") == "123456" {
///         Ok(User::new("ada"))
///     } else {
///         Err(LoginPage::form().message("No user has this name and this code."))
///     }
/// }
/// ```
#[derive(Clone)]
pub struct LoginRequest {
    pub(crate) form: Form,
    pub(crate) headers: HeaderMap,
    pub(crate) authorization: Arc<AuthorizationRequest>,
}

impl LoginRequest {
    /// Returns the value of the field `name`, or an empty string if the field is missing.
    pub fn name(&self) -> &str {
        self.field("name")
    }

    /// Returns the value of the field `password`, or an empty string if the field is missing.
    pub fn password(&self) -> &str {
        self.field("password")
    }

    /// Returns the value of a field of [your own page](LoginPage::html), or an empty string if the field is missing.
    pub fn field(&self, name: &str) -> &str {
        self.form.all(name).next().unwrap_or_default()
    }

    /// Returns the headers of the HTTP request that contained the login form.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the id of the client that wants to act for the user.
    ///
    /// The id of a client that registered itself is random. Any other id is the URL of the client's metadata.
    pub fn client(&self) -> &str {
        &self.authorization.client.id
    }

    /// Returns the scopes that the client requests, without those that the server does not have.
    ///
    /// If the client requests no scopes, this returns all scopes of the server.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.authorization.scopes.iter().map(|scope| &**scope)
    }
}

impl fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest").field("client", &self.client()).finish_non_exhaustive()
    }
}

/// Login page: the default form with a name and a password, or your own HTML.
///
/// Set the first page with [`AuthorizationServer::login_page`](crate::AuthorizationServer::login_page). The login function returns a page
/// when an attempt has failed.
///
/// ```
/// use mcp_runtime_authorization_server::LoginPage;
///
/// let again = LoginPage::form().message("No user has this name and this password.");
/// let own = LoginPage::html(
///     "<!doctype html><title>{{server}}</title><p>{{message}}</p>\
///      <form method=post>{{hidden}}
///      <input name=token placeholder='Your key'>
///      <button>Log in for {{client}}</button></form>",
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

    /// Creates a page from your own HTML. Its form must post to the page's own address.
    ///
    /// The server replaces these placeholders:
    ///
    /// | placeholder | replacement |
    /// |---|---|
    /// | `{{hidden}}` | hidden fields that identify the authorization; required inside the form |
    /// | `{{client}}` | name of the client, escaped |
    /// | `{{server}}` | name of the server, escaped |
    /// | `{{message}}` | text of [`message`](Self::message), escaped |
    /// | any other | empty string |
    ///
    /// A button with the name `action` and the value `deny` cancels the login, and sends the browser back to the client. The page may
    /// contain inline styles, and images as `data:` URLs. Scripts do not run, and the browser loads no other resources.
    pub fn html(html: impl Into<Arc<str>>) -> Self {
        Self { html: Some(html.into()), message: None }
    }

    /// Sets the message that the page shows, such as the reason why the login failed.
    ///
    /// The message must not reveal whether an account with the entered name exists.
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

/// Future that a login function returns.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a login function is an `async fn` that returns `Result<User, LoginPage>`, and `{Self}` is not its future",
    label = "not a future of `Result<User, LoginPage>`",
    note = "write `async fn login(request: LoginRequest) -> Result<User, LoginPage>`; the error is the page that the user sees next, such as `LoginPage::form()`"
)]
pub trait LoginFuture: Future<Output = Result<User, LoginPage>> {}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = Result<User, LoginPage>>> LoginFuture for F {}

type LoggingIn = Pin<Box<dyn Future<Output = Result<User, LoginPage>> + Send>>;

/// The author's login function.
pub(crate) struct LoginFunction(Box<dyn Fn(LoginRequest) -> LoggingIn + Send + Sync>);

impl LoginFunction {
    pub(crate) fn new<F, L>(login: F) -> Self
    where
        F: Fn(LoginRequest) -> L + Send + Sync + 'static,
        L: LoginFuture + Send + 'static,
    {
        Self(Box::new(move |request| Box::pin(login(request))))
    }

    pub(crate) fn begin(&self, request: LoginRequest) -> LoggingIn {
        self.0(request)
    }
}
