//! Fair shares of the limits of all clients together.
//!
//! Each limit that is shared fairly is a [`Pool`]. Every amount that is taken from a pool belongs to a [`Tenant`]: one principal, or one
//! address or session if no principal is known. While more than an eighth of a pool is free, a tenant can take any amount. From the last
//! eighth, a tenant can take only while it holds less than what is left, so that no tenant can use up the pool.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, PoisonError, RwLock, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::caller::CallerKey;

/// Bounded resource that all clients of a server share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Calls that wait for their handlers.
    Calls,
    /// Bytes of subscriptions.
    Subscriptions,
    /// Tasks that run, and calls that may become one.
    Tasks,
    /// Bytes of the state that the process keeps between the rounds of calls.
    Rounds,
    /// Rounds that clients have already sent back. The server remembers them, so that a client cannot send the same round twice.
    #[cfg_attr(
        not(feature = "state-key"),
        allow(dead_code, reason = "only sealed rounds are remembered apart from their state")
    )]
    SpentRounds,
    /// HTTP sessions, including those of HTTP+SSE.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has sessions"))]
    Sessions,
    /// Connections that a waiting call or an open stream occupies.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has connections"))]
    Connections,
    /// Open streams over HTTP.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has streams"))]
    Streams,
}

const POOLS: usize = 8;

/// Amount taken from each pool, by index.
type PoolCounts = [AtomicUsize; POOLS];

const SHARDS: usize = 16;

/// The pools of one server, and the tenants that hold shares of them.
#[derive(Default)]
pub(crate) struct Shares {
    used: Arc<PoolCounts>,
    hasher: RandomState,
    /// Tenants by a keyed hash, so that clients cannot cause collisions. Each shard has a lock of its own, and finding an existing tenant
    /// takes only a read lock.
    tenants: [RwLock<TenantShard>; SHARDS],
}

#[derive(Default)]
struct TenantShard {
    known: HashMap<u64, Weak<Tenant>>,
    /// Size at which the shard is swept for tenants without shares.
    sweep_at: usize,
}

/// A principal, an address or a session that holds shares of the pools.
#[derive(Debug)]
pub(crate) struct Tenant {
    /// Name of the principal, empty if none is known.
    principal: Box<str>,
    /// False for the single tenant of all clients that cannot be told apart.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only sessions make room"))]
    is_known: bool,
    held: PoolCounts,
    /// Amounts that all tenants together have taken from each pool.
    used: Arc<PoolCounts>,
}

/// Share of a pool that a tenant holds until the share is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    tenant: Arc<Tenant>,
    /// Amount in the unit of the pool: a count, or bytes. A `u32` is enough, because no share comes near 4 GiB. It keeps the share small,
    /// which matters because every idle session holds one.
    amount: u32,
    pool: Pool,
}

/// Reason why a tenant gets no share of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoShare {
    /// Too little is left.
    Empty,
    /// The rest is reserved for tenants that hold less.
    Reserved,
    /// The tenant already holds as much as one tenant may hold.
    Own,
}

/// Maximum amounts that may be taken from a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// Amount for all tenants together.
    pub(crate) all: usize,
    /// Amount for one tenant, even if more is left.
    pub(crate) each: usize,
}

impl From<usize> for Capacity {
    fn from(all: usize) -> Self {
        Self { all, each: usize::MAX }
    }
}

impl Capacity {
    /// Checks whether a tenant that holds `held` may take `amount` from a pool of which `used` is taken.
    fn admits(self, used: usize, held: usize, amount: usize) -> Result<(), NoShare> {
        if held.saturating_add(amount) > self.each {
            return Err(NoShare::Own);
        }
        let free = self.all.saturating_sub(used);
        let left = free.checked_sub(amount).ok_or(NoShare::Empty)?;
        let has_plenty = left >= self.all / 8;
        if has_plenty || held.saturating_add(amount) <= free {
            Ok(())
        } else {
            Err(NoShare::Reserved)
        }
    }
}

