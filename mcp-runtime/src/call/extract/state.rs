use std::{fmt, ops::Deref, sync::Arc};

use super::{FromCall, Needs, from_call::missing};
use crate::{call::context::Context, error::Result};

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
        context.0.environment.states.share().map(Self).ok_or_else(missing::<T>)
    }

    fn needs(needs: &mut Needs) {
        needs.state::<T>();
    }
}

/// State that calls can share while they run at the same time. Every type that is `Send`, `Sync` and `'static` implements it.
#[diagnostic::on_unimplemented(
    message = "calls that run at the same time cannot share `{Self}`",
    label = "not `Send` and `Sync`",
    note = "write `std::sync::Arc` for `Rc`, `Mutex` or `RwLock` for `RefCell`, and an atomic for `Cell`, here or in what it is made of",
    note = "what is not yours and is `Send` goes into a `Mutex`, which is `Sync`"
)]
pub trait Shared: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Shared for T {}
