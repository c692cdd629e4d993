//! Handle with which the author of a server lists and ends logins.

use std::{fmt, sync::Arc, time::SystemTime};

use mcp_runtime::{Error, Result};

use crate::{grant::Grant, provider, records::Records, secret::Digest, store::time};

/// Handle that lists and ends the logins of users at an [`AuthorizationServer`].
///
/// Get it from [`AuthorizationServer::logins`], and share it with handlers as state.
///
/// ```
/// use mcp_runtime::{auth::Auth, prelude::*};
/// use mcp_runtime_authorization_server::{
///     AuthorizationServer, LoginPage, LoginRequest, Logins, User,
/// };
///
/// async fn login(request: LoginRequest) -> Result<User, LoginPage> {
///     if request.name() == "ada" && request.password() == "correct horse" {
///         Ok(User::new("ada"))
///     } else {
///         Err(LoginPage::form().message("No user has this name and this password."))
///     }
/// }
///
/// /// Logs you out of every application.
/// #[tool(destructive)]
/// async fn log_out_everywhere(caller: Auth, logins: &Logins) -> Result<String> {
///     let ended = logins.end_all(caller.principal()).await?;
///     Ok(format!("{ended} applications have to ask you to log in again"))
/// }
///
/// fn main() {
///     let authorization = AuthorizationServer::new(login);
///     let logins = authorization.logins();
///     let server = mcp_runtime::server!()
///         .items(items![log_out_everywhere])
///         .state(logins)
///         .auth(authorization);
/// # let _ = server;
/// }
/// ```
///
/// The methods take the identifier of a user, as it was passed to [`User::new`](crate::User::new). It is also the name of the caller's
/// [`Principal`](mcp_runtime::auth::Principal).
///
/// **Ended logins.** The server rejects the access tokens and refresh tokens of an ended login:
///
/// * Calls that are already running continue.
/// * A stream that waits for messages from the server ends before its next message, or before its next keep-alive comment
///   ([`Limits::keep_alive`](mcp_runtime::limits::Limits::keep_alive)).
/// * Stored tokens of an upstream provider are deleted. The provider is notified if it supports revocation and can be reached.
/// * If the server has a [store](mcp_runtime::Builder::store), the end of the login is saved in it when the method returns.
/// * If several nodes share the store, the other nodes reject the tokens within a second, and end the streams.
///
/// **Lifetime.** The handle works while the server runs, and after it has ended. Before the start, the store is not known, so the methods
/// return an error. A handle that outlives the server keeps the store open.
///
/// [`AuthorizationServer`]: crate::AuthorizationServer
/// [`AuthorizationServer::logins`]: crate::AuthorizationServer::logins
#[derive(Clone)]
pub struct Logins(pub(crate) Arc<Records>);

/// Login of a user with one client, returned by [`Logins::of`].
///
/// ```
/// use mcp_runtime_authorization_server::Logins;
///
/// async fn applications(logins: &Logins, user: &str) -> mcp_runtime::Result<Vec<String>> {
///     let logins = logins.of(user).await?;
///     Ok(logins
///         .iter()
///         .map(|login| login.client_name().unwrap_or(login.client()).to_owned())
///         .collect())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Login {
    id: String,
    client: String,
    client_name: Option<String>,
    scopes: Vec<String>,
    since: u64,
    until: u64,
}

impl Logins {
    /// Returns the logins of a user that have not ended, newest first.
    ///
    /// Each authorization of a client is a separate login. A user has at most 128 logins.
    ///
    /// # Errors
    /// Fails if the server has not started yet, and if the store cannot be read.
    ///
    /// # Cancel safety
    /// This method is cancel safe.
    pub async fn of(&self, user: &str) -> Result<Vec<Login>> {
        self.load().await?;
        let all = self.0.grants_of(user, Login::of).await;
        let mut all = all.map_err(|refusal| Error::internal(refusal.why))?;
        all.sort_by(|a, b| (b.since, &b.id).cmp(&(a.since, &a.id)));
        Ok(all)
    }

