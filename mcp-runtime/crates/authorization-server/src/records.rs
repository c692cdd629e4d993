//! Records of the authorization server, which its handlers share with the handle [`Logins`](crate::Logins). Each method uses the tables in
//! memory, or the store that several nodes share.

use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use mcp_runtime::{__companion::CallerKey, store::Store};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::Instant,
};

use crate::{
    authorization_request::AuthorizationRequest,
    client::{Client, ClientCredentials, Clients},
    codes::{AuthorizationCode, CodeUse, Codes, TakenCode},
    form::Form,
    grant::{Grant, IssuedTokens, SealedTokens},
    grants::Grants,
    nodes::{RefreshPlace, SharedRecords},
    oauth_error::{OAuthError, RefusalCounts},
    pending::{
        Approval, FoundAuthorization, LoggedInUser, LoginStart, PageBinding, PendingAuthorizations,
    },
    provider::{Provider, UpstreamTokens},
    secret::Digest,
    store::{Clock, Journal, RecordKind, StoredRecord},
};

/// Records that the server shares with the author's `Logins` handle. They exist before the server is built, and after the server has ended.
pub(crate) struct Records {
    pub(crate) clock: Clock,
    pub(crate) counts: RefusalCounts,
    clients: Clients,
    pending: PendingAuthorizations,
    pub(crate) codes: Codes,
    pub(crate) grants: Grants,
    pub(crate) journal: Arc<Journal>,
    /// Upstream provider, if a provider authenticates the users.
    pub(crate) provider: Option<Arc<Provider>>,
    /// Records in the store that several nodes share. Set when the server starts, to `None` if no store is shared.
    nodes: OnceLock<Option<SharedRecords>>,
    is_loaded: Mutex<bool>,
}

/// Client that has authenticated itself.
pub(crate) struct AuthenticatedClient {
    pub(crate) id: String,
    /// Data of the client, if it has registered itself.
    registered: Option<Arc<Client>>,
}

/// Permission to refresh the upstream tokens of a grant, which one request has at a time.
pub(crate) struct RefreshLock<'a> {
    _own: MutexGuard<'a, ()>,
    /// Permission among all nodes, if several nodes share the store.
    place: Option<RefreshPlace>,
}

impl Records {
    pub(crate) fn new(provider: Option<Arc<Provider>>) -> Self {
        let counts = RefusalCounts::default();
        Self {
            clock: Clock::new(),
            clients: Clients::new(counts.clone()),
            pending: PendingAuthorizations::new(counts.clone()),
            codes: Codes::new(counts.clone()),
            grants: Grants::new(counts.clone()),
            counts,
            journal: Arc::default(),
            provider,
            nodes: OnceLock::new(),
            is_loaded: Mutex::default(),
        }
    }

    /// Sets the store of the server when it starts. With `None`, all records are only in memory.
    pub(crate) fn start(&self, store: Option<Arc<dyn Store>>) {
        let (shared, own) = match store {
            Some(store) if store.is_shared() => (Some(store), None),
            own => (None, own),
        };
        let shared =
            shared.map(|store| SharedRecords::new(store, self.provider.clone(), &self.counts));
        // The server starts once, so the cell is empty.
        let _ = self.nodes.set(shared);
        self.journal.start(own);
    }

    /// Returns the records that several nodes share, or `None` if no store is shared.
    pub(crate) fn nodes(&self) -> Option<&SharedRecords> {
        self.nodes.get()?.as_ref()
    }

    /// Loads the stored records once. Grants are set aside until the server knows which of them are valid. Nothing is loaded from a shared
    /// store, whose records are read when they are needed.
    ///
    /// # Errors
    /// Fails if the records cannot be read.
    pub(crate) async fn load(&self) -> Result<(), String> {
        let mut is_loaded = self.is_loaded.lock().await;
        if *is_loaded {
            return Ok(());
        }
        if let Some(provider) = &self.provider
            && let Some(key) = self.journal.seal_key().await?
        {
            provider.share_keys(std::iter::once(key));
        }
        for record in self.journal.load().await? {
            self.restore(&record).map_err(|why| {
                let kind = record.kind.name();
                format!("a stored {kind} cannot be read, so another version has written it: {why}")
            })?;
        }
        *is_loaded = true;
        Ok(())
    }