impl Shares {
    /// Returns the tenant of a caller. Creates a tenant if the caller holds no share yet.
    pub(crate) fn tenant(&self, who: CallerKey<'_>) -> Arc<Tenant> {
        let principal = match who {
            CallerKey::Principal(name) => name,
            CallerKey::Peer(_) | CallerKey::Address(_) | CallerKey::Anybody => "",
        };
        let key = self.hasher.hash_one(who);
        // The key is a keyed hash, so any of its bits can select the shard.
        let shard = &self.tenants[(key >> 32) as usize % SHARDS];
        let find = |shard: &TenantShard| {
            let found = shard.known.get(&key).and_then(Weak::upgrade);
            found.filter(|tenant| *tenant.principal == *principal)
        };
        if let Some(found) = find(&shard.read().unwrap_or_else(PoisonError::into_inner)) {
            return found;
        }
        let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
        find(&shard).unwrap_or_else(|| {
            let tenant = Arc::new(Tenant {
                principal: principal.into(),
                is_known: who != CallerKey::Anybody,
                held: PoolCounts::default(),
                used: self.used.clone(),
            });
            shard.insert(key, &tenant);
            tenant
        })
    }

    /// Returns the amount that all tenants hold.
    pub(crate) fn used(&self, pool: Pool) -> usize {
        self.used[pool as usize].load(Ordering::Acquire)
    }

    /// Whether every tenant may take one more unit, even the tenant that holds the most.
    pub(crate) fn has_plenty(&self, pool: Pool, all: usize) -> bool {
        Capacity::from(all).admits(self.used(pool), usize::MAX - 1, 1).is_ok()
    }

    /// Returns the tenants that hold shares of a pool.
    #[cfg(feature = "http")]
    pub(crate) fn holders(&self, pool: Pool) -> Vec<Arc<Tenant>> {
        let mut holders = Vec::new();
        for shard in &self.tenants {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            let known = shard.known.values().filter_map(Weak::upgrade);
            holders.extend(known.filter(|tenant| tenant.held(pool) > 0));
        }
        holders
    }
}

impl TenantShard {
    const LEAST: usize = 16;

    fn insert(&mut self, key: u64, tenant: &Arc<Tenant>) {
        if self.known.len() >= self.sweep_at.max(Self::LEAST) {
            self.known.retain(|_, tenant| tenant.strong_count() > 0);
            self.known.shrink_to(2 * self.known.len());
            // The next sweep runs at twice the size, so that the cost per new tenant does not grow with the table.
            self.sweep_at = 2 * self.known.len();
        }
        self.known.insert(key, Arc::downgrade(tenant));
    }
}

impl Tenant {
    /// Returns the name of the principal, empty if none is known.
    pub(crate) fn principal(&self) -> &str {
        &self.principal
    }

    /// Whether the clients of this tenant can be told apart from all other clients.
    #[cfg(feature = "http")]
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Returns the amount that the tenant holds of a pool.
    pub(crate) fn held(&self, pool: Pool) -> usize {
        self.held[pool as usize].load(Ordering::Acquire)
    }

    /// Checks whether the tenant may take one more unit.
    ///
    /// # Errors
    /// Fails if the tenant may hold no more. The error is the reason.
    pub(crate) fn admits(&self, pool: Pool, capacity: Capacity) -> Result<(), NoShare> {
        let used = self.used[pool as usize].load(Ordering::Acquire);
        capacity.admits(used, self.held(pool), 1)
    }

    /// Whether the tenant could take `amount` from a pool if the tenant first returned everything that it holds of the pool.
    pub(crate) fn could_take(&self, pool: Pool, amount: usize, all: usize) -> bool {
        let used = self.used[pool as usize].load(Ordering::Acquire);
        let by_others = used.saturating_sub(self.held(pool));
        Capacity::from(all).admits(by_others, 0, amount).is_ok()
    }

