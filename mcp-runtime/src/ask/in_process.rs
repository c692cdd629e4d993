//! Storage of the state between two rounds in the memory of this process. The client gets a random text that identifies the state.

use std::{
    collections::VecDeque,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::storage::{RoundId, StateStorage, StoredState, busy, sent_already, unknown_state};
use crate::{
    error::{Error, Result},
    limits::{Limit, NoShare, Pool, RefusalCounters, Share, Tenant},
    random::random,
};

/// Storage in process memory, bounded in bytes and in time.
///
/// Each round reserves its bytes in [`Pool::Rounds`]. If the pool has too few bytes left for a tenant, the storage evicts the oldest rounds
/// of that tenant. It never evicts the rounds of other tenants to free bytes for this one.
pub(crate) struct ProcessStorage {
    /// Time after which a round expires.
    lifetime: Duration,
    /// Maximum size of all rounds together, in bytes.
    most: usize,
    tally: Arc<RefusalCounters>,
    /// Secrets of this process, created when the first round needs them, because most servers have no rounds.
    secrets: OnceLock<Secrets>,
    rounds: Mutex<StoredRounds>,
    /// Whether the warning about rounds of another process has been logged.
    has_warned: AtomicBool,
}

struct Secrets {
    /// Random prefix of each text that this process creates. It distinguishes these texts from the texts of other processes.
    process: [u8; TAG],
    /// Secret seed of the hashes. On wasm, where `RandomState` is predictable, clients could otherwise compute the hashes.
    seed: [u8; 16],
    hasher: RandomState,
}

/// Length of the prefix that identifies the process, in bytes.
const TAG: usize = 8;

/// Random part of a text, which identifies the round.
type RoundKey = [u8; 16];

/// Address of a [`Tenant`]. The `Share` of each round keeps its tenant alive, so no other tenant can get the address while the key is in
/// use.
type TenantKey = usize;

fn key_of(tenant: &Arc<Tenant>) -> TenantKey {
    Arc::as_ptr(tenant).addr()
}

#[derive(Default)]
struct StoredRounds {
    /// Rounds by their ids. A fast hash is safe, because the server generates the ids and clients cannot cause collisions.
    by_id: FxHashMap<RoundKey, StoredRound>,
    /// Ids of each tenant's rounds, the oldest first. All rounds have the same lifetime, so the oldest expires first.
    by_tenant: FxHashMap<TenantKey, VecDeque<RoundKey>>,
    /// Time of the last search for expired rounds.
    swept: Option<Instant>,
}

struct StoredRound {
    state: Box<[u8]>,
    bound: [u64; 2],
    expires: Instant,
    is_spent: bool,
    /// Reserved bytes of the round, and the tenant that they are reserved for.
    share: Share,
}

impl StoredRound {
    /// Approximate memory that a round needs in addition to its state, in bytes.
    const OVERHEAD: usize = 256;
}

impl Secrets {
    fn new() -> Result<Self> {
        Ok(Self { process: random()?, seed: random()?, hasher: RandomState::new() })
    }

    /// Returns a hash of a text. The hash never leaves the process.
    fn hash(&self, text: &[u8]) -> [u64; 2] {
        [0_u8, 1].map(|half| self.hasher.hash_one((self.seed, half, text)))
    }
}

impl ProcessStorage {
    /// Minimum time between two searches for expired rounds.
    const SWEEP: Duration = Duration::from_secs(60);
    /// Minimum time between two searches while there are too few bytes for new rounds.
    const SWEEP_FULL: Duration = Duration::from_secs(1);

    pub(crate) fn new(lifetime: Duration, most: usize, tally: Arc<RefusalCounters>) -> Self {
        Self {
            lifetime,
            most,
            tally,
            secrets: OnceLock::new(),
            rounds: Mutex::default(),
            has_warned: AtomicBool::new(false),
        }
    }

    fn secrets(&self) -> Result<&Secrets> {
        if self.secrets.get().is_none() {
            // If two threads race here, both threads use the secrets that were set first.
            let _ = self.secrets.set(Secrets::new()?);
        }
        self.secrets.get().ok_or_else(|| Error::internal("there are no secrets"))
    }

    fn rounds(&self) -> MutexGuard<'_, StoredRounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the bytes for a round. If too few bytes are free, removes expired rounds first, and then the tenant's oldest rounds.
    ///
    /// # Errors
    /// Fails if too few bytes would be free even without the rounds of this tenant.
    fn share(
        &self,
        rounds: &mut StoredRounds,
        tenant: &Arc<Tenant>,
        bytes: usize,
        now: Instant,
    ) -> Result<Share, NoShare> {
        let take = || tenant.take(Pool::Rounds, bytes, self.most);
        let mut taken = take();
        if taken.is_err() && rounds.sweep(now, Self::SWEEP_FULL) {
            taken = take();
        }
        // The tenant keeps its rounds if their removal would not free enough bytes for the new round.
        let is_possible = tenant.could_take(Pool::Rounds, bytes, self.most);
        while taken.is_err() {
            self.tally.refuse(Limit::AllState);
            if !is_possible || !rounds.remove_oldest(key_of(tenant)) {
                break;
            }
            taken = take();
        }
        taken
    }

    /// Returns the error for a well-formed text from another process. Logs a warning the first time.
    #[cold]
    fn foreign(&self) -> Error {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a client continues a call that another process of this server has begun: set the same `.state_key(…)` \
                 (feature `state-key`) in all instances, so that calls can continue in each of them and after a restart"
            );
        }
        Error::invalid_params(
            "`requestState` was made by another process of this server: the server has restarted, or has several instances without a \
             common `.state_key(…)`. Call again without `requestState`",
        )
    }
}

