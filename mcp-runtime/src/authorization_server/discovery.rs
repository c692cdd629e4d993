//! What another provider says of itself.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use tokio::{sync::Mutex, time::Instant};

use super::provider::Failed;
use crate::issuer::{Web, discover};

/// How old what is known of the provider may be.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// What is known of the provider (OpenID Connect Discovery 1.0, section 3; RFC 8414).
#[derive(Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Vec<String>,
    pub(super) revocation_endpoint: Option<String>,
    /// Unless said those of the token endpoint.
    pub(super) revocation_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

/// The same as it is kept.
#[derive(Default)]
pub(super) struct Discovery(Mutex<Known>);

/// What it has said of itself, and when it was last found out that it cannot be asked.
#[derive(Default)]
struct Known {
    said: Option<(Instant, Arc<Metadata>)>,
    failed: Option<Instant>,
}

impl Discovery {
    /// What is known of it, asked for anew where that is old.
    ///
    /// # Errors
    /// When it cannot be asked and has never said anything.
    pub(super) async fn metadata(&self, web: &Web, issuer: &str) -> Result<Arc<Metadata>, Failed> {
        let since = Instant::now();
        let mut known = self.0.lock().await;
        // What it said an hour ago is better than nothing.
        let said = known.said.as_ref().map(|it| it.1.clone()).ok_or(Failed::Away);
        let is_fresh = known.said.as_ref().is_some_and(|it| it.0.elapsed() < FRESH);
        // Whoever has waited for one who asked in vain does not ask again.
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
