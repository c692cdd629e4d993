//! OpenID provider on this machine, to which logins are delegated. Tests change its behaviour while it runs.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::to_bytes,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use support::clock::eventually;

use crate::{
    browser::parameters,
    issuer::{Key, now},
    mounted::Application,
};

pub(crate) const SECRET: &str = "a secret: with+letters%";

/// Behaviour of the provider.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manner {
    /// Claims that replace claims of the same names in the ID token.
    pub(crate) claims: Value,
    /// Whether every refresh token is rejected.
    pub(crate) refuses: bool,
    pub(crate) is_away: bool,
    /// Whether requests get no answer at all.
    pub(crate) is_silent: bool,
    /// Whether our client credentials are rejected.
    pub(crate) forgets_us: bool,
    /// Lifetime of access tokens, in seconds. With `Some`, the provider issues no refresh tokens.
    pub(crate) only: Option<u64>,
}

pub(crate) struct Provider {
    pub(crate) url: String,
    shared: Arc<Shared>,
    application: Application,
}

struct Shared {
    key: Key,
    manner: Mutex<Manner>,
    /// Parameters of the authorization requests, by the code that was issued for each request.
    codes: Mutex<HashMap<String, HashMap<String, String>>>,
    refreshed: Mutex<Vec<String>>,
    /// Revoked tokens, each as the token type hint, a space and the token.
    revoked: Mutex<Vec<String>>,
    /// Number of requests that this provider has left unanswered.
    silences: AtomicUsize,
}

impl Shared {
    fn tokens(&self, own: &str, nonce: Option<&str>, number: usize) -> Value {
        let manner = self.manner.lock().unwrap().clone();
        let mut said =
            json!({ "access_token": format!("upstream-access-{number}"), "token_type": "Bearer" });
        match manner.only {
            Some(seconds) => said["expires_in"] = json!(seconds),
            None => said["refresh_token"] = json!(format!("upstream-refresh-{number}")),
        }
        if let Some(nonce) = nonce {
            let mut claims = json!({
                "iss": own, "aud": "our-id", "sub": "248289761001", "exp": now() + 600,
                "nonce": nonce, "name": "Ada", "email": "ada@example.com",
            });
            if let Some(other) = manner.claims.as_object() {
                claims.as_object_mut().unwrap().extend(other.clone());
            }
            let header = json!({ "alg": self.key.algorithm(), "kid": self.key.id });
            said["id_token"] = json!(self.key.token_with(&header, &claims));
        }
        said
    }

    fn exchange(&self, own: &str, form: &HashMap<String, String>) -> Result<Value, String> {
        let asked = self.codes.lock().unwrap().remove(&form["code"]).ok_or("unknown code")?;
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, form["code_verifier"].as_bytes()));
        if asked["code_challenge"] != challenge || asked["redirect_uri"] != form["redirect_uri"] {
            return Err("foreign code".into());
        }
        Ok(self.tokens(own, Some(&asked["nonce"]), 0))
    }

    fn refresh(&self, own: &str, form: &HashMap<String, String>) -> Result<Value, String> {
        let mut refreshed = self.refreshed.lock().unwrap();
        let token = &form["refresh_token"];
        // Each refresh token is accepted only once.
        if self.manner.lock().unwrap().refuses
            || *token != format!("upstream-refresh-{}", refreshed.len())
        {
            return Err("no longer".into());
        }
        refreshed.push(token.clone());
        Ok(self.tokens(own, None, refreshed.len()))
    }
}

