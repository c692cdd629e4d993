//! The probe's handles for types that cannot be parameters, and the errors that tell the author so.
//!
//! These handles have the same methods as the other handles, but without bounds, so that a wrong type causes a single error. That error
//! comes from the bound of `check`. The methods never run, because code with such a type does not compile.

use std::{
    ffi::{CStr, OsStr},
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    Args, Argument, Call, Describe, FromCall, ItemParams, Probe, Shared, State,
    probe::{JsonArgument, NeverImplemented, Spread, TextArgument},
};
use crate::{
    call::context::HasContext,
    error::{Error, Result},
    item::ArgDef,
};

/// Types whose values the server can provide.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not come from the server, and no variable of the URI has this parameter's name",
    label = "nothing to take it from",
    note = "to take it from the URI, add the parameter's name in braces, as in `users://{{id}}`",
    note = "the server provides `&T` or `State<T>`, `&Context`, `Progress`, `Cancel`, `Meta`, `Client`, `Handle`, and your own types with `impl FromCall`"
)]
pub trait FromServer<'a> {}

#[diagnostic::do_not_recommend]
impl<'a, T: FromCall<'a>> FromServer<'a> for T {}

/// Parameters that share a `T` among all calls. The single bound `Shared` gives one error even if the type is neither `Send` nor `Sync`.
#[diagnostic::on_unimplemented(
    message = "calls that run at the same time cannot share `{T}`",
    label = "not `Send` and `Sync`",
    note = "write `std::sync::Arc` instead of `Rc`, `Mutex` or `RwLock` instead of `RefCell`, and an atomic instead of `Cell`, here or inside the type",
    note = "wrap a type of another crate in a `Mutex`, which is `Sync` if the type is `Send`",
    note = "to see which part of a large type it is, compile `fn part(state: {T}) -> impl Send + Sync {{ state }}`"
)]
pub trait Lends<T> {}

#[diagnostic::do_not_recommend]
impl<T: Shared> Lends<T> for &T {}
#[diagnostic::do_not_recommend]
impl<T: Shared> Lends<T> for State<T> {}

/// Types that lend a `T` to all calls without an `Arc`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter: all calls already share the server's state, without an `Arc`",
    label = "clients cannot send it, and the server does not have it",
    note = "take `&{T}`, and give the server the value itself: `.state(…)` with a `{T}`",
    note = "a parameter `State<{T}>` can be cloned and kept, as an `Arc` can"
)]
pub trait SharesWithoutArc<T> {}

#[diagnostic::do_not_recommend]
impl<X: ?Sized + NeverImplemented, T> SharesWithoutArc<T> for X {}

/// Parameters whose fields are the arguments of an item. Only tools have such parameters.
#[diagnostic::on_unimplemented(
    message = "a prompt or a URI takes each argument as a parameter, and `{Self}` is for tools",
    label = "clients send a text for each parameter here, and no fields",
    note = "replace it with a parameter for each field: take `String`, a number, or an enum with `#[data]` whose variants have no fields"
)]
pub trait SpreadsFields {}

#[diagnostic::do_not_recommend]
impl<X: ?Sized + NeverImplemented> SpreadsFields for X {}

/// Borrowed types that cannot be parameters, with the type to write instead. `str` and slices can be borrowed.
pub trait Unlent {
    type Owned;
}
impl Unlent for &Path {
    type Owned = PathBuf;
}
impl Unlent for &OsStr {
    type Owned = String;
}
impl Unlent for &CStr {
    type Owned = String;
}
impl<T: Unlent> Unlent for Option<T> {
    type Owned = Option<T::Owned>;
}

/// Types that a call can lend to the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter: write `{Owned}`",
    label = "borrows, but an argument must own its data"
)]
pub trait Lent<Owned> {}

#[diagnostic::do_not_recommend]
impl<X: ?Sized + NeverImplemented, Owned> Lent<Owned> for X {}

/// Types that serde reads by borrowing from the input.
pub trait Borrows {}
impl<T: Borrows> Borrows for Option<T> {}
impl<T: Borrows> Borrows for Vec<T> {}
impl<T: Borrows> Borrows for Box<T> {}

