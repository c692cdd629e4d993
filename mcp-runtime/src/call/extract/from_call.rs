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

/// Parameter type whose value comes from the server instead of the client.
///
/// Such a parameter is not in the schema that clients get. The trait is implemented for `&T` and [`State<T>`](State),
/// [`&Context`](Context), [`Progress`], [`Cancel`], [`Meta`], [`Client`], [`Handle`](crate::Handle), [`Elicit`], [`Sample`] and [`Roots`].
/// The feature `http` adds `&HeaderMap` and `Extension`, and the feature `auth` adds `Auth`. A parameter of a type without this trait is an
/// argument.
///
/// Implement the trait for types that your handlers derive from the call:
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Name of the client, or "stranger".
/// struct Who(String);
///
/// impl<'a> FromCall<'a> for Who {
///     fn from_call(context: &'a Context) -> Result<Self> {
///         let name = &context.client().name;
///         Ok(Who(if name.is_empty() { "stranger".into() } else { name.clone() }))
///     }
/// }
///
/// /// Greets the client.
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
    /// Creates the value.
    ///
    /// # Errors
    /// Fails if the value cannot be created. The error becomes the result of the call, as if the handler had returned it.
    fn from_call(context: &'a Context) -> Result<Self>;

    /// Declares what the value requires of the server and the client. By default there are no requirements.
    ///
    /// A server that does not meet its part of the requirements cannot be built. A type that contains other `FromCall` types forwards to
    /// their `needs`, as in `Elicit::needs(needs)`. See [`Requirements`] for an example.
    fn needs(needs: &mut Requirements) {
        let _ = needs;
    }
}

/// Requirements of an item on the server and the client.
///
/// A [`FromCall`] type declares its requirements in [`needs`](FromCall::needs). Without the declaration, the server is built even if the
/// state is missing, and calls fail instead.
///
/// ```
/// use mcp_runtime::{extract::Requirements, prelude::*};
///
/// struct Settings {
///     language: String,
/// }
///
/// /// Language of the answers.
/// struct Language(String);
///
/// impl<'a> FromCall<'a> for Language {
///     fn from_call(context: &'a Context) -> Result<Self> {
///         let settings =
///             context.state::<Settings>().ok_or_else(|| Error::internal("no settings"))?;
///         Ok(Language(settings.language.clone()))
///     }
///
///     fn needs(needs: &mut Requirements) {
///         needs.state::<Settings>();
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct Requirements {
    pub(crate) states: Vec<(TypeId, &'static str)>,
    /// Whether the request's `_meta` must be stored for the item.
    pub(crate) meta: bool,
    /// Whether the item takes the `Context`, through which it can ask the client any question.
    pub(crate) context: bool,
    /// Whether the item can change the catalog.
    pub(crate) handle: bool,
    /// Capabilities that the client must have.
    pub(crate) asks: Asks,
}

impl Requirements {
    /// Requires shared state of type `T`. A server without this state cannot be built.
    pub fn state<T: Send + Sync + 'static>(&mut self) {
        self.states.push((TypeId::of::<T>(), type_name::<T>()));
    }
}

/// `&T` is shared state, `&Context` is the context of the call, and `&HeaderMap` has the headers of the call's HTTP request.
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

/// Returns whether the type is `HeaderMap`. The server needs no shared state for it, because every call has a header map. Over transports
/// other than HTTP the map is empty.
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

/// State that all calls of a server share.
///
/// Set it with [`Builder::state`](crate::Builder::state), or create it when the server starts with
/// [`Builder::setup`](crate::Builder::setup). A server cannot be built if a parameter's state is missing.
///
/// A parameter `&T` borrows the same value, and is enough for most handlers. Take `State<T>` if the value must outlive the handler, for
/// example in a spawned tokio task. Like an `Arc`, a clone refers to the same value. Code outside of calls gets it from
/// [`Handle::state`](crate::Handle::state).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// struct Greeting(String);
///
/// /// Greets a person.
/// #[tool]
/// async fn greet(name: &str, greeting: State<Greeting>) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
/// # fn main() {}
/// ```
pub struct State<T>(pub(crate) Arc<T>);

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

/// State that concurrent calls can share.
///
/// Every type that is `Send`, `Sync` and `'static` implements this trait, so you never implement it yourself. It lets
/// the compiler report a type that cannot be [`State`] with a single error.
///
/// ```
/// use std::sync::Mutex;
///
/// use mcp_runtime::extract::Shared;
///
/// fn can_be_state<T: Shared>() {}
///
/// can_be_state::<Mutex<Vec<String>>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "calls that run at the same time cannot share `{Self}`",
    label = "not `Send` and `Sync`",
    note = "write `std::sync::Arc` instead of `Rc`, `Mutex` or `RwLock` instead of `RefCell`, and an atomic instead of `Cell`, here or inside the type",
    note = "wrap a type of another crate in a `Mutex`, which is `Sync` if the type is `Send`",
    note = "to see which part of a large type it is, compile `fn part(state: {Self}) -> impl Send + Sync {{ state }}`"
)]
pub trait Shared: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Shared for T {}

/// Returns the error for missing state. A server whose declared state is missing cannot be built, so this error shows that a [`FromCall`]
/// type reads state that its `needs` does not declare.
fn missing_state<T>() -> Error {
    Error::internal(format!("there is no state of type `{}`", type_name::<T>()))
}

