//! Authorization codes, which a client receives through the browser and exchanges for tokens (RFC 6749, section 4.1.2).

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use mcp_runtime::limits::Limit;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{
    authorization_request::Challenge,
    login::User,
    oauth_error::{OAuthError, RefusalCounts},
    pending,
    provider::UpstreamTokens,
    secret::{Digest, random},
};

/// Lifetime of a code.
pub(crate) const TIME: Duration = Duration::from_secs(60);

/// Time for which a code is remembered after it was issued, so that a second use is detected.
pub(crate) const REMEMBERED: Duration = Duration::from_secs(10 * 60);

/// Upper bound of the time from the start of a login to its code.
///
/// A login starts when the author's `login` function is called, or when the browser goes to the upstream provider. The request that
/// completes the login must find its pending authorization, which expires within `pending::TIME` of that start. The request itself then asks
/// the provider a few times, each time with a timeout of some seconds. A second `pending::TIME` is more than all of them need.
pub(crate) const LONGEST: Duration = pending::TIME.saturating_mul(2);

/// Maximum number of codes.
const MOST: usize = 4000;

/// Approved authorization that a code stands for. The client exchanges the code for tokens.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AuthorizationCode {
    pub(crate) client: String,
    pub(crate) client_name: Option<String>,
    pub(crate) redirect: String,
    /// Whether the client gets refresh tokens.
    pub(crate) refreshes: bool,
    pub(crate) challenge: Challenge,
    pub(crate) resource: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) user: User,
    /// Tokens of the upstream provider. A store gets them sealed.
    #[serde(skip)]
    pub(crate) upstream: Option<UpstreamTokens>,
}

#[cfg(test)]
impl AuthorizationCode {
    /// Returns a code of the user `ada`.
    pub(crate) fn of_test() -> Self {
        let challenge =
            "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
        let form = crate::form::Form::parse(challenge).expect("a form");
        Self {
            client_name: None,
            client: "c".into(),
            redirect: "http://127.0.0.1/".into(),
            refreshes: false,
            challenge: Challenge::of(&form).expect("a challenge"),
            resource: "http://r".into(),
            scopes: Vec::new(),
            user: User::new("ada"),
            upstream: None,
        }
    }
}

/// State of a code that was issued.
enum CodeState {
    Fresh(Box<AuthorizationCode>),
    /// The client has sent the code, but its grant does not exist yet. Contains the user's principal.
    Used(Box<str>),
    /// The code was exchanged for this grant.
    Gave(Digest),
    /// The code is no longer valid: it was sent again before its grant existed, it was first sent after its expiry, or all logins of its
    /// user were ended during its exchange.
    Over,
}

/// Result of looking up a code that a client has sent.
pub(crate) enum TakenCode {
    Good(Box<AuthorizationCode>, CodeUse),
    /// The code was sent before. Contains the grant of the code, if there is one.
    Again(Option<Digest>),
    Unknown,
}

/// The first use of a code, as a shared store knows it. Without a shared store all values are zero.
#[derive(Clone, Copy, Default)]
pub(crate) struct CodeUse {
    /// Version of the record that says that the code is used.
    pub(crate) version: u64,
    /// Epoch at the start of the login.
    pub(crate) epoch: u64,
}

/// Codes that were issued, in memory.
#[derive(Default)]
pub(crate) struct Codes {
    state: Mutex<CodeTable>,
    counts: RefusalCounts,
}

#[derive(Default)]
struct CodeTable {
    all: HashMap<Digest, (Instant, CodeState)>,
    /// Users whose logins were all ended, with the time at which this happened.
    ended: HashMap<String, Instant>,
}

