//! Table of sessions, which clients identify by ids that cannot be guessed.

use std::{
    borrow::Borrow,
    collections::HashSet,
    fmt,
    hash::{BuildHasherDefault, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Id that cannot be guessed: 128 random bits in visible ASCII (rule HL-16).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionId([u8; 32]);

impl SessionId {
    /// Generates a new id.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(super) fn unguessable() -> Result<Self, String> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)
            .map_err(|error| format!("the system provides no random numbers: {error}"))?;
        let mut text = [0; 32];
        for (pair, byte) in text.chunks_exact_mut(2).zip(bits) {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            pair.copy_from_slice(&[byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
        }
        Ok(Self(text))
    }

    /// Parses the id that a client sent. Returns `None` if its length is wrong.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        text.try_into().ok().map(Self)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the name of the partition of a shared store that has the records of the session.
    pub(super) fn partition(&self) -> String {
        format!("session:{self}")
    }

    /// Maps the id to one of `of` parts, numbered from zero.
    pub(super) fn part(&self, of: usize) -> usize {
        usize::from(self.0[31]) % of
    }

    /// Returns a hash of the id. A simple hash function is sufficient, because clients cannot choose the ids in the table: the server
    /// generates them at random.
    fn mixed(&self) -> u64 {
        let half = |at: usize| {
            let bytes = self.0[at..].first_chunk().copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        let mixed = (half(0) ^ half(8).rotate_left(4)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    }
}

impl Hash for SessionId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mixed());
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.0).unwrap_or_default())
    }
}

/// Hasher that returns the hash of a [`SessionId`] unchanged.
#[derive(Default)]
struct SessionIdHasher(u64);

impl Hasher for SessionIdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Session that contains its own id, so that a table need not store the id again.
pub(super) trait HasSessionId {
    fn id(&self) -> &SessionId;
}

struct SessionEntry<T>(Arc<T>);

impl<T: HasSessionId> Borrow<SessionId> for SessionEntry<T> {
    fn borrow(&self) -> &SessionId {
        self.0.id()
    }
}

impl<T: HasSessionId> Hash for SessionEntry<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id().hash(state);
    }
}

impl<T: HasSessionId> PartialEq for SessionEntry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}

impl<T: HasSessionId> Eq for SessionEntry<T> {}

type SessionShard<T> = HashSet<SessionEntry<T>, BuildHasherDefault<SessionIdHasher>>;

/// Sessions by id. The table consists of shards, each with its own lock, so that requests seldom wait for each other.
pub(super) struct SessionTable<T> {
    shards: [Mutex<SessionShard<T>>; 16],
}

impl<T> Default for SessionTable<T> {
    fn default() -> Self {
        Self { shards: Default::default() }
    }
}

impl<T: HasSessionId> SessionTable<T> {
    fn shard(&self, id: &SessionId) -> MutexGuard<'_, SessionShard<T>> {
        self.shards[id.part(self.shards.len())].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session, unless there is one with its id. Returns whether it was added.
    pub(super) fn insert(&self, session: Arc<T>) -> bool {
        self.shard(session.id()).insert(SessionEntry(session))
    }

    #[inline]
    pub(super) fn find(&self, id: &SessionId) -> Option<Arc<T>> {
        self.shard(id).get(id).map(|entry| entry.0.clone())
    }

    pub(super) fn remove(&self, id: &SessionId) -> Option<Arc<T>> {
        self.shard(id).take(id).map(|entry| entry.0)
    }

    /// Removes the sessions for which `is_past` returns true, one shard after the other.
    pub(super) fn sweep(&self, is_past: impl Fn(&Arc<T>) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            // Dropping the last reference to a session may take other locks, so it happens after the lock of the shard is released.
            let past: Vec<_> = shard.extract_if(|entry| is_past(&entry.0)).collect();
            drop(shard);
            drop(past);
        }
    }

    pub(super) fn for_each(&self, mut look: impl FnMut(&Arc<T>)) {
        for shard in &self.shards {
            let all: Vec<_> = {
                let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                shard.iter().map(|entry| entry.0.clone()).collect()
            };
            all.iter().for_each(&mut look);
        }
    }
}
