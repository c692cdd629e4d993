//! Storage that sends the state to the client between two rounds, sealed with a key of the author or of the servers that share a store. Only a
//! server with this key can read or create such state (rule MRTR-05).

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    Key, KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};

use super::storage::{RoundId, StateStorage, StoredState, busy, sent_already, unknown_state};
use crate::{
    call::context::BeginFuture,
    error::{Error, ErrorKind, Result},
    limits::{Pool, Share, Tenant},
    random::random,
    storage::{self, Condition, Store, StoreOperation, Transaction},
};

/// Storage that sends sealed state to clients. Every process with the same key can open state that another process has sealed.
pub(crate) struct SealedStorage {
    keys: Arc<StateKeys>,
    /// Time during which sealed state can be opened.
    lifetime: Duration,
    spent: SpentStates,
}

/// Single-use rounds whose state clients have sent back.
enum SpentStates {
    /// The process remembers its own rounds.
    Process(SpentRounds),
    /// The store remembers the rounds of all servers that share it.
    Shared(Arc<dyn Store>),
}

impl SealedStorage {
    /// Creates a storage. `store` remembers the single-use rounds of several servers. Without it, the process remembers its own.
    pub(crate) fn new(
        keys: Arc<StateKeys>,
        lifetime: Duration,
        store: Option<Arc<dyn Store>>,
    ) -> Self {
        let spent = match store {
            Some(store) => SpentStates::Shared(store),
            None => SpentStates::Process(SpentRounds::default()),
        };
        Self { keys, lifetime, spent }
    }
}

/// Keys of a server, which may be replaced while it runs.
#[derive(Default)]
pub(crate) struct StateKeys(RwLock<Option<Arc<StateSealer>>>);

impl StateKeys {
    pub(super) fn new(sealer: StateSealer) -> Arc<Self> {
        let keys = Self::default();
        keys.set(sealer);
        Arc::new(keys)
    }

    pub(super) fn set(&self, sealer: StateSealer) {
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *keys = Some(Arc::new(sealer));
    }

    fn get(&self) -> Option<Arc<StateSealer>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the current keys.
    ///
    /// # Errors
    /// Fails if the server has not read its keys, because it has not started.
    pub(super) fn sealer(&self) -> Result<Arc<StateSealer>> {
        self.get().ok_or_else(|| Error::internal("the server has no key to seal state with"))
    }

    /// Returns the bytes of all keys, beginning with the key that seals. `None` if the server has not read its keys.
    pub(super) fn ring(&self) -> Option<Vec<u8>> {
        let sealer = self.get()?;
        Some(sealer.keys().flatten().copied().collect())
    }
}

impl StateStorage for SealedStorage {
    /// Seals the expiry time together with the state. The lifetime is therefore set by the process that seals the state, not by the process
    /// that opens it.
    fn put(&self, state: &[u8], bound: &[u8], _: &Arc<Tenant>) -> Result<String> {
        let expires = now().saturating_add(self.lifetime.as_secs().max(1));
        self.keys.sealer()?.seal(&[&expires.to_le_bytes()[..], state].concat(), bound)
    }

    fn get(&self, text: &str, bound: &[u8]) -> Result<StoredState> {
        let opened = self.keys.sealer()?.open(text, bound);
        let (opened, bytes) = opened.map_err(|NotOpened| unknown_state())?;
        let (expires, state) = opened.split_first_chunk().ok_or_else(unknown_state)?;
        let expires = u64::from_le_bytes(*expires);
        if expires < now() {
            return Err(unknown_state());
        }
        Ok(StoredState { text: state.to_vec(), round: RoundId { bytes, expires } })
    }

    fn spend(&self, round: RoundId, tenant: &Arc<Tenant>) -> Result<()> {
        match &self.spent {
            SpentStates::Process(spent) => spent.spend(round, tenant, now()),
            SpentStates::Shared(_) => Ok(()),
        }
    }

    fn spending(&self, round: RoundId) -> Option<BeginFuture> {
        match &self.spent {
            SpentStates::Process(_) => None,
            SpentStates::Shared(store) => Some(Box::pin(spend(store.clone(), round))),
        }
    }

    fn digest(&self, words: &str) -> Result<String> {
        Ok(self.keys.sealer()?.digest(words.as_bytes()))
    }

    fn is_digest(&self, digest: &str, words: &str) -> bool {
        self.keys.sealer().is_ok_and(|sealer| sealer.is_digest(digest, words.as_bytes()))
    }
}

/// Maximum difference between the clocks of two servers. If the clocks differ by more, a single-use round may be used twice.
const CLOCKS: Duration = Duration::from_secs(5 * 60);