impl Codes {
    pub(crate) fn new(counts: RefusalCounts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, CodeTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a code. `since` is the time at which the user's login began.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers, if there are too many codes, or if all logins of the user were ended
    /// after `since`.
    pub(crate) fn add(
        &self,
        code: AuthorizationCode,
        since: Instant,
    ) -> Result<String, OAuthError> {
        let text = random::<32>()?;
        let now = Instant::now();
        let CodeTable { all, ended } = &mut *self.state();
        if ended.get(code.user.principal()).is_some_and(|at| since <= *at) {
            return Err(OAuthError::logins_ended());
        }
        all.retain(|_, entry| now < entry.0 + REMEMBERED);
        if all.len() >= MOST {
            // Used and expired codes are kept only to detect a second use, so they are removed first.
            all.retain(|_, entry| matches!(entry.1, CodeState::Fresh(_)) && now < entry.0 + TIME);
        }
        if all.len() >= MOST {
            return Err(self
                .counts
                .limit_reached(Limit::Codes, "there are too many authorizations"));
        }
        all.insert(Digest::of(&text), (now, CodeState::Fresh(Box::new(code))));
        Ok(text)
    }

    /// Takes a code and marks it as used. A code can be taken once, even if its exchange for tokens fails later.
    pub(crate) fn take(&self, code: &str) -> TakenCode {
        let mut state = self.state();
        let Some((made, entry)) = state.all.get_mut(&Digest::of(code)) else {
            return TakenCode::Unknown;
        };
        match std::mem::replace(entry, CodeState::Over) {
            CodeState::Fresh(code) if Instant::now() < *made + TIME => {
                *entry = CodeState::Used(code.user.principal().into());
                TakenCode::Good(code, CodeUse::default())
            }
            CodeState::Fresh(_) => TakenCode::Unknown,
            CodeState::Gave(grant) => {
                *entry = CodeState::Gave(grant);
                TakenCode::Again(Some(grant))
            }
            CodeState::Used(_) | CodeState::Over => TakenCode::Again(None),
        }
    }

    /// Records the grant that a code was exchanged for. If the code is no longer valid, returns `false`, and the caller must end the grant.
    #[must_use]
    pub(crate) fn gave(&self, code: &str, grant: Digest) -> bool {
        let mut state = self.state();
        match state.all.get_mut(&Digest::of(code)) {
            Some((_, entry @ CodeState::Used(_))) => {
                *entry = CodeState::Gave(grant);
                true
            }
            _ => false,
        }
    }

    /// Ends the codes of a user, including codes that are being exchanged. A login of this user that began before this call gets no code.
    /// Returns the upstream tokens of codes that no client has sent.
    pub(crate) fn end(&self, user: &str) -> Vec<UpstreamTokens> {
        let now = Instant::now();
        let CodeTable { all, ended } = &mut *self.state();
        ended.retain(|_, at| now < *at + LONGEST);
        ended.insert(user.to_owned(), now);
        let mut unused = Vec::new();
        all.retain(|_, (_, entry)| match entry {
            CodeState::Fresh(code) if code.user.principal() == user => {
                unused.extend(code.upstream.take());
                false
            }
            CodeState::Used(of) => {
                if **of == *user {
                    *entry = CodeState::Over;
                }
                true
            }
            CodeState::Fresh(_) | CodeState::Gave(_) | CodeState::Over => true,
        });
        unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> AuthorizationCode {
        AuthorizationCode::of_test()
    }

    #[test]
    fn the_second_use_of_a_code_is_detected_and_yields_no_grant() {
        let codes = Codes::default();
        let again = |code: &str, grant: Option<Digest>| {
            assert!(matches!(codes.take(code), TakenCode::Again(found) if found == grant));
        };
        let grant = Digest::of("grant");
        let first = codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&first), TakenCode::Good(..)) && codes.gave(&first, grant));
        again(&first, Some(grant));
        again(&first, Some(grant));
        // A second request that arrives while the first one is in progress is detected too.
        let both = codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&both), TakenCode::Good(..)));
        again(&both, None);
        assert!(!codes.gave(&both, grant));
        again(&both, None);
    }

    #[tokio::test(start_paused = true)]
    async fn codes_of_authorizations_begun_before_a_logout_are_refused() {
        let codes = Codes::default();
        let of = |user: &str| AuthorizationCode { user: User::new(user), ..code() };
        let since = Instant::now();
        let [fresh, brought, theirs] =
            ["ada", "ada", "bob"].map(|user| codes.add(of(user), since).unwrap());
        assert!(matches!(codes.take(&brought), TakenCode::Good(..)));
        tokio::time::advance(Duration::from_secs(1)).await;
        codes.end("ada");
        assert!(matches!(codes.take(&fresh), TakenCode::Unknown));
        assert!(!codes.gave(&brought, Digest::of("grant")));
        assert!(matches!(codes.take(&theirs), TakenCode::Good(..)));
        assert!(codes.gave(&theirs, Digest::of("theirs")));
        let refused = |since| codes.add(of("ada"), since).err().map(|refusal| refusal.error);
        assert_eq!(refused(since), Some("access_denied"));
        assert!(codes.add(of("bob"), since).is_ok());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(refused(Instant::now()), None);
        // The end of the logins is remembered for `LONGEST`. By then, every login that began before it has completed or expired.
        tokio::time::advance(LONGEST - Duration::from_secs(2)).await;
        codes.end("bob");
        assert_eq!(refused(since), Some("access_denied"));
        tokio::time::advance(Duration::from_secs(2)).await;
        codes.end("bob");
        assert_eq!(codes.state().ended.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn used_and_expired_codes_make_room_for_new_codes() {
        let (counts, tally) = RefusalCounts::of_test();
        let codes = Codes::new(counts);
        let all: Vec<_> = (0..MOST).map(|_| codes.add(code(), Instant::now()).unwrap()).collect();
        assert_eq!(codes.add(code(), Instant::now()).unwrap_err().error, "temporarily_unavailable");
        assert_eq!(tally.refused(Limit::Codes), 1);
        for code in &all[1..] {
            assert!(matches!(codes.take(code), TakenCode::Good(..)));
        }
        // A full table drops the used codes, and keeps the code that is still valid.
        let last = codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&all[0]), TakenCode::Good(..)));
        for _ in 0..MOST - 2 {
            codes.add(code(), Instant::now()).unwrap();
        }
        tokio::time::advance(TIME).await;
        codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&last), TakenCode::Unknown));
    }
}
