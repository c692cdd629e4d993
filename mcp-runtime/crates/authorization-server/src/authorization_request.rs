//! Authorization request of a client (RFC 6749, section 4.1.1). The request contains a PKCE challenge (RFC 7636). With it, the server later
//! verifies that a code is exchanged by the client that requested it. Only the challenge method S256 is supported.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    client::Client,
    form::{self, Form},
    oauth_error::OAuthError,
    secret::Digest,
};

/// Validated authorization request of a client.
pub(crate) struct AuthorizationRequest {
    pub(crate) client: Arc<Client>,
    /// Destination of the response.
    pub(crate) target: RedirectTarget,
    pub(crate) challenge: Challenge,
    /// Requested scopes that this server offers.
    pub(crate) scopes: Vec<String>,
    pub(crate) resource: String,
}

/// Redirect URI of a client, and the parameters that every response to this URI contains.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RedirectTarget {
    pub(crate) redirect: String,
    pub(crate) state: Option<String>,
    pub(crate) issuer: String,
}

impl RedirectTarget {
    #[cfg(test)]
    pub(crate) fn to(redirect: &str) -> Self {
        Self { redirect: redirect.to_owned(), state: None, issuer: String::new() }
    }

    /// Builds the URL with these parameters, the client's unchanged `state`, and the issuer as `iss` (RFC 9207).
    fn url(&self, parameters: &[(&str, &str)]) -> String {
        let mut url = self.redirect.clone();
        for (name, value) in parameters {
            form::push(&mut url, name, value);
        }
        if let Some(state) = &self.state {
            form::push(&mut url, "state", state);
        }
        form::push(&mut url, "iss", &self.issuer);
        url
    }

    /// Builds the URL that gives the client its code.
    pub(crate) fn code(&self, code: &str) -> String {
        self.url(&[("code", code)])
    }

    /// Builds the URL that reports an error to the client.
    pub(crate) fn refusal(&self, refusal: &OAuthError) -> String {
        self.url(&[("error", refusal.error), ("error_description", &refusal.why)])
    }
}

/// SHA-256 digest of the verifier that the client will send with the code.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Challenge(Digest);

impl Challenge {
    /// Returns the challenge of an authorization request.
    ///
    /// # Errors
    /// Fails if the challenge is missing or is not a SHA-256 digest, or if its method is not S256.
    pub(crate) fn of(form: &Form) -> Result<Self, OAuthError> {
        let challenge = form.required("code_challenge")?;
        // A missing parameter means `plain` (RFC 7636, section 4.3), which is not supported.
        if form.one("code_challenge_method")? != Some("S256") {
            return Err(OAuthError::invalid_request(
                "the parameter code_challenge_method must be S256",
            ));
        }
        let digest = Digest::parse(challenge).map(Self);
        digest.ok_or_else(|| {
            OAuthError::invalid_request("the parameter code_challenge is not a SHA-256 digest")
        })
    }

    /// Whether `verifier` is valid, and this challenge was computed from it.
    pub(crate) fn is_met_by(&self, verifier: &str) -> bool {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        (43..=128).contains(&verifier.len())
            && verifier.bytes().all(is_letter)
            && self.0.is_of(verifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<Challenge, OAuthError> {
        Challenge::of(&Form::parse(query).unwrap())
    }

    /// Example of RFC 7636, appendix B.
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

    #[test]
    fn a_challenge_is_met_only_by_its_verifier() {
        let query = format!("code_challenge={CHALLENGE}&code_challenge_method=S256");
        let challenge = asked(&query).unwrap();
        assert!(challenge.is_met_by(VERIFIER));
        for wrong in
            ["", CHALLENGE, &VERIFIER[1..], &format!("{VERIFIER}a"), &VERIFIER.to_lowercase()]
        {
            assert!(!challenge.is_met_by(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_request_without_a_valid_s256_challenge_is_refused() {
        for query in [
            String::new(),
            format!("code_challenge={CHALLENGE}"),
            format!("code_challenge={CHALLENGE}&code_challenge_method=plain"),
            format!("code_challenge={CHALLENGE}&code_challenge_method=s256"),
            format!("code_challenge={VERIFIER}x&code_challenge_method=S256"),
            "code_challenge=&code_challenge_method=S256".to_owned(),
            "code_challenge_method=S256".to_owned(),
        ] {
            assert!(asked(&query).is_err(), "{query}");
        }
    }
}
