//! Upstream provider that authenticates users (OpenID Connect Core 1.0, section 3.1).

use std::{sync::Arc, time::Duration};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use http::{HeaderValue, StatusCode};
use mcp_runtime::{
    __companion::{Web, discover, encode},
    auth::{Jwt, TokenVerifier as _},
};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{Mutex, Semaphore},
    time::Instant,
};

use crate::{
    form,
    grant::{Grant, SealedTokens, grant_name},
    login::User,
    oauth_error::OAuthError,
    redirect_uri::RedirectUri,
    secret::{Digest, TokenSealer, random},
    upstream::{Upstream, UpstreamUser},
};

/// Maximum size of a token response, in bytes. The limit is small, because a part of the response is stored for each grant.
const MOST: usize = 64 << 10;

/// Maximum number of tokio tasks that concurrently notify the provider of ended grants.
const REVOCATIONS: usize = 4;

/// Assumed lifetime of an access token without `expires_in`, in seconds.
const USUAL: u64 = 60 * 60;

/// Age at which cached metadata of the provider is fetched again.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// Secrets of one login: the PKCE verifier, which this server sends with the code, and the nonce, which the ID token must contain.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LoginSecrets {
    verifier: String,
    nonce: String,
}

/// Token response of the provider.
#[derive(Deserialize)]
struct UpstreamTokenResponse {
    access_token: String,
    refresh_token: Option<String>,
    id_token: Option<String>,
    expires_in: Option<u64>,
}

/// Stored part of a token response.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct UpstreamTokens {
    access: String,
    refresh: Option<String>,
    /// Expiry of the access token, in seconds since 1970.
    until: u64,
}

/// Claims of an ID token that a login needs.
#[derive(Deserialize)]
struct IdTokenClaims {
    sub: String,
    nonce: Option<String>,
    azp: Option<String>,
}

/// Upstream provider of a running server.
pub(crate) struct Provider {
    settings: Upstream,
    web: Web,
    jwt: Jwt,
    sealer: TokenSealer,
    metadata: MetadataCache,
    /// Locks that allow only one refresh of a grant at a time, because the provider may treat a second refresh with the same token as
    /// theft. Different grants may share a lock.
    refresh_locks: [Mutex<()>; 32],
    revocations: Semaphore,
}

/// Reason why the provider issues no tokens for a login or a refresh.
pub(crate) enum ProviderError {
    /// The provider has refused the login or the refresh, or this server has rejected its response.
    Refused,
    /// The provider cannot be reached, or cannot answer now.
    Unavailable,
}

impl From<ProviderError> for OAuthError {
    fn from(error: ProviderError) -> Self {
        match error {
            ProviderError::Refused => Self::access_denied(),
            ProviderError::Unavailable => Self::provider_unavailable(),
        }
    }
}

impl Provider {
    pub(crate) fn new(settings: Upstream) -> Self {
        let web = Web::from_issuer(&settings.issuer);
        let jwt = Jwt::new(&*settings.issuer, &*settings.id).id_tokens();
        let sealer = TokenSealer::new(settings.key);
        let revocations = Semaphore::new(REVOCATIONS);
        let (metadata, refresh_locks) = Default::default();
        Self { settings, web, jwt, sealer, metadata, refresh_locks, revocations }
    }

    /// Returns the issuer without its scheme, as pages show it.
    pub(crate) fn display_name(&self) -> &str {
        let url = &self.settings.issuer;
        url.split_once("://").map_or(&**url, |parts| parts.1)
    }

    /// Returns the scopes that this server requests from the provider.
    pub(crate) fn scopes(&self) -> String {
        self.settings.scopes.join(" ")
    }

    /// Returns the source expression that allows the provider in the `Content-Security-Policy` of a page.
    pub(crate) fn source(&self) -> String {
        RedirectUri::parse(&self.settings.issuer).map(|uri| uri.source()).unwrap_or_default()
    }

    /// Returns a description of the first invalid setting, or `None` if all settings are valid.
    pub(crate) fn problem(&self) -> Option<String> {
        let is_empty = self.settings.id.is_empty();
        let nameless = || "the `client_id` of the `Upstream` is empty".to_owned();
        self.web.problem().map(str::to_owned).or_else(|| is_empty.then(nameless))
    }