/// Marks a round as used in the store. Exactly one of several attempts succeeds, even if they are made on different servers.
///
/// # Errors
/// Fails if the round has been used already, or if the store cannot be used. In the second case the round may count as used.
async fn spend(store: Arc<dyn Store>, round: RoundId) -> Result<()> {
    let left = Duration::from_secs(round.expires.saturating_sub(now())).saturating_add(CLOCKS);
    let spend = StoreOperation::put("spent", [], left, Condition::Absent);
    let partition = format!("round:{}", URL_SAFE_NO_PAD.encode(round.bytes));
    let spent = storage::execute(&*store, vec![Transaction::on(partition).then(spend)]).await;
    match spent.map(|results| results.into_iter().next()) {
        Ok(Some(Ok(_))) => Ok(()),
        Ok(Some(Err(_))) => Err(sent_already()),
        Ok(None) => Err(Error::internal("the store has returned no result")),
        Err(why) => {
            tracing::warn!(
                "a call is refused, because the store cannot mark its round as used: {why}"
            );
            Err(Error::of(
                ErrorKind::Unavailable,
                "the store of the server, which remembers the rounds of calls, is not available: try again later",
            ))
        }
    }
}

/// Returns the current time in seconds since 1970. Unlike `Instant`, this time can be compared between machines.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Size of a nonce in bytes, large enough that random nonces do not collide.
const NONCE: usize = 24;

/// Keys with which a server seals and opens state.
#[derive(Clone)]
pub(crate) struct StateSealer {
    /// Key that seals new state. It also opens state.
    newest: [u8; 32],
    /// Keys that only open state.
    older: Vec<[u8; 32]>,
}

/// Error for a text that cannot be opened. It carries no reason, because a reason would help an attacker to forge a text.
pub(crate) struct NotOpened;

impl StateSealer {
    /// Creates a sealer. The first key seals new state, and every key opens state. Returns `None` if there is no key.
    pub(crate) fn new(mut keys: Vec<[u8; 32]>) -> Option<Self> {
        (!keys.is_empty()).then(|| Self { newest: keys.remove(0), older: keys })
    }

    fn keys(&self) -> impl Iterator<Item = &[u8; 32]> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    /// Seals a text. The sealed text can be opened only with the same `bound`.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn seal(&self, text: &[u8], bound: &[u8]) -> Result<String, Error> {
        let nonce: [u8; NONCE] = random()?;
        let cipher = XChaCha20Poly1305::new(&Key::from(self.newest));
        let sealed = cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: text, aad: bound })
            .map_err(|_| Error::internal("the state could not be sealed"))?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// Returns a short digest of a text, for use in sealed state. An attacker without the key cannot find another text with the same
    /// digest. The digest uses a fixed nonce, and the chance that `seal` generates the same nonce at random is negligible.
    fn digest(&self, text: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(tag(&self.newest, text))
    }

    /// Returns whether `digest` is the digest of the text under one of the keys.
    fn is_digest(&self, digest: &str, text: &[u8]) -> bool {
        self.keys().any(|key| URL_SAFE_NO_PAD.encode(tag(key, text)) == digest)
    }

    /// Opens a text that was sealed with one of the keys and with the same `bound`. Returns the plain text, and the nonce, which is unique
    /// to each sealed text.
    pub(crate) fn open(
        &self,
        sealed: &str,
        bound: &[u8],
    ) -> Result<(Vec<u8>, [u8; NONCE]), NotOpened> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| NotOpened)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>().ok_or(NotOpened)?;
        let open = |key: &[u8; 32]| {
            let cipher = XChaCha20Poly1305::new(&Key::from(*key));
            cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: bound }).ok()
        };
        self.keys().find_map(open).map(|text| (text, *nonce)).ok_or(NotOpened)
    }
}

/// Returns a shortened authentication tag of the text. The cipher seals an empty message, with the text as associated data. A short tag is
/// enough, because the tag is itself sealed as part of the state.
fn tag(key: &[u8; 32], text: &[u8]) -> [u8; 12] {
    let sealed = XChaCha20Poly1305::new(&Key::from(*key))
        .encrypt(&XNonce::from([0xff; NONCE]), Payload { msg: b"", aad: text });
    sealed.ok().and_then(|tag| tag.first_chunk().copied()).unwrap_or_default()
}

impl fmt::Debug for StateSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateSealer").field("keys", &self.keys().count()).finish_non_exhaustive()
    }
}

/// Single-use rounds that have been used. Each entry is kept until its round expires.
#[derive(Default)]
struct SpentRounds(Mutex<SpentTable>);

#[derive(Default)]
struct SpentTable {
    /// Expiry of each round, in seconds since 1970, and its share of [`SpentRounds::MOST`].
    all: HashMap<[u8; 24], (u64, Share)>,
    /// Time of the last search for expired rounds, in seconds since 1970.
    swept: u64,
}

impl SpentRounds {
    /// Maximum number of used rounds that are remembered, for all callers together.
    const MOST: usize = 65_536;

    /// Marks a round as used.
    ///
    /// # Errors
    /// Fails if the round has been used already, or if too many rounds are remembered.
    fn spend(&self, round: RoundId, tenant: &Arc<Tenant>, now: u64) -> Result<()> {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rounds.all.contains_key(&round.bytes) {
            return Err(sent_already());
        }
        let take = || tenant.take(Pool::SpentRounds, 1, Self::MOST);
        let share = take().or_else(|_| {
            rounds.sweep(now);
            take()
        });
        rounds.all.insert(round.bytes, (round.expires, share.map_err(|_| busy())?));
        Ok(())
    }
}

