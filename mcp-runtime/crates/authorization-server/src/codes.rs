//! Authorization codes, which a client receives through the browser and exchanges for tokens (RFC 6749, section 4.1.2).

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    counts::Counts,
    pkce::Challenge,
    provider::Given,
    refusal::Refusal,
    secret::{Digest, random},
    user::User,
    waiting,
};
use mcp_runtime::Limit;

/// Lifetime of a code.
const TIME: Duration = Duration::from_secs(60);

/// Time for which a code is remembered after it was issued, to detect that it is used twice.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

/// Upper bound of the time from the start of a login to its code: on our pages, and then at the upstream provider.
const LONGEST: Duration = waiting::TIME.saturating_mul(3);

const MOST: usize = 4000;

/// Approved authorization that a code stands for.
#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) client: String,
    pub(crate) client_name: Option<String>,
    pub(crate) redirect: String,
    /// Whether the client gets refresh tokens.
    pub(crate) refreshes: bool,
    pub(crate) challenge: Challenge,
    pub(crate) resource: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) user: User,
    /// Tokens of the upstream provider.
    pub(crate) given: Option<Given>,
}

enum Entry {
    Fresh(Box<Code>),
    /// The client has sent the code, but its grant does not exist yet. Contains the user's principal.
    Used(Box<str>),
    /// The code was exchanged for this grant.
    Gave(Digest),
    /// The code must not lead to a grant any more. It was sent again before its grant existed, it had expired when it was sent, or its user
    /// was logged out.
    Over,
}

/// Result of looking up a code that a client has sent.
pub(crate) enum Taken {
    Good(Box<Code>),
    /// The code was sent before. Contains its grant, if there is one.
    Again(Option<Digest>),
    Unknown,
}

#[derive(Default)]
pub(crate) struct Codes {
    state: Mutex<State>,
    counts: Counts,
}

#[derive(Default)]
struct State {
    all: HashMap<Digest, (Instant, Entry)>,
    /// Users whose logins were all ended, with the time.
    ended: HashMap<String, Instant>,
}

