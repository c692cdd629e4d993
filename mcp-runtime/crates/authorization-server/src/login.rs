//! Login pages, and the author's function that checks what a user has entered.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use http::HeaderMap;

use super::{authorize::Asked, form::Form, user::User};

/// Login attempt of a user, for one client. The login function of an [`AuthorizationServer`](crate::AuthorizationServer) checks it.
#[derive(Clone)]
pub struct LoginRequest {
    pub(crate) form: Form,
    pub(crate) headers: HeaderMap,
    pub(crate) asked: Arc<Asked>,
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
        &self.asked.client.id
    }

    /// Returns the requested scopes that the server has.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.asked.scopes.iter().map(|it| &**it)
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

    /// Returns why no user could log in with this page.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let is_whole = self.html.as_deref().is_none_or(|it| it.contains("{{hidden}}"));
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
pub(crate) struct Judge(Box<dyn Fn(LoginRequest) -> LoggingIn + Send + Sync>);

impl Judge {
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
