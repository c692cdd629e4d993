//! Valid and invalid tokens of an issuer, and issuers that misbehave (rule B28).

use std::time::Duration;

use mcp_runtime::auth::Jwt;
use serde_json::{Value, json};
use support::clock::{Frozen, jump};

use crate::{
    authorization::{Served, ask, call, challenge, check_refused, server, with},
    client::run,
    issuer::{AUDIENCE, Issuer, Key, Manner, now, unsigned},
};

#[support::test]
fn good_tokens_are_let_in_and_no_others() {
    run(async {
        let (rsa, ec, ed) = (Key::rsa("r"), Key::p256("e"), Key::ed25519("d", 1));
        let stranger = Key::ed25519("d", 2);
        let issuer = Issuer::start(Manner::Good, &[&rsa, &ec, &ed]).await;
        let served = Served::start(server().auth(Jwt::new(&*issuer.url, AUDIENCE))).await;
        let address = served.address;
        let claims = issuer.claims();
        let but = |name: &str, value: Value| {
            let mut other = claims.clone();
            other[name] = value;
            other
        };

        let untyped =
            |claims: &Value| ed.token_with(&json!({ "alg": "EdDSA", "typ": "JWT" }), claims);
        let expected = "ada at ada@example.com, write: true, token: false";
        let lists = but("aud", json!(["https://other.example", AUDIENCE]));
        let good = [
            rsa.token(&claims),
            rsa.token_as("PS256", &claims),
            rsa.token_as("RS512", &claims),
            ec.token(&claims),
            ed.token(&claims),
            ed.token(&lists),
            // The server tolerates a difference of 30 seconds between its clock and the clock of the issuer.
            ed.token(&but("exp", json!(now() - 20))),
            ed.token(&but("nbf", json!(now() + 20))),
            ed.token_with(&json!({ "alg": "EdDSA" }), &claims),
            ed.token_as("Ed25519", &claims),
            ed.token(&but("nonce", json!("n"))),
            untyped(&but("typ", json!("Bearer"))),
            untyped(&{
                let mut keycloak = but("typ", json!("Bearer"));
                keycloak["nonce"] = json!("n");
                keycloak
            }),
        ];
        // In the second pass, each token is in the cache of the server.
        for token in good.iter().chain(&good) {
            assert_eq!(ask(address, token).await.text(), expected);
        }

        let token = ed.token(&claims);
        let cut = &token[..token.len() - 6];
        let (head, rest) = token.split_once('.').unwrap();
        let long = format!("{head}.{}{rest}", "A".repeat(20 << 10));
        let signature = "not signed with a key";
        let algorithm = "not signed with an algorithm";
        let with_key = |extra: Value| {
            let mut header = json!({ "alg": "EdDSA", "kid": "d" });
            header.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            stranger.token_with(&header, &claims)
        };
        let bad: &[(&str, String, &str)] = &[
            ("expired", ed.token(&but("exp", json!(now() - 40))), "expired"),
            ("endless", ed.token(&but("exp", Value::Null)), "no valid expiry"),
            ("future", ed.token(&but("nbf", json!(now() + 40))), "not valid yet"),
            (
                "foreign audience",
                ed.token(&but("aud", json!("https://other.example"))),
                "another audience",
            ),
            (
                "audience of a neighbour",
                ed.token(&but("aud", json!(format!("{AUDIENCE}2")))),
                "another audience",
            ),
            ("for nobody", ed.token(&but("aud", Value::Null)), "no audience"),
            (
                "wrong issuer",
                ed.token(&but("iss", json!("https://other.example"))),
                "another issuer",
            ),
            ("nobody's", ed.token(&but("sub", Value::Null)), "no subject"),
            ("unnamed", ed.token(&but("sub", json!(""))), "no subject"),
            ("wrong algorithm", rsa.token_as("HS512", &claims), algorithm),
            (
                "algorithm of another key",
                rsa.token_with(&json!({ "alg": "ES256", "kid": "r" }), &claims),
                signature,
            ),
            (
                "another key of the set",
                ed.token_with(&json!({ "alg": "EdDSA", "kid": "e" }), &claims),
                signature,
            ),
            ("key-confused, RSA", rsa.confused(&claims), algorithm),
            ("key-confused, EC", ec.confused(&claims), algorithm),
            ("unsigned", unsigned("none", &claims), algorithm),
            ("unsigned, in capitals", unsigned("NONE", &claims), algorithm),
            ("unsigned, said to be signed", unsigned("EdDSA", &claims), signature),
            ("signed by a stranger", stranger.token(&claims), signature),
            ("brings its key along", with_key(json!({ "jwk": { "kty": "OKP" } })), signature),
            (
                "names its keys",
                with_key(json!({ "jku": format!("{}/stray", issuer.url) })),
                signature,
            ),
            (
                "critical",
                ed.token_with(
                    &json!({ "alg": "EdDSA", "kid": "d", "crit": ["x"], "x": 1 }),
                    &claims,
                ),
                "critical",
            ),
            (
                "another type",
                ed.token_with(&json!({ "alg": "EdDSA", "kid": "d", "typ": "dpop+jwt" }), &claims),
                "not an access token",
            ),
            ("ID token", untyped(&but("nonce", json!("n"))), "not an access token"),
            (
                "ID token of a hybrid flow",
                untyped(&but("c_hash", json!("h"))),
                "not an access token",
            ),
            ("ID token with a hash", untyped(&but("at_hash", json!("h"))), "not an access token"),
            ("logout token", untyped(&but("events", json!({}))), "not an access token"),
            ("ID token of Keycloak", untyped(&but("typ", json!("ID"))), "not an access token"),
            ("truncated", cut.to_owned(), signature),
            (
                "without its signature",
                token.rsplit_once('.').unwrap().0.to_owned(),
                "not a signed JWT",
            ),
            ("its first part", head.to_owned(), "not a signed JWT"),
            ("oversized", long, "longer than"),
            ("opaque", "abc".to_owned(), "not a signed JWT"),
        ];
        for (name, token, says) in bad {
            for _ in 0..2 {
                let reply = ask(address, token).await;
                check_refused(&reply, 401, "error=\"invalid_token\"", says, name);
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                assert!(
                    !text.contains(&**token) && !challenge(&reply).contains(&**token),
                    "{name}"
                );
            }
        }
        assert_eq!(issuer.strayed(), 0);

        let missing = call("whoami").ask(address).await;
        check_refused(&missing, 401, "", "access token", "missing");
        let basic = call("whoami").header("Authorization", "Basic YTpi").ask(address).await;
        check_refused(&basic, 401, "", "access token", "another scheme");
        let twice = with(&token, with(&token, call("whoami"))).ask(address).await;
        check_refused(&twice, 400, "error=\"invalid_request\"", "repeated", "twice");
        let spaced = with("a b", call("whoami")).ask(address).await;
        check_refused(&spaced, 400, "error=\"invalid_request\"", "nothing else", "two words");
        for query in [format!("access_token={token}"), "access%5Ftoken=x".to_owned()] {
            let path = format!("/mcp?{query}");
            for request in [call("whoami"), with(&token, call("whoami"))] {
                let reply = request.to(&path).ask(address).await;
                check_refused(&reply, 400, "error=\"invalid_request\"", "query", "in the query");
            }
        }
        served.end().await;
        issuer.end().await;
    });
}