fn our_secret() -> String {
    format!("Basic {}", STANDARD.encode("our-id:a%20secret%3A%20with%2Bletters%25"))
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let own = format!("http://{}", parts.headers[header::HOST].to_str().unwrap());
    if shared.manner.lock().unwrap().is_away {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    if shared.manner.lock().unwrap().is_silent {
        shared.silences.fetch_add(1, Ordering::Relaxed);
        std::future::pending::<()>().await;
    }
    match parts.uri.path() {
        "/.well-known/openid-configuration" => json!({
            "issuer": own,
            "authorization_endpoint": format!("{own}/authorize?tenant=1"),
            "token_endpoint": format!("{own}/token"),
            "jwks_uri": format!("{own}/keys"),
            "revocation_endpoint": format!("{own}/revoke"),
            "authorization_response_iss_parameter_supported": true,
        })
        .to_string()
        .into_response(),
        "/keys" => json!({ "keys": [shared.key.public()] }).to_string().into_response(),
        "/token" => {
            if parts.headers[header::AUTHORIZATION] != our_secret()
                || shared.manner.lock().unwrap().forgets_us
            {
                let error = json!({ "error": "invalid_client" });
                return (StatusCode::UNAUTHORIZED, error.to_string()).into_response();
            }
            let body = to_bytes(body, 1 << 16).await.unwrap();
            let form =
                parameters(str::from_utf8(&body).unwrap()).into_iter().collect::<HashMap<_, _>>();
            let answer = match &*form["grant_type"] {
                "refresh_token" => shared.refresh(&own, &form),
                _ => shared.exchange(&own, &form),
            };
            match answer {
                Ok(tokens) => tokens.to_string().into_response(),
                Err(why) => {
                    let error = json!({ "error": "invalid_grant", "error_description": why });
                    (StatusCode::BAD_REQUEST, error.to_string()).into_response()
                }
            }
        }
        "/revoke" => {
            assert_eq!(parts.headers[header::AUTHORIZATION], our_secret());
            let body = to_bytes(body, 1 << 16).await.unwrap();
            let form =
                parameters(str::from_utf8(&body).unwrap()).into_iter().collect::<HashMap<_, _>>();
            let told = format!("{} {}", form["token_type_hint"], form["token"]);
            shared.revoked.lock().unwrap().push(told);
            StatusCode::OK.into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

impl Provider {
    pub(crate) async fn start() -> Self {
        let shared = Arc::new(Shared {
            key: Key::ed25519("d", 1),
            manner: Mutex::default(),
            codes: Mutex::default(),
            refreshed: Mutex::default(),
            revoked: Mutex::default(),
            silences: AtomicUsize::new(0),
        });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let application = Application::start(router).await;
        Self { url: format!("http://{}", application.address), shared, application }
    }

    pub(crate) fn silences(&self) -> usize {
        self.shared.silences.load(Ordering::Relaxed)
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.shared.manner.lock().unwrap() = manner;
    }

    /// Logs a user in at the provider. Returns the query with which the browser comes back.
    pub(crate) fn log_in(&self, url: &str) -> Vec<(&'static str, String)> {
        let (page, query) = url.split_once('?').unwrap();
        assert_eq!(page, format!("{}/authorize", self.url));
        let asked: HashMap<_, _> = parameters(query).into_iter().collect();
        let get = |name: &str| asked.get(name).unwrap_or_else(|| panic!("{name}: {url}")).as_str();
        assert_eq!(
            [
                get("tenant"),
                get("response_type"),
                get("client_id"),
                get("scope"),
                get("code_challenge_method")
            ],
            ["1", "code", "our-id", "openid email", "S256"]
        );
        assert_eq!(get("redirect_uri"), "http://localhost/callback");
        let code = format!("code-{}", get("nonce"));
        let state = get("state").to_owned();
        self.shared.codes.lock().unwrap().insert(code.clone(), asked);
        vec![("code", code), ("state", state), ("iss", self.url.clone())]
    }

    /// Waits until at least `count` tokens were revoked, and returns them.
    pub(crate) async fn revoked(&self, count: usize) -> Vec<String> {
        eventually("the provider is told", async || {
            (self.shared.revoked.lock().unwrap().len() >= count).then_some(())
        })
        .await;
        std::mem::take(&mut self.shared.revoked.lock().unwrap())
    }

    pub(crate) async fn end(self) {
        self.application.end().await;
    }
}
