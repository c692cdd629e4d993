//! Who somebody is, is for the author to find out.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use http::HeaderMap;

use super::{authorize::Asked, form::Form, user::User};

/// What somebody has entered who wants to log in, and for which client: what the function of an
/// [`AuthorizationServer`](crate::AuthorizationServer) judges.
#[derive(Clone)]
pub struct LoginRequest {
    pub(super) form: Form,
    pub(super) headers: HeaderMap,
    pub(super) asked: Arc<Asked>,
}

impl LoginRequest {
    /// What is in the field `name` of the page.
    pub fn name(&self) -> &str {
        self.field("name")
    }

    /// What is in the field `password` of the page.
    pub fn password(&self) -> &str {
        self.field("password")
    }

    /// What is in a field of a page of your own; nothing where it is not there.
    pub fn field(&self, name: &str) -> &str {
        self.form.all(name).next().unwrap_or_default()
    }

    /// The headers of the HTTP request.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The client that wants to act for the user, by its id: a random one where it has registered itself, the URL of its metadata
    /// otherwise.
    pub fn client(&self) -> &str {
        &self.asked.client.id
    }

    /// What the client asks for.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.asked.scopes.iter().map(|it| &**it)
    }
}

impl fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest").field("client", &self.client()).finish_non_exhaustive()
    }
}

/// A page on which people say who they are: with a name and a password, or one of your own.
///
/// ```
/// use mcp_runtime::LoginPage;
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
    pub(super) html: Option<Arc<str>>,
    pub(super) message: Option<String>,
}

impl LoginPage {
    /// The framework's own: a name and a password.
    pub fn form() -> Self {
        Self::default()
    }

    /// This one. Its form posts to the page's own address, and `{{hidden}}` must stand in it, which becomes the fields that belong to the
    /// framework; `{{client}}`, `{{server}}` and `{{message}}` become texts. Styles may stand in the page; scripts do not run, and
    /// nothing is loaded from elsewhere. A button with the name `action` and the value `deny` sends the browser back.
    pub fn html(html: impl Into<Arc<str>>) -> Self {
        Self { html: Some(html.into()), message: None }
    }

    /// Says this on the page, such as why somebody was not logged in. It must not tell whether a name is known.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Why nobody could log in with it.
    pub(super) fn problem(&self) -> Option<&'static str> {
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

/// The author's function.
pub(super) struct Judge(Box<dyn Fn(LoginRequest) -> LoggingIn + Send + Sync>);

impl Judge {
    pub(super) fn new<F, L>(login: F) -> Self
    where
        F: Fn(LoginRequest) -> L + Send + Sync + 'static,
        L: Future<Output = Result<User, LoginPage>> + Send + 'static,
    {
        Self(Box::new(move |request| Box::pin(login(request))))
    }

    pub(super) fn begin(&self, request: LoginRequest) -> LoggingIn {
        self.0(request)
    }
}
