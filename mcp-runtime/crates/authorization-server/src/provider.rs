//! Upstream provider that authenticates users (OpenID Connect Core 1.0, section 3.1).

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, Semaphore};

use super::{
    credentials,
    discovery::{Discovery, Metadata},
    form,
    grant::Backing,
    grants::name,
    redirect::Redirect,
    refusal::Refusal,
    seal::Sealer,
    secret::{Digest, random},
    upstream::{Upstream, UpstreamUser},
    user::User,
};
use mcp_runtime::{__companion::Web, Jwt, TokenVerifier as _};

/// Maximum size of a token response, in bytes. A part of it is stored for each grant.
const MOST: usize = 64 << 10;

/// Maximum number of concurrent tasks that notify the provider of ended grants.
const FAREWELLS: usize = 4;

/// Assumed lifetime of an access token without `expires_in`, in seconds.
const USUAL: u64 = 60 * 60;

/// Secrets of one login: the verifier, sent with the code, and the nonce, expected in the ID token.
#[derive(Clone)]
pub(crate) struct Journey {
    verifier: String,
    nonce: String,
}

/// Token response of the provider.
#[derive(Deserialize)]
struct Tokens {
    access_token: String,
    refresh_token: Option<String>,
    id_token: Option<String>,
    expires_in: Option<u64>,
}

/// Stored part of a token response.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Given {
    access: String,
    refresh: Option<String>,
    /// Expiry of the access token, in seconds since 1970.
    until: u64,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    nonce: Option<String>,
    azp: Option<String>,
}

/// Upstream provider of a running server.
pub(crate) struct Provider {
    said: Upstream,
    web: Web,
    jwt: Jwt,
    sealer: Sealer,
    discovery: Discovery,
    /// Locks that allow one refresh of a grant at a time. The provider may treat a second one as theft, as this server does.
    turns: [Mutex<()>; 32],
    pub(crate) farewells: Semaphore,
}

/// Reason why the provider gives no tokens, for a login or for a refresh.
pub(crate) enum Failed {
    /// The provider has refused, or its answer was not accepted.
    Refused,
    /// The provider cannot be reached, or cannot answer now.
    Away,
}

impl Provider {
    pub(crate) fn new(said: Upstream) -> Self {
        let web = Web::from_issuer(&said.issuer);
        let jwt = Jwt::new(&*said.issuer, &*said.id);
        let sealer = Sealer::new(said.key);
        let farewells = Semaphore::new(FAREWELLS);
        let (discovery, turns) = Default::default();
        Self { said, web, jwt, sealer, discovery, turns, farewells }
    }

    /// Returns the issuer without its scheme, as pages show it.
    pub(crate) fn place(&self) -> &str {
        let url = &self.said.issuer;
        url.split_once("://").map_or(&**url, |it| it.1)
    }

    /// Returns the scopes that this server requests from the provider.
    pub(crate) fn scopes(&self) -> String {
        self.said.scopes.join(" ")
    }

    /// Returns the provider's source for the `Content-Security-Policy` of a page that leads there.
    pub(crate) fn source(&self) -> String {
        Redirect::parse(&self.said.issuer).map(|it| it.source()).unwrap_or_default()
    }

    pub(crate) fn problem(&self) -> Option<String> {
        let is_empty = self.said.id.is_empty();
        let nameless = || "the `client_id` of the `Upstream` is empty".to_owned();
        self.web.problem().map(str::to_owned).or_else(|| is_empty.then(nameless))
    }

    async fn metadata(&self) -> Result<Arc<Metadata>, Failed> {
        self.discovery.metadata(&self.web, &self.said.issuer).await
    }

