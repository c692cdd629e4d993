//! What the author sees of logins, and ends.

use std::{fmt, sync::Arc, time::SystemTime};

use super::{clock::time, farewell, grant::Grant, records::Records, secret::Digest};
use crate::error::{Error, Result};

/// All logins at an [`AuthorizationServer`], for its author: what users have granted to which clients, and the end of it.
///
/// ```
/// use mcp_runtime::{Auth, AuthorizationServer, LoginPage, LoginRequest, Logins, prelude::*};
/// # async fn login(_: LoginRequest) -> Result<mcp_runtime::User, LoginPage> { Err(LoginPage::form()) }
///
/// /// Logs you out of every application.
/// #[tool(destructive)]
/// async fn log_out_everywhere(caller: Auth, logins: &Logins) -> Result<String> {
///     let ended = logins.end_all(caller.principal()).await?;
///     Ok(format!("{ended} applications have to ask you to log in again"))
/// }
///
/// # fn main() {
/// let authorization = AuthorizationServer::new(login);
/// let logins = authorization.logins();
/// let server = mcp_runtime::server!().items(items![log_out_everywhere]).state(logins).auth(authorization);
/// # let _ = server;
/// # }
/// ```
///
/// A user is who [`User::new`](crate::User::new) said it is, the caller's [`Principal`](crate::Principal), also where another provider
/// knows the users.
///
/// **What has ended** gives nothing any more: no access token of it is let in, no refresh token answered, and what another provider has
/// given for it is gone from here; the provider is told, if it wants to know and can be asked then. Streams that are open for whatever
/// will come end before they send anything more, a comment too ([`Limits::keep_alive`](crate::Limits::keep_alive)); calls that were let
/// in go on. Where [`keep_in`](crate::AuthorizationServer::keep_in) names a file, it has ended there too before a method says so.
///
/// **When.** Before the server serves, while it does and after. Whoever comes before has the file read at once, and whoever comes after
/// keeps it open.
///
/// [`AuthorizationServer`]: crate::AuthorizationServer
#[derive(Clone)]
pub struct Logins(pub(super) Arc<Records>);

/// What a user has granted to a client: one of [`Logins::of`].
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
    /// Those of a user, the newest first: each time that the user has let a client in, as far as it has not ended. There are 128 at most.
    ///
    /// # Errors
    /// When the server has not served yet and the file cannot be read.
    pub async fn of(&self, user: &str) -> Result<Vec<Login>> {
        self.load().await?;
        let mut all = self.0.grants.of(user, self.0.clock.now(), Login::of);
        all.sort_by(|a, b| (b.since, &b.id).cmp(&(a.since, &a.id)));
        Ok(all)
    }

    /// Ends one of a user's, by its [id](Login::id). Whether there was one: nobody ends another's by an id that they have seen.
    ///
    /// # Errors
    /// When it cannot be kept that it has ended. It has as long as the process lives, and it is tried again with whatever is kept next, also
    /// by asking once more. When the server has not served yet and the file cannot be read, nothing has ended.
    pub async fn end(&self, user: &str, id: &str) -> Result<bool> {
        match Digest::parse(id) {
            Some(one) => Ok(self.ended(user, Some(one)).await? > 0),
            None => Ok(false),
        }
    }

    /// Ends all of a user's, and says how many there were. What was begun before comes to nothing either: a page that is open, a code that
    /// its client has not brought yet.
    ///
    /// Where a password was changed or an account deleted, this comes after that: whoever logs in from here on is asked anew.
    ///
    /// # Errors
    /// As with [`end`](Self::end).
    pub async fn end_all(&self, user: &str) -> Result<usize> {
        self.ended(user, None).await
    }

    async fn ended(&self, user: &str, one: Option<Digest>) -> Result<usize> {
        self.load().await?;
        let Records { clock, codes, grants, journal, provider, .. } = &*self.0;
        if one.is_none() {
            // Before the grants: of a code that is on its way to become one nothing comes then.
            codes.end(user);
        }
        let ended = grants.end_of(user, one.as_ref(), journal);
        let now = clock.now();
        let count = ended.iter().filter(|it| it.1.ends > now).count();
        let saved = journal.save().await;
        saved.map_err(|why| Error::internal(format_args!("logins have ended: {}", why.why)))?;
        farewell::say(provider.as_ref(), ended);
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

    /// What it is called for [`Logins::end`]. It lets nobody in.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The client's id: a random one where it has registered itself, the URL of its metadata otherwise.
    pub fn client(&self) -> &str {
        &self.client
    }

    /// What the client called itself when the user was asked. Nobody has checked it.
    pub fn client_name(&self) -> Option<&str> {
        self.client_name.as_deref()
    }

    /// What the user has granted.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|it| &**it)
    }

    /// When the user has let the client in.
    pub fn since(&self) -> SystemTime {
        time(self.since)
    }

    /// When it ends if the client does not come back before.
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
        authorization_server::{
            User,
            journal::{Change, Ledger, Row},
        },
        task::Keeping,
    };

    /// Writes nothing down while it is full.
    #[derive(Default)]
    struct Disk {
        is_full: AtomicBool,
        gone: std::sync::Mutex<Vec<String>>,
    }

    impl Ledger for Disk {
        fn load(&self, _: u64) -> Keeping<'_, Vec<Row>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn write(&self, changes: Vec<Change>) -> Keeping<'_, ()> {
            let gone = changes.into_iter().filter(|it| it.2.is_none()).map(|it| it.1);
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
    async fn what_cannot_be_kept_has_ended_and_is_not_said_to_be() {
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
        assert!(failed.to_string().contains("cannot be kept"), "{failed}");
        assert!(grants.verify(&issued.access, now).is_none());
        assert!(logins.end_all("ada").await.is_err());
        disk.is_full.store(false, Ordering::Relaxed);
        // There is nothing left but to write it down.
        assert!(!logins.end("ada", login.id()).await.unwrap());
        assert_eq!(*disk.gone.lock().unwrap(), [login.id()]);
    }
}