    fn restore(&self, record: &StoredRecord) -> serde_json::Result<()> {
        match record.kind {
            RecordKind::Client => self.clients.restore(serde_json::from_slice(&record.json)?),
            RecordKind::Grant => {
                let grant = serde_json::from_slice(&record.json)?;
                if let Some(key) = Digest::parse(&record.key) {
                    self.grants.set_aside(key, grant);
                }
            }
        }
        Ok(())
    }
}

/// Clients. All methods fail if the shared store cannot be used.
impl Records {
    /// Returns the registered client with this id.
    pub(crate) async fn client(&self, id: &str) -> Result<Option<Arc<Client>>, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.clients.find(id, self.clock.now()).await,
            None => Ok(self.clients.find(id, self.clock.now())),
        }
    }

    /// Stores a new client.
    ///
    /// # Errors
    /// Fails if there are too many clients, or if the store cannot be used.
    pub(crate) async fn add_client(&self, client: &Client) -> Result<(), OAuthError> {
        let now = self.clock.now();
        if let Some(nodes) = self.nodes() {
            return nodes.clients.add(client, now).await;
        }
        self.clients.add(client.clone(), now, &self.journal)?;
        self.journal.save().await
    }

    /// Authenticates the client that sends a request.
    ///
    /// # Errors
    /// Fails if the client is unknown, its credentials are missing or wrong, or the store cannot be used.
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        form: &Form,
    ) -> Result<AuthenticatedClient, OAuthError> {
        let credentials = ClientCredentials::read(headers, form)?;
        if credentials.is_metadata_url() {
            return Ok(AuthenticatedClient { id: credentials.id, registered: None });
        }
        let registered = self.client(&credentials.id).await?;
        credentials.check(registered.as_deref())?;
        Ok(AuthenticatedClient { id: credentials.id, registered })
    }

    /// Extends the lifetime of a client that was used, at most once a day.
    pub(crate) async fn touch(&self, client: &AuthenticatedClient) -> Result<(), OAuthError> {
        let now = self.clock.now();
        match (self.nodes(), &client.registered) {
            (Some(nodes), Some(client)) if client.is_due(now) => {
                nodes.clients.extend(client, now).await
            }
            (Some(_), _) => Ok(()),
            (None, _) => {
                self.clients.touch(&client.id, now, &self.journal);
                Ok(())
            }
        }
    }
}

/// Pending authorizations. All methods fail if the shared store cannot be used.
impl Records {
    /// Returns the start of a login that begins now.
    pub(crate) async fn login_start(&self) -> Result<LoginStart, OAuthError> {
        let epoch = match self.nodes() {
            Some(nodes) => nodes.users.epoch().await?,
            None => 0,
        };
        Ok(LoginStart { at: Instant::now(), epoch })
    }

    pub(crate) async fn add_authorization(
        &self,
        authorization: Arc<AuthorizationRequest>,
        from: CallerKey<'static>,
        has_tls: bool,
    ) -> Result<PageBinding, OAuthError> {
        match self.nodes() {
            Some(nodes) => {
                let now = self.clock.now();
                nodes.pending.add(&authorization, from, has_tls, now).await
            }
            None => self.pending.add(authorization, from, has_tls),
        }
    }