    /// Takes `amount` from a pool.
    ///
    /// # Errors
    /// Fails without taking anything if the pool refuses the tenant. The error is the reason.
    pub(crate) fn take(
        self: &Arc<Self>,
        pool: Pool,
        amount: usize,
        capacity: impl Into<Capacity>,
    ) -> Result<Share, NoShare> {
        let small = u32::try_from(amount).map_err(|_| NoShare::Own)?;
        self.count(pool, amount, capacity.into())?;
        Ok(Share { tenant: self.clone(), pool, amount: small })
    }

    /// Takes one unit from a pool, even if the pool would refuse the tenant.
    pub(crate) fn hold(self: &Arc<Self>, pool: Pool) -> Share {
        self.held[pool as usize].fetch_add(1, Ordering::AcqRel);
        self.used[pool as usize].fetch_add(1, Ordering::AcqRel);
        Share { tenant: self.clone(), pool, amount: 1 }
    }

    fn count(&self, pool: Pool, amount: usize, capacity: Capacity) -> Result<(), NoShare> {
        let (held, used) = (&self.held[pool as usize], &self.used[pool as usize]);
        // The amount is counted before the check, so that two concurrent calls of one tenant see each other's amounts.
        let before = held.fetch_add(amount, Ordering::AcqRel);
        let mut refused = NoShare::Empty;
        let room = |used: usize| {
            let admitted = capacity.admits(used, before, amount);
            admitted.map_err(|why| refused = why).ok().map(|()| used + amount)
        };
        let taken = used.fetch_update(Ordering::AcqRel, Ordering::Acquire, room);
        taken.map(drop).map_err(|_| {
            held.fetch_sub(amount, Ordering::AcqRel);
            refused
        })
    }

    fn give_back(&self, pool: Pool, amount: usize) {
        self.used[pool as usize].fetch_sub(amount, Ordering::AcqRel);
        self.held[pool as usize].fetch_sub(amount, Ordering::AcqRel);
    }
}

impl Share {
    /// Returns the tenant that holds the share.
    pub(crate) fn tenant(&self) -> &Arc<Tenant> {
        &self.tenant
    }

    /// Takes more from the same pool.
    ///
    /// # Errors
    /// Fails without taking more if the pool refuses the tenant. The error is the reason.
    pub(crate) fn grow(&mut self, amount: usize, all: usize) -> Result<(), NoShare> {
        let grown = u32::try_from(amount).ok().and_then(|more| self.amount.checked_add(more));
        let grown = grown.ok_or(NoShare::Own)?;
        self.tenant.count(self.pool, amount, all.into())?;
        self.amount = grown;
        Ok(())
    }