    /// Ends one login of a user, by its [id](Login::id). Returns whether the user had a login with this id.
    ///
    /// The id of another user's login has no effect.
    ///
    /// # Errors
    /// Fails in these cases:
    ///
    /// * The change cannot be saved in the store. The login has ended in this process anyway, and the upstream provider is notified. The
    ///   next write saves the change, for example another call of this method.
    /// * A store that several nodes share cannot be used. The login may have ended or not, so call this method again.
    /// * The server has not started yet, or the store cannot be read. The login has not ended.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If its future is dropped, the login may have ended or not. If it has ended, the change is still
    /// written and the upstream provider is notified.
    pub async fn end(&self, user: &str, id: &str) -> Result<bool> {
        match Digest::parse(id) {
            Some(one) => Ok(self.ended(user, Some(one)).await? > 0),
            None => Ok(false),
        }
    }

    /// Ends all logins of a user and returns their number.
    ///
    /// Logins that are not complete end too: the user has not decided yet, or the client has not exchanged its code yet. They do not count.
    ///
    /// Call this after you change a password or delete an account. A login that begins after this call asks the user again.
    ///
    /// # Errors
    /// Fails in the same cases as [`end`](Self::end).
    ///
    /// # Cancel safety
    /// This method is not cancel safe, for the same reason as [`end`](Self::end).
    pub async fn end_all(&self, user: &str) -> Result<usize> {
        self.ended(user, None).await
    }

    async fn ended(&self, user: &str, one: Option<Digest>) -> Result<usize> {
        self.load().await?;
        let Records { clock, journal, provider, .. } = &*self.0;
        let ended = self.0.end_of(user, one).await;
        let (ended, unused) = ended.map_err(|refusal| Error::internal(refusal.why))?;
        let now = clock.now();
        let count = ended.iter().filter(|entry| entry.1.ends > now).count();
        provider::revoke_upstream(provider.as_ref(), ended, unused);
        let saved = journal.save().await;
        saved.map_err(|why| Error::internal(format_args!("logins have ended, but {}", why.why)))?;
        Ok(count)
    }

    async fn load(&self) -> Result<()> {
        if !self.0.journal.has_started() {
            return Err(Error::internal(
                "the logins are not known: the server has not started, or it serves stdio, where users do not log in",
            ));
        }
        self.0.load().await.map_err(Error::internal)
    }
}

impl Login {
    fn of(key: &Digest, grant: &Grant) -> Self {
        Self {
            id: key.text(),
            client: grant.client.clone(),
            client_name: grant.client_name.clone(),
            scopes: grant.scopes.clone(),
            since: grant.since,
            until: grant.ends,
        }
    }

    /// Returns the id of the login, for [`Logins::end`]. The id is not a secret.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the client's id, which is random if the client registered itself, and otherwise the URL of its metadata.
    pub fn client(&self) -> &str {
        &self.client
    }

    /// Returns the name of the client at the time of the user's consent. The client chose the name, and the server did not verify it.
    pub fn client_name(&self) -> Option<&str> {
        self.client_name.as_deref()
    }

