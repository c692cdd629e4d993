//! Metadata of the upstream provider.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use tokio::{sync::Mutex, time::Instant};

use super::provider::Failed;
use mcp_runtime::__companion::{Web, discover};

/// Maximum age of cached metadata.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// Provider metadata (OpenID Connect Discovery 1.0, section 3; RFC 8414).
#[derive(Deserialize)]
pub(crate) struct Metadata {
    issuer: String,
    pub(crate) authorization_endpoint: String,
    pub(crate) token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    pub(crate) token_endpoint_auth_methods_supported: Vec<String>,
    pub(crate) revocation_endpoint: Option<String>,
    /// Default: the methods of the token endpoint.
    pub(crate) revocation_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
}

/// Cached metadata of the provider.
#[derive(Default)]
pub(crate) struct Discovery(Mutex<Known>);

/// Last metadata with the time of its fetch, and the time of the last failed fetch.
#[derive(Default)]
struct Known {
    said: Option<(Instant, Arc<Metadata>)>,
    failed: Option<Instant>,
}

impl Discovery {
    /// Returns the metadata, and fetches it again if the cached metadata is too old.
    ///
    /// # Errors
    /// Fails if the provider cannot be reached and there is no cached metadata.
    pub(crate) async fn metadata(&self, web: &Web, issuer: &str) -> Result<Arc<Metadata>, Failed> {
        let since = Instant::now();
        let mut known = self.0.lock().await;
        // If the provider cannot be reached, old metadata is better than none.
        let said = known.said.as_ref().map(|it| it.1.clone()).ok_or(Failed::Away);
        let is_fresh = known.said.as_ref().is_some_and(|it| it.0.elapsed() < FRESH);
        // A caller that has waited for a failed fetch does not fetch again.
        if is_fresh || known.failed.is_some_and(|it| it >= since) {
            return said;
        }
        let read = |document: &[u8]| {
            let metadata: Metadata = serde_json::from_slice(document)
                .map_err(|_| "it is no metadata of an OpenID provider".to_owned())?;
            if metadata.issuer != issuer {
                return Err("it is the metadata of another issuer".to_owned());
            }
            for url in
                [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri]
            {
                web.check(url)?;
            }
            Ok(metadata)
        };
        match discover(web, issuer, read).await {
            Ok(found) => {
                let found = Arc::new(found);
                *known = Known { said: Some((Instant::now(), found.clone())), failed: None };
                Ok(found)
            }
            Err(problem) => {
                tracing::warn!("the provider {issuer} cannot be asked: {problem}");
                known.failed = Some(Instant::now());
                said
            }
        }
    }
}
