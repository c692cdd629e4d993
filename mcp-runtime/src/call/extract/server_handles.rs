//! Methods of the probe's handles that get the values of parameters from the server, such as its state or the context of the call.

use serde_json::Value;

use super::{
    Call, Describe, FromCall, ItemParams, Probe, Requirements, Shared,
    probe::{FromClient, InPlace, LiveValue, ServerValue},
};
use crate::{
    call::context::{Context, HasContext},
    error::{Error, Result},
    item::ArgDef,
};

macro_rules! from_call {
    ($handle:ident) => {
        impl<T> $handle<T> {
            pub fn read(self, _: &mut Call<'_>, _: &'static ArgDef) -> Option<()> {
                Some(())
            }

            /// Never called: `check_from_client` rejects a default for such a parameter at compile time.
            pub fn read_or<D>(
                self,
                _: &mut Call<'_>,
                _: &'static ArgDef,
                _: impl FnOnce() -> D,
            ) -> Option<()> {
                Some(())
            }

            pub fn pass<'a>(self, context: &'a impl HasContext, _: &'a mut ()) -> Result<T>
            where
                T: FromCall<'a>,
            {
                T::from_call(context.context())
            }
        }

        impl<'a, T: FromCall<'a>> Describe for $handle<T> {
            type Value = ();

            fn describe(self, params: &mut ItemParams, _: &'static ArgDef) {
                params.server::<T>();
            }

            fn default_json(self, (): ()) -> Option<Value> {
                None
            }
        }
    };
}
from_call!(ServerValue);
from_call!(LiveValue);

impl<T> ServerValue<T> {
    pub fn check_from_client<X: ?Sized + FromClient>(self) -> Self {
        self
    }
}

impl<T> LiveValue<T> {
    pub fn check_from_client<X: ?Sized + FromClient>(self) -> Self {
        self
    }

    pub fn check_in_place<X: ?Sized + InPlace>(self) -> Self {
        self
    }
}

/// Handle for the receiver `&self` of a method. The receiver is shared state.
#[derive(Debug)]
pub struct Receiver<T> {
    from_call: for<'a> fn(&'a Context) -> Result<&'a T>,
    needs: fn(&mut Requirements),
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Receiver<T> {}

impl<T: Send + Sync + 'static> Probe<T> {
    pub fn receiver(self) -> Receiver<T> {
        Receiver { from_call: |context| <&T>::from_call(context), needs: <&T>::needs }
    }
}

/// Level for receivers whose type calls cannot share. `check_shared` reports the error.
pub trait UnfitReceiverLevel<T> {
    fn receiver(self) -> Receiver<T>;
}
impl<T> UnfitReceiverLevel<T> for Probe<T> {
    fn receiver(self) -> Receiver<T> {
        Receiver {
            from_call: |_| Err(Error::internal("the state of this type cannot be shared")),
            needs: |_| {},
        }
    }
}

impl<T> Receiver<T> {
    /// Checks that calls can share the state. The single bound gives one error even if the type is neither `Send` nor `Sync`.
    pub fn check_shared(self) -> Self
    where
        T: Shared,
    {
        self
    }

    pub fn read(self, _: &mut Call<'_>, _: &'static ArgDef) -> Option<()> {
        Some(())
    }

    pub fn pass<'a>(self, context: &'a impl HasContext, (): &mut ()) -> Result<&'a T> {
        (self.from_call)(context.context())
    }
}

impl<T> Describe for Receiver<T> {
    type Value = ();

    fn describe(self, params: &mut ItemParams, _: &'static ArgDef) {
        (self.needs)(&mut params.needs);
    }

    fn default_json(self, (): ()) -> Option<Value> {
        None
    }
}