    async fn metadata(&self) -> Result<Arc<ProviderMetadata>, ProviderError> {
        self.metadata.get(&self.web, &self.settings.issuer).await
    }

    /// Creates the secrets of one login.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn login_secrets() -> Result<LoginSecrets, OAuthError> {
        Ok(LoginSecrets { verifier: random::<32>()?, nonce: random::<16>()? })
    }

    /// Returns the URL at which the user logs in. The provider then sends the browser to `redirect`, with `state`.
    pub(crate) async fn begin(
        &self,
        secrets: &LoginSecrets,
        redirect: &str,
        state: &str,
    ) -> Result<String, ProviderError> {
        let metadata = self.metadata().await?;
        let mut url = metadata.authorization_endpoint.clone();
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", &self.settings.id),
            ("redirect_uri", redirect),
            ("scope", &self.settings.scopes.join(" ")),
            ("state", state),
            ("nonce", &secrets.nonce),
            ("code_challenge", &Digest::of(&secrets.verifier).text()),
            ("code_challenge_method", "S256"),
        ] {
            form::push(&mut url, name, value);
        }
        Ok(url)
    }

    /// Whether a response with this `iss` can come from the provider (RFC 9207).
    pub(crate) async fn is_answer_of(&self, issuer: Option<&str>) -> Result<bool, ProviderError> {
        let metadata = self.metadata().await?;
        Ok(match issuer {
            Some(issuer) => issuer == self.settings.issuer,
            None => !metadata.authorization_response_iss_parameter_supported,
        })
    }

    /// Exchanges a code for tokens, and returns the user and the tokens.
    pub(crate) async fn finish(
        &self,
        secrets: &LoginSecrets,
        redirect: &str,
        code: &str,
        now: u64,
    ) -> Result<(User, UpstreamTokens), ProviderError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", &*secrets.verifier),
        ];
        let tokens = self.ask(&fields).await?;
        let identity = self.identify(&tokens, &secrets.nonce).await?;
        let user = (self.settings.user)(&identity).ok_or(ProviderError::Refused)?;
        Ok((user, UpstreamTokens::of(tokens, None, now)))
    }

    async fn identify(
        &self,
        tokens: &UpstreamTokenResponse,
        nonce: &str,
    ) -> Result<UpstreamUser, ProviderError> {
        let refused = |why: &str| {
            tracing::warn!("the ID token of {} is not accepted: {why}", self.settings.issuer);
            ProviderError::Refused
        };
        let token = tokens.id_token.as_deref().ok_or_else(|| refused("the response has none"))?;
        self.jwt.verify(token).await.map_err(|why| refused(&why.to_string()))?;
        // The token has been verified, so its claims can be trusted.
        let payload = token.split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
        let claims = payload.and_then(|bytes| String::from_utf8(bytes).ok());
        let claims = claims.ok_or_else(|| refused("it cannot be read"))?;
        let read: IdTokenClaims =
            serde_json::from_str(&claims).map_err(|_| refused("it cannot be read"))?;
        if read.nonce.as_deref() != Some(nonce) {
            return Err(refused("its nonce is that of another login"));
        }
        if read.azp.is_some_and(|party| party != self.settings.id) {
            return Err(refused("it is for another client"));
        }
        Ok(UpstreamUser { subject: read.sub, claims })
    }

    /// Sends a form with the client credentials of this server.
    async fn send(
        &self,
        url: &str,
        methods: &[String],
        fields: &[(&str, &str)],
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let Upstream { id, secret, .. } = &self.settings;
        let (body, basic) = with_credentials(id, secret.as_deref(), methods, fields)?;
        self.web.post(url, body, basic).await
    }

    async fn ask(&self, fields: &[(&str, &str)]) -> Result<UpstreamTokenResponse, ProviderError> {
        let metadata = self.metadata().await?;
        let methods = &metadata.token_endpoint_auth_methods_supported;
        let answered = self.send(&metadata.token_endpoint, methods, fields).await;
        let issuer = &self.settings.issuer;
        match answered {
            Ok((StatusCode::OK, document)) if document.len() > MOST => {
                tracing::warn!(
                    "the provider {issuer} sent a token response of more than {MOST} bytes"
                );
                Err(ProviderError::Unavailable)
            }
            Ok((StatusCode::OK, document)) => {
                // The error is not logged, because an error of serde can quote the text, which may contain tokens.
                serde_json::from_slice(&document).map_err(|_| {
                    tracing::warn!("the token response of the provider {issuer} cannot be parsed");
                    ProviderError::Unavailable
                })
            }
            // Only `invalid_grant` is final. Other errors concern this server or a proxy in between, and may be temporary.
            Ok((status, document)) if status.is_client_error() && is_over(&document) => {
                tracing::warn!("the provider {issuer} refused to issue tokens: {status}");
                Err(ProviderError::Refused)
            }
            Ok((status, _)) => {
                tracing::warn!("the provider {issuer} failed to issue tokens: {status}");
                Err(ProviderError::Unavailable)
            }
            Err(problem) => {
                tracing::warn!("the provider {issuer} cannot be used now: {problem}");
                Err(ProviderError::Unavailable)
            }
        }
    }

    /// Locks the grant of this refresh token for a refresh. Waits while a different request refreshes the grant.
    pub(crate) async fn lock_refresh(&self, token: &str) -> tokio::sync::MutexGuard<'_, ()> {
        let number = grant_name(token)
            .bytes()
            .fold(0_usize, |all, byte| all.wrapping_mul(31) + usize::from(byte));
        self.refresh_locks[number % self.refresh_locks.len()].lock().await
    }

    /// Returns the text that binds sealed tokens to one grant and to the issuer of the provider. A different provider may use the same
    /// names for other users, so the tokens cannot be opened after a change of the provider.
    fn bound(&self, grant: &Digest) -> String {
        format!("{} {}", self.settings.issuer, grant.text())
    }

    /// Seals tokens of the provider and binds them to one grant.
    ///
    /// # Errors
    /// Fails if the tokens cannot be sealed.
    pub(crate) fn seal(
        &self,
        upstream: &UpstreamTokens,
        grant: &Digest,
    ) -> Result<SealedTokens, OAuthError> {
        Ok(SealedTokens {
            sealed: self.seal_value(upstream, &self.bound(grant))?,
            until: upstream.until,
            refreshes: upstream.refresh.is_some(),
            token: self.handed_over(upstream),
        })
    }

    /// Seals the secrets of a login, and binds them to the pending authorization with this id.
    ///
    /// # Errors
    /// Fails if the secrets cannot be sealed.
    pub(crate) fn seal_login(
        &self,
        secrets: &LoginSecrets,
        id: &str,
    ) -> Result<String, OAuthError> {
        self.seal_value(secrets, &format!("{} login {id}", self.settings.issuer))
    }

    /// Opens the secrets of a login.
    pub(crate) fn open_login(&self, sealed: &str, id: &str) -> Option<LoginSecrets> {
        let bound = format!("{} login {id}", self.settings.issuer);
        serde_json::from_slice(&self.sealer.open(sealed, &bound)?).ok()
    }

    /// Seals the tokens of a code, and binds them to the code.
    ///
    /// # Errors
    /// Fails if the tokens cannot be sealed.
    pub(crate) fn seal_code(
        &self,
        upstream: &UpstreamTokens,
        code: &Digest,
    ) -> Result<String, OAuthError> {
        self.seal_value(upstream, &format!("{} code {}", self.settings.issuer, code.text()))
    }

    /// Opens the tokens of a code.
    pub(crate) fn open_code(&self, sealed: &str, code: &Digest) -> Option<UpstreamTokens> {
        let bound = format!("{} code {}", self.settings.issuer, code.text());
        serde_json::from_slice(&self.sealer.open(sealed, &bound)?).ok()
    }

    fn seal_value(&self, value: &impl Serialize, bound: &str) -> Result<String, OAuthError> {
        let text = serde_json::to_vec(value);
        let text =
            text.map_err(|why| OAuthError::server_error("a secret cannot be sealed", &why))?;
        self.sealer.seal(text, bound)
    }

    /// Lets all nodes of the server open what one of them has sealed. A key that the author has set stays in use.
    pub(crate) fn share_keys(&self, keys: impl Iterator<Item = [u8; 32]>) {
        self.sealer.share(keys);
    }

    fn handed_over(&self, upstream: &UpstreamTokens) -> Option<Arc<str>> {
        self.settings.hands_over.then(|| upstream.access.as_str().into())
    }

    fn open(&self, backing: &SealedTokens, grant: &Digest) -> Option<UpstreamTokens> {
        serde_json::from_slice(&self.sealer.open(&backing.sealed, &self.bound(grant))?).ok()
    }

    /// Restores stored tokens after a restart. Returns whether they could be opened.
    pub(crate) fn restore(&self, backing: &mut SealedTokens, grant: &Digest) -> bool {
        let Some(upstream) = self.open(backing, grant) else { return false };
        backing.token = self.handed_over(&upstream);
        true
    }

    /// Uses the stored refresh token to get new tokens.
    pub(crate) async fn refresh(
        &self,
        backing: &SealedTokens,
        grant: &Digest,
        now: u64,
    ) -> Result<UpstreamTokens, ProviderError> {
        let upstream = self.open(backing, grant).ok_or(ProviderError::Refused)?;
        let token = upstream.refresh.ok_or(ProviderError::Refused)?;
        let fields = [("grant_type", "refresh_token"), ("refresh_token", &*token)];
        let tokens = self.ask(&fields).await?;
        Ok(UpstreamTokens::of(tokens, Some(token), now))
    }

    /// Revokes the tokens at the provider (RFC 7009), if it has a revocation endpoint.
    ///
    /// # Errors
    /// Fails if the provider cannot be reached. The error says why.
    async fn revoke(&self, upstream: &UpstreamTokens) -> Result<(), String> {
        let metadata = self.metadata().await.map_err(|_| "its metadata is not available")?;
        let Some(url) = &metadata.revocation_endpoint else { return Ok(()) };
        let methods = &metadata.revocation_endpoint_auth_methods_supported;
        let methods = methods.as_ref().unwrap_or(&metadata.token_endpoint_auth_methods_supported);
        // Revoking the refresh token also revokes the access tokens.
        let (token, kind) = match &upstream.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&upstream.access, "access_token"),
        };
        match self.send(url, methods, &[("token", token), ("token_type_hint", kind)]).await? {
            (status, _) if status.is_success() => {}
            (status, _) => tracing::debug!(
                "the provider {} did not revoke a token: {status}",
                self.settings.issuer
            ),
        }
        Ok(())
    }
}

