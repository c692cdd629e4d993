//! State of the authorization server: in memory, and in the store that outlasts the process.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::{
    client::Clients,
    clock::Clock,
    codes::Codes,
    counts::Counts,
    grants::Grants,
    journal::{Journal, Kind, Row},
    provider::Provider,
    secret::Digest,
    waiting::Waiting,
};

/// State that exists before the server is built and after it has ended, because the author's `Logins` handle shares it.
pub(crate) struct Records {
    pub(crate) clock: Clock,
    pub(crate) counts: Counts,
    pub(crate) clients: Clients,
    pub(crate) waiting: Waiting,
    pub(crate) codes: Codes,
    pub(crate) grants: Grants,
    pub(crate) journal: Arc<Journal>,
    /// Upstream provider, if one authenticates the users.
    pub(crate) provider: Option<Arc<Provider>>,
    is_loaded: Mutex<bool>,
}

impl Records {
    pub(crate) fn new(provider: Option<Arc<Provider>>) -> Self {
        let counts = Counts::default();
        Self {
            clock: Clock::new(),
            clients: Clients::new(counts.clone()),
            waiting: Waiting::new(counts.clone()),
            codes: Codes::new(counts.clone()),
            grants: Grants::new(counts.clone()),
            counts,
            journal: Arc::default(),
            provider,
            is_loaded: Mutex::default(),
        }
    }

    /// Loads the stored records once. Grants are set aside until the server knows which of them are valid.
    ///
    /// # Errors
    /// Fails if the records cannot be read.
    pub(crate) async fn load(&self) -> Result<(), String> {
        let mut is_loaded = self.is_loaded.lock().await;
        if *is_loaded || !self.journal.outlasts() {
            return Ok(());
        }
        for row in self.journal.load(self.clock.now()).await? {
            self.restore(&row).map_err(|why| {
                let kind = row.kind.name();
                format!(
                    "a {kind} that was kept cannot be read, so the file is another version's: {why}"
                )
            })?;
        }
        *is_loaded = true;
        Ok(())
    }

    fn restore(&self, row: &Row) -> serde_json::Result<()> {
        match row.kind {
            Kind::Client => self.clients.restore(serde_json::from_str(&row.json)?),
            Kind::Grant => {
                let grant = serde_json::from_str(&row.json)?;
                if let Some(key) = Digest::parse(&row.key) {
                    self.grants.set_aside(key, grant);
                }
            }
        }
        Ok(())
    }
}
