//! Custom verifiers that leave the check of the signature to `Jwt`.

use mcp_runtime::auth::{Authorization, Denied, Jwt, TokenVerifier};
use serde_json::json;
use support::clock::{before_it_ends, eventually, unix_seconds};

use crate::{
    authorization::{Served, check_refused, server, with},
    client::{plain_call, run},
    issuer::{AUDIENCE, Issuer, Key, Manner},
};

/// Verifier that gives users other names. It passes no other information on, not even the expiry.
struct Named(Jwt);

impl TokenVerifier for Named {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let known = self.0.verify(token).await?;
        Ok(Authorization::new(format!("our {}", known.principal())))
    }
}

#[support::test]
fn a_cached_verification_in_a_custom_verifier_ends_with_its_token() {
    run(async {
        let key = Key::ed25519("d", 1);
        let issuer = Issuer::start(Manner::Good, &[&key]).await;
        let served = Served::start(server().auth(Named(Jwt::new(&*issuer.url, AUDIENCE)))).await;
        let ask = async |token: &str| {
            with(token, plain_call(1, "greet", json!({}))).ask(served.address).await
        };
        before_it_ends(3, async |valid| {
            let mut claims = issuer.claims();
            // The server accepts a token for 30 seconds after its expiry, because clocks may differ. This token is therefore accepted for
            // `valid.seconds`.
            claims["exp"] = json!(unix_seconds() + valid.seconds - 30);
            let token = key.token(&claims);
            for _ in 0..2 {
                assert_eq!(ask(&token).await.text(), "Hello, our ada!");
            }
            let refused = eventually("the token expires", async || {
                let reply = ask(&token).await;
                (reply.status() != 200).then_some(reply)
            });
            check_refused(&refused.await, 401, "error=\"invalid_token\"", "expired", "ended");
        })
        .await;
        served.end().await;
        issuer.end().await;
    });
}