impl UpstreamTokens {
    /// Converts a token response. If it has no refresh token, `refresh` stays in use (RFC 6749, section 6).
    fn of(tokens: UpstreamTokenResponse, refresh: Option<String>, now: u64) -> Self {
        Self {
            access: tokens.access_token,
            refresh: tokens.refresh_token.or(refresh),
            until: now.saturating_add(tokens.expires_in.unwrap_or(USUAL)),
        }
    }
}

/// Whether an error response says that the code or token is not valid (RFC 6749, section 5.2).
fn is_over(document: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct ErrorResponse {
        error: String,
    }
    serde_json::from_slice(document)
        .is_ok_and(|response: ErrorResponse| response.error == "invalid_grant")
}

/// Provider metadata (OpenID Connect Discovery 1.0, section 3; RFC 8414).
#[derive(Deserialize)]
struct ProviderMetadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
    revocation_endpoint: Option<String>,
    /// `None` means the methods of the token endpoint.
    revocation_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Cached metadata of the provider.
#[derive(Default)]
struct MetadataCache(Mutex<CachedMetadata>);

/// Last metadata with the time of its fetch, and the time of the last failed fetch.
#[derive(Default)]
struct CachedMetadata {
    metadata: Option<(Instant, Arc<ProviderMetadata>)>,
    failed: Option<Instant>,
}

