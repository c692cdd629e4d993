//! Argument types of the settings: lists of items, sizes, and the closures of `setup`. The traits exist only for better compiler errors.
//! Authors of servers never name them, so the documentation hides them.

use std::{
    any::{TypeId, type_name},
    fmt,
    panic::Location,
};

use crate::{
    call::extract::{Shared, State},
    call::reply::IntoFailure,
    catalog::Handle,
};

/// Location in the user's code at which a setting is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite(&'static Location<'static>);

impl CallSite {
    /// Returns the location from which the calling function was called. The calling function must have `#[track_caller]`.
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.file(), self.0.line())
    }
}

/// Name and identity of a function in a list of [`items!`](crate::items).
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub(crate) name: &'static str,
    pub(crate) identity: TypeId,
}

#[doc(hidden)]
#[allow(missing_docs, reason = "public only for generated code")]
pub const fn named(name: &'static str, identity: TypeId) -> Named {
    Named { name, identity }
}

/// List of items to serve, in this order.
///
/// Create the list with [`items!`](crate::items), and pass it to [`Builder::items`](crate::Builder::items).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let list: mcp_runtime::Items = items![add];
/// assert!(mcp_runtime::server!().items(list).build().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Items {
    pub(super) named: Vec<Named>,
    /// Location of the list in the user's code.
    pub(super) place: CallSite,
}

#[doc(hidden)]
#[allow(missing_docs, reason = "public only for generated code")]
#[track_caller]
pub fn items(list: &[Named]) -> Items {
    Items { named: list.to_vec(), place: CallSite::here() }
}

/// Closure for [`setup`](crate::Builder::setup): `async || …`, `async |server: Handle| …` or `async |config: State<Config>| …`.
///
/// `A` stands for the parameters of the closure. The compiler infers it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`setup` takes an `async` closure with nothing, a `State<T>` or a `Handle` as its parameter",
    label = "not such a closure",
    note = "write `.setup(async || Db::open().await)`, `.setup(async |config: State<Config>| …)` or `.setup(async |server: Handle| …)`"
)]
pub trait Setup<A> {
    #[doc(hidden)]
    type Future;
    #[doc(hidden)]
    const TAKES_HANDLE: bool;
    /// Returns the types of the state that the closure takes.
    #[doc(hidden)]
    fn takes() -> Vec<(TypeId, &'static str)> {
        Vec::new()
    }
    #[doc(hidden)]
    fn begin(self, handle: Handle) -> Result<Self::Future, String>;
}

/// Returns the state for a closure of `setup`.
fn existing<T: Shared>(handle: &Handle) -> Result<State<T>, String> {
    handle.state().ok_or_else(|| format!("there is no state of type `{}` yet", type_name::<T>()))
}

fn taken<T: Shared>() -> (TypeId, &'static str) {
    (TypeId::of::<T>(), type_name::<T>())
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce() -> R, R> Setup<()> for F {
    type Future = R;
    const TAKES_HANDLE: bool = false;

    fn begin(self, _: Handle) -> Result<R, String> {
        Ok(self())
    }
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce(Handle) -> R, R> Setup<(Handle,)> for F {
    type Future = R;
    const TAKES_HANDLE: bool = true;

    fn begin(self, handle: Handle) -> Result<R, String> {
        Ok(self(handle))
    }
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce(State<T>) -> R, R, T: Shared> Setup<(State<T>,)> for F {
    type Future = R;
    const TAKES_HANDLE: bool = false;

    fn takes() -> Vec<(TypeId, &'static str)> {
        vec![taken::<T>()]
    }

    fn begin(self, handle: Handle) -> Result<R, String> {
        Ok(self(existing(&handle)?))
    }
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce(State<T>, State<U>) -> R, R, T: Shared, U: Shared> Setup<(State<T>, State<U>)>
    for F
{
    type Future = R;
    const TAKES_HANDLE: bool = false;

    fn takes() -> Vec<(TypeId, &'static str)> {
        vec![taken::<T>(), taken::<U>()]
    }

    fn begin(self, handle: Handle) -> Result<R, String> {
        Ok(self(existing(&handle)?, existing(&handle)?))
    }
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce(State<T>, Handle) -> R, R, T: Shared> Setup<(State<T>, Handle)> for F {
    type Future = R;
    const TAKES_HANDLE: bool = true;

    fn takes() -> Vec<(TypeId, &'static str)> {
        vec![taken::<T>()]
    }

    fn begin(self, handle: Handle) -> Result<R, String> {
        Ok(self(existing(&handle)?, handle))
    }
}

/// Future that the closure of `setup` returns.
#[doc(hidden)]
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

/// Output of the future that the closure of `setup` returns: a `Result` with the state.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`setup` returns a `Result`, and `{Self}` is not a `Result`",
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
        self.map_err(|error| error.into_failure().to_string())
    }
}

/// Size in bytes: a number, or a text such as `"64KB"` or `"1MB"`. As in attributes, `KB` is 1,000 bytes, and `KiB` is 1,024 bytes.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number of bytes",
    label = "neither a number nor a text",
    note = "write `.max_result(1_000_000)` or `.max_result(\"1MB\")`"
)]
pub trait Size {
    /// Returns the size in bytes.
    ///
    /// # Errors
    /// Fails if the value is not a valid size. The error describes the problem.
    fn in_bytes(self) -> Result<usize, String>;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Size for $ty {
            fn in_bytes(self) -> Result<usize, String> {
                usize::try_from(self).map_err(|_| format!("{self} is not a size in bytes"))
            }
        }
    )*};
}
// `i32` is in the list, because a literal without a suffix has this type.
numbers! { i32 u32 u64 usize }

impl Size for &str {
    fn in_bytes(self) -> Result<usize, String> {
        let wrong =
            || format!("`{self}` is not a size: write it as `64KB`, `1MiB` or a number of bytes");
        let digits = self.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
        let unit = match self[digits.len()..].trim().to_ascii_uppercase().as_str() {
            "" | "B" => 1,
            "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "KIB" => 1 << 10,
            "MIB" => 1 << 20,
            "GIB" => 1 << 30,
            _ => return Err(wrong()),
        };
        let number: usize = digits.parse().map_err(|_| wrong())?;
        number.checked_mul(unit).ok_or_else(|| format!("the size `{self}` is too large"))
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes() {
        assert_eq!("1MB".in_bytes(), Ok(1_000_000));
        assert_eq!("64 kib".in_bytes(), Ok(64 << 10));
        assert_eq!("12".in_bytes(), Ok(12));
        assert_eq!(12.in_bytes(), Ok(12));
        assert!("1 parsec".in_bytes().is_err());
        assert!("MB".in_bytes().is_err());
        assert!((-1).in_bytes().is_err());
    }
}
