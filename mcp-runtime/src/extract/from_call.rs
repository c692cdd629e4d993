use std::any::{Any, TypeId, type_name};

use crate::{
    context::{Cancel, Context, Progress},
    error::{Error, Result},
    model::{Asks, Meta},
};

/// A parameter whose value comes from the server, never from the client; it does not show in any schema.
///
/// Implement it for what your handlers need of a call:
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
    /// Makes the value. A failure is the call's answer, as if the handler had returned it.
    ///
    /// # Errors
    /// Whatever keeps the value from being made.
    fn from_call(context: &'a Context) -> Result<Self>;

    /// Says what must be there when the server starts, so that a missing piece is found then and not at the first call.
    /// A type made of others passes it on: `Elicit::needs(needs)`.
    fn needs(needs: &mut Needs) {
        let _ = needs;
    }
}

/// What an item needs of the server.
#[derive(Debug, Default)]
pub struct Needs {
    pub(crate) states: Vec<(TypeId, &'static str)>,
    /// The request's `_meta` must be kept.
    pub(crate) meta: bool,
    /// The call itself: with it everything can be asked.
    pub(crate) context: bool,
    /// The catalog may change.
    pub(crate) handle: bool,
    /// What the client must be able to do.
    pub(crate) asks: Asks,
}

impl Needs {
    /// Shared state of type `T`.
    pub fn state<T: Send + Sync + 'static>(&mut self) {
        self.states.push((TypeId::of::<T>(), type_name::<T>()));
    }
}

/// `&T` is shared state, `&Context` the call, `&HeaderMap` the headers of its HTTP request.
///
/// `&Context` is answered here by `TypeId`, because a second impl for it would conflict with this one; so is `&HeaderMap`.
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

/// Whether this is the head of an HTTP request, which every call has, if only an empty one.
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
impl<T: Clone + Send + Sync + 'static> FromCall<'_> for crate::context::Extension<T> {
    fn from_call(context: &Context) -> Result<Self> {
        Self::of(context)
    }
}

/// `build()` has checked it; only a call that goes around the server gets here.
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
