//! OAuth errors (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707, section 2).

use std::borrow::Cow;

use http::StatusCode;

/// Error of a client or of this server. `why` must not contain text from the client, because it becomes part of URLs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) error: &'static str,
    pub(crate) why: Cow<'static, str>,
    pub(crate) status: StatusCode,
}

impl Refusal {
    fn of(error: &'static str, why: impl Into<Cow<'static, str>>) -> Self {
        Self { error, why: why.into(), status: StatusCode::BAD_REQUEST }
    }

    pub(crate) fn request(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_request", why)
    }

    /// The client is unknown, or its authentication has failed.
    pub(crate) fn client(why: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, ..Self::of("invalid_client", why) }
    }

    /// A code or a refresh token is unknown or no longer valid.
    pub(crate) fn grant(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_grant", why)
    }

    pub(crate) fn grant_type() -> Self {
        let why = "the grant types of this server are authorization_code and refresh_token";
        Self::of("unsupported_grant_type", why)
    }

    pub(crate) fn response_type() -> Self {
        Self::of("unsupported_response_type", "the response type of this server is code")
    }

    pub(crate) fn scope(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_scope", why)
    }

    pub(crate) fn target() -> Self {
        Self::of("invalid_target", "tokens are given for this server only: see its metadata")
    }

    pub(crate) fn denied() -> Self {
        Self::of("access_denied", "the user has denied it")
    }

    /// All logins of the user were ended during this login.
    pub(crate) fn ended() -> Self {
        Self::of("access_denied", "all logins of the user have been ended meanwhile: begin again")
    }

    /// The upstream provider cannot be reached now.
    pub(crate) fn away() -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let why = "the provider that knows the user cannot be asked now";
        Self { status, ..Self::of("temporarily_unavailable", why) }
    }

    pub(crate) fn redirect(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_redirect_uri", why)
    }

    pub(crate) fn metadata(why: impl Into<Cow<'static, str>>) -> Self {
        Self::of("invalid_client_metadata", why)
    }

    /// A limit has been reached.
    pub(crate) fn busy(why: impl Into<Cow<'static, str>>) -> Self {
        let status = StatusCode::TOO_MANY_REQUESTS;
        Self { status, ..Self::of("temporarily_unavailable", why) }
    }

    /// Internal error. Its reason goes to the log only.
    pub(crate) fn broken(what: &'static str, why: &dyn std::fmt::Display) -> Self {
        tracing::error!("the authorization server: {what}: {why}");
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, ..Self::of("server_error", what) }
    }
}
