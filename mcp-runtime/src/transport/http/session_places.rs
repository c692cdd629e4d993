//! Limit on the sessions of all nodes together. Each session holds a place in the store, and a further place among those of its principal.

use std::time::Duration;

use super::session_table::SessionId;
use crate::{
    limits::Limits,
    storage::{Rejection, StoreOperation, Transaction},
};

/// Partition of the places of all sessions. The records of each session have a partition of their own, so that a Redis Cluster can spread
/// them over its servers.
const PARTITION: &str = "sessions";

/// Places of the sessions of all nodes.
pub(super) struct SessionPlaces {
    /// Maximum number of sessions.
    most: u32,
    /// Maximum number of sessions of a principal.
    own: u32,
}

impl SessionPlaces {
    pub(super) fn new(limits: &Limits) -> Self {
        let most = u32::try_from(limits.sessions).unwrap_or(u32::MAX);
        // A principal must not use up the places of all others.
        Self { most, own: (most - most / 8).max(1) }
    }

    /// Returns the transaction that takes the places of a session, or renews their leases.
    pub(super) fn enter(&self, id: &SessionId, principal: &str, lease: Duration) -> Transaction {
        let enter = |places: String, most| {
            let holder = id.to_string();
            StoreOperation::Enter { places, holder, most, lease }
        };
        let all = Transaction::on(PARTITION).then(enter("all".to_owned(), self.most));
        match principal {
            "" => all,
            _ => all.then(enter(of(principal), self.own)),
        }
    }

    /// Returns the transaction that gives the places of a session back.
    pub(super) fn leave(&self, id: &SessionId, principal: &str) -> Transaction {
        let leave = |places: String| StoreOperation::Leave { places, holder: id.to_string() };
        let all = Transaction::on(PARTITION).then(leave("all".to_owned()));
        match principal {
            "" => all,
            _ => all.then(leave(of(principal))),
        }
    }

    /// Returns the reason for a refusal.
    pub(super) fn reason(&self, rejection: Rejection) -> String {
        let most = self.most;
        match rejection {
            Rejection::NoPlace(1) => format!(
                "this client has its share of the {most} sessions of all nodes: end some of them, or try again later"
            ),
            _ => {
                format!("there are already {most} sessions at all nodes together: try again later")
            }
        }
    }
}

fn of(principal: &str) -> String {
    format!("of:{principal}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{MemoryStore, Store as _};

    #[tokio::test]
    async fn a_principal_leaves_places_for_others() {
        let (store, places) = (MemoryStore::new(), SessionPlaces::new(&Limits::new().sessions(8)));
        let lease = Duration::from_secs(60);
        let enter = async |principal: &str| {
            let id = SessionId::unguessable().unwrap();
            let entered = store.execute(vec![places.enter(&id, principal, lease)]).await.unwrap();
            entered.into_iter().next().unwrap().map(|_| id)
        };
        for _ in 0..7 {
            enter("ada").await.unwrap();
        }
        let why = places.reason(enter("ada").await.err().unwrap());
        assert!(why.contains("its share of the 8"), "{why}");
        let id = enter("").await.unwrap();
        let why = places.reason(enter("bob").await.err().unwrap());
        assert!(why.contains("already 8 sessions"), "{why}");
        store.execute(vec![places.leave(&id, "")]).await.unwrap()[0].as_ref().unwrap();
        enter("bob").await.unwrap();
    }
}
