//! Proof that the client that sends a code has also requested it (RFC 7636). Only S256 is supported.

use super::{form::Form, refusal::Refusal, secret::Digest};

/// SHA-256 digest of the verifier that the client will send with the code.
#[derive(Clone, Copy)]
pub(crate) struct Challenge(Digest);

impl Challenge {
    /// # Errors
    /// Fails if the challenge is missing or is no SHA-256 digest, or its method is not S256.
    pub(crate) fn asked(form: &Form) -> Result<Self, Refusal> {
        let challenge = form.required("code_challenge")?;
        // The default of the parameter is `plain`.
        if form.one("code_challenge_method")? != Some("S256") {
            return Err(Refusal::request("the parameter code_challenge_method must be S256"));
        }
        let digest = Digest::parse(challenge).map(Self);
        digest.ok_or_else(|| Refusal::request("the parameter code_challenge is no SHA-256 digest"))
    }

    pub(crate) fn is_met_by(&self, verifier: &str) -> bool {
        let is_letter = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
        (43..=128).contains(&verifier.len())
            && verifier.bytes().all(is_letter)
            && self.0.is_of(verifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<Challenge, Refusal> {
        Challenge::asked(&Form::parse(query).unwrap())
    }

    /// The example of RFC 7636, appendix B.
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
