use std::{
    cell::{Cell, OnceCell},
    fmt,
    sync::Arc,
};

use super::{Caller, Context, Environment};

/// The [`Context`] of a call, made when somebody takes it: most handlers want their arguments and nothing else.
pub struct LazyContext<'a> {
    environment: &'a Arc<Environment>,
    uri: Option<&'a str>,
    /// `None` when the context has been made of it.
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

    /// What has been made by now. Nobody else knows of the call when there is nothing.
    pub(crate) fn made(&self) -> Option<&Context> {
        self.made.get()
    }

    /// Whether the answer is made of what the client answered. Who has not taken the context has asked nothing.
    pub(crate) fn is_resumed(&self) -> bool {
        self.made().is_some_and(Context::is_resumed)
    }
}

impl fmt::Debug for LazyContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyContext").field("made", &self.made).finish_non_exhaustive()
    }
}

/// Where generated code takes the context from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a call",
    label = "a `Context` or a `LazyContext`",
    note = "only what the attributes generate uses this trait"
)]
pub trait HasContext {
    /// The context.
    fn context(&self) -> &Context;
    /// The URI that is being read, in a resource.
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