    /// Returns the authorization that a form or callback belongs to. The request must contain the page's ticket and the browser's cookie.
    pub(crate) async fn find_authorization(
        &self,
        id: &str,
        ticket: &str,
        headers: &HeaderMap,
        has_tls: bool,
    ) -> Result<Option<FoundAuthorization>, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.pending.find(id, ticket, headers, has_tls).await,
            None => Ok(self.pending.find(id, ticket, headers, has_tls)),
        }
    }

    /// Records the user's approval before the upstream login. Only the first approval gets a binding.
    pub(crate) async fn approve(
        &self,
        id: &str,
        approval: Approval,
        has_tls: bool,
    ) -> Result<Option<PageBinding>, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.pending.approve(id, &approval, has_tls).await,
            None => self.pending.approve(id, approval, has_tls),
        }
    }

    /// Takes the approval. A second call returns `None`.
    pub(crate) async fn take_approval(&self, id: &str) -> Result<Option<Approval>, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.pending.take_approval(id).await,
            None => Ok(self.pending.take_approval(id)),
        }
    }

    /// Counts a login attempt, and returns whether it is allowed. An attempt beyond the limit ends the authorization.
    pub(crate) async fn may_try(&self, id: &str) -> Result<bool, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.pending.may_try(id).await,
            None => Ok(self.pending.may_try(id)),
        }
    }

    /// Whether another login attempt is allowed.
    pub(crate) async fn has_tries(&self, id: &str) -> Result<bool, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.pending.has_tries(id).await,
            None => Ok(self.pending.has_tries(id)),
        }
    }

    /// Records the user who has logged in. Only the first login gets a binding.
    pub(crate) async fn log_in(
        &self,
        id: &str,
        login_user: LoggedInUser,
    ) -> Result<Option<PageBinding>, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.pending.log_in(id, &login_user).await,
            None => self.pending.log_in(id, login_user),
        }
    }

    /// Ends an authorization. If several calls run concurrently, only one of them returns `true`.
    pub(crate) async fn take_authorization(&self, id: &str) -> Result<bool, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.pending.take(id).await,
            None => Ok(self.pending.take(id)),
        }
    }
}

