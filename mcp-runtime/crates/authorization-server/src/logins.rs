//! Handle with which the author of a server lists and ends logins.

use std::{fmt, sync::Arc, time::SystemTime};

use mcp_runtime::{Error, Result};

use crate::{grant::Grant, provider, secret::Digest, state::Records, store::time};

/// Handle that lists and ends the logins of users at an [`AuthorizationServer`].
///
/// Get it from [`AuthorizationServer::logins`], and share it with handlers as state.
///
/// ```
/// use mcp_runtime::{auth::Auth, prelude::*};
/// use mcp_runtime_authorization_server::{AuthorizationServer, LoginPage, LoginRequest, Logins, User};
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
///     let server = mcp_runtime::server!().items(items![log_out_everywhere]).state(logins).auth(authorization);
///     # let _ = server;
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
/// * With [`keep_in`](crate::AuthorizationServer::keep_in), the end of the login is also saved in the file when the method returns.
///
/// **Lifetime.** The handle works before the server starts, while it runs, and after it has ended. If a method is called before the start,
/// it reads the file itself. A handle that outlives the server keeps the file open.
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
///     Ok(logins.iter().map(|login| login.client_name().unwrap_or(login.client()).to_owned()).collect())
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
    /// # Errors Fails if the server has not started yet and the file cannot be read.
    ///
    /// # Cancel safety
    /// This method is cancel safe.
    pub async fn of(&self, user: &str) -> Result<Vec<Login>> {
        self.load().await?;
        let mut all = self.0.grants.of(user, self.0.clock.now(), Login::of);
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
    /// * The change cannot be written to the file. The login has ended in this process anyway. The next write saves the change, for example
    ///   another call of this method.
    /// * The server has not started yet and the file cannot be read. The login has not ended.
    ///
    /// # Cancel safety
    /// This method is not cancel safe. If its future is dropped, the login may have ended without a notification of the upstream provider.
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
        let Records { clock, codes, grants, journal, provider, .. } = &*self.0;
        if one.is_none() {
            // Codes end before grants, so that a code whose exchange is in progress cannot create a new grant.
            codes.end(user);
        }
        let ended = grants.end_of(user, one.as_ref(), journal);
        let now = clock.now();
        let count = ended.iter().filter(|entry| entry.1.ends > now).count();
        let saved = journal.save().await;
        saved.map_err(|why| Error::internal(format_args!("logins have ended, but {}", why.why)))?;
        provider::revoke_upstream(provider.as_ref(), ended);
        Ok(count)
    }

    async fn load(&self) -> Result<()> {
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
    use crate::{
        User,
        store::{LoginStore, RecordChange, StoreFuture, StoredRecord},
    };

    /// Store whose writes fail while `is_full` is set. The other writes add the keys of removed records to `gone`.
    #[derive(Default)]
    struct Disk {
        is_full: AtomicBool,
        gone: std::sync::Mutex<Vec<String>>,
    }

    impl LoginStore for Disk {
        fn load(&self, _: u64) -> StoreFuture<'_, Vec<StoredRecord>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn write(&self, changes: Vec<RecordChange>) -> StoreFuture<'_, ()> {
            let gone =
                changes.into_iter().filter(|change| change.2.is_none()).map(|change| change.1);
            let written = match self.is_full.load(Ordering::Relaxed) {
                true => Err(Error::internal("the disk is full")),
                false => {
                    self.gone.lock().unwrap().extend(gone);
                    Ok(())
                }
            };
            Box::pin(async { written })
        }
    }

    #[tokio::test]
    async fn a_login_ends_even_if_the_store_fails_but_the_caller_gets_an_error() {
        let (disk, logins) = (Arc::new(Disk::default()), Logins(Arc::new(Records::new(None))));
        let Records { clock, grants, journal, .. } = &*logins.0;
        journal.keep_in(disk.clone());
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
        assert_eq!(*disk.gone.lock().unwrap(), [login.id()]);
    }
}
