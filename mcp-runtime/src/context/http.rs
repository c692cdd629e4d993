//! The HTTP request that a call came with.

use std::{ops::Deref, sync::LazyLock, time::Duration};

use http::HeaderMap;

use super::Context;
use crate::error::{Error, Result};

/// Of a call that came over another transport.
static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

impl Context {
    /// The headers of the HTTP request, none over another transport. A handler may also take `&HeaderMap`
    /// as a parameter.
    pub fn headers(&self) -> &HeaderMap {
        self.0.caller.carrier.http.as_ref().map_or(&NONE, |it| &it.headers)
    }

    /// What the application that the server is mounted in has added to the HTTP request.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.caller.carrier.http.as_ref()?.extensions.get()
    }

    /// Ends the stream on which the client waits for the answer; it comes back after `retry` for whatever is sent from now
    /// on (SEP-1699). Worth it for work that takes long behind proxies that cut long answers.
    ///
    /// Does nothing wherever a stream cannot be resumed: on other transports, in revisions other than 2025-11-25, and for
    /// clients that take no streams.
    pub fn release_stream(&self, retry: Duration) {
        let lock = self.lock_progress();
        if let Some(channel) = self.0.caller.channel.as_ref().filter(|_| !self.is_over()) {
            channel.release(retry);
        }
        drop(lock);
    }
}

/// What the application that the server is mounted in has added to the HTTP request: a parameter of a handler, or of
/// middleware in front of the server.
///
/// ```
/// use mcp_runtime::{Extension, prelude::*};
///
/// /// What the application knows of who calls.
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
/// Where the request has none, the call fails with an internal error; [`Context::extension`] asks whether there is one.
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