impl Codes {
    pub(crate) fn new(counts: Counts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a code. `since` is the time at which the user's login began.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers, if there is no room, or if all logins of the user were ended since.
    pub(crate) fn add(&self, code: Code, since: Instant) -> Result<String, Refusal> {
        let text = random::<32>()?;
        let now = Instant::now();
        let State { all, ended } = &mut *self.state();
        if ended.get(code.user.principal()).is_some_and(|at| since <= *at) {
            return Err(Refusal::ended());
        }
        all.retain(|_, it| now < it.0 + REMEMBERED);
        if all.len() >= MOST {
            // Codes that were used or have expired are not needed any more.
            all.retain(|_, it| matches!(it.1, Entry::Fresh(_)) && now < it.0 + TIME);
        }
        if all.len() >= MOST {
            return Err(self.counts.busy(Limit::Codes, "there are too many authorizations"));
        }
        all.insert(Digest::of(&text), (now, Entry::Fresh(Box::new(code))));
        Ok(text)
    }

    /// Takes a code. This works once, even if the exchange fails later.
    pub(crate) fn take(&self, code: &str) -> Taken {
        let mut state = self.state();
        let Some((made, entry)) = state.all.get_mut(&Digest::of(code)) else {
            return Taken::Unknown;
        };
        match std::mem::replace(entry, Entry::Over) {
            Entry::Fresh(code) if Instant::now() < *made + TIME => {
                *entry = Entry::Used(code.user.principal().into());
                Taken::Good(code)
            }
            Entry::Fresh(_) => Taken::Unknown,
            Entry::Gave(grant) => {
                *entry = Entry::Gave(grant);
                Taken::Again(Some(grant))
            }
            Entry::Used(_) | Entry::Over => Taken::Again(None),
        }
    }

    /// Records the grant of a code. Returns `false` if the code must not lead to a grant any more.
    #[must_use]
    pub(crate) fn gave(&self, code: &str, grant: Digest) -> bool {
        let mut state = self.state();
        match state.all.get_mut(&Digest::of(code)) {
            Some((_, entry @ Entry::Used(_))) => {
                *entry = Entry::Gave(grant);
                true
            }
            _ => false,
        }
    }

    /// Ends the codes of a user, including codes that are being exchanged. Logins of this user that began before get no code.
    pub(crate) fn end(&self, user: &str) {
        let now = Instant::now();
        let State { all, ended } = &mut *self.state();
        ended.retain(|_, at| now < *at + LONGEST);
        ended.insert(user.to_owned(), now);
        all.retain(|_, (_, entry)| match entry {
            Entry::Fresh(code) => code.user.principal() != user,
            Entry::Used(of) => {
                if **of == *user {
                    *entry = Entry::Over;
                }
                true
            }
            Entry::Gave(_) | Entry::Over => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Form;

    fn code() -> Code {
        let challenge =
            "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
        Code {
            client_name: None,
            client: "c".into(),
            redirect: "http://127.0.0.1/".into(),
            refreshes: false,
            challenge: Challenge::asked(&Form::parse(challenge).unwrap()).unwrap(),
            resource: "http://r".into(),
            scopes: Vec::new(),
            user: User::new("ada"),
            given: None,
        }
    }

    #[test]
    fn the_second_use_of_a_code_is_detected_and_yields_no_grant() {
        let codes = Codes::default();
        let again = |code: &str, grant: Option<Digest>| {
            assert!(matches!(codes.take(code), Taken::Again(it) if it == grant));
        };
        let grant = Digest::of("grant");
        let first = codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&first), Taken::Good(_)) && codes.gave(&first, grant));
        again(&first, Some(grant));
        again(&first, Some(grant));
        // The same holds for two concurrent requests.
        let both = codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&both), Taken::Good(_)));
        again(&both, None);
        assert!(!codes.gave(&both, grant));
        again(&both, None);
    }

    #[tokio::test(start_paused = true)]
    async fn codes_of_authorizations_begun_before_a_logout_are_refused() {
        let codes = Codes::default();
        let of = |user: &str| Code { user: User::new(user), ..code() };
        let since = Instant::now();
        let [fresh, brought, theirs] =
            ["ada", "ada", "bob"].map(|it| codes.add(of(it), since).unwrap());
        assert!(matches!(codes.take(&brought), Taken::Good(_)));
        tokio::time::advance(Duration::from_secs(1)).await;
        codes.end("ada");
        assert!(matches!(codes.take(&fresh), Taken::Unknown));
        assert!(!codes.gave(&brought, Digest::of("grant")));
        assert!(matches!(codes.take(&theirs), Taken::Good(_)));
        assert!(codes.gave(&theirs, Digest::of("theirs")));
        let refused = |since| codes.add(of("ada"), since).err().map(|it| it.error);
        assert_eq!(refused(since), Some("access_denied"));
        assert!(codes.add(of("bob"), since).is_ok());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(refused(Instant::now()), None);
        // The end of the logins is remembered for as long as a user may be deciding, and no longer.
        tokio::time::advance(waiting::TIME * 2).await;
        assert_eq!(refused(since), Some("access_denied"));
        tokio::time::advance(LONGEST).await;
        codes.end("bob");
        assert_eq!(codes.state().ended.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn used_and_expired_codes_make_room_for_new_codes() {
        let (counts, tally) = Counts::of_test();
        let codes = Codes::new(counts);
        let all: Vec<_> = (0..MOST).map(|_| codes.add(code(), Instant::now()).unwrap()).collect();
        assert_eq!(codes.add(code(), Instant::now()).unwrap_err().error, "temporarily_unavailable");
        assert_eq!(tally.refused(Limit::Codes), 1);
        for code in &all[1..] {
            assert!(matches!(codes.take(code), Taken::Good(_)));
        }
        // Used codes make room, and a code that is still valid keeps its place.
        let last = codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&all[0]), Taken::Good(_)));
        for _ in 0..MOST - 2 {
            codes.add(code(), Instant::now()).unwrap();
        }
        tokio::time::advance(TIME).await;
        codes.add(code(), Instant::now()).unwrap();
        assert!(matches!(codes.take(&last), Taken::Unknown));
    }
}