impl StateStorage for ProcessStorage {
    fn put(&self, state: &[u8], bound: &[u8], tenant: &Arc<Tenant>) -> Result<String> {
        let secrets = self.secrets()?;
        let id: RoundKey = random()?;
        let now = Instant::now();
        let bytes = state.len() + StoredRound::OVERHEAD;
        if bytes > self.most {
            self.tally.refuse(Limit::AllState);
            return Err(Error::internal(format!(
                "a round takes {bytes} bytes, but the rounds of all clients together may take only {}: raise `Limits::all_state`",
                self.most
            )));
        }
        let mut rounds = self.rounds();
        rounds.sweep(now, Self::SWEEP);
        let share = self.share(&mut rounds, tenant, bytes, now).map_err(|_| busy())?;
        let round = StoredRound {
            state: state.into(),
            bound: secrets.hash(bound),
            // A lifetime beyond the range of the clock is replaced with one year.
            expires: now
                .checked_add(self.lifetime)
                .unwrap_or_else(|| now + Duration::from_secs(31_536_000)),
            is_spent: false,
            share,
        };
        rounds.insert(id, round);
        drop(rounds);
        Ok(URL_SAFE_NO_PAD.encode([&secrets.process[..], &id].concat()))
    }

    fn get(&self, text: &str, bound: &[u8]) -> Result<StoredState> {
        let mut bytes = [0; TAG + 16];
        let read = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes);
        if read.ok() != Some(bytes.len()) {
            return Err(unknown_state());
        }
        let secrets = self.secrets()?;
        if bytes[..TAG] != secrets.process {
            return Err(self.foreign());
        }
        let bound = secrets.hash(bound);
        let rounds = self.rounds();
        let round = id_of(&bytes).and_then(|id| rounds.by_id.get(id)).ok_or_else(unknown_state)?;
        if round.expires < Instant::now() || round.bound != bound {
            return Err(unknown_state());
        }
        Ok(StoredState { text: round.state.to_vec(), round: RoundId { bytes, expires: 0 } })
    }

    fn spend(&self, round: RoundId, _: &Arc<Tenant>) -> Result<()> {
        let mut rounds = self.rounds();
        let round = id_of(&round.bytes).and_then(|id| rounds.by_id.get_mut(id));
        let round = round.ok_or_else(unknown_state)?;
        if std::mem::replace(&mut round.is_spent, true) {
            return Err(sent_already());
        }
        Ok(())
    }

    fn digest(&self, words: &str) -> Result<String> {
        let hash = self.secrets()?.hash(words.as_bytes());
        let bytes = hash.map(u64::to_le_bytes);
        // The digest is as long as in sealed state, so that `Limits::state` has the same effect with both storages.
        Ok(URL_SAFE_NO_PAD.encode(&bytes.as_flattened()[..12]))
    }

    fn is_digest(&self, digest: &str, words: &str) -> bool {
        self.digest(words).is_ok_and(|own| own == digest)
    }
}

fn id_of(bytes: &[u8]) -> Option<&RoundKey> {
    bytes.last_chunk()
}

