//! Rate and concurrency of an item, which all servers with the same store count together.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use tokio::time::Instant;

use super::{
    caller::CallerKey,
    leases::{Leases, PLACES, PlaceEnd, SharedPlace},
};
use crate::{
    error::Result,
    model::Rate,
    random::random,
    storage::{Rejection, Store, StoreError, StoreOperation, Transaction, TransactionResult},
};

/// Limits that this server, a node, counts together with the other servers that use its store.
pub(crate) struct SharedLimits {
    leases: Arc<Leases>,
    /// Random name of this node. Callers that only this node knows have it in their names, so that their names are unique.
    node: Box<str>,
    /// Time of the last warning about a store that has failed.
    warned: Mutex<Option<Instant>>,
}

/// Part of [`SharedLimits`] that belongs to one item.
pub(super) struct SharedGate {
    limits: Arc<SharedLimits>,
    /// Kind and key of the item, which are the same on all nodes.
    item: Box<str>,
    /// Partition with the places of the item.
    places: Arc<str>,
}

/// Reason why the store does not admit a call.
#[derive(Debug)]
pub(super) enum NotAdmitted {
    /// The rate admits the next call after this time.
    Wait(Duration),
    /// All places are taken.
    NoPlace,
    /// The store cannot be used.
    Failed,
}

/// Place of a call that the store has admitted. `None` if the concurrency of its item is not limited.
pub(super) type TakenPlace = Option<(SharedPlace, PlaceEnd)>;

impl SharedLimits {
    /// Minimum time between two warnings about a store that fails, so that a flood of calls does not flood the log.
    const WARNING_PAUSE: Duration = Duration::from_secs(10);

    /// Creates the limits of a node with a random name.
    ///
    /// # Errors
    /// Fails if the system provides no random numbers.
    pub(crate) fn new(store: Arc<dyn Store>) -> Result<Arc<Self>> {
        let node: Box<str> = URL_SAFE_NO_PAD.encode(random::<12>()?).into();
        let leases = Leases::new(store, node.clone());
        Ok(Arc::new(Self { leases, node, warned: Mutex::default() }))
    }

    /// Waits until the places of all ended calls have been given back, or until an attempt to give them back has failed.
    pub(crate) async fn settle(&self) {
        self.leases.settle().await;
    }

    /// Executes transactions in the store that the nodes share.
    ///
    /// # Errors
    /// Fails if the store fails, or does not answer in time.
    pub(crate) async fn execute(
        &self,
        transactions: Vec<Transaction>,
    ) -> Result<Vec<TransactionResult>, StoreError> {
        self.leases.execute(transactions).await
    }

    #[cold]
    fn warn(&self, item: &str, why: &StoreError) {
        let now = Instant::now();
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = warned.is_none_or(|warned| now - warned >= Self::WARNING_PAUSE);
        if is_due {
            *warned = Some(now);
            drop(warned);
            tracing::warn!("calls are refused, because the store cannot count them: {why}");
        } else {
            drop(warned);
            tracing::debug!(
                "a call of {item} is refused, because the store cannot count it: {why}"
            );
        }
    }
}

impl SharedGate {
    pub(super) fn new(limits: Arc<SharedLimits>, item: &str) -> Self {
        Self { limits, item: item.into(), places: format!("places:{item}").into() }
    }

    /// Returns the name of a caller in the store. The name is the same on all nodes if the caller has a principal or an address.
    pub(super) fn caller(&self, who: CallerKey<'_>) -> String {
        match who {
            CallerKey::Principal(name) => format!("principal:{name}"),
            CallerKey::Address(address) => format!("address:{address}"),
            CallerKey::Peer(number) => format!("peer:{}:{number}", self.limits.node),
            CallerKey::Anybody => "anybody".to_owned(),
        }
    }

    /// Counts a call of this caller, in one transaction. If the concurrency is limited, the partition belongs to the item. Otherwise it
    /// belongs to the item and the caller, so that a store with several machines can divide the work.
    ///
    /// # Errors
    /// Fails if a limit refuses the call, which then counts toward no limit, or if the store fails.
    ///
    /// # Cancel safety
    /// If the future is dropped, a place that the store may have given is given back. The call may count toward the rate.
    pub(super) async fn enter(
        &self,
        caller: String,
        rate: Option<Rate>,
        concurrency: Option<u32>,
    ) -> Result<TakenPlace, NotAdmitted> {
        let leases = &self.limits.leases;
        let taken = concurrency.map(|most| (most, leases.request(self.places.clone())));
        let mut transaction = match &taken {
            // The place comes first, so that a call that exceeds both limits is refused for the concurrency, as in a single server.
            Some((most, (place, _))) => Transaction::on(&*self.places).then(place.enter(*most)),
            None => {
                let Self { item, .. } = self;
                Transaction::on(format!("rate:{}:{item}:{caller}", item.len()))
            }
        };
        if let Some(rate) = rate {
            let [interval, slack] = [rate.interval(), rate.slack()].map(Duration::from_nanos);
            transaction = transaction.then(StoreOperation::Pass { rate: caller, interval, slack });
        }
        let result = match leases.execute(vec![transaction]).await {
            Ok(results) => results.into_iter().next(),
            Err(why) => return Err(self.failed(&why)),
        };
        let why = match result {
            Some(Ok(_)) => {
                let place = taken.map(|(_, taken)| taken);
                place.iter().for_each(|(place, _)| place.set_taken());
                return Ok(place);
            }
            Some(Err(Rejection::Wait(_, wait))) => NotAdmitted::Wait(wait),
            Some(Err(Rejection::NoPlace(_))) => NotAdmitted::NoPlace,
            Some(Err(Rejection::Condition(_))) | None => {
                return Err(self.failed(&StoreError::failed("the store has returned no result")));
            }
        };
        if let Some((_, (place, _))) = taken {
            place.forget();
        }
        Err(why)
    }

    /// Returns the transaction that counts the calls of the item that run on all nodes.
    pub(super) fn count(&self) -> Transaction {
        Transaction::on(&*self.places).then(StoreOperation::count(PLACES))
    }

    #[cold]
    fn failed(&self, why: &StoreError) -> NotAdmitted {
        self.limits.warn(&self.item, why);
        NotAdmitted::Failed
    }

    /// Takes a place without a limit and without waiting for the store.
    pub(super) fn reenter(&self) -> SharedPlace {
        let (place, _) = self.limits.leases.request(self.places.clone());
        place.take_anyway();
        place
    }
}

impl fmt::Debug for SharedLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLimits").field("node", &self.node).finish_non_exhaustive()
    }
}
