//! What a client is handed through the browser, and brings back for tokens (RFC 6749, section 4.1.2).

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    pkce::Challenge,
    provider::Given,
    refusal::Refusal,
    secret::{Digest, random},
    user::User,
};

/// How long a code is good.
const TIME: Duration = Duration::from_secs(60);

/// How long it is known that it was used.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

const MOST: usize = 4000;

/// What a code stands for.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) client: String,
    pub(super) redirect: String,
    /// Whether the client gets refresh tokens.
    pub(super) refreshes: bool,
    pub(super) challenge: Challenge,
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
    pub(super) user: User,
    /// What another provider has given for it.
    pub(super) given: Option<Given>,
}

enum Entry {
    Fresh(Box<Code>),
    /// Nothing has come of it, or not yet.
    Used,
    /// This came of it.
    Gave(Digest),
    /// It was brought again before anything had come of it.
    Doubled,
}

/// What has become of a code that somebody brings.
pub(super) enum Taken {
    Good(Box<Code>),
    /// It was brought before, and this came of it.
    Again(Option<Digest>),
    Unknown,
}

#[derive(Default)]
pub(super) struct Codes(Mutex<HashMap<Digest, (Instant, Entry)>>);

impl Codes {
    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, (Instant, Entry)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// When the system gives no random numbers, or there is no room.
    pub(super) fn add(&self, code: Code) -> Result<String, Refusal> {
        let text = random::<32>()?;
        let now = Instant::now();
        let mut all = self.all();
        all.retain(|_, it| now < it.0 + REMEMBERED);
        if all.len() >= MOST {
            // Nobody waits for what was used, or is too old to be.
            all.retain(|_, it| matches!(it.1, Entry::Fresh(_)) && now < it.0 + TIME);
        }
        if all.len() >= MOST {
            return Err(Refusal::busy("there are too many authorizations"));
        }
        all.insert(Digest::of(&text), (now, Entry::Fresh(Box::new(code))));
        Ok(text)
    }

    /// Takes it, whatever comes of it: it is good once.
    pub(super) fn take(&self, code: &str) -> Taken {
        let mut all = self.all();
        let Some((made, entry)) = all.get_mut(&Digest::of(code)) else { return Taken::Unknown };
        match std::mem::replace(entry, Entry::Used) {
            Entry::Fresh(code) if Instant::now() < *made + TIME => Taken::Good(code),
            Entry::Fresh(_) => Taken::Unknown,
            Entry::Gave(grant) => {
                *entry = Entry::Gave(grant);
                Taken::Again(Some(grant))
            }
            Entry::Used | Entry::Doubled => {
                *entry = Entry::Doubled;
                Taken::Again(None)
            }
        }
    }

    /// Remembers what came of a code, unless somebody has brought it again meanwhile: then nothing may.
    #[must_use]
    pub(super) fn gave(&self, code: &str, grant: Digest) -> bool {
        let mut all = self.all();
        let entry = all.get_mut(&Digest::of(code)).map(|it| &mut it.1);
        if matches!(entry, Some(Entry::Doubled)) {
            return false;
        }
        if let Some(entry) = entry {
            *entry = Entry::Gave(grant);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorization_server::form::Form;

    fn code() -> Code {
        let challenge =
            "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
        Code {
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
    fn what_is_brought_twice_gives_nothing() {
        let codes = Codes::default();
        let again = |code: &str, grant: Option<Digest>| {
            assert!(matches!(codes.take(code), Taken::Again(it) if it == grant));
        };
        let grant = Digest::of("grant");
        let first = codes.add(code()).unwrap();
        assert!(matches!(codes.take(&first), Taken::Good(_)) && codes.gave(&first, grant));
        again(&first, Some(grant));
        again(&first, Some(grant));
        // Also when both come at once.
        let both = codes.add(code()).unwrap();
        assert!(matches!(codes.take(&both), Taken::Good(_)));
        again(&both, None);
        assert!(!codes.gave(&both, grant));
        again(&both, None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_waits_for_takes_nobodys_room() {
        let codes = Codes::default();
        let all: Vec<_> = (0..MOST).map(|_| codes.add(code()).unwrap()).collect();
        assert_eq!(codes.add(code()).unwrap_err().error, "temporarily_unavailable");
        for code in &all[1..] {
            assert!(matches!(codes.take(code), Taken::Good(_)));
        }
        // Those that are used make room, and one that is still good keeps its own.
        let last = codes.add(code()).unwrap();
        assert!(matches!(codes.take(&all[0]), Taken::Good(_)));
        for _ in 0..MOST - 2 {
            codes.add(code()).unwrap();
        }
        tokio::time::advance(TIME).await;
        codes.add(code()).unwrap();
        assert!(matches!(codes.take(&last), Taken::Unknown));
    }
}
