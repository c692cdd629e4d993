//! Parameters whose values come from the server: the trait `FromCall`, and types that implement it.

use std::{
    any::{Any, TypeId, type_name},
    fmt,
    ops::Deref,
    sync::Arc,
};

use crate::{
    call::{
        context::{Asked, Cancel, Context, Progress},
        read::Form,
    },
    error::{Error, Result, Unanswered},
    model::{Asks, ClientInfo, Meta, Root, Sampled, Sampling},
};

/// Type of a parameter whose value comes from the server, never from the client. The parameter is not in any schema.
///
/// Implement it for types that your handlers derive from the call:
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// The name the client gave, or "somebody".
/// struct Who(String);
///
/// impl<'a> FromCall<'a> for Who {
///     fn from_call(context: &'a Context) -> Result<Self> {
///         let name = &context.client().name;
///         Ok(Who(if name.is_empty() { "somebody".into() } else { name.clone() }))
///     }
/// }
///
/// /// Greets whoever calls.
/// #[tool]
/// fn greet(who: Who) -> String {
///     format!("Hello, {}!", who.0)
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not come from the server",
    label = "does not implement `FromCall`",
    note = "the server provides `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, and your own types with `impl FromCall`"
)]
pub trait FromCall<'a>: Sized {
    /// Makes the value. An error becomes the result of the call, as if the handler had returned it.
    ///
    /// # Errors
    /// Fails if the value cannot be made.
    fn from_call(context: &'a Context) -> Result<Self>;

    /// Declares what the value needs from the server and the client. The server checks its own part when it is built, before the first
    /// call. A type that contains other `FromCall` types calls their `needs`, as in `Elicit::needs(needs)`.
    fn needs(needs: &mut Requirements) {
        let _ = needs;
    }
}

/// Requirements of an item on the server and the client.
#[derive(Debug, Default)]
pub struct Requirements {
    pub(crate) states: Vec<(TypeId, &'static str)>,
    /// Whether the request's `_meta` must be kept.
    pub(crate) meta: bool,
    /// Whether the item takes the `Context`, through which it can ask the client any question.
    pub(crate) context: bool,
    /// Whether the item can change the catalog.
    pub(crate) handle: bool,
    /// Capabilities that the client must have.
    pub(crate) asks: Asks,
}

impl Requirements {
    /// Requires shared state of type `T`.
    pub fn state<T: Send + Sync + 'static>(&mut self) {
        self.states.push((TypeId::of::<T>(), type_name::<T>()));
    }
}

/// `&T` borrows shared state, `&Context` the context of the call, and `&HeaderMap` the headers of the call's HTTP request.
///
/// `&Context` and `&HeaderMap` are recognized by their `TypeId`, because separate impls for them would conflict with this impl.
#[diagnostic::do_not_recommend]
impl<'a, T: Send + Sync + 'static> FromCall<'a> for &'a T {
    fn from_call(context: &'a Context) -> Result<Self> {
        let found = (context as &dyn Any).downcast_ref::<T>();
        #[cfg(feature = "http")]
        let found = found.or_else(|| (context.headers() as &dyn Any).downcast_ref::<T>());
        let found = found.or_else(|| context.0.environment.states.get::<T>());
        found.ok_or_else(|| missing_state::<T>())
    }

    fn needs(needs: &mut Requirements) {
        if TypeId::of::<T>() == TypeId::of::<Context>() {
            needs.meta = true;
            needs.context = true;
        } else if !is_head(TypeId::of::<T>()) {
            needs.state::<T>();
        }
    }
}

