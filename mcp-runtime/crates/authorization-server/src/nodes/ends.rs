//! Messages between the nodes about grants and tokens that have ended, so that each node ends the streams that were opened with them.

use std::{
    future::Future,
    sync::{Arc, Weak},
    time::Duration,
};

use mcp_runtime::store::{LogEvent, Output, StoreOperation, Transaction};
use serde::{Deserialize, Serialize};
use tokio::task::AbortHandle;

use crate::{
    nodes::{
        known_grants::KnownGrants,
        shared_store::{SharedStore, json},
    },
    oauth_error::OAuthError,
    secret::Digest,
};

const PARTITION: &str = "authorization:ends";

const LOG: &str = "ends";

/// Maximum number of messages in the log.
const MOST: usize = 4096;

/// Time after which the log expires. A message is of use only to nodes that run, and each of them reads it at once.
const TTL: Duration = Duration::from_secs(60 * 60);

/// Pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// Grant that has ended, or a single token of it.
#[derive(Serialize, Deserialize)]
struct EndedGrant {
    grant: Digest,
    token: Option<Digest>,
}

/// Grants that a node reads again after it may have missed messages.
pub(super) trait Recheck: Send + Sync + 'static {
    /// Reads the grants whose tokens are in use, and revokes the tokens that have ended.
    fn recheck(&self) -> impl Future<Output = Result<(), OAuthError>> + Send;

    fn known(&self) -> &KnownGrants;
}

/// Follower of the messages of all nodes. It ends when it is dropped.
pub(super) struct EndsFollower(AbortHandle);

impl Drop for EndsFollower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells all nodes about grants that have ended, or about a single token of a grant. The caller has changed their records before.
///
/// # Errors
/// Fails if the store cannot be used. Other nodes then notice the end when they next read the record of the grant.
pub(super) async fn tell(
    store: &SharedStore,
    ended: impl IntoIterator<Item = (Digest, Option<Digest>)>,
) -> Result<(), OAuthError> {
    let mut tell = Transaction::on(PARTITION);
    for (grant, token) in ended {
        tell =
            tell.then(StoreOperation::append(LOG, json(&EndedGrant { grant, token })?, TTL, MOST));
    }
    if tell.operations.is_empty() {
        return Ok(());
    }
    store.apply(tell).await.map(drop)
}

/// Begins to follow the messages of all nodes.
///
/// # Errors
/// Fails if the store cannot be used.
pub(super) async fn follow<T: Recheck>(
    store: Arc<SharedStore>,
    grants: Weak<T>,
) -> Result<EndsFollower, OAuthError> {
    let read = Transaction::on(PARTITION).then(StoreOperation::read(LOG, 0, 0));
    let last = match store.apply(read).await?.pop() {
        Some(Output::Events { last, .. }) => last,
        _ => 0,
    };
    Ok(EndsFollower(tokio::spawn(run(store, grants, last)).abort_handle()))
}

async fn run<T: Recheck>(store: Arc<SharedStore>, grants: Weak<T>, mut last: u64) {
    let mut follower = store.follow(PARTITION, LOG, last);
    loop {
        let next = follower.next().await;
        let mut is_gap = match next {
            Ok(LogEvent { id, value }) => {
                // This check includes the first event that the node reads, because the log may have dropped events before it.
                let is_gap = id != last + 1;
                last = id;
                let Some(grants) = grants.upgrade() else { return };
                let ended = serde_json::from_slice::<EndedGrant>(&value);
                if let Ok(EndedGrant { grant, token }) = ended {
                    grants.known().end(&grant, token.as_ref());
                }
                is_gap
            }
            Err(_) => {
                // While the store is unavailable, the follower may fail at once, so the loop pauses.
                tokio::time::sleep(PAUSE).await;
                true
            }
        };
        // Messages may have been lost, so the node reads what it has missed.
        while is_gap {
            let Some(grants) = grants.upgrade() else { return };
            is_gap = grants.recheck().await.is_err();
            drop(grants);
            if is_gap {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
