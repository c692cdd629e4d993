use std::{
    cell::{Cell, OnceCell},
    fmt,
    sync::Arc,
};

use super::{Caller, Context, Environment};

/// The [`Context`] of a call, created on first use, because most handlers need only their arguments.
pub struct LazyContext<'a> {
    environment: &'a Arc<Environment>,
    uri: Option<&'a str>,
    /// `None` after the context was created from it.
    caller: Cell<Option<Caller>>,
    made: OnceCell<Context>,
}

impl<'a> LazyContext<'a> {
    pub(crate) fn new(
        environment: &'a Arc<Environment>,
        caller: Caller,
        uri: Option<&'a str>,
    ) -> Self {
        Self { environment, uri, caller: Cell::new(Some(caller)), made: OnceCell::new() }
    }

    pub(crate) fn get(&self) -> &Context {
        self.made.get_or_init(|| {
            let caller = self.caller.take().unwrap_or_default();
            Context::new(self.environment.clone(), caller, self.uri)
        })
    }

    /// Returns the context if it was created. If not, no other code refers to the call.
    pub(crate) fn made(&self) -> Option<&Context> {
        self.made.get()
    }

    /// Returns whether the result depends on answers of the client. A handler that has not used the context has asked nothing.
    pub(crate) fn is_resumed(&self) -> bool {
        self.made().is_some_and(Context::is_resumed)
    }
}

impl fmt::Debug for LazyContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyContext").field("made", &self.made).finish_non_exhaustive()
    }
}

/// Types from which generated code takes the context.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a call",
    label = "a `Context` or a `LazyContext`",
    note = "only what the attributes generate uses this trait"
)]
pub trait HasContext {
    /// Returns the context.
    fn context(&self) -> &Context;
    /// Returns the URI that is read, in a resource.
    fn uri(&self) -> Option<&str>;
}

impl HasContext for Context {
    fn context(&self) -> &Context {
        self
    }

    fn uri(&self) -> Option<&str> {
        self.uri()
    }
}

impl HasContext for LazyContext<'_> {
    fn context(&self) -> &Context {
        self.get()
    }

    fn uri(&self) -> Option<&str> {
        self.uri
    }
}
