use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use tokio::time::{advance, sleep};

use super::{
    fetch::Fetch,
    jwks::{Algorithm, KeySet},
    jwt::Verifier,
    keys::PAUSE,
    token::{TokenClaims, Unverified},
};
use crate::{authorization::Denied, call::context::Authorization};

const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "https://api.example/mcp";

/// Tokens from RFC 7515 (appendices A.2 and A.3) and RFC 8037 (appendix A), each with the key that verifies it.
const EXAMPLES: [(&str, &str); 3] = [
    (
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
        r#"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
    ),
    (
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
    ),
    (
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
    ),
];

fn set(keys: &[&str]) -> KeySet {
    KeySet::parse(format!("{{\"keys\":[{}]}}", keys.join(",")).as_bytes()).unwrap()
}

fn is_signed(token: &str, keys: &KeySet) -> bool {
    let Ok(token) = Unverified::parse(token) else { return false };
    let mut candidates = keys.candidates(token.key.as_deref(), token.algorithm);
    candidates.any(|key| token.algorithm.verify(key, token.message, &token.signature))
}

#[test]
fn the_examples_of_the_standards_are_verified() {
    let all = set(&EXAMPLES.map(|example| example.1));
    for (at, (token, key)) in EXAMPLES.iter().enumerate() {
        assert!(is_signed(token, &set(&[key])) && is_signed(token, &all), "{token}");
        for (other, (_, foreign)) in EXAMPLES.iter().enumerate() {
            assert!(at == other || !is_signed(token, &set(&[foreign])), "{token} {foreign}");
        }
        // A changed letter, in the payload or in the signature, makes the verification fail.
        let (message, signature) = token.rsplit_once('.').unwrap();
        let payload = message.find('.').unwrap() + 1;
        for changed in
            [payload, message.len() - 1, message.len() + 1, message.len() + signature.len() / 2]
        {
            let mut other = token.as_bytes().to_vec();
            other[changed] = if other[changed] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert!(!is_signed(&other, &all), "{other}");
        }
        assert!(!is_signed(&token[..token.len() - 4], &all));
        assert!(!is_signed(message, &all));
    }
}

#[test]
fn a_signature_is_of_the_algorithm_that_is_said() {
    let all = set(&EXAMPLES.map(|example| example.1));
    for (token, _) in EXAMPLES {
        let (header, rest) = token.split_once('.').unwrap();
        let own = URL_SAFE_NO_PAD.decode(header).unwrap();
        for algorithm in
            ["RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA", "HS256", "none", "None", ""]
        {
            let said = format!("{{\"alg\":\"{algorithm}\"}}");
            if said.as_bytes() != own {
                let other = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(said));
                assert!(!is_signed(&other, &all), "{other}");
            }
        }
    }
}