/// Returns whether the type is `HeaderMap`. Every call has headers. Over transports other than HTTP they are empty.
fn is_head(id: TypeId) -> bool {
    #[cfg(feature = "http")]
    return id == TypeId::of::<http::HeaderMap>();
    #[cfg(not(feature = "http"))]
    {
        let _ = id;
        false
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Context {
    fn from_call(context: &Context) -> Result<Self> {
        Ok(context.clone())
    }

    fn needs(needs: &mut Requirements) {
        needs.meta = true;
        needs.context = true;
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Progress {
    fn from_call(context: &Context) -> Result<Self> {
        Ok(context.progress())
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Cancel {
    fn from_call(context: &Context) -> Result<Self> {
        Ok(context.cancel())
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Meta {
    fn from_call(context: &Context) -> Result<Self> {
        Ok(context.meta())
    }

    fn needs(needs: &mut Requirements) {
        needs.meta = true;
    }
}

/// State that all calls share, set with `server!().state(…)` or made by `setup`. A parameter `&T` borrows the same state.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// struct Greeting(String);
///
/// /// Greets somebody.
/// #[tool]
/// async fn greet(name: &str, greeting: State<Greeting>) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
/// # fn main() {}
/// ```
pub struct State<T>(Arc<T>);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> FromCall<'_> for State<T> {
    fn from_call(context: &Context) -> Result<Self> {
        context.0.environment.states.share().map(Self).ok_or_else(missing_state::<T>)
    }

    fn needs(needs: &mut Requirements) {
        needs.state::<T>();
    }
}

/// State that calls can share while they run at the same time. Every type that is `Send`, `Sync` and `'static` implements it.
#[diagnostic::on_unimplemented(
    message = "calls that run at the same time cannot share `{Self}`",
    label = "not `Send` and `Sync`",
    note = "write `std::sync::Arc` instead of `Rc`, `Mutex` or `RwLock` instead of `RefCell`, and an atomic instead of `Cell`, here or inside the type",
    note = "wrap a type of another crate in a `Mutex`, which is `Sync` if the type is `Send`"
)]
pub trait Shared: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Shared for T {}

/// Returns the error for missing state. `build()` rejects a server without the state, so only a call that bypasses the server gets here.
fn missing_state<T>() -> Error {
    Error::internal(format!("there is no state of type `{}`", type_name::<T>()))
}

/// Parameter for the client that calls: its name, version and declared capabilities.
#[derive(Clone, Debug)]
pub struct Client(Arc<ClientInfo>);

impl Deref for Client {
    type Target = ClientInfo;

    fn deref(&self) -> &ClientInfo {
        &self.0
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Client {
    fn from_call(context: &Context) -> Result<Self> {
        Ok(Self(context.0.caller.client.clone()))
    }
}

/// An extension of the HTTP request, as a parameter of a handler. The surrounding application adds it, or middleware in front of the
/// server.
///
/// ```
/// use mcp_runtime::{http::Extension, prelude::*};
///
/// /// The caller, as the application knows it.
/// #[derive(Clone)]
/// struct User {
///     name: String,
/// }
///
/// /// Says who calls.
/// #[tool]
/// fn whoami(user: Extension<User>) -> String {
///     user.name.clone()
/// }
/// # fn main() {}
/// ```
///
/// The call fails with an internal error if the request has no such extension. [`Context::extension`] returns an `Option` instead.
#[cfg(feature = "http")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<T>(pub T);

#[cfg(feature = "http")]
impl<T> Deref for Extension<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(feature = "http")]
#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> FromCall<'_> for Extension<T> {
    fn from_call(context: &Context) -> Result<Self> {
        let missing = || {
            let name = std::any::type_name::<T>();
            Error::internal(format!("the HTTP request has no extension of type `{name}`"))
        };
        context.extension().cloned().map(Self).ok_or_else(missing)
    }
}

macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident, $need:ident, $can:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Context);

        impl $name {
            /// Returns whether the calling client has declared the capability.
            ///
            /// Always `true` if the function itself takes this parameter or has `asks(…)`, because calls of clients without it are
            /// rejected. It can be `false` inside your own type, if the [`FromCall::needs`] of that type does not declare the requirement.
            pub fn client_can(&self) -> bool {
                self.0.client().$can()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("client_can", &self.client_can())
                    .finish_non_exhaustive()
            }
        }

        #[diagnostic::do_not_recommend]
        impl FromCall<'_> for $name {
            fn from_call(context: &Context) -> Result<Self> {
                Ok(Self(context.clone()))
            }

            fn needs(needs: &mut Requirements) {
                needs.asks = needs.asks.$need();
            }
        }
    )*};
}

