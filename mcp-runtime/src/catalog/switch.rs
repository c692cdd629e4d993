//! Switches of items: changes by name, which apply to all nodes of a server.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    node::{ServerNode, Subject},
    storage::{Condition, IndexEntry, Output, StoreError, StoreOperation},
};

/// Index of the items that were switched, in the partition of the nodes. The record of an entry has the switch.
const SWITCHES: &str = "switches";

/// Time after which a switch is forgotten when no node is left. While a node lives, it renews the switches with its lease.
const KEPT: Duration = Duration::from_secs(60);

/// Maximum number of switches that are stored for nodes that start later.
const MOST: usize = 1000;

/// Change of an item by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Switch {
    Enabled,
    Disabled,
    Removed,
}

/// Message of the catalog of a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CatalogMessage<'a> {
    Switch(#[serde(borrow)] Cow<'a, str>, Switch),
    Updated(#[serde(borrow)] Cow<'a, str>),
    Completed(#[serde(borrow)] Cow<'a, str>),
}

/// Switches that this node knows.
#[derive(Default)]
pub(super) struct Switches(Mutex<KnownSwitches>);

#[derive(Default)]
struct KnownSwitches {
    /// Switch of each item, with the value of `changes` after it was recorded.
    by_name: BTreeMap<String, (Switch, u64)>,
    changes: u64,
}

/// Switches that this node knows, and the node that sends them to the others.
pub(super) struct SharedSwitches {
    pub(super) node: Arc<ServerNode>,
    pub(super) known: Arc<Switches>,
}

impl SharedSwitches {
    /// Sends a switch to all nodes.
    pub(super) fn send(&self, name: &str, switch: Switch) {
        self.known.insert(name, switch);
        self.node.post_with(
            stored(name, switch, Condition::Any),
            Subject::Catalog,
            &body(&CatalogMessage::Switch(name.into(), switch)),
        );
    }
}

impl Switches {
    fn locked(&self) -> MutexGuard<'_, KnownSwitches> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a switch, or replaces the switch of the same item. If there are [`MOST`] switches already, the switch of a further item is
    /// ignored.
    pub(super) fn insert(&self, name: &str, switch: Switch) {
        let mut known = self.locked();
        if known.by_name.len() < MOST || known.by_name.contains_key(name) {
            known.changes += 1;
            let changes = known.changes;
            known.by_name.insert(name.to_owned(), (switch, changes));
        }
    }

    /// Returns the number of changes so far.
    pub(super) fn changes(&self) -> u64 {
        self.locked().changes
    }

    /// Returns whether a switch of the item was recorded after the first `changes` changes.
    pub(super) fn has_changed_since(&self, name: &str, changes: u64) -> bool {
        self.locked().by_name.get(name).is_some_and(|(_, at)| *at > changes)
    }

    /// Returns whether the item of this name was removed.
    pub(super) fn is_removed(&self, name: &str) -> bool {
        self.locked().by_name.get(name).is_some_and(|(switch, _)| *switch == Switch::Removed)
    }

    /// Returns the operations that renew the switches in the store.
    pub(super) fn renewals(&self) -> Vec<StoreOperation> {
        let known = self.locked();
        let renewals = known.by_name.keys().flat_map(|name| {
            let renewed = StoreOperation::enlist(SWITCHES, record(name), 0, KEPT);
            [StoreOperation::Touch { name: record(name), ttl: KEPT }, renewed]
        });
        renewals.collect()
    }

    /// Stores the switches again after the store has lost them, unless another node has done so, or has stored a later switch. Nodes that have
    /// started in between get a message.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn put_back(&self, node: &ServerNode) -> Result<(), StoreError> {
        let known: Vec<_> = {
            let known = self.locked();
            known.by_name.iter().map(|(name, (switch, _))| (name.clone(), *switch)).collect()
        };
        for (name, switch) in known {
            let message = body(&CatalogMessage::Switch((&*name).into(), switch));
            let stored = stored(&name, switch, Condition::Absent);
            node.attempt_with(stored, Subject::Catalog, &message).await?;
        }
        Ok(())
    }
}

/// Reads the switches that nodes have stored.
///
/// # Errors
/// Fails if the store is unavailable.
pub(super) async fn stored_switches(
    node: &ServerNode,
) -> Result<Vec<(String, Switch)>, StoreError> {
    let mut outputs = node.execute(vec![StoreOperation::list(SWITCHES, None, MOST)]).await?;
    let Some(Output::Entries(entries)) = outputs.pop() else { return Ok(Vec::new()) };
    let read = |entry: IndexEntry| serde_json::from_slice(&entry.record?.value).ok();
    Ok(entries.into_iter().filter_map(read).collect())
}

pub(super) fn body(message: &CatalogMessage<'_>) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

fn record(name: &str) -> String {
    format!("switch/{name}")
}

/// Returns the operations that store a switch for nodes that start later.
fn stored(name: &str, switch: Switch, condition: Condition) -> Vec<StoreOperation> {
    let value = serde_json::to_vec(&(name, switch)).unwrap_or_default();
    vec![
        StoreOperation::put(record(name), value, KEPT, condition),
        StoreOperation::enlist(SWITCHES, record(name), 0, KEPT),
    ]
}