#[test]
fn headers_that_are_not_understood_are_refused() {
    let check = |header: &str, expected: bool| {
        let token = format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header));
        assert_eq!(Unverified::parse(&token).is_ok(), expected, "{header}");
    };
    check(r#"{"alg":"ES256"}"#, true);
    check(r#"{"alg":"ES256","typ":"JWT","kid":"1","jku":"https://evil.example","jwk":{}}"#, true);
    check(r#"{"alg":"ES256","typ":"at+jwt"}"#, true);
    check(r#"{"alg":"ES256","typ":"application/AT+JWT"}"#, true);
    for wrong in [
        r#"{"alg":"HS256"}"#,
        r#"{"alg":"none"}"#,
        r#"{"alg":"es256"}"#,
        r#"{"alg":["ES256"]}"#,
        r#"{"alg":"ES256","alg":"ES256"}"#,
        r#"{"alg":"ES256","crit":["b64"],"b64":false}"#,
        r#"{"alg":"ES256","crit":[]}"#,
        r#"{"alg":"ES256","typ":"dpop+jwt"}"#,
        r#"{"alg":"ES256","typ":"logout+jwt"}"#,
        r#"{"alg":"ES256","kid":1}"#,
        r"{}",
        "",
        "[]",
    ] {
        check(wrong, false);
    }
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256"}"#);
    for shape in [
        header.clone(),
        format!("{header}."),
        format!("{header}.e30"),
        format!("{header}.e30.AA.AA"),
        format!("{header}.e30.AA="),
        format!("{header}.e30.A+"),
        format!("{header}.e30.AB"),
        format!(".{header}.e30"),
        "..".to_owned(),
    ] {
        assert!(Unverified::parse(&shape).is_err(), "{shape}");
    }
}

#[test]
fn keys_that_cannot_verify_are_left_out() {
    let (rsa, ec, ed) = (EXAMPLES[0].1, EXAMPLES[1].1, EXAMPLES[2].1);
    let with = |key: &str, more: &str| format!("{}{more}}}", key.strip_suffix('}').unwrap());
    let useless = [
        r#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ"}"#.to_owned(),
        r#"{"kty":"oct","alg":"HS256","k":"AA"}"#.to_owned(),
        with(ec, r#","use":"enc""#),
        with(ec, r#","key_ops":["sign"]"#),
        with(rsa, r#","alg":"RSA-OAEP""#),
        with(ec, r#","kid":1"#),
        r#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#.to_owned(),
        r#"{"kty":"RSA","n":"!"}"#.to_owned(),
        "null".to_owned(),
    ];
    for one in &useless {
        let alone = format!("{{\"keys\":[{one}]}}");
        assert!(KeySet::parse(alone.as_bytes()).is_err(), "{one}");
        let among = set(&[one, ed]);
        assert!(is_signed(EXAMPLES[2].0, &among) && !is_signed(EXAMPLES[1].0, &among), "{one}");
    }
    assert!(!is_signed(EXAMPLES[0].0, &set(&[&with(rsa, r#","alg":"PS256""#)])));
    assert!(is_signed(EXAMPLES[0].0, &set(&[&with(rsa, r#","alg":"RS256","use":"sig""#)])));
    for document in ["", "[]", "{}", r#"{"keys":{}}"#, "<html>"] {
        assert!(KeySet::parse(document.as_bytes()).is_err(), "{document}");
    }
}

#[test]
fn a_token_is_accepted_only_with_valid_claims() {
    let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
    let own = [AUDIENCE.to_owned(), "api://mine".to_owned()];
    let judge = |claims: &str| {
        let claims = claims.replace("ISS", ISSUER).replace("AUD", AUDIENCE);
        TokenClaims::parse(&claims)?.judge(ISSUER, &own, now)
    };
    for good in [
        r#"{"iss":"ISS","aud":"AUD","exp":1000001,"sub":"ada"}"#,
        r#"{"iss":"ISS","aud":["x","AUD"],"exp":999971,"sub":"ada","nbf":1000030}"#,
        r#"{"iss":"ISS","aud":"api://mine","exp":1000000.5,"sub":"ada","iat":0}"#,
    ] {
        assert_eq!(judge(good).unwrap().principal(), "ada", "{good}");
    }
    for (bad, says) in [
        (r#"{"iss":"ISS","aud":"AUD","exp":999970,"sub":"ada"}"#, "expired"),
        (r#"{"iss":"ISS","aud":"AUD","sub":"ada"}"#, "no valid expiry"),
        (r#"{"iss":"ISS","aud":"AUD","exp":null,"sub":"ada"}"#, "no valid expiry"),
        (r#"{"iss":"ISS","aud":"AUD","exp":"1000001","sub":"ada"}"#, "cannot be read"),
        (r#"{"iss":"ISS","aud":"AUD","exp":1e300,"sub":"ada"}"#, "no valid expiry"),
        (r#"{"iss":"ISS","aud":"AUD","exp":-1,"sub":"ada"}"#, "no valid expiry"),
        (r#"{"iss":"ISS","aud":"AUD","exp":1000001,"nbf":1000031,"sub":"ada"}"#, "not valid yet"),
        (r#"{"iss":"ISS","aud":"AUD","exp":1000001,"nbf":-1,"sub":"ada"}"#, "not a valid time"),
        (r#"{"iss":"ISS/","aud":"AUD","exp":1000001,"sub":"ada"}"#, "another issuer"),
        (r#"{"aud":"AUD","exp":1000001,"sub":"ada"}"#, "another issuer"),
        (r#"{"iss":"ISS","aud":"AUD/","exp":1000001,"sub":"ada"}"#, "another audience"),
        (r#"{"iss":"ISS","aud":[],"exp":1000001,"sub":"ada"}"#, "another audience"),
        (r#"{"iss":"ISS","aud":[["AUD"]],"exp":1000001,"sub":"ada"}"#, "cannot be read"),
        (r#"{"iss":"ISS","exp":1000001,"sub":"ada"}"#, "no audience"),
        (r#"{"iss":"ISS","aud":"AUD","exp":1000001}"#, "no subject"),
        (r#"{"iss":"ISS","aud":"AUD","exp":1000001,"sub":""}"#, "no subject"),
        (r#"{"iss":"ISS","aud":"AUD","exp":1000001,"sub":"ada","sub":"eve"}"#, "cannot be read"),
        ("[]", "cannot be read"),
        ("", "cannot be read"),
    ] {
        let why = judge(bad).unwrap_err();
        assert!(why.contains(says), "{bad}: {why}");
    }
    let scopes = |more: &str| {
        let claims = format!(r#"{{"iss":"ISS","aud":"AUD","exp":1000001,"sub":"a"{more}}}"#);
        judge(&claims).unwrap().granted().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(scopes(""), [""; 0]);
    assert_eq!(scopes(r#","scope":"a b:c  d""#), ["a", "b:c", "d"]);
    assert_eq!(scopes(r#","scp":["a","b"]"#), ["a", "b"]);
    assert_eq!(scopes(r#","scp":"a b""#), ["a", "b"]);
}

/// SECURITY.md describes this behaviour in its entry about tokens for other services.
#[test]
fn a_token_for_several_audiences_is_accepted_if_ours_is_among_them() {
    let own = [AUDIENCE.to_owned()];
    let judge = |audience: &str| {
        let claims = format!(r#"{{"iss":"{ISSUER}","aud":{audience},"exp":1000001,"sub":"ada"}}"#);
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        TokenClaims::parse(&claims).unwrap().judge(ISSUER, &own, now).is_ok()
    };
    for (audience, expected) in [
        (format!(r#""{AUDIENCE}""#), true),
        (format!(r#"["https://other.example/mcp","{AUDIENCE}"]"#), true),
        (r#"["https://other.example/mcp"]"#.to_owned(), false),
        (r#""https://other.example/mcp""#.to_owned(), false),
        (r#"["HTTPS://API.example:443/mcp"]"#.to_owned(), true),
    ] {
        assert_eq!(judge(&audience), expected, "{audience}");
    }
}

/// Issuer in the same process. `asked` counts the requests that it received.
#[derive(Clone)]
struct Fake {
    asked: Arc<AtomicUsize>,
    document: Arc<Mutex<Result<String, String>>>,
}

impl Fetch for Fake {
    async fn get(&self, _: &str) -> Result<Vec<u8>, String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(100)).await;
        self.document.lock().unwrap().clone().map(String::into_bytes)
    }
}

/// Returns the issuer's key pair with this number.
fn pair(number: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[number; 32]).unwrap()
}

fn published(numbers: &[u8]) -> Result<String, String> {
    let key = |number: &u8| {
        let x = URL_SAFE_NO_PAD.encode(pair(*number).public_key().as_ref());
        format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"k{number}","x":"{x}"}}"#)
    };
    Ok(format!("{{\"keys\":[{}]}}", numbers.iter().map(key).collect::<Vec<_>>().join(",")))
}

/// Returns a token that is valid while the issuer publishes the key with this number under this id.
fn signed(number: u8, id: &str) -> String {
    let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"EdDSA","kid":"{id}"}}"#));
    // `exp` is in the year 2100.
    let claims = format!(r#"{{"iss":"{ISSUER}","aud":"{AUDIENCE}","exp":4102444800,"sub":"ada"}}"#);
    let message = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
    let signature = pair(number).sign(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

fn issuer(document: Result<String, String>) -> (Fake, Arc<Verifier<Fake>>) {
    let fake = Fake { asked: Arc::default(), document: Arc::new(Mutex::new(document)) };
    let keys = Some(format!("{ISSUER}/keys"));
    let verifier = Verifier::new(fake.clone(), ISSUER.to_owned(), AUDIENCE.to_owned(), keys);
    (fake, Arc::new(verifier))
}

impl Fake {
    fn publish(&self, document: Result<String, String>) {
        *self.document.lock().unwrap() = document;
    }

    #[track_caller]
    fn was_asked(&self, times: usize) {
        assert_eq!(self.asked.load(Ordering::Relaxed), times);
    }
}

fn run(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(test);
}

#[track_caller]
fn check(verified: &Result<Authorization, Denied>, expected: &str) {
    let found = match verified {
        Ok(_) => "good".to_owned(),
        Err(denied) => format!("{denied:?}"),
    };
    assert!(found.contains(expected), "{expected} was expected: {found}");
}

const FOREIGN: &str = "not signed with a key";
const UNREACHABLE: &str = "is_unavailable: true";

#[test]
fn a_flood_of_unknown_keys_is_no_flood_of_questions() {
    run(async {
        let (fake, verifier) = issuer(published(&[1]));
        check(&verifier.verify(&signed(1, "k1")).await, "good");
        fake.was_asked(1);
        for round in 0..3 {
            advance(PAUSE).await;
            let flood: Vec<_> = (0..300)
                .map(|number| {
                    let (verifier, token) =
                        (verifier.clone(), signed(9, &format!("x{round}.{number}")));
                    tokio::spawn(async move { verifier.verify(&token).await })
                })
                .collect();
            for one in flood {
                check(&one.await.unwrap(), FOREIGN);
            }
            for _ in 0..5 {
                advance(PAUSE / 10).await;
                // The issuer may have published this key since the last request.
                check(&verifier.verify(&signed(9, "x")).await, UNREACHABLE);
                check(&verifier.verify(&signed(1, "k1")).await, "good");
            }
            fake.was_asked(2 + round);
        }
    });
}

#[test]
fn concurrent_first_verifications_share_one_request_to_the_issuer() {
    run(async {
        let (fake, verifier) = issuer(published(&[1, 2]));
        let all: Vec<_> = (0..50)
            .map(|at| {
                let number = 1 + at % 2;
                let (verifier, token) = (verifier.clone(), signed(number, &format!("k{number}")));
                tokio::spawn(async move { verifier.verify(&token).await })
            })
            .collect();
        for one in all {
            check(&one.await.unwrap(), "good");
        }
        fake.was_asked(1);
    });
}

#[test]
fn keys_are_rotated() {
    run(async {
        let (fake, verifier) = issuer(published(&[1]));
        check(&verifier.verify(&signed(1, "k1")).await, "good");
        fake.publish(published(&[2]));
        // The keys are not fetched again before `PAUSE` is over, and the client may try again then.
        check(&verifier.verify(&signed(2, "k2")).await, UNREACHABLE);
        advance(PAUSE).await;
        check(&verifier.verify(&signed(1, "k1")).await, "good");
        check(&verifier.verify(&signed(2, "k2")).await, "good");
        // A cached token is rejected after its key was replaced.
        check(&verifier.verify(&signed(1, "k1")).await, FOREIGN);
        fake.was_asked(2);
        // The old key is not accepted under the id of the new one.
        check(&verifier.verify(&signed(1, "k2")).await, FOREIGN);
    });
}

#[test]
fn an_issuer_that_withdraws_all_keys_is_heard() {
    run(async {
        let (fake, verifier) = issuer(published(&[1]));
        check(&verifier.verify(&signed(1, "k1")).await, "good");
        fake.publish(published(&[]));
        advance(Duration::from_secs(10 * 60)).await;
        // The old keys are used while new ones are fetched.
        check(&verifier.verify(&signed(1, "k1")).await, "good");
        sleep(PAUSE).await;
        fake.was_asked(2);
        check(&verifier.verify(&signed(1, "k1")).await, FOREIGN);
    });
}

#[test]
fn old_keys_are_asked_for_again_while_they_are_used() {
    run(async {
        let (fake, verifier) = issuer(published(&[1]));
        check(&verifier.verify(&signed(1, "k1")).await, "good");
        advance(Duration::from_secs(601)).await;
        fake.publish(Err("it is away".to_owned()));
        for _ in 0..3 {
            check(&verifier.verify(&signed(1, "k1")).await, "good");
            sleep(Duration::from_secs(1)).await;
        }
        fake.was_asked(2);
        // The fetch has failed, so the unknown key may be a new key of the issuer. The token is not reported as invalid.
        check(&verifier.verify(&signed(2, "k2")).await, UNREACHABLE);
        advance(Duration::from_secs(3600)).await;
        check(&verifier.verify(&signed(1, "k1")).await, UNREACHABLE);
        fake.publish(published(&[1]));
        check(&verifier.verify(&signed(1, "k1")).await, UNREACHABLE);
        advance(PAUSE).await;
        check(&verifier.verify(&signed(1, "k1")).await, "good");
    });
}

#[test]
fn a_caller_that_leaves_does_not_cancel_the_request_to_the_issuer() {
    run(async {
        let (fake, verifier) = issuer(published(&[1]));
        let token = signed(1, "k1");
        let left = tokio::time::timeout(Duration::from_millis(1), verifier.verify(&token)).await;
        assert!(left.is_err(), "the issuer takes longer");
        sleep(Duration::from_secs(1)).await;
        check(&verifier.verify(&token).await, "good");
        fake.was_asked(1);
    });
}

/// Verification with a known key spawns no tokio task and does not wait. Nearly every request takes this path.
#[test]
fn a_token_of_a_known_key_is_verified_on_the_spot() {
    run(async {
        let (_, verifier) = issuer(published(&[1]));
        check(&verifier.verify(&signed(1, "k1")).await, "good");
        for id in ["k1", "k1"] {
            let token = signed(1, id);
            let mut verified = std::pin::pin!(verifier.verify(&token));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(verified.as_mut().poll(&mut context).is_ready());
        }
    });
}

#[test]
fn an_algorithm_has_one_name() {
    for algorithm in Algorithm::ALL {
        let named: Vec<_> =
            ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
                .into_iter()
                .filter(|name| Algorithm::named(name) == Some(algorithm))
                .collect();
        assert_eq!(named.len(), 1, "{algorithm:?}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The inputs are valid and nearly valid parts of a token, and arbitrary texts.
        #[test]
        fn an_arbitrary_token_causes_no_panic_and_is_not_accepted(
            header in prop_oneof![Just(r#"{"alg":"EdDSA"}"#.to_owned()), ".{0,40}"],
            claims in prop_oneof![Just(r#"{"exp":1e300,"nbf":-1,"aud":[]}"#.to_owned()), ".{0,40}"],
            signature in prop::collection::vec(any::<u8>(), 0..80),
            raw in ".{0,80}",
        ) {
            let all = set(&EXAMPLES.map(|example| example.1));
            let parts = [header.as_bytes(), claims.as_bytes(), &signature];
            let token = parts.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
            for text in [&token, &raw, &header, &format!("{raw}.{token}"), &format!("..{raw}")] {
                prop_assert!(!is_signed(text, &all));
            }
            if let Ok(claims) = TokenClaims::parse(&claims) {
                let audiences = [AUDIENCE.to_owned()];
                prop_assert!(claims.judge(ISSUER, &audiences, UNIX_EPOCH).is_err());
            }
            let _ = KeySet::parse(raw.as_bytes());
        }

        /// Changing any letter invalidates the signature, even the last letter of a part, in which base64url leaves some bits unused.
        #[test]
        fn a_token_with_one_changed_letter_has_no_valid_signature(
            example in 0..EXAMPLES.len(),
            at in any::<prop::sample::Index>(),
            letter in "[A-Za-z0-9_.=+/ -]",
        ) {
            let (token, key) = EXAMPLES[example];
            let at = at.index(token.len());
            prop_assume!(token[at..=at] != letter);
            let mut other = token.to_owned();
            other.replace_range(at..=at, &letter);
            prop_assert!(!is_signed(&other, &set(&[key])), "{other}");
        }
    }
}
