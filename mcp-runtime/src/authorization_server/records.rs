//! All that is known of clients and of who has logged in: in memory, and where it is kept beyond that.

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

/// There before the server is built and after it has ended, for whoever has the author's handle.
pub(super) struct Records {
    pub(super) clock: Clock,
    pub(super) counts: Counts,
    pub(super) clients: Clients,
    pub(super) waiting: Waiting,
    pub(super) codes: Codes,
    pub(super) grants: Grants,
    pub(super) journal: Arc<Journal>,
    /// Who knows the users, if it is another provider.
    pub(super) provider: Option<Arc<Provider>>,
    is_loaded: Mutex<bool>,
}

impl Records {
    pub(super) fn new(provider: Option<Arc<Provider>>) -> Self {
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

    /// Takes up what was kept before a restart, unless somebody has. Grants are set aside until the server knows which of them are good.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) async fn load(&self) -> Result<(), String> {
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
