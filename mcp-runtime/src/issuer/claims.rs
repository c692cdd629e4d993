//! Claims of a token (RFC 7519, section 4.1; RFC 9068).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use crate::call::context::Authorization;

/// Maximum difference between the clocks of the issuer and of this machine.
pub(super) const LEEWAY: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
pub(super) struct Claims {
    iss: Option<String>,
    sub: Option<String>,
    aud: Option<OneOrMore>,
    /// Seconds since 1970, with a fraction if the issuer writes one.
    exp: Option<f64>,
    nbf: Option<f64>,
    scope: Option<OneOrMore>,
    /// Scopes in the claim that some issuers use instead of `scope`.
    scp: Option<OneOrMore>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        };
        all.iter().map(String::as_str)
    }
}

impl Claims {
    pub(super) fn parse(payload: &str) -> Result<Self, &'static str> {
        serde_json::from_str(payload).map_err(|_| "the token's claims cannot be read")
    }

    /// Checks the claims, and returns the authorization of the caller.
    ///
    /// # Errors
    /// Fails if the token is rejected. The error says why.
    pub(super) fn judge(
        &self,
        issuer: &str,
        audiences: &[String],
        now: SystemTime,
    ) -> Result<Authorization, &'static str> {
        if self.iss.as_deref() != Some(issuer) {
            return Err("the token is of another issuer");
        }
        let audience = self.aud.as_ref().ok_or("the token does not say whom it is for")?;
        if !audience.iter().any(|it| audiences.iter().any(|own| own == it)) {
            return Err("the token is for another audience");
        }
        let expiry = self.exp.ok_or("the token does not say when it ends")?;
        let expiry = time(expiry).ok_or("the token does not say when it ends")?;
        let ends = expiry.checked_add(LEEWAY).ok_or("the token does not say when it ends")?;
        if ends <= now {
            return Err("the token has expired");
        }
        if let Some(begin) = self.nbf {
            let begin = time(begin).ok_or("the token does not say when it begins")?;
            if begin > now.checked_add(LEEWAY).unwrap_or(now) {
                return Err("the token is not valid yet");
            }
        }
        let subject = self.sub.as_deref().filter(|it| !it.is_empty());
        let subject = subject.ok_or("the token does not say whose it is")?;
        let said = [&self.scope, &self.scp].into_iter().flatten();
        let scopes = said.flat_map(OneOrMore::iter).flat_map(|it| it.split(' '));
        let scopes = scopes.filter(|it| !it.is_empty());
        Ok(Authorization::new(subject).scopes(scopes).expires(ends))
    }
}

/// Converts seconds since 1970. Returns `None` for a negative number, and for a time that cannot be represented.
fn time(seconds: f64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}