asks! {
    /// Asks the user through a form (`elicitation`, client/elicitation). Take it as a parameter to declare that the function asks, or write
    /// `asks(elicitation)`.
    ///
    /// A call of a client without the capability is rejected before the function runs. Under protocol revision 2026-07-28 the client gets
    /// error -32021. Under earlier revisions a tool returns a result that tells the model, and prompts and resources return an error. A
    /// function that can also work without the capability takes `&Context` instead, and checks the client itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// #[form]
    /// struct Consent {
    ///     /// Put it into service
    ///     deploy: bool,
    /// }
    ///
    /// /// Puts a new version into service.
    /// #[tool(destructive)]
    /// async fn deploy(user: Elicit, version: &str) -> Result<String> {
    ///     let consent: Consent = user.form("consent", format!("Deploy {version}?")).await?;
    ///     Ok(format!("deployed: {}", consent.deploy))
    /// }
    /// # fn main() {}
    /// ```
    Elicit, elicitation, can_elicit;

    /// Asks the client's model (`sampling`, client/sampling). Take it as a parameter to declare that the function asks, or write
    /// `asks(sampling)`.
    ///
    /// A call of a client without the capability is rejected before the function runs. Under protocol revision 2026-07-28 the client gets
    /// error -32021. Under earlier revisions a tool returns a result that tells the model, and prompts and resources return an error. A
    /// function that can also work without the capability takes `&Context` instead, and checks the client itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Sums a text up.
    /// #[tool(read_only)]
    /// async fn sum_up(model: Sample, text: &str) -> Result<String> {
    ///     let question = Sampling::ask(format!("Sum this up: {text}"), 200);
    ///     Ok(model.ask("summary", question).await?.text())
    /// }
    /// # fn main() {}
    /// ```
    Sample, sampling, can_sample;

    /// Asks which directories the user works in (`roots`, client/roots). Take it as a parameter to declare that the function asks, or write
    /// `asks(roots)`.
    ///
    /// A call of a client without the capability is rejected before the function runs. Under protocol revision 2026-07-28 the client gets
    /// error -32021. Under earlier revisions a tool returns a result that tells the model, and prompts and resources return an error. A
    /// function that can also work without the capability takes `&Context` instead, and checks the client itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Names the directories that the client shares.
    /// #[tool(read_only)]
    /// async fn shared(directories: Roots) -> Result<String> {
    ///     let roots = directories.list().await?;
    ///     Ok(roots.iter().map(|root| root.uri.as_str()).collect::<Vec<_>>().join("\n"))
    /// }
    /// # fn main() {}
    /// ```
    Roots, roots, can_list_roots;
}

impl Elicit {
    /// Asks the user to fill in a form: see [`Context::elicit`].
    pub fn form<T: Form>(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Asked<Result<T, Unanswered>> {
        self.0.elicit(key, message)
    }

    /// Sends the user to a page: see [`Context::elicit_url`].
    pub fn url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Result<(), Unanswered>> {
        self.0.elicit_url(key, message, url)
    }

    /// Sends the user to a page before the call can continue: see [`Context::require_url`].
    pub fn require_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Unanswered> {
        self.0.require_url(key, message, url)
    }
}

impl Sample {
    /// Asks the client's model: see [`Context::sample`].
    pub fn ask(&self, key: impl Into<String>, sampling: Sampling) -> Asked<Result<Sampled>> {
        self.0.sample(key, sampling)
    }
}

impl Roots {
    /// Returns the directories that the user works in: see [`Context::roots`].
    pub fn list(&self) -> Asked<Result<Vec<Root>>> {
        self.0.roots()
    }
}