impl MetadataCache {
    /// Returns the metadata, and fetches it again if the cached metadata is too old.
    ///
    /// # Errors
    /// Fails if the metadata cannot be fetched or is not valid, and there is no cached metadata.
    async fn get(&self, web: &Web, issuer: &str) -> Result<Arc<ProviderMetadata>, ProviderError> {
        let since = Instant::now();
        let mut known = self.0.lock().await;
        // Returned if the fetch fails, because old metadata is better than none.
        let old =
            known.metadata.as_ref().map(|entry| entry.1.clone()).ok_or(ProviderError::Unavailable);
        let is_fresh = known.metadata.as_ref().is_some_and(|entry| entry.0.elapsed() < FRESH);
        // If a fetch failed while this caller waited for the lock, this caller does not try again.
        if is_fresh || known.failed.is_some_and(|at| at >= since) {
            return old;
        }
        let read = |document: &[u8]| {
            let metadata: ProviderMetadata = serde_json::from_slice(document)
                .map_err(|_| "it is not the metadata of an OpenID provider".to_owned())?;
            if metadata.issuer != issuer {
                return Err("it is the metadata of another issuer".to_owned());
            }
            for url in
                [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri]
            {
                web.check(url)?;
            }
            Ok(metadata)
        };
        match discover(web, issuer, read).await {
            Ok(found) => {
                let found = Arc::new(found);
                *known = CachedMetadata {
                    metadata: Some((Instant::now(), found.clone())),
                    failed: None,
                };
                Ok(found)
            }
            Err(problem) => {
                tracing::warn!("the provider {issuer} cannot be used now: {problem}");
                known.failed = Some(Instant::now());
                old
            }
        }
    }
}