    /// Returns a part of the share to the pool.
    pub(crate) fn shrink(&mut self, amount: usize) {
        let amount = u32::try_from(amount).unwrap_or(u32::MAX).min(self.amount);
        self.amount -= amount;
        self.tenant.give_back(self.pool, amount as usize);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.tenant.give_back(self.pool, self.amount as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: Pool = Pool::Tasks;

    /// Takes one unit after another until the pool refuses the tenant.
    fn take_all(tenant: &Arc<Tenant>, all: usize) -> (Vec<Share>, NoShare) {
        let mut taken = Vec::new();
        loop {
            match tenant.take(POOL, 1, all) {
                Ok(share) => taken.push(share),
                Err(refused) => return (taken, refused),
            }
        }
    }

    #[test]
    fn a_tenant_leaves_an_eighth_to_others_and_each_of_them_leaves_half_of_the_rest() {
        let shares = Shares::default();
        let [ada, bob, eve] =
            ["ada", "bob", "eve"].map(|name| shares.tenant(CallerKey::Principal(name)));
        let (of_ada, refused) = take_all(&ada, 64);
        assert_eq!((of_ada.len(), refused), (56, NoShare::Reserved));
        let (of_bob, refused) = take_all(&bob, 64);
        assert_eq!((of_bob.len(), refused), (4, NoShare::Reserved));
        let (of_eve, _) = take_all(&eve, 64);
        assert_eq!(of_eve.len(), 2);
        assert_eq!(shares.used(POOL), 62);
        assert_eq!(ada.take(POOL, 1, 64).err(), Some(NoShare::Reserved));
        // Once more than the reserve is free, a tenant that was refused may take from the pool again.
        drop(of_ada);
        assert_eq!((ada.held(POOL), shares.used(POOL)), (0, 6));
        assert!(ada.take(POOL, 1, 64).is_ok());
        drop((of_bob, of_eve));
        assert_eq!(shares.used(POOL), 0);
    }

    #[test]
    fn a_small_pool_is_taken_whole() {
        let shares = Shares::default();
        let [ada, bob] = ["ada", "bob"].map(|name| shares.tenant(CallerKey::Principal(name)));
        let (taken, refused) = take_all(&ada, 7);
        assert_eq!((taken.len(), refused), (7, NoShare::Empty));
        assert_eq!(bob.take(POOL, 1, 7).err(), Some(NoShare::Empty));
        assert_eq!(bob.take(Pool::Calls, 1, 0).err(), Some(NoShare::Empty));
    }

    #[test]
    fn a_tenant_takes_no_more_than_the_limit_for_each_tenant() {
        let shares = Shares::default();
        let ada = shares.tenant(CallerKey::Principal("ada"));
        let capacity = Capacity { all: 64, each: 2 };
        let taken = [ada.take(POOL, 1, capacity), ada.take(POOL, 1, capacity)];
        assert!(taken.iter().all(Result::is_ok));
        assert_eq!(ada.take(POOL, 1, capacity).err(), Some(NoShare::Own));
        assert_eq!(ada.admits(POOL, capacity), Err(NoShare::Own));
        assert_eq!(ada.held(POOL), 2);
    }

    #[test]
    fn amounts_grow_and_shrink_within_the_pool() {
        let shares = Shares::default();
        let [ada, bob] = ["ada", "bob"].map(|name| shares.tenant(CallerKey::Principal(name)));
        let mut of_ada = ada.take(POOL, 600, 1000).unwrap();
        assert_eq!(of_ada.grow(400, 1000), Err(NoShare::Reserved));
        assert_eq!(of_ada.grow(401, 1000), Err(NoShare::Empty));
        assert_eq!(of_ada.grow(275, 1000), Ok(()));
        assert_eq!(of_ada.grow(1, 1000), Err(NoShare::Reserved));
        let of_bob = bob.take(POOL, 60, 1000).unwrap();
        assert_eq!(shares.used(POOL), 935);
        of_ada.shrink(800);
        assert_eq!((ada.held(POOL), shares.used(POOL)), (75, 135));
        drop((of_ada, of_bob));
        assert_eq!(shares.used(POOL), 0);
    }

    #[test]
    fn a_tenant_is_one_while_it_holds_something_and_forgotten_after_that() {
        let shares = Shares::default();
        let ada = shares.tenant(CallerKey::Principal("ada"));
        assert!(Arc::ptr_eq(&ada, &shares.tenant(CallerKey::Principal("ada"))));
        assert!(!Arc::ptr_eq(&ada, &shares.tenant(CallerKey::Peer(1))));
        assert!(!Arc::ptr_eq(&ada, &shares.tenant(CallerKey::Anybody)));
        for number in 0..100_000 {
            shares.tenant(CallerKey::Peer(number));
        }
        let known: usize =
            shares.tenants.iter().map(|shard| shard.read().unwrap().known.len()).sum();
        assert!(known <= 2 * SHARDS * TenantShard::LEAST, "{known}");
        assert!(Arc::ptr_eq(&ada, &shares.tenant(CallerKey::Principal("ada"))));
    }

    #[test]
    fn a_pool_has_plenty_only_if_every_tenant_may_take_one_more_share() {
        let shares = Shares::default();
        let ada = shares.tenant(CallerKey::Principal("ada"));
        let (mut taken, _) = take_all(&ada, 64);
        assert!(!shares.has_plenty(POOL, 64));
        taken.pop();
        assert!(shares.has_plenty(POOL, 64));
        assert!(shares.has_plenty(Pool::Calls, 1) && !shares.has_plenty(Pool::Calls, 0));
        let held = ada.hold(POOL);
        assert!(!shares.has_plenty(POOL, 64));
        drop(held);
    }
}
