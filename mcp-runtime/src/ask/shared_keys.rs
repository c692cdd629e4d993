//! Keys that all servers with the same store share, so that each server can continue the calls of the others.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::sleep;

use super::sealed::{StateKeys, StateSealer};
use crate::{
    random::random,
    storage::{
        self, Condition, Output, Record, Store, StoreError, StoreOperation, Transaction,
        TransactionResult,
    },
};

/// Partition of the store that holds the keys.
const PARTITION: &str = "state-keys";

/// Record with the keys.
const KEYS: &str = "keys";

/// Record that exists until the keys have to be rotated.
const ROTATED: &str = "rotated";

/// Time between two reads of the keys in the store.
const REFRESH: Duration = Duration::from_secs(60);

/// Minimum time between two rotations. It is much longer than [`REFRESH`]. So each server knows a key long before another server seals
/// with it, even if the store is unavailable for hours.
const LEAST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// Bytes of a key.
const KEY: usize = 32;

/// Keys of the store, and this server's copy of them.
///
/// A rotation makes the next key the current one, and the current key the previous one. A server may miss a rotation. The other servers
/// then open its states with their previous key, and it opens their states with its next key.
pub(crate) struct SharedKeys {
    store: Arc<dyn Store>,
    copy: Arc<StateKeys>,
    /// Time between two rotations: at least twice the lifetime of a state, so that no key is dropped before the last state that was sealed
    /// with it has expired.
    pause: Duration,
}

/// Keys as the store keeps them. The current key seals, and all three open.
#[derive(Clone, Copy)]
struct KeyRing {
    current: [u8; KEY],
    previous: [u8; KEY],
    next: [u8; KEY],
}

impl KeyRing {
    fn new() -> Result<Self, StoreError> {
        Ok(Self { current: key()?, previous: key()?, next: key()? })
    }

    fn rotated(self) -> Result<Self, StoreError> {
        Ok(Self { current: self.next, previous: self.current, next: key()? })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let ([current, previous, next], []) = bytes.as_chunks::<KEY>() else { return None };
        Some(Self { current: *current, previous: *previous, next: *next })
    }

    fn write(self) -> Vec<u8> {
        [self.current, self.previous, self.next].concat()
    }

    fn sealer(self) -> Option<StateSealer> {
        StateSealer::new(vec![self.current, self.previous, self.next])
    }
}

fn key() -> Result<[u8; KEY], StoreError> {
    random().map_err(StoreError::failed)
}

impl SharedKeys {
    pub(super) fn new(store: Arc<dyn Store>, copy: Arc<StateKeys>, lifetime: Duration) -> Self {
        Self { store, copy, pause: lifetime.saturating_mul(2).max(LEAST_PAUSE) }
    }

    /// Reads the keys, or makes them if this is the first server, and from then on follows the rotations.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub(super) async fn open(self: &Arc<Self>) -> Result<(), StoreError> {
        let read = async || {
            while !self.refresh().await? {}
            Ok(())
        };
        storage::try_while_unavailable(StoreError::is_unavailable, read).await?;
        drop(tokio::spawn(follow(Arc::downgrade(self))));
        Ok(())
    }

    /// Reads the keys, makes them if there are none, and rotates them if it is time. Returns `false` if another server has created keys at
    /// the same moment. The caller then calls this method again, which reads these keys.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    async fn refresh(&self) -> Result<bool, StoreError> {
        let read = Transaction::on(PARTITION)
            .then(StoreOperation::get(KEYS))
            .then(StoreOperation::get(ROTATED))
            .then(StoreOperation::Touch { name: KEYS.to_owned(), ttl: self.kept() });
        let mut outputs = self.execute(read).await?.map_err(|_| unusable())?.into_iter();
        let (keys, rotated) = (record(outputs.next())?, record(outputs.next())?);
        let Some(Record { value, version }) = keys else {
            // If the store has lost its data, this server stores its keys again, so that states that were sealed with them can still be opened.
            let ring = self.copy.ring().and_then(|ring| KeyRing::read(&ring));
            let ring = ring.map_or_else(KeyRing::new, Ok)?;
            return self.write(ring, Condition::Absent, Condition::Any).await;
        };
        let ring = KeyRing::read(&value).ok_or_else(unusable)?;
        self.set(ring)?;
        if rotated.is_none() {
            // If another server was faster, the next refresh reads its keys.
            self.write(ring.rotated()?, Condition::Version(version), Condition::Absent).await?;
        }
        Ok(true)
    }

    /// Writes keys. Returns whether both conditions held.
    async fn write(
        &self,
        ring: KeyRing,
        keys: Condition,
        rotated: Condition,
    ) -> Result<bool, StoreError> {
        let write = Transaction::on(PARTITION)
            .then(StoreOperation::put(ROTATED, [], self.pause, rotated))
            .then(StoreOperation::put(KEYS, ring.write(), self.kept(), keys));
        let is_written = self.execute(write).await?.is_ok();
        if is_written {
            self.set(ring)?;
        }
        Ok(is_written)
    }

    /// Time for which the store keeps the keys after a server has read them.
    fn kept(&self) -> Duration {
        self.pause.saturating_mul(2)
    }

    fn set(&self, ring: KeyRing) -> Result<(), StoreError> {
        self.copy.set(ring.sealer().ok_or_else(unusable)?);
        Ok(())
    }

    async fn execute(&self, transaction: Transaction) -> Result<TransactionResult, StoreError> {
        let results = storage::execute(&*self.store, vec![transaction]).await?;
        results.into_iter().next().ok_or_else(unusable)
    }
}