impl StoredRounds {
    fn insert(&mut self, id: RoundKey, round: StoredRound) {
        let tenant = key_of(round.share.tenant());
        self.by_tenant.entry(tenant).or_default().push_back(id);
        self.by_id.insert(id, round);
    }

    /// Removes the oldest round of a tenant. Returns whether there was one.
    fn remove_oldest(&mut self, tenant: TenantKey) -> bool {
        let Some(oldest_first) = self.by_tenant.get_mut(&tenant) else { return false };
        let id = oldest_first.pop_front();
        if oldest_first.is_empty() {
            self.by_tenant.remove(&tenant);
        }
        id.is_some_and(|id| self.by_id.remove(&id).is_some())
    }

    /// Removes expired rounds, at most once per `pause`. Returns whether this call searched for expired rounds.
    fn sweep(&mut self, now: Instant, pause: Duration) -> bool {
        if self.swept.is_some_and(|swept| now.duration_since(swept) < pause) {
            return false;
        }
        self.swept = Some(now);
        let tenants: Vec<TenantKey> = self.by_tenant.keys().copied().collect();
        for tenant in tenants {
            while self.oldest_of(tenant).is_some_and(|round| round.expires < now) {
                self.remove_oldest(tenant);
            }
        }
        self.by_id.shrink_to(2 * self.by_id.len());
        self.by_tenant.shrink_to(2 * self.by_tenant.len());
        true
    }

