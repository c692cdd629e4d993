use std::{
    borrow::Borrow,
    collections::HashSet,
    fmt,
    hash::{BuildHasherDefault, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Id that cannot be guessed: 128 random bits in visible ASCII (rule HL-16).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn unguessable() -> Result<Self, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let mut text = [0; 32];
        for (pair, byte) in text.chunks_exact_mut(2).zip(bits) {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            pair.copy_from_slice(&[byte >> 4, byte & 15].map(|it| DIGITS[usize::from(it)]));
        }
        Ok(Self(text))
    }

    /// Parses the id that a client sent. `None` if its length is wrong.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        text.try_into().ok().map(Self)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the part that the key belongs to, if there are `of` parts.
    pub(super) fn part(&self, of: usize) -> usize {
        usize::from(self.0[31]) % of
    }

    /// Returns a hash. A simple one is enough, because only this server makes the ids in a table, and they are random already.
    fn mixed(&self) -> u64 {
        let half = |at: usize| {
            let bytes = self.0[at..].first_chunk().copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        let mixed = (half(0) ^ half(8).rotate_left(4)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mixed());
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.0).unwrap_or_default())
    }
}

/// Hasher that takes over the hash of a [`Key`].
#[derive(Default)]
struct Taken(u64);

impl Hasher for Taken {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|it| self.0 = self.0.rotate_left(8) ^ u64::from(*it));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Value that knows its own key, so that a table does not store the key again.
pub(super) trait Keyed {
    fn key(&self) -> &Key;
}

struct Entry<T>(Arc<T>);

impl<T: Keyed> Borrow<Key> for Entry<T> {
    fn borrow(&self) -> &Key {
        self.0.key()
    }
}

impl<T: Keyed> Hash for Entry<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key().hash(state);
    }
}

impl<T: Keyed> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl<T: Keyed> Eq for Entry<T> {}

type Part<T> = HashSet<Entry<T>, BuildHasherDefault<Taken>>;

/// Values that clients name by an id that cannot be guessed. They are in parts with a lock each, so that requests seldom wait for each
/// other.
pub(super) struct Table<T> {
    parts: [Mutex<Part<T>>; 16],
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { parts: Default::default() }
    }
}

impl<T: Keyed> Table<T> {
    fn part(&self, key: &Key) -> MutexGuard<'_, Part<T>> {
        self.parts[key.part(self.parts.len())].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, value: Arc<T>) {
        self.part(value.key()).insert(Entry(value));
    }

    #[inline]
    pub(super) fn find(&self, key: &Key) -> Option<Arc<T>> {
        self.part(key).get(key).map(|it| it.0.clone())
    }

    pub(super) fn remove(&self, key: &Key) -> Option<Arc<T>> {
        self.part(key).take(key).map(|it| it.0)
    }

    /// Removes the values for which `is_past` returns true, one part after the other.
    pub(super) fn sweep(&self, is_past: impl Fn(&Arc<T>) -> bool) {
        for part in &self.parts {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            // Dropping the last reference of a value may take other locks, so it comes after the lock of the part.
            let past: Vec<_> = part.extract_if(|it| is_past(&it.0)).collect();
            drop(part);
            drop(past);
        }
    }

    pub(super) fn for_each(&self, mut look: impl FnMut(&Arc<T>)) {
        for part in &self.parts {
            let all: Vec<_> = {
                let part = part.lock().unwrap_or_else(PoisonError::into_inner);
                part.iter().map(|it| it.0.clone()).collect()
            };
            all.iter().for_each(&mut look);
        }
    }
}
