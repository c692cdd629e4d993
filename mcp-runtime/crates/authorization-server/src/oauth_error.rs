//! OAuth errors (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707, section 2).

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use http::StatusCode;
use mcp_runtime::{__companion::RefusalCounters, limits::Limit};

/// OAuth error that a client or this server has caused. `why` becomes part of URLs, so it must not contain text from the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OAuthError {
    pub(crate) error: &'static str,
    pub(crate) why: Cow<'static, str>,
    pub(crate) status: StatusCode,
}

impl OAuthError {
    fn of(error: &'static str, why: impl Into<Cow<'static, str>>) -> Self {
        Self { error, why: why.into(), status: StatusCode::BAD_REQUEST }
    }

    pub(crate) fn invalid_request(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_request", why)
    }

    /// The client is unknown, or its authentication has failed.
    pub(crate) fn invalid_client(why: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, ..Self::of("invalid_client", why) }
    }

    /// A code or a refresh token is unknown or no longer valid.
    pub(crate) fn invalid_grant(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_grant", why)
    }

    pub(crate) fn unsupported_grant_type() -> Self {
        let why = "this server supports the grant types authorization_code and refresh_token";
        Self::of("unsupported_grant_type", why)
    }

    pub(crate) fn unsupported_response_type() -> Self {
        Self::of("unsupported_response_type", "this server supports only the response type code")
    }

    pub(crate) fn invalid_scope(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_scope", why)
    }

    pub(crate) fn invalid_target() -> Self {
        Self::of("invalid_target", "tokens are issued for this server only: see its metadata")
    }

    pub(crate) fn access_denied() -> Self {
        Self::of("access_denied", "the user has denied access")
    }

    /// The user has allowed access, but to none of the scopes that the client requested.
    pub(crate) fn no_scope_chosen() -> Self {
        Self::of("access_denied", "none of the requested scopes was chosen on the page")
    }

    /// All logins of the user were ended during this login.
    pub(crate) fn logins_ended() -> Self {
        Self::of("access_denied", "all logins of the user were ended in the meantime: start again")
    }

    /// The upstream provider cannot be reached now.
    pub(crate) fn provider_unavailable() -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let why = "the identity provider is not available now";
        Self { status, ..Self::of("temporarily_unavailable", why) }
    }

    /// The store that the nodes of this server share cannot be used now.
    pub(crate) fn store_unavailable() -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let why = "the store of this server is not available now: try again later";
        Self { status, ..Self::of("temporarily_unavailable", why) }
    }

    /// Whether this is [`store_unavailable`](Self::store_unavailable).
    pub(crate) fn is_store_unavailable(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    pub(crate) fn invalid_redirect_uri(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_redirect_uri", why)
    }

    pub(crate) fn invalid_client_metadata(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_client_metadata", why)
    }

    /// A limit has been reached.
    pub(crate) fn limit_reached(why: impl Into<Cow<'static, str>>) -> Self {
        let status = StatusCode::TOO_MANY_REQUESTS;
        Self { status, ..Self::of("temporarily_unavailable", why) }
    }

    /// Internal error. The client gets `what`; `why` goes to the log only.
    pub(crate) fn server_error(what: &'static str, why: &dyn std::fmt::Display) -> Self {
        tracing::error!("the authorization server: {what}: {why}");
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, ..Self::of("server_error", what) }
    }
}

/// Refusal counters of the server. They are set when the server starts, before it can refuse any request.
#[derive(Clone, Default)]
pub(crate) struct RefusalCounts(Arc<OnceLock<Arc<RefusalCounters>>>);

impl RefusalCounts {
    /// Returns started counters, and the `RefusalCounters` behind them, which a test can read.
    #[cfg(test)]
    pub(crate) fn of_test() -> (Self, Arc<RefusalCounters>) {
        let (counts, tally) = (Self::default(), Arc::<RefusalCounters>::default());
        counts.start(tally.clone());
        (counts, tally)
    }

    /// Sets the counters of the server.
    pub(crate) fn start(&self, tally: Arc<RefusalCounters>) {
        let _ = self.0.set(tally);
    }

    /// Counts a refusal or an eviction.
    pub(crate) fn count(&self, limit: Limit) {
        if let Some(tally) = self.0.get() {
            tally.refuse_of(limit, "the authorization server");
        }
    }

    /// Counts a refusal and returns it.
    pub(crate) fn limit_reached(&self, limit: Limit, why: &'static str) -> OAuthError {
        self.count(limit);
        OAuthError::limit_reached(why)
    }
}
