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
    /// With the grant that came of it, once there is one.
    Used(Option<Digest>),
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
            return Err(Refusal::busy("there are too many authorizations"));
        }
        all.insert(Digest::of(&text), (now, Entry::Fresh(Box::new(code))));
        Ok(text)
    }

    /// Takes it, whatever comes of it: it is good once.
    pub(super) fn take(&self, code: &str) -> Taken {
        let mut all = self.all();
        let Some((made, entry)) = all.get_mut(&Digest::of(code)) else { return Taken::Unknown };
        match std::mem::replace(entry, Entry::Used(None)) {
            Entry::Fresh(code) if Instant::now() < *made + TIME => Taken::Good(code),
            Entry::Fresh(_) => Taken::Unknown,
            Entry::Used(grant) => {
                *entry = Entry::Used(grant);
                Taken::Again(grant)
            }
        }
    }

    /// Remembers what came of a code.
    pub(super) fn gave(&self, code: &str, grant: Digest) {
        if let Some((_, entry)) = self.all().get_mut(&Digest::of(code)) {
            *entry = Entry::Used(Some(grant));
        }
    }
}
