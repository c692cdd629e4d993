use std::{future::Future, pin::Pin};

use crate::{catalog::Handle, reply::IntoFailure};

type Made<T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send>>;

/// What [`setup`](crate::Builder::setup) takes: a closure that makes state or fails, `async || …` or `async |server: Handle| …`.
///
/// `A` is what the closure takes; the compiler finds it.
#[diagnostic::on_unimplemented(
    message = "`setup` cannot use this closure",
    label = "not an `async || …` that returns a `Result`",
    note = "it takes nothing or a `Handle`, and returns `Result<State, E>`: wrap what cannot fail in `Ok::<_, Error>(…)`, or give it with `.state(…)`"
)]
pub trait Setup<A>: Send + 'static {
    /// What it makes.
    type State: Send + Sync + 'static;
    #[doc(hidden)]
    const TAKES_HANDLE: bool;
    #[doc(hidden)]
    fn make(self, handle: Handle) -> Made<Self::State>;
}

async fn made<T, E: IntoFailure>(made: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    made.await.map_err(|it| it.into_failure().to_string())
}

impl<F, R, T, E> Setup<()> for F
where
    F: FnOnce() -> R + Send + 'static,
    R: Future<Output = Result<T, E>> + Send + 'static,
    T: Send + Sync + 'static,
    E: IntoFailure + 'static,
{
    type State = T;
    const TAKES_HANDLE: bool = false;

    fn make(self, _: Handle) -> Made<T> {
        Box::pin(made(self()))
    }
}

impl<F, R, T, E> Setup<(Handle,)> for F
where
    F: FnOnce(Handle) -> R + Send + 'static,
    R: Future<Output = Result<T, E>> + Send + 'static,
    T: Send + Sync + 'static,
    E: IntoFailure + 'static,
{
    type State = T;
    const TAKES_HANDLE: bool = true;

    fn make(self, handle: Handle) -> Made<T> {
        Box::pin(made(self(handle)))
    }
}