    /// Returns the scopes that the user has granted.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|scope| &**scope)
    }

    /// Returns the time at which the client got its first tokens.
    pub fn since(&self) -> SystemTime {
        time(self.since)
    }

    /// Returns the time at which the login ends, unless the client refreshes its tokens before.
    pub fn until(&self) -> SystemTime {
        time(self.until)
    }
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logins").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use mcp_runtime::store::{
        Follower, MemoryStore, Store, StoreError, StoreFuture, StoreOperation, Transaction,
        TransactionResult,
    };

    use crate::{
        Upstream, User,
        codes::AuthorizationCode,
        provider::{Provider, UpstreamTokens},
    };

    /// Store whose transactions fail while `is_full` is set. The other transactions add the names of removed records to `gone`.
    #[derive(Default)]
    struct Disk {
        is_full: AtomicBool,
        gone: std::sync::Mutex<Vec<String>>,
        memory: MemoryStore,
    }

    impl Store for Disk {
        fn execute(
            &self,
            transactions: Vec<Transaction>,
        ) -> StoreFuture<'_, Vec<TransactionResult>> {
            let removed = transactions.iter().flat_map(|transaction| &transaction.operations);
            let removed = removed.filter_map(|operation| match operation {
                StoreOperation::Remove { name, .. } => Some(name.clone()),
                _ => None,
            });
            if self.is_full.load(Ordering::Relaxed) {
                return Box::pin(async { Err(StoreError::failed("the disk is full")) });
            }
            self.gone.lock().unwrap().extend(removed);
            self.memory.execute(transactions)
        }

        fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
            self.memory.follow(partition, log, after)
        }
    }

    #[tokio::test]
    async fn a_login_ends_even_if_the_store_fails_but_the_caller_gets_an_error() {
        let (disk, logins) = (Arc::new(Disk::default()), Logins(Arc::new(Records::new(None))));
        let Records { clock, grants, journal, .. } = &*logins.0;
        journal.start(Some(disk.clone()));
        let now = clock.now();
        let grant = Grant::new("c".into(), None, User::new("ada"), Vec::new(), "http://r".into());
        let issued = grants.begin(grant, true, |_| Ok(None), now, journal).unwrap();
        let login = logins.of("ada").await.unwrap().remove(0);
        assert_eq!(login.since(), time(now));
        disk.is_full.store(true, Ordering::Relaxed);
        let failed = logins.end("ada", login.id()).await.unwrap_err();
        assert!(failed.to_string().contains("cannot be stored"), "{failed}");
        assert!(grants.verify(&issued.access, now).is_none());
        assert!(logins.end_all("ada").await.is_err());
        disk.is_full.store(false, Ordering::Relaxed);
        // The login has already ended, so this call only saves the end.
        assert!(!logins.end("ada", login.id()).await.unwrap());
        assert_eq!(*disk.gone.lock().unwrap(), [format!("grant/{}", login.id())]);
    }

    /// Upstream provider that only accepts connections, with the tokens of a login there.
    async fn provider() -> (tokio::net::TcpListener, Arc<Provider>, UpstreamTokens) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let provider = Provider::new(Upstream::new(issuer, "our-id", "secret"));
        let upstream = r#"{"access": "a", "refresh": "r", "until": 9999999999}"#;
        (listener, Arc::new(provider), serde_json::from_str(upstream).unwrap())
    }

    async fn assert_contacted(provider: &tokio::net::TcpListener) {
        let limit = std::time::Duration::from_secs(60);
        let contacted = tokio::time::timeout(limit, provider.accept()).await;
        contacted.expect("the provider is never told").unwrap();
    }

    #[tokio::test]
    async fn the_provider_is_told_even_if_the_store_fails() {
        for ends_all in [false, true] {
            // Each pass has its own provider: requests that wait while a fetch of metadata fails do not fetch it themselves.
            let (listener, provider, upstream) = provider().await;
            let (disk, logins) =
                (Arc::new(Disk::default()), Logins(Arc::new(Records::new(Some(provider.clone())))));
            let Records { clock, grants, journal, .. } = &*logins.0;
            journal.start(Some(disk.clone()));
            let grant =
                Grant::new("c".into(), None, User::new("ada"), Vec::new(), "http://r".into());
            let back = |key: &Digest| provider.seal(&upstream, key).map(Some);
            let issued = grants.begin(grant, true, back, clock.now(), journal).unwrap();
            // Reads the store while it works.
            assert_eq!(logins.of("ada").await.unwrap().len(), 1);
            disk.is_full.store(true, Ordering::Relaxed);
            let failed = match ends_all {
                true => logins.end_all("ada").await.is_err(),
                false => logins.end("ada", &issued.grant.text()).await.is_err(),
            };
            assert!(failed);
            // The server asks the provider for its metadata, which contains the URL for revocations.
            assert_contacted(&listener).await;
        }
    }

    #[tokio::test]
    async fn the_provider_is_told_of_codes_that_no_client_has_exchanged() {
        let (listener, provider, upstream) = provider().await;
        let logins = Logins(Arc::new(Records::new(Some(provider))));
        logins.0.journal.start(None);
        let code = AuthorizationCode { upstream: Some(upstream), ..AuthorizationCode::of_test() };
        logins.0.codes.add(code, tokio::time::Instant::now()).unwrap();
        assert_eq!(logins.end_all("ada").await.unwrap(), 0);
        assert_contacted(&listener).await;
    }
}
