use std::any::{Any, TypeId, type_name};

use crate::{
    call::context::{Cancel, Context, Progress},
    error::{Error, Result},
    model::{Asks, Meta},
};

/// A parameter whose value comes from the server, never from the client. It is not in any schema.
///
/// Implement it for the values that your handlers need of a call:
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
    note = "what the server has is `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, or a type of yours with `impl FromCall`"
)]
pub trait FromCall<'a>: Sized {
    /// Makes the value. An error becomes the result of the call, as if the handler had returned it.
    ///
    /// # Errors
    /// Fails if the value cannot be made.
    fn from_call(context: &'a Context) -> Result<Self>;

    /// Declares what the server must have at its start, so that a missing part is found then and not at the first call. A type that
    /// contains other such types calls their `needs`, as in `Elicit::needs(needs)`.
    fn needs(needs: &mut Needs) {
        let _ = needs;
    }
}

/// Requirements of an item on the server and the client.
#[derive(Debug, Default)]
pub struct Needs {
    pub(crate) states: Vec<(TypeId, &'static str)>,
    /// Whether the request's `_meta` must be kept.
    pub(crate) meta: bool,
    /// Whether the item takes the call itself, with which it can ask any question.
    pub(crate) context: bool,
    /// Whether the item can change the catalog.
    pub(crate) handle: bool,
    /// Capabilities that the client must have.
    pub(crate) asks: Asks,
}

impl Needs {
    /// Requires shared state of type `T`.
    pub fn state<T: Send + Sync + 'static>(&mut self) {
        self.states.push((TypeId::of::<T>(), type_name::<T>()));
    }
}

/// `&T` is shared state, `&Context` the call, `&HeaderMap` the headers of its HTTP request.
///
/// `&Context` and `&HeaderMap` are recognized by their `TypeId`, because second impls for them would conflict with this one.
#[diagnostic::do_not_recommend]
impl<'a, T: Send + Sync + 'static> FromCall<'a> for &'a T {
    fn from_call(context: &'a Context) -> Result<Self> {
        let found = (context as &dyn Any).downcast_ref::<T>();
        #[cfg(feature = "http")]
        let found = found.or_else(|| (context.headers() as &dyn Any).downcast_ref::<T>());
        let found = found.or_else(|| context.0.environment.states.get::<T>());
        found.ok_or_else(|| missing::<T>())
    }

    fn needs(needs: &mut Needs) {
        if TypeId::of::<T>() == TypeId::of::<Context>() {
            needs.meta = true;
            needs.context = true;
        } else if !is_head(TypeId::of::<T>()) {
            needs.state::<T>();
        }
    }
}

/// Returns whether this is the type of HTTP headers, which every call has. Over other transports they are empty.
fn is_head(id: TypeId) -> bool {
    #[cfg(feature = "http")]
    return id == TypeId::of::<http::HeaderMap>();
    #[cfg(not(feature = "http"))]
    {
        let _ = id;
        false
    }
}

#[cfg(feature = "http")]
#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> FromCall<'_> for crate::call::context::Extension<T> {
    fn from_call(context: &Context) -> Result<Self> {
        Self::of(context)
    }
}

/// Returns the error for missing state. `build()` checks for it, so only a call that bypasses the server gets here.
pub(crate) fn missing<T>() -> Error {
    Error::internal(format!("there is no state of type `{}`", type_name::<T>()))
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Context {
    fn from_call(context: &Context) -> Result<Self> {
        Ok(context.clone())
    }

    fn needs(needs: &mut Needs) {
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

    fn needs(needs: &mut Needs) {
        needs.meta = true;
    }
}
