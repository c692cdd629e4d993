//! Notifies the upstream provider of ended grants. This runs in the background, because the grants have ended regardless of the provider's
//! response.

use std::sync::Arc;

use super::{grant::Grant, provider::Provider, secret::Digest};

/// Revokes the upstream tokens of grants whose end is already saved.
pub(crate) fn say(provider: Option<&Arc<Provider>>, ended: Vec<(Digest, Grant)>) {
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
