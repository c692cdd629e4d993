//! The catalog of a server with several nodes: events and switches of items apply to all of them.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::{
    bus::Event,
    live::Catalog,
    switch::{CatalogMessage, SharedSwitches, Switches, body, stored_switches},
};
use crate::{
    node::{Delivery, ServerNode, Subject},
    storage::StoreError,
};

/// Pause after an error of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// Connects the catalog with the other nodes. Call it before the node receives messages.
pub(crate) fn share(catalog: &Arc<Catalog>, node: &Arc<ServerNode>) {
    let known = Arc::<Switches>::default();
    // The catalog owns the node, so the node's handlers have only weak references to both.
    let (own, receiver) = (Arc::downgrade(catalog), Arc::downgrade(node));
    let switches = known.clone();
    node.on(Subject::Catalog, move |delivery| {
        let (Some(catalog), Some(node)) = (own.upgrade(), receiver.upgrade()) else { return };
        match delivery {
            Delivery::Message { body, .. } => receive(&catalog, &switches, body),
            Delivery::Gap => make_up(catalog, node),
        }
    });
    let switches = known.clone();
    node.renewing(move || switches.renewals());
    let (switches, receiver) = (known.clone(), Arc::downgrade(node));
    node.on_reset(move || {
        let (switches, receiver) = (switches.clone(), receiver.clone());
        tokio::spawn(async move {
            while let Some(node) = receiver.upgrade() {
                let Err(why) = switches.put_back(&node).await else { return };
                tracing::error!(
                    "nodes that start later do not know which items are disabled: {why}"
                );
                drop(node);
                tokio::time::sleep(PAUSE).await;
            }
        });
    });
    let sender: Weak<ServerNode> = Arc::downgrade(node);
    catalog.bus.set_relay(Box::new(move |event| {
        let message = match event {
            Event::ResourceUpdated(uri) => CatalogMessage::Updated((&**uri).into()),
            Event::UrlCompleted(url) => CatalogMessage::Completed((&**url).into()),
            _ => return false,
        };
        let Some(node) = sender.upgrade() else { return false };
        node.post(Subject::Catalog, &body(&message));
        true
    }));
    catalog.set_shared(SharedSwitches { node: node.clone(), known });
}

/// Applies the switches in the store, when this node starts or has missed messages.
///
/// # Errors
/// Fails if the store is unavailable.
pub(crate) async fn restore(catalog: &Catalog, node: &ServerNode) -> Result<(), StoreError> {
    let before = catalog.switch_changes();
    for (name, switch) in stored_switches(node).await? {
        // A message that has arrived since `before` wins, because it may be newer than the stored switch. If the stored switch is newer,
        // its own message follows.
        if catalog.note_switch(&name, switch, before) {
            catalog.apply(&name, switch);
        }
    }
    Ok(())
}

/// Makes up for messages that were lost.
fn make_up(catalog: Arc<Catalog>, node: Arc<ServerNode>) {
    catalog.bus.deliver_all_updates();
    tokio::spawn(async move {
        if let Err(why) = restore(&catalog, &node).await {
            tracing::error!("items that other nodes have enabled or disabled are not known: {why}");
        }
    });
}

fn receive(catalog: &Catalog, known: &Switches, body: &str) {
    match serde_json::from_str::<CatalogMessage<'_>>(body) {
        // The sender applies its own switch a second time, so that all nodes end with the last switch in the log.
        Ok(CatalogMessage::Switch(name, switch)) => {
            known.insert(&name, switch);
            catalog.apply(&name, switch);
        }
        Ok(CatalogMessage::Updated(uri)) => {
            catalog.bus.deliver(&Event::ResourceUpdated(uri.into()));
        }
        Ok(CatalogMessage::Completed(url)) => {
            catalog.bus.deliver(&Event::UrlCompleted(url.into()));
        }
        Err(why) => tracing::debug!("ignored a message of a node: {why}"),
    }
}