/// Follows the rotations of the keys until the server is dropped.
async fn follow(keys: Weak<SharedKeys>) {
    loop {
        sleep(REFRESH).await;
        let Some(keys) = keys.upgrade() else { return };
        if let Err(why) = keys.refresh().await {
            tracing::warn!("the keys for the state of calls cannot be read: {why}");
        }
    }
}

fn record(output: Option<Output>) -> Result<Option<Record>, StoreError> {
    match output {
        Some(Output::Record(record)) => Ok(record),
        _ => Err(unusable()),
    }
}

#[cold]
fn unusable() -> StoreError {
    StoreError::failed("the keys for the state of calls cannot be read from the store")
}

impl fmt::Debug for SharedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedKeys").field("pause", &self.pause).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStore;

    const LIFETIME: Duration = Duration::from_secs(900);
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// Returns a server that has opened the store.
    async fn server(store: &Arc<MemoryStore>) -> Arc<SharedKeys> {
        let keys = SharedKeys::new(store.clone(), Arc::default(), LIFETIME);
        let keys = Arc::new(keys);
        keys.open().await.unwrap();
        keys
    }

    fn sealed(server: &SharedKeys) -> String {
        server.copy.sealer().unwrap().seal(b"state", b"call").unwrap()
    }

    fn opens(server: &SharedKeys, sealed: &str) -> bool {
        server.copy.sealer().unwrap().open(sealed, b"call").is_ok()
    }

    async fn pass(time: Duration) {
        tokio::time::advance(Duration::ZERO).await;
        sleep(time).await;
    }

    #[tokio::test(start_paused = true)]
    async fn all_servers_of_a_store_have_the_keys_of_the_first() {
        let store = Arc::new(MemoryStore::new().shared());
        let (one, other) = (server(&store).await, server(&store).await);
        assert!(opens(&one, &sealed(&other)) && opens(&other, &sealed(&one)));
        let stranger = server(&Arc::new(MemoryStore::new().shared())).await;
        assert!(!opens(&stranger, &sealed(&one)));
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_rotated_once_a_day_by_one_server_and_old_keys_are_dropped_a_day_later() {
        let store = Arc::new(MemoryStore::new().shared());
        let (one, other) = (server(&store).await, server(&store).await);
        let mut rings = vec![one.copy.ring().unwrap()];
        let mut before = Vec::new();
        for hour in 0..24 * 10 {
            let mut now = [sealed(&one), sealed(&other)];
            // Each server opens the states that the other server has sealed within the last hour. It does not matter which of them has
            // rotated the keys.
            for text in before.iter().chain(&now) {
                assert!(opens(&one, text) && opens(&other, text), "{hour}");
            }
            before = std::mem::take(&mut now).into();
            pass(Duration::from_secs(3600)).await;
            let ring = one.copy.ring().unwrap();
            if *rings.last().unwrap() != ring {
                rings.push(ring);
            }
        }
        assert!((9..=11).contains(&rings.len()), "{}", rings.len());
        let first = KeyRing::read(&rings[0]).unwrap().sealer().unwrap();
        assert!(!opens(&one, &first.seal(b"state", b"call").unwrap()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_has_missed_a_rotation_still_understands_the_others() {
        let store = Arc::new(MemoryStore::new().shared());
        let one = server(&store).await;
        let late = SharedKeys::new(store.clone(), Arc::default(), LIFETIME);
        assert!(late.refresh().await.unwrap());
        let known = late.copy.ring();
        pass(DAY + 2 * REFRESH).await;
        assert_ne!(one.copy.ring(), known);
        assert!(opens(&one, &sealed(&late)) && opens(&late, &sealed(&one)));
    }

    #[tokio::test(start_paused = true)]
    async fn keys_survive_a_store_that_loses_its_data() {
        let store = Arc::new(MemoryStore::new().shared());
        let one = server(&store).await;
        let text = sealed(&one);
        let remove = |name: &str| StoreOperation::remove(name, Condition::Any);
        let lost = Transaction::on(PARTITION).then(remove(KEYS)).then(remove(ROTATED));
        store.execute(vec![lost]).await.unwrap().remove(0).unwrap();
        pass(2 * REFRESH).await;
        let other = server(&store).await;
        assert!(opens(&other, &text));
    }

    #[tokio::test(start_paused = true)]
    async fn damaged_keys_are_an_error_and_are_not_replaced() {
        let store = Arc::new(MemoryStore::new().shared());
        let damage = StoreOperation::put(KEYS, *b"short", DAY, Condition::Any);
        store
            .execute(vec![Transaction::on(PARTITION).then(damage)])
            .await
            .unwrap()
            .remove(0)
            .unwrap();
        let keys = Arc::new(SharedKeys::new(store, Arc::default(), LIFETIME));
        let why = keys.open().await.unwrap_err();
        assert!(why.to_string().contains("cannot be read"), "{why}");
    }
}