    fn oldest_of(&self, tenant: TenantKey) -> Option<&StoredRound> {
        let id = self.by_tenant.get(&tenant)?.front()?;
        self.by_id.get(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{CallerKey, Shares};

    const ROUND: usize = 100 + StoredRound::OVERHEAD;

    /// Creates a storage for this number of rounds, each with a state of 100 bytes.
    fn storage(rounds: usize) -> ProcessStorage {
        ProcessStorage::new(Duration::from_secs(60), rounds * ROUND, Arc::default())
    }

    fn tenants<const COUNT: usize>() -> [Arc<Tenant>; COUNT] {
        tenants_of(&Shares::default())
    }

    fn tenants_of<const COUNT: usize>(shares: &Shares) -> [Arc<Tenant>; COUNT] {
        std::array::from_fn(|number| shares.tenant(CallerKey::Peer(number as u64)))
    }

    fn put(storage: &ProcessStorage, tenant: &Arc<Tenant>) -> String {
        storage.put(&[b'x'; 100], b"call", tenant).unwrap()
    }

    fn has(storage: &ProcessStorage, text: &str) -> bool {
        storage.get(text, b"call").is_ok()
    }

    #[test]
    fn a_text_returns_the_state_only_to_its_own_call() {
        let (storage, [ada]) = (storage(10), tenants());
        let text = storage.put(b"state", b"call", &ada).unwrap();
        assert_eq!(storage.get(&text, b"call").unwrap().text, b"state");
        assert!(storage.get(&text, b"another").is_err());
        assert_ne!(text, storage.put(b"state", b"call", &ada).unwrap());
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            assert!(!has(&storage, std::str::from_utf8(&other).unwrap()), "{at}");
        }
        for wrong in ["", "A", "-TAMPERED", &format!("{text}-TAMPERED"), &text[1..], "ÄÖÜ"] {
            assert!(!has(&storage, wrong), "{wrong}");
        }
    }

    #[test]
    fn state_of_another_process_is_refused_with_the_reason() {
        let (one, other, [ada]) = (storage(10), storage(10), tenants());
        let text = put(&one, &ada);
        let error = other.get(&text, b"call").unwrap_err();
        assert!(error.message().contains("another process"), "{error:?}");
        assert!(error.message().contains("`.state_key(…)`"), "{error:?}");
    }

    #[test]
    fn a_round_is_spent_once_and_found_again_unless_it_is() {
        let (storage, [ada]) = (storage(10), tenants());
        let text = put(&storage, &ada);
        let round = storage.get(&text, b"call").unwrap().round;
        assert_eq!(storage.get(&text, b"call").unwrap().round, round);
        storage.spend(round, &ada).unwrap();
        let error = storage.spend(round, &ada).unwrap_err();
        assert!(error.message().contains("already"), "{error:?}");
        // A round that is evicted between `get` and `spend` cannot be spent.
        let text = put(&storage, &ada);
        let round = storage.get(&text, b"call").unwrap().round;
        for _ in 0..10 {
            put(&storage, &ada);
        }
        assert!(storage.spend(round, &ada).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_round_expires_and_its_room_is_used_again() {
        let (storage, shares) = (storage(4), Shares::default());
        let callers = tenants_of::<5>(&shares);
        let texts: Vec<_> = callers[..4].iter().map(|caller| put(&storage, caller)).collect();
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(texts.iter().all(|text| has(&storage, text)));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!texts.iter().any(|text| has(&storage, text)));
        put(&storage, &callers[4]);
        let rounds = storage.rounds();
        assert_eq!((rounds.by_id.len(), shares.used(Pool::Rounds)), (1, ROUND));
        assert_eq!(storage.tally.refused(Limit::AllState), 0);
    }

    #[test]
    fn a_caller_with_many_rounds_loses_its_own() {
        let (storage, [ada, grace, eve]) = (storage(10), tenants());
        let [of_ada, of_grace] = [put(&storage, &ada), put(&storage, &grace)];
        let greedy: Vec<_> = (0..1000).map(|_| put(&storage, &eve)).collect();
        assert!(has(&storage, &of_ada) && has(&storage, &of_grace));
        assert!(greedy[994..].iter().all(|text| has(&storage, text)), "the newest are kept");
        assert!(!greedy[..994].iter().any(|text| has(&storage, text)));
        assert_eq!(storage.tally.refused(Limit::AllState), 994);
        // Eight rounds are stored: the six of the greedy caller, and two others. The rest of the pool is kept for callers with fewer rounds.
        let more = put(&storage, &ada);
        assert!(has(&storage, &of_ada) && has(&storage, &more));
        assert!(greedy[994..].iter().all(|text| has(&storage, text)));
    }

    #[test]
    fn a_new_round_is_rejected_when_other_callers_hold_all_bytes() {
        let (storage, [ada, grace, eve]) = (storage(2), tenants());
        let texts = [put(&storage, &ada), put(&storage, &grace)];
        let error = storage.put(&[b'x'; 100], b"call", &eve).unwrap_err();
        assert!(error.message().contains("try again later"), "{error:?}");
        assert!(texts.iter().all(|text| has(&storage, text)));
        assert_eq!(storage.tally.refused(Limit::AllState), 1);
    }

    #[test]
    fn rounds_are_kept_if_their_eviction_would_not_free_enough_bytes() {
        let (storage, [ada, grace]) = (storage(8), tenants());
        let _of_grace: Vec<_> = (0..5).map(|_| put(&storage, &grace)).collect();
        let of_ada = put(&storage, &ada);
        assert!(storage.put(&[b'x'; 4 * ROUND], b"call", &ada).is_err());
        assert!(has(&storage, &of_ada));
    }

    /// Checks after every step that the counters agree with the stored rounds.
    #[test]
    fn removed_rounds_leave_no_bytes_or_index_entries_behind() {
        let (storage, shares) = (storage(30), Shares::default());
        let callers = tenants_of::<7>(&shares);
        for number in 0..5000_u64 {
            let size = (number * 37 % 300) as usize;
            let caller = &callers[(number * number % 7) as usize];
            storage.put(&vec![b'x'; size], b"call", caller).unwrap();
            let rounds = storage.rounds();
            let states: usize = rounds.by_id.values().map(|round| round.state.len()).sum();
            let bytes = states + rounds.by_id.len() * StoredRound::OVERHEAD;
            assert!(bytes <= storage.most && bytes == shares.used(Pool::Rounds), "{number}");
            let owned: usize = rounds.by_tenant.values().map(VecDeque::len).sum();
            assert_eq!(owned, rounds.by_id.len(), "{number}");
        }
        drop(storage);
        assert_eq!(shares.used(Pool::Rounds), 0);
    }

    #[test]
    fn a_round_larger_than_the_storage_is_rejected() {
        let [ada] = tenants();
        let error = storage(1).put(&[b'x'; 101], b"call", &ada).unwrap_err();
        assert!(error.message().contains("`Limits::all_state`"), "{error:?}");
    }

    #[test]
    fn a_digest_matches_only_its_text() {
        let storage = storage(1);
        let digest = storage.digest("text").unwrap();
        assert_eq!(digest.len(), 16);
        assert!(storage.is_digest(&digest, "text") && !storage.is_digest(&digest, "test"));
    }
}