/// Parameter for the calling client: its name, version and declared capabilities.
///
/// The data is what the client says about itself, and is not verified. [`Context::client`] returns the same data. To identify the caller,
/// use [`Context::principal`], or `Auth` with the feature `auth`.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Describes the calling client.
/// #[tool]
/// fn describe_client(client: Client) -> String {
///     format!("{} {}", client.name, client.version)
/// }
/// # fn main() {}
/// ```
///
/// Specification: Base protocol, Lifecycle.
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

/// Parameter for an extension of the HTTP request, identified by its type (feature `http`).
///
/// The surrounding application, or middleware in front of the server, inserts the extension into the request.
///
/// ```
/// use mcp_runtime::{http::Extension, prelude::*};
///
/// /// User whom the application has logged in.
/// #[derive(Clone)]
/// struct User {
///     name: String,
/// }
///
/// /// Returns the name of the user.
/// #[tool]
/// fn whoami(user: Extension<User>) -> String {
///     user.name.clone()
/// }
/// # fn main() {}
/// ```
///
/// The call fails with an internal error if its request has no such extension, or if it did not come over HTTP. [`Context::extension`]
/// returns an `Option` instead.
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
            /// The result is always `true` if the handler itself takes this parameter or has `asks(…)`, because the server rejects calls of
            /// clients without the capability. It can be `false` in your own [`FromCall`] type, if the [`needs`](FromCall::needs) of that
            /// type does not declare the requirement.
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
    /// Parameter with which a handler asks the user, through a form or a web page.
    ///
    /// The parameter declares that the handler needs the client capability `elicitation`. The key `asks(elicitation)` declares the same for
    /// a handler that takes `&Context`.
    ///
    /// The server rejects a call before the handler runs if the client lacks the capability. Under protocol revision 2026-07-28 the client
    /// gets error -32021. Under earlier revisions a tool returns a failure with the reason for the model, and prompts and resources return
    /// an error. If the handler can also work without the capability, take `&Context` instead, and check
    /// [`can_elicit`](crate::extract::ClientInfo::can_elicit).
    ///
    /// Specification: Client features, Elicitation.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// #[form]
    /// struct Consent {
    ///     /// Deploy this version
    ///     deploy: bool,
    /// }
    ///
    /// /// Deploys a version.
    /// #[tool(destructive)]
    /// async fn deploy(user: Elicit, version: &str) -> Result<String> {
    ///     let consent: Consent = user.form("consent", format!("Deploy {version}?")).await?;
    ///     Ok(format!("deployed: {}", consent.deploy))
    /// }
    /// # fn main() {}
    /// ```
    Elicit, elicitation, can_elicit;

    /// Parameter with which a handler asks the client's model.
    ///
    /// The parameter declares that the handler needs the client capability `sampling`. The key `asks(sampling)` declares the same for a
    /// handler that takes `&Context`.
    ///
    /// The server rejects a call before the handler runs if the client lacks the capability. Under protocol revision 2026-07-28 the client
    /// gets error -32021. Under earlier revisions a tool returns a failure with the reason for the model, and prompts and resources return
    /// an error. If the handler can also work without the capability, take `&Context` instead, and check
    /// [`can_sample`](crate::extract::ClientInfo::can_sample).
    ///
    /// Specification: Client features, Sampling.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Summarizes a text.
    /// #[tool(read_only)]
    /// async fn sum_up(model: Sample, text: &str) -> Result<String> {
    ///     let question = Sampling::ask(format!("Sum this up: {text}"), 200);
    ///     Ok(model.ask("summary", question).await?.text())
    /// }
    /// # fn main() {}
    /// ```
    Sample, sampling, can_sample;

    /// Parameter with which a handler gets the directories that the user works in.
    ///
    /// The parameter declares that the handler needs the client capability `roots`. The key `asks(roots)` declares the same for a handler
    /// that takes `&Context`.
    ///
    /// The server rejects a call before the handler runs if the client lacks the capability. Under protocol revision 2026-07-28 the client
    /// gets error -32021. Under earlier revisions a tool returns a failure with the reason for the model, and prompts and resources return
    /// an error. If the handler can also work without the capability, take `&Context` instead, and check
    /// [`can_list_roots`](crate::extract::ClientInfo::can_list_roots).
    ///
    /// Specification: Client features, Roots.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Lists the directories that the user works in.
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
    /// Asks the user to fill in a form. See [`Context::elicit`].
    pub fn form<T: Form>(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Asked<Result<T, Unanswered>> {
        self.0.elicit(key, message)
    }

    /// Asks the user to visit a web page. See [`Context::elicit_url`].
    pub fn url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Result<(), Unanswered>> {
        self.0.elicit_url(key, message, url)
    }

    /// Sends the user to a web page before the call can continue. See [`Context::require_url`].
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
    /// Asks the client's model. See [`Context::sample`].
    pub fn ask(&self, key: impl Into<String>, sampling: Sampling) -> Asked<Result<Sampled>> {
        self.0.sample(key, sampling)
    }
}

impl Roots {
    /// Returns the directories that the user works in. See [`Context::roots`].
    pub fn list(&self) -> Asked<Result<Vec<Root>>> {
        self.0.roots()
    }
}
