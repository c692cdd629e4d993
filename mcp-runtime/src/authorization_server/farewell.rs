//! What has ended here is told to the provider that it came from. Nobody waits for that: it has ended, whatever the provider says.

use std::sync::Arc;

use super::{grant::Grant, provider::Provider, secret::Digest};

/// Grants that have ended, which the file knows too.
pub(super) fn say(provider: Option<&Arc<Provider>>, ended: Vec<(Digest, Grant)>) {
    let Some(provider) = provider.cloned() else { return };
    let backed = ended.into_iter().filter_map(|(key, grant)| Some((key, grant.backing?)));
    let backed: Vec<_> = backed.collect();
    if backed.is_empty() {
        return;
    }
    tokio::spawn(async move {
        let issuer = provider.issuer();
        let Ok(_place) = provider.farewells.try_acquire() else {
            tracing::debug!("the provider {issuer} is told of too many logins that have ended");
            return;
        };
        for (key, backing) in backed {
            if let Err(why) = provider.revoke(&backing, &key).await {
                tracing::debug!(
                    "the provider {issuer} is not told of logins that have ended: {why}"
                );
                return;
            }
        }
    });
}
