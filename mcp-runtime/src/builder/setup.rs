use crate::{call::extract::Shared, call::reply::IntoFailure, catalog::Handle};

/// Closure for [`setup`](crate::Builder::setup): `async || …` or `async |server: Handle| …`.
///
/// `A` stands for the parameters of the closure; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`setup` takes an `async` closure with nothing or a `Handle` as its parameter",
    label = "not such a closure",
    note = "write `.setup(async || Db::open().await)` or `.setup(async |server: Handle| …)`"
)]
pub trait Setup<A> {
    #[doc(hidden)]
    type Future;
    #[doc(hidden)]
    const TAKES_HANDLE: bool;
    #[doc(hidden)]
    fn begin(self, handle: Handle) -> Self::Future;
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce() -> R, R> Setup<()> for F {
    type Future = R;
    const TAKES_HANDLE: bool = false;

    fn begin(self, _: Handle) -> R {
        self()
    }
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce(Handle) -> R, R> Setup<(Handle,)> for F {
    type Future = R;
    const TAKES_HANDLE: bool = true;

    fn begin(self, handle: Handle) -> R {
        self(handle)
    }
}

/// Future of a `setup`.
#[diagnostic::on_unimplemented(
    message = "`setup` waits for what it makes, and `{Self}` is there at once",
    label = "not `async`",
    note = "write `async` before the `fn`, or `.setup(async || …)`; what need not be waited for is given with `.state(…)`"
)]
pub trait Opening {
    #[doc(hidden)]
    type Made;
    #[doc(hidden)]
    type Waiting: Future<Output = Self::Made>;
    #[doc(hidden)]
    fn wait(self) -> Self::Waiting;
}

#[diagnostic::do_not_recommend]
impl<F: Future> Opening for F {
    type Made = F::Output;
    type Waiting = F;

    fn wait(self) -> F {
        self
    }
}

/// Result of a `setup`: the state, or an error.
#[diagnostic::on_unimplemented(
    message = "`setup` returns a `Result`, and `{Self}` is none",
    label = "`setup` can fail",
    note = "return `Ok(…)`, as in `.setup(async || Ok::<_, Error>(Db::new()))`; what need not be waited for is given with `.state(…)`"
)]
pub trait Made: Send {
    #[doc(hidden)]
    type State: Shared;

    #[doc(hidden)]
    fn state(self) -> Result<Self::State, String>;
}

impl<T: Shared, E: IntoFailure + Send> Made for Result<T, E> {
    type State = T;

    fn state(self) -> Result<T, String> {
        self.map_err(|it| it.into_failure().to_string())
    }
}
