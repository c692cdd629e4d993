//! The HTTP request that a call came with.

use std::{ops::Deref, sync::LazyLock, time::Duration};

use http::HeaderMap;

use super::Context;
use crate::error::{Error, Result};

/// Headers of a call over another transport.
static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

impl Context {
    /// Returns the headers of the HTTP request. Empty over other transports. A handler may also take `&HeaderMap` as a parameter.
    pub fn headers(&self) -> &HeaderMap {
        self.0.caller.carrier.http.as_ref().map_or(&NONE, |it| &it.headers)
    }

    /// Returns an extension that the surrounding application has added to the HTTP request.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.caller.carrier.http.as_ref()?.extensions.get()
    }

    /// Ends the stream on which the client waits for the answer. The client reconnects after `retry`, and then gets all messages sent from
    /// now on (SEP-1699). Use it for long work behind proxies that cut off long responses.
    ///
    /// Does nothing if the stream cannot be resumed: on other transports, under protocol revisions other than 2025-11-25, and for clients
    /// that accept no streams.
    pub fn release_stream(&self, retry: Duration) {
        let lock = self.lock_progress();
        if let Some(channel) = self.0.caller.channel.as_ref().filter(|_| !self.is_over()) {
            channel.release(retry);
        }
        drop(lock);
    }
}

/// An extension of the HTTP request, as a parameter of a handler. The surrounding application adds it, or middleware in front of the
/// server.
///
/// ```
/// use mcp_runtime::{Extension, prelude::*};
///
/// /// The caller, as the application knows it.
/// #[derive(Clone)]
/// struct User {
///     name: String,
/// }
///
/// /// Says who calls.
/// #[tool]
/// fn whoami(user: Extension<User>) -> String {
///     user.name.clone()
/// }
/// # fn main() {}
/// ```
///
/// The call fails with an internal error if the request has no such extension. [`Context::extension`] returns an `Option` instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<T>(pub T);

impl<T> Deref for Extension<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone + Send + Sync + 'static> Extension<T> {
    pub(crate) fn of(context: &Context) -> Result<Self> {
        let missing = || {
            let name = std::any::type_name::<T>();
            Error::internal(format!("the HTTP request has no extension of type `{name}`"))
        };
        context.extension().cloned().map(Self).ok_or_else(missing)
    }
}