/// Types that own their data, as arguments must.
#[diagnostic::on_unimplemented(
    message = "`{Self}` borrows, but an argument must own its data",
    label = "the client's message is not kept during the call",
    note = "in the type, write `String` or `Cow<'static, str>` instead of `&str`, and `Vec<T>` instead of `&[T]`, and remove its lifetime"
)]
pub trait OwnsData {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + NeverImplemented> OwnsData for T {}

/// Replaces `Check::check_owned` for these types. Otherwise rustc would report that `Deserialize` is not general enough for them.
impl<T: Borrows> JsonArgument<T> {
    pub fn check_owned<X: OwnsData>(self) -> Self {
        self
    }
}

impl<T: Borrows> Spread<T> {
    pub fn check_owned<X: OwnsData>(self) -> Self {
        self
    }
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T>(PhantomData<fn() -> PhantomData<T>>);

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> $name<T> {
            const NEW: Self = Self(PhantomData);

            pub fn read(self, _: &mut Call<'_>, _: &'static ArgDef) -> Option<()> {
                None
            }

            pub fn read_or(
                self,
                _: &mut Call<'_>,
                _: &'static ArgDef,
                _: impl FnOnce() -> T,
            ) -> Option<()> {
                None
            }

            pub fn pass(self, _: &impl HasContext, (): &mut ()) -> Result<T> {
                Err(Error::internal("a parameter of this type has no value"))
            }
        }

        impl<T> Describe for $name<T> {
            type Value = T;

            fn describe(self, _: &mut ItemParams, _: &'static ArgDef) {}

            fn default_json(self, _: T) -> Option<Value> {
                None
            }
        }
    )*};
}
handles! {
    /// Type that is neither an argument of a tool nor a value from the server.
    Unfit;
    /// Type that neither can be read from text nor comes from the server.
    UnfitText;
    /// Type that does not come from the server.
    UnfitServer;
    /// Borrowed type that has to be owned.
    UnfitBorrowed;
    /// State that calls cannot share.
    UnfitState;
    /// `Arc<T>`. Clients cannot send it, and shared state does not need it.
    UnfitArc;
    /// `Args<T>` where arguments are texts.
    UnfitArgs;
}

impl<T> Unfit<T> {
    pub fn check<X: Argument>(self) -> Self {
        self
    }
}

impl<T> UnfitText<T> {
    pub fn check<X: TextArgument>(self) -> Self {
        self
    }
}

impl<T> UnfitServer<T> {
    pub fn check<'a, X: FromServer<'a>>(self) -> Self {
        self
    }
}

impl<T: Unlent> UnfitBorrowed<T> {
    pub fn check<X: Lent<T::Owned>>(self) -> Self {
        self
    }
}

impl<T> UnfitState<&T> {
    pub fn check<X: Lends<T>>(self) -> Self {
        self
    }
}

impl<T> UnfitState<State<T>> {
    pub fn check<X: Lends<T>>(self) -> Self {
        self
    }
}

macro_rules! unfit_params {
    ($visibility:vis $handle:ident<$ty:ty>) => {
        $visibility fn tool_param(&self) -> $handle<$ty> {
            $handle::NEW
        }
        $visibility fn text_param(&self) -> $handle<$ty> {
            $handle::NEW
        }
        $visibility fn server_param(&self) -> $handle<$ty> {
            $handle::NEW
        }
        $visibility fn completion_param(&self) -> $handle<$ty> {
            $handle::NEW
        }
    };
}

impl<T> UnfitArc<Arc<T>> {
    pub fn check<X: SharesWithoutArc<T>>(self) -> Self {
        self
    }
}

impl<T> UnfitArgs<Args<T>> {
    pub fn check<X: SpreadsFields>(self) -> Self {
        self
    }
}

/// These inherent methods take precedence over the methods of `UnfitLevel`, which have the same receiver. The methods of all other levels
/// take precedence over these inherent methods.
impl<T> Probe<Arc<T>> {
    unfit_params!(pub UnfitArc<Arc<T>>);
}

/// These inherent methods have the same precedence as those of `Probe<Arc<T>>`.
impl<T> Probe<Args<T>> {
    pub fn text_param(&self) -> UnfitArgs<Args<T>> {
        UnfitArgs::NEW
    }
    pub fn completion_param(&self) -> UnfitArgs<Args<T>> {
        UnfitArgs::NEW
    }
}

pub trait UnfitLevel<T> {
    fn tool_param(&self) -> Unfit<T> {
        Unfit::NEW
    }
    fn text_param(&self) -> UnfitText<T> {
        UnfitText::NEW
    }
    fn server_param(&self) -> UnfitServer<T> {
        UnfitServer::NEW
    }
    fn completion_param(&self) -> UnfitText<T> {
        UnfitText::NEW
    }
}
impl<T> UnfitLevel<T> for Probe<T> {}

/// Level of `&T` and `State<T>` for a `T` that calls cannot share. An earlier level accepts all others.
pub trait UnfitStateLevel<T> {
    unfit_params!(UnfitState<T>);
}
impl<'s, T> UnfitStateLevel<&'s T> for &Probe<&'s T> {}
impl<T> UnfitStateLevel<State<T>> for &Probe<State<T>> {}

/// Level of borrowed types, before the level of arguments: with a lifetime of its own, serde reads some of them.
pub trait UnfitBorrowedLevel<T> {
    unfit_params!(UnfitBorrowed<T>);
}
impl<T: Unlent> UnfitBorrowedLevel<T> for &&Probe<T> {}