/// Returns the body of a form with these fields, and the value of the header `Authorization`, if there is one. The secret is in the header.
/// If the provider supports `client_secret_post` but not `client_secret_basic`, the secret is in the body instead.
///
/// # Errors
/// Fails if the id and the secret do not form a valid header value.
fn with_credentials(
    id: &str,
    secret: Option<&str>,
    methods: &[String],
    fields: &[(&str, &str)],
) -> Result<(String, Option<HeaderValue>), String> {
    let has = |method: &str| methods.iter().any(|name| name == method);
    let posts = has("client_secret_post") && !has("client_secret_basic");
    let mut body = String::from("?");
    for (name, value) in fields {
        form::push(&mut body, name, value);
    }
    let basic = match secret {
        Some(secret) if !posts => Some(basic(id, secret)?),
        secret => {
            form::push(&mut body, "client_id", id);
            if let Some(secret) = secret {
                form::push(&mut body, "client_secret", secret);
            }
            None
        }
    };
    Ok((body.trim_start_matches(['?', '&']).to_owned(), basic))
}

fn basic(id: &str, secret: &str) -> Result<HeaderValue, String> {
    let (mut user, mut password) = (String::new(), String::new());
    encode(id, |_| false, &mut user);
    encode(secret, |_| false, &mut password);
    let value = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    let mut value = HeaderValue::try_from(value).map_err(|why| why.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Revokes the upstream tokens of grants that have ended, and of codes that have ended without a grant. Runs in the background, because the
/// end does not depend on the provider's response.
///
/// Call it before the end is saved. Nothing else has these tokens any more, so they could not be revoked later if saving failed.
pub(crate) fn revoke_upstream(
    provider: Option<&Arc<Provider>>,
    ended: impl IntoIterator<Item = (Digest, Grant)>,
    unused: Vec<UpstreamTokens>,
) {
    let Some(provider) = provider.cloned() else { return };
    let backed = ended.into_iter().filter_map(|(key, grant)| Some((key, grant.backing?)));
    let opened = backed.filter_map(|(key, backing)| provider.open(&backing, &key));
    let all: Vec<_> = opened.chain(unused).collect();
    if all.is_empty() {
        return;
    }
    tokio::spawn(async move {
        let issuer = &provider.settings.issuer;
        // The others wait. There are no more than grants and codes, whose number is limited.
        let Ok(_running) = provider.revocations.acquire().await else { return };
        for upstream in all {
            if let Err(why) = provider.revoke(&upstream).await {
                tracing::debug!("tokens cannot be revoked at the provider {issuer}: {why}");
                return;
            }
        }
    });
}