impl SpentTable {
    /// Removes expired rounds, at most once a second.
    fn sweep(&mut self, now: u64) {
        if self.swept != now {
            self.swept = now;
            self.all.retain(|_, (expires, _)| *expires >= now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{CallerKey, Shares};

    fn storage(lifetime: u64) -> SealedStorage {
        let sealer = StateSealer::new(vec![[1; 32]]).unwrap();
        SealedStorage::new(StateKeys::new(sealer), Duration::from_secs(lifetime), None)
    }

    /// The expiry is read from the sealed state, so it does not depend on the lifetime that the opening process has set.
    #[test]
    fn the_sealing_process_sets_the_expiry_of_a_round() {
        let tenant = Shares::default().tenant(CallerKey::Peer(1));
        let sealed = storage(1000).put(b"state", b"call", &tenant).unwrap();
        let stored = storage(1).get(&sealed, b"call").unwrap();
        assert_eq!(stored.text, b"state");
        assert!(stored.round.expires >= now() + 990);
        assert!(storage(1).get(&sealed, b"another").is_err());
    }

    fn sealer(keys: &[u8]) -> StateSealer {
        StateSealer::new(keys.iter().map(|byte| [*byte; 32]).collect()).unwrap()
    }

    fn opened(sealer: &StateSealer, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        sealer.open(sealed, bound).ok().map(|(text, _)| text)
    }

    #[test]
    fn a_sealed_state_opens_only_with_the_same_key_and_purpose() {
        let own = sealer(&[1]);
        let sealed = own.seal(b"text", b"call").unwrap();
        assert_eq!(opened(&own, &sealed, b"call").as_deref(), Some(&b"text"[..]));
        assert_eq!(opened(&own, &sealed, b"another"), None);
        assert_eq!(opened(&sealer(&[2]), &sealed, b"call"), None);
        assert_ne!(sealed, own.seal(b"text", b"call").unwrap());
    }

    #[test]
    fn keys_can_be_rotated() {
        let sealed = sealer(&[1]).seal(b"text", b"").unwrap();
        let rotated = sealer(&[2, 1]);
        assert!(opened(&rotated, &sealed, b"").is_some());
        let newer = rotated.seal(b"text", b"").unwrap();
        assert_eq!(opened(&sealer(&[1]), &newer, b""), None);
        assert!(opened(&sealer(&[2]), &newer, b"").is_some());
    }

    #[test]
    fn a_digest_matches_only_its_text_and_survives_a_rotation() {
        let digest = sealer(&[1]).digest(b"text");
        assert_eq!(digest.len(), 16);
        assert!(sealer(&[1]).is_digest(&digest, b"text"));
        assert!(sealer(&[2, 1]).is_digest(&digest, b"text"));
        assert!(!sealer(&[1]).is_digest(&digest, b"test"));
        assert!(!sealer(&[2]).is_digest(&digest, b"text"));
    }

    #[test]
    fn a_changed_sealed_state_does_not_open() {
        let own = sealer(&[1]);
        let sealed = own.seal(b"text", b"").unwrap();
        for at in 0..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            // The last base64 digit may have unused bits. A text in which these bits are changed is rejected too.
            assert_eq!(opened(&own, &other, b""), None, "{at}");
        }
        for wrong in ["", "A", "-TAMPERED", &format!("{sealed}-TAMPERED"), &sealed[1..]] {
            assert_eq!(opened(&own, wrong, b""), None, "{wrong}");
        }
    }

    #[test]
    fn a_caller_with_many_rounds_leaves_room_for_others_and_no_round_is_sent_twice() {
        let (spent, shares) = (SpentRounds::default(), Shares::default());
        let round = |number: usize, expires: u64| {
            let mut bytes = [0; 24];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            RoundId { bytes, expires }
        };
        let [ada, grace, unnamed] =
            ["ada", "grace", ""].map(|name| shares.tenant(CallerKey::of_principal(name)));
        let share = SpentRounds::MOST - SpentRounds::MOST / 8;
        for number in 0..share {
            assert!(spent.spend(round(number, 10), &ada, 1).is_ok(), "{number}");
        }
        let more = share;
        assert!(spent.spend(round(more, 10), &ada, 2).is_err());
        assert!(
            spent.spend(round(more, 10), &grace, 2).is_ok()
                && spent.spend(round(more + 1, 10), &unnamed, 2).is_ok()
        );
        for tenant in [&ada, &grace, &unnamed] {
            for sent in [0, more, more + 1] {
                let why = spent.spend(round(sent, 10), tenant, 2).unwrap_err();
                assert!(why.message().contains("sent already"));
            }
        }
        // Expired rounds are removed.
        assert!(spent.spend(round(more + 2, 20), &ada, 11).is_ok());
        assert_eq!(spent.0.lock().unwrap().all.len(), 1);
    }
}