#[support::test]
fn keys_are_rotated_and_floods_are_not_passed_on() {
    run(async {
        let (old, new, unknown) = (Key::ed25519("1", 1), Key::p256("2"), Key::ed25519("x", 9));
        let issuer = Issuer::start(Manner::Good, &[&old]).await;
        let served = Served::start(server().auth(Jwt::new(&*issuer.url, AUDIENCE))).await;
        let (address, claims) = (served.address, issuer.claims());
        assert_eq!(ask(address, &old.token(&claims)).await.status(), 200);
        issuer.publish(&[&new]);
        // After the server has fetched the keys, it does not fetch them again for some seconds. The clock stands still, so these seconds do
        // not pass during the requests.
        let frozen = Frozen::start();
        for _ in 0..20 {
            // The issuer may have published this key in the meantime.
            ask(address, &unknown.token(&claims)).await.check_busy("keys are not available now");
            assert_eq!(ask(address, &old.token(&claims)).await.status(), 200);
        }
        assert_eq!(issuer.asked(), 1);
        frozen.end().await;
        jump(Duration::from_secs(10)).await;
        let asking = (0..30).map(|_| {
            let request = with(&new.token(&claims), call("whoami"));
            tokio::spawn(async move { request.ask(address).await.status() })
        });
        for status in asking.collect::<Vec<_>>() {
            assert_eq!(status.await.unwrap(), 200);
        }
        assert_eq!(ask(address, &old.token(&claims)).await.status(), 401);
        assert_eq!(issuer.asked(), 2);
        served.end().await;
        issuer.end().await;
    });
}

#[support::test]
fn a_server_may_require_the_type_of_access_tokens() {
    run(async {
        let key = Key::ed25519("1", 1);
        let issuer = Issuer::start(Manner::Good, &[&key]).await;
        let tokens = Jwt::new(&*issuer.url, AUDIENCE).require_at_jwt();
        let served = Served::start(server().auth(tokens)).await;
        let (address, claims) = (served.address, issuer.claims());
        assert_eq!(ask(address, &key.token(&claims)).await.status(), 200);
        for header in [json!({ "alg": "EdDSA", "typ": "JWT" }), json!({ "alg": "EdDSA" })] {
            let reply = ask(address, &key.token_with(&header, &claims)).await;
            let error = "error=\"invalid_token\"";
            check_refused(&reply, 401, error, "not an access token", "untyped");
        }
        served.end().await;
        issuer.end().await;
    });
}

#[support::test]
fn a_misbehaving_issuer_lets_no_caller_in() {
    run(async {
        let manners = [
            Manner::Foreign,
            Manner::Slow,
            Manner::Huge,
            Manner::Redirecting,
            Manner::Broken,
            Manner::Elsewhere("http://10.255.255.1/keys"),
            Manner::Elsewhere("https://10.255.255.1/keys"),
            Manner::Elsewhere("file:///etc/passwd"),
            Manner::Elsewhere("http://user@localhost/keys"),
        ];
        let checks = manners.map(|manner| {
            tokio::spawn(async move {
                let key = Key::ed25519("1", 1);
                let issuer = Issuer::start(manner.clone(), &[&key]).await;
                let served = Served::start(server().auth(Jwt::new(&*issuer.url, AUDIENCE))).await;
                let reply = ask(served.address, &key.token(&issuer.claims())).await;
                assert_eq!(reply.status(), 503, "{manner:?}: {reply:?}");
                assert!(reply.head.get("retry-after").is_some(), "{manner:?}");
                assert_eq!((issuer.strayed(), issuer.asked()), (0, 0), "{manner:?}");
                served.end().await;
                issuer.end().await;
            })
        });
        for check in checks {
            check.await.unwrap();
        }
    });
}