/// Codes and grants. All methods fail if the shared store cannot be used.
impl Records {
    /// Adds a code. `since` is the start of the user's login.
    pub(crate) async fn add_code(
        &self,
        code: AuthorizationCode,
        since: LoginStart,
    ) -> Result<String, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.codes.add(code, since.epoch).await,
            None => self.codes.add(code, since.at),
        }
    }

    /// Takes a code and marks it as used.
    pub(crate) async fn take_code(&self, code: &str) -> Result<TakenCode, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.codes.take(code).await,
            None => Ok(self.codes.take(code)),
        }
    }

    /// Records the grant that a code was exchanged for. If the code is no longer valid, returns `false`, and the caller must end the grant.
    pub(crate) async fn gave(
        &self,
        code: &str,
        grant: Digest,
        used: CodeUse,
    ) -> Result<bool, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.codes.gave(code, grant, used).await,
            None => Ok(self.codes.gave(code, grant)),
        }
    }

    /// Creates the grant of a code and issues its first tokens. If all logins of the user have ended meanwhile, returns `false`, and the
    /// caller must end the grant.
    pub(crate) async fn begin_grant(
        &self,
        grant: Grant,
        refreshes: bool,
        back: impl FnOnce(&Digest) -> Result<Option<SealedTokens>, OAuthError>,
        used: CodeUse,
    ) -> Result<(IssuedTokens, bool), OAuthError> {
        let now = self.clock.now();
        match self.nodes() {
            Some(nodes) => nodes.grants.begin(grant, refreshes, back, used, now).await,
            None => {
                let issued = self.grants.begin(grant, refreshes, back, now, &self.journal)?;
                Ok((issued, true))
            }
        }
    }

    /// Issues new tokens for a refresh token.
    pub(crate) async fn refresh(
        &self,
        token: &str,
        client: &str,
        scopes: Option<Vec<String>>,
        backing: Option<SealedTokens>,
    ) -> Result<IssuedTokens, OAuthError> {
        let now = self.clock.now();
        match self.nodes() {
            Some(nodes) => nodes.grants.refresh(token, client, scopes, backing, now).await,
            None => self.grants.refresh(token, client, scopes, backing, now, &self.journal),
        }
    }

    /// Returns the key and the upstream tokens of the grant to which a refresh token belongs, if the token is valid and these scopes were
    /// granted.
    pub(crate) async fn backing(
        &self,
        token: &str,
        client: &str,
        scopes: Option<&[String]>,
    ) -> Result<Option<(Digest, SealedTokens)>, OAuthError> {
        let now = self.clock.now();
        match self.nodes() {
            Some(nodes) => nodes.grants.backing(token, client, scopes, now).await,
            None => Ok(self.grants.backing(token, client, scopes, now)),
        }
    }

    /// Waits until no other request refreshes the upstream tokens of the grant of this refresh token.
    pub(crate) async fn lock_refresh<'a>(
        &'a self,
        provider: &'a Provider,
        token: &str,
    ) -> Result<RefreshLock<'a>, OAuthError> {
        let own = provider.lock_refresh(token).await;
        let place = match self.nodes() {
            Some(nodes) => Some(nodes.grants.lock_refresh(token).await?),
            None => None,
        };
        Ok(RefreshLock { _own: own, place })
    }

    /// Lets other requests refresh the grant.
    pub(crate) async fn unlock_refresh(&self, lock: RefreshLock<'_>) {
        if let (Some(nodes), Some(place)) = (self.nodes(), lock.place) {
            nodes.grants.unlock_refresh(place).await;
        }
    }

    /// Revokes a token. Returns the grant that has ended with it, if there is one.
    pub(crate) async fn revoke(
        &self,
        token: &str,
        client: &str,
    ) -> Result<Vec<(Digest, Grant)>, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.grants.revoke(token, client, self.clock.now()).await,
            None => Ok(self.grants.revoke(token, client, &self.journal).into_iter().collect()),
        }
    }

    /// Ends a grant, and returns it if it had not ended yet.
    pub(crate) async fn end_grant(&self, key: Digest) -> Result<Vec<(Digest, Grant)>, OAuthError> {
        match self.nodes() {
            Some(nodes) => nodes.grants.end(&[key]).await,
            None => Ok(self.grants.end(key, &self.journal).into_iter().collect()),
        }
    }

    /// Returns the grants of a user that have not ended, as `each` describes them.
    pub(crate) async fn grants_of<T>(
        &self,
        user: &str,
        each: impl Fn(&Digest, &Grant) -> T,
    ) -> Result<Vec<T>, OAuthError> {
        let now = self.clock.now();
        match self.nodes() {
            Some(nodes) => {
                let all = nodes.grants.of(user, now).await?;
                Ok(all.iter().map(|(key, grant)| each(key, grant)).collect())
            }
            None => Ok(self.grants.of(user, now, each)),
        }
    }

    /// Ends one grant of a user, or all grants and codes. Returns the grants that have ended, and the upstream tokens of unused codes.
    pub(crate) async fn end_of(
        &self,
        user: &str,
        one: Option<Digest>,
    ) -> Result<(Vec<(Digest, Grant)>, Vec<UpstreamTokens>), OAuthError> {
        let Some(nodes) = self.nodes() else {
            let unused = match one {
                // Codes end before grants, so that a code whose exchange is in progress cannot create a new grant.
                None => self.codes.end(user),
                Some(_) => Vec::new(),
            };
            return Ok((self.grants.end_of(user, one.as_ref(), &self.journal), unused));
        };
        let Some(one) = one else {
            let ended = nodes.users.end_all(user).await?;
            let unused = nodes.codes.end(&ended.codes).await?;
            return Ok((nodes.grants.end(&ended.grants).await?, unused));
        };
        Ok((nodes.grants.end_one(user, one).await?, Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp_runtime::{
        __companion::{LOGIN_PARTITION, SEAL_KEY},
        store::{Condition, MemoryStore, StoreOperation, Transaction},
    };

    use super::*;
    use crate::Upstream;

    #[tokio::test]
    async fn the_next_server_opens_sealed_tokens_with_the_key_in_its_store() {
        let store = Arc::new(MemoryStore::new());
        let start = async || {
            let upstream = Upstream::new("https://login.example.com", "our-id", "secret");
            let provider = Arc::new(Provider::new(upstream));
            let records = Records::new(Some(provider.clone()));
            records.start(Some(store.clone()));
            records.load().await.unwrap();
            provider
        };
        let grant = Digest::of("grant");
        let tokens: UpstreamTokens =
            serde_json::from_str(r#"{"access": "a", "refresh": "r", "until": 1}"#).unwrap();
        for has_key in [false, true] {
            if has_key {
                let put = StoreOperation::put(SEAL_KEY, [7; 32], Duration::MAX, Condition::Any);
                let put = Transaction::on(LOGIN_PARTITION).then(put);
                store.execute(vec![put]).await.unwrap();
            }
            let mut sealed = start().await.seal(&tokens, &grant).unwrap();
            assert_eq!(start().await.restore(&mut sealed, &grant), has_key);
        }
    }
}
