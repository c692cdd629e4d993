//! Limit on the sessions of all nodes together. Each session holds a place in the store, and a further place among those of its caller.

use std::{net::IpAddr, time::Duration};

use super::session_table::SessionId;
use crate::{
    limits::{ALL_SESSIONS, CallerKey, Limits, SESSIONS},
    storage::{Rejection, StoreOperation, Transaction},
};

/// Places of the sessions of all nodes.
pub(super) struct SessionPlaces {
    /// Maximum number of sessions.
    most: u32,
    /// Maximum number of sessions of a caller.
    own: u32,
}

impl SessionPlaces {
    pub(super) fn new(limits: &Limits) -> Self {
        let most = u32::try_from(limits.sessions).unwrap_or(u32::MAX);
        // A caller must not use up the places of all others.
        Self { most, own: (most - most / 8).max(1) }
    }

    /// Returns the transaction that takes the places of a session, or renews their leases. `caller` is the name of its caller.
    pub(super) fn enter(&self, id: &SessionId, caller: &str, lease: Duration) -> Transaction {
        let enter = |places: String, most| {
            let holder = id.to_string();
            StoreOperation::Enter { places, holder, most, lease }
        };
        let all = Transaction::on(SESSIONS).then(enter(ALL_SESSIONS.to_owned(), self.most));
        match caller {
            "" => all,
            _ => all.then(enter(of(caller), self.own)),
        }
    }

    /// Returns the transaction that gives the places of a session back.
    pub(super) fn leave(&self, id: &SessionId, caller: &str) -> Transaction {
        let leave = |places: String| StoreOperation::Leave { places, holder: id.to_string() };
        let all = Transaction::on(SESSIONS).then(leave(ALL_SESSIONS.to_owned()));
        match caller {
            "" => all,
            _ => all.then(leave(of(caller))),
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

fn of(caller: &str) -> String {
    format!("of:{caller}")
}

/// Returns the name of a caller on all nodes: its principal, or its address if the principal is empty. The name is empty if neither is known.
pub(super) fn caller(principal: &str, address: Option<IpAddr>) -> String {
    let key = match (principal, address) {
        ("", Some(address)) => CallerKey::of_address(address),
        _ => CallerKey::of_principal(principal),
    };
    match key {
        CallerKey::Principal(name) => format!("principal:{name}"),
        CallerKey::Address(address) => format!("address:{address}"),
        CallerKey::Peer(_) | CallerKey::Anybody => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{MemoryStore, Store as _};

    #[tokio::test]
    async fn a_caller_leaves_places_for_others() {
        let (store, places) = (MemoryStore::new(), SessionPlaces::new(&Limits::new().sessions(8)));
        let lease = Duration::from_secs(60);
        let enter = async |caller: &str| {
            let id = SessionId::unguessable().unwrap();
            let entered = store.execute(vec![places.enter(&id, caller, lease)]).await.unwrap();
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

    #[test]
    fn a_caller_is_a_principal_or_else_the_network_of_an_address() {
        let name = |principal, address: &str| caller(principal, address.parse().ok());
        assert_eq!(name("ada", "192.0.2.1"), "principal:ada");
        assert_eq!(name("", "192.0.2.1"), name("", "::ffff:192.0.2.1"));
        assert_eq!(name("", "2001:db8::1"), name("", "2001:db8::2"));
        assert_ne!(name("", "192.0.2.1"), name("", "192.0.2.2"));
        assert_ne!(name("", "192.0.2.1"), name("192.0.2.1", ""));
        assert_eq!(name("", ""), "");
    }
}