    /// Creates the secrets of one login.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn journey() -> Result<Journey, Refusal> {
        Ok(Journey { verifier: random::<32>()?, nonce: random::<16>()? })
    }

    /// Returns the URL at which the user logs in. The provider then sends the browser to `redirect`, with `state`.
    pub(crate) async fn begin(
        &self,
        journey: &Journey,
        redirect: &str,
        state: &str,
    ) -> Result<String, Failed> {
        let metadata = self.metadata().await?;
        let mut url = metadata.authorization_endpoint.clone();
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", &self.said.id),
            ("redirect_uri", redirect),
            ("scope", &self.said.scopes.join(" ")),
            ("state", state),
            ("nonce", &journey.nonce),
            ("code_challenge", &Digest::of(&journey.verifier).text()),
            ("code_challenge_method", "S256"),
        ] {
            form::push(&mut url, name, value);
        }
        Ok(url)
    }

    /// Whether a response with this `iss` can come from the provider (RFC 9207).
    pub(crate) async fn is_answer_of(&self, issuer: Option<&str>) -> Result<bool, Failed> {
        let metadata = self.metadata().await?;
        Ok(match issuer {
            Some(issuer) => issuer == self.said.issuer,
            None => !metadata.authorization_response_iss_parameter_supported,
        })
    }

    /// Exchanges a code for tokens, and returns the user and the tokens.
    pub(crate) async fn finish(
        &self,
        journey: &Journey,
        redirect: &str,
        code: &str,
        now: u64,
    ) -> Result<(User, Given), Failed> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", &*journey.verifier),
        ];
        let tokens = self.ask(&fields).await?;
        let identity = self.identify(&tokens, &journey.nonce).await?;
        let user = (self.said.user)(&identity).ok_or(Failed::Refused)?;
        Ok((user, Given::of(tokens, None, now)))
    }

    async fn identify(&self, tokens: &Tokens, nonce: &str) -> Result<UpstreamUser, Failed> {
        let refused = |why: &str| {
            tracing::warn!("the ID token of {} is not accepted: {why}", self.said.issuer);
            Failed::Refused
        };
        let token = tokens.id_token.as_deref().ok_or_else(|| refused("there is none"))?;
        self.jwt.verify(token).await.map_err(|why| refused(&why.to_string()))?;
        // The token has been verified, so its claims can be trusted.
        let payload = token.split('.').nth(1).and_then(|it| URL_SAFE_NO_PAD.decode(it).ok());
        let claims = payload.and_then(|it| String::from_utf8(it).ok());
        let claims = claims.ok_or_else(|| refused("it cannot be read"))?;
        let said: Claims =
            serde_json::from_str(&claims).map_err(|_| refused("it cannot be read"))?;
        if said.nonce.as_deref() != Some(nonce) {
            return Err(refused("it is of another login"));
        }
        if said.azp.is_some_and(|it| it != self.said.id) {
            return Err(refused("it is for another client"));
        }
        Ok(UpstreamUser { subject: said.sub, claims })
    }

    /// Sends a form with the client credentials of this server.
    async fn send(
        &self,
        url: &str,
        methods: &[String],
        fields: &[(&str, &str)],
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let Upstream { id, secret, .. } = &self.said;
        let (body, basic) = credentials::with(id, secret.as_deref(), methods, fields)?;
        self.web.post(url, body, basic).await
    }

    async fn ask(&self, fields: &[(&str, &str)]) -> Result<Tokens, Failed> {
        let metadata = self.metadata().await?;
        let methods = &metadata.token_endpoint_auth_methods_supported;
        let answered = self.send(&metadata.token_endpoint, methods, fields).await;
        let issuer = &self.said.issuer;
        match answered {
            Ok((StatusCode::OK, document)) if document.len() > MOST => {
                tracing::warn!("the provider {issuer} gives more than {MOST} bytes at once");
                Err(Failed::Away)
            }
            Ok((StatusCode::OK, document)) => {
                // The error of serde would quote what it cannot read, so it is not logged.
                serde_json::from_slice(&document).map_err(|_| {
                    tracing::warn!("the provider {issuer} gives no tokens that can be read");
                    Failed::Away
                })
            }
            // Only `invalid_grant` is final. Other errors concern this server or a proxy in between, and may be temporary.
            Ok((status, document)) if status.is_client_error() && is_over(&document) => {
                tracing::warn!("the provider {issuer} gives no tokens: {status}");
                Err(Failed::Refused)
            }
            Ok((status, _)) => {
                tracing::warn!("the provider {issuer} gives no tokens now: {status}");
                Err(Failed::Away)
            }
            Err(problem) => {
                tracing::warn!("the provider {issuer} cannot be asked: {problem}");
                Err(Failed::Away)
            }
        }
    }

    /// Waits until no other request refreshes the same grant.
    pub(crate) async fn turn(&self, token: &str) -> tokio::sync::MutexGuard<'_, ()> {
        let number =
            name(token).bytes().fold(0_usize, |all, it| all.wrapping_mul(31) + usize::from(it));
        self.turns[number % self.turns.len()].lock().await
    }

    /// Returns the text that binds sealed tokens to this provider and one grant. Another provider may use the same names for other users.
    fn bound(&self, grant: &Digest) -> String {
        format!("{} {}", self.said.issuer, grant.text())
    }

    /// Seals tokens of the provider and binds them to one grant.
    ///
    /// # Errors
    /// Fails if the tokens cannot be sealed.
    pub(crate) fn seal(&self, given: &Given, grant: &Digest) -> Result<Backing, Refusal> {
        let text = serde_json::to_vec(given);
        let text = text.map_err(|why| Refusal::broken("nothing can be sealed", &why))?;
        Ok(Backing {
            sealed: self.sealer.seal(text, &self.bound(grant))?,
            until: given.until,
            refreshes: given.refresh.is_some(),
            token: self.handed(given),
        })
    }

    fn handed(&self, given: &Given) -> Option<Arc<str>> {
        self.said.hands_over.then(|| given.access.as_str().into())
    }

    fn open(&self, backing: &Backing, grant: &Digest) -> Option<Given> {
        serde_json::from_slice(&self.sealer.open(&backing.sealed, &self.bound(grant))?).ok()
    }

    /// Restores stored tokens after a restart. Returns whether they could be opened.
    pub(crate) fn restore(&self, backing: &mut Backing, grant: &Digest) -> bool {
        let Some(given) = self.open(backing, grant) else { return false };
        backing.token = self.handed(&given);
        true
    }

    /// Uses the stored refresh token to get new tokens.
    pub(crate) async fn refresh(
        &self,
        backing: &Backing,
        grant: &Digest,
        now: u64,
    ) -> Result<Given, Failed> {
        let given = self.open(backing, grant).ok_or(Failed::Refused)?;
        let token = given.refresh.ok_or(Failed::Refused)?;
        let fields = [("grant_type", "refresh_token"), ("refresh_token", &*token)];
        let tokens = self.ask(&fields).await?;
        Ok(Given::of(tokens, Some(token), now))
    }

    /// Revokes the tokens at the provider (RFC 7009), if it has a revocation endpoint.
    ///
    /// # Errors
    /// Returns why the provider cannot be reached.
    pub(crate) async fn revoke(&self, backing: &Backing, grant: &Digest) -> Result<(), String> {
        let Some(given) = self.open(backing, grant) else { return Ok(()) };
        let metadata = self.metadata().await.map_err(|_| "nothing is known of it")?;
        let Some(url) = &metadata.revocation_endpoint else { return Ok(()) };
        let methods = &metadata.revocation_endpoint_auth_methods_supported;
        let methods = methods.as_ref().unwrap_or(&metadata.token_endpoint_auth_methods_supported);
        // Revoking the refresh token also revokes the access tokens.
        let (token, kind) = match &given.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&given.access, "access_token"),
        };
        match self.send(url, methods, &[("token", token), ("token_type_hint", kind)]).await? {
            (status, _) if status.is_success() => {}
            (status, _) => tracing::debug!("{} takes nothing back: {status}", self.said.issuer),
        }
        Ok(())
    }

    /// Returns the issuer, which names the provider in logs.
    pub(crate) fn issuer(&self) -> &str {
        &self.said.issuer
    }
}

impl Given {
    /// Keeps the previous refresh token if the response has no new one (RFC 6749, section 6).
    fn of(tokens: Tokens, refresh: Option<String>, now: u64) -> Self {
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
    struct Said {
        error: String,
    }
    serde_json::from_slice(document).is_ok_and(|it: Said| it.error == "invalid_grant")
}
