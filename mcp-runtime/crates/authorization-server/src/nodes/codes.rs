//! Codes that every node can exchange. Each code is a record in a partition of its own, so that all nodes agree on its first use.

use std::{sync::Arc, time::Duration};

use mcp_runtime::{
    limits::Limit,
    store::{Condition, Output, Record, StoreOperation, Transaction},
};
use serde::{Deserialize, Serialize};

use crate::{
    codes::{AuthorizationCode, CodeUse, REMEMBERED, TIME, TakenCode},
    nodes::{
        shared_store::{Round, SharedStore, json, record},
        users::{Enlisted, SharedUsers},
    },
    oauth_error::{OAuthError, RefusalCounts},
    provider::{Provider, UpstreamTokens},
    secret::{Digest, random},
};

const NAME: &str = "code";

/// Code as it is stored.
#[derive(Serialize, Deserialize)]
enum StoredCode {
    Fresh(Box<FreshCode>),
    /// A client has sent the code, but its grant does not exist yet.
    Used,
    /// The code was exchanged for this grant.
    Gave(Digest),
    /// The code was sent again before its grant existed.
    Over,
}

/// Code that no client has sent yet.
#[derive(Serialize, Deserialize)]
struct FreshCode {
    code: AuthorizationCode,
    /// Epoch at the start of the login.
    epoch: u64,
    /// Sealed tokens of the upstream provider.
    sealed: Option<String>,
}

/// Codes of all nodes.
pub(crate) struct SharedCodes {
    store: Arc<SharedStore>,
    users: Arc<SharedUsers>,
    provider: Option<Arc<Provider>>,
    counts: RefusalCounts,
}

fn partition(code: &Digest) -> String {
    format!("authorization:code:{}", code.text())
}

fn put(code: &Digest, value: &StoredCode, ttl: Duration, condition: Condition) -> Written {
    let put = StoreOperation::put(NAME, json(value)?, ttl, condition);
    Ok(Transaction::on(partition(code)).then(put))
}

type Written = Result<Transaction, OAuthError>;

impl SharedCodes {
    pub(crate) fn new(
        store: Arc<SharedStore>,
        users: Arc<SharedUsers>,
        provider: Option<Arc<Provider>>,
        counts: RefusalCounts,
    ) -> Self {
        Self { store, users, provider, counts }
    }

    /// Adds a code. `epoch` is the epoch at the start of the login.
    ///
    /// # Errors
    /// Fails if all logins of the user were ended after the login began, if the user has too many codes, or if the store cannot be used.
    pub(crate) async fn add(
        &self,
        mut code: AuthorizationCode,
        epoch: u64,
    ) -> Result<String, OAuthError> {
        let text = random::<32>()?;
        let digest = Digest::of(&text);
        let user = code.user.principal().to_owned();
        let sealed = match (&self.provider, code.upstream.take()) {
            (Some(provider), Some(upstream)) => Some(provider.seal_code(&upstream, &digest)?),
            _ => None,
        };
        let fresh = StoredCode::Fresh(Box::new(FreshCode { code, epoch, sealed }));
        self.store.apply(put(&digest, &fresh, TIME, Condition::Any)?).await?;
        // The client gets the code only after the user's partition has confirmed that the login has not been ended.
        let refusal = match self.users.add_code(&user, &digest, epoch).await? {
            Enlisted::Good => return Ok(text),
            Enlisted::Ended => OAuthError::logins_ended(),
            Enlisted::Full => {
                self.counts.limit_reached(Limit::Codes, "there are too many authorizations")
            }
        };
        let remove = StoreOperation::remove(NAME, Condition::Any);
        self.store.apply(Transaction::on(partition(&digest)).then(remove)).await?;
        Err(refusal)
    }

    /// Takes a code and marks it as used. If several nodes take it, only one of them gets the code.
    pub(crate) async fn take(&self, code: &str) -> Result<TakenCode, OAuthError> {
        let digest = Digest::of(code);
        self.store.repeat(|| self.take_once(digest)).await
    }

    async fn take_once(&self, digest: Digest) -> Result<Round<TakenCode>, OAuthError> {
        let found = self.store.get(partition(&digest), NAME).await?;
        let Some(found) = found else { return Ok(Round::Done(TakenCode::Unknown)) };
        let (next, fresh) = match self.store.read(&found)? {
            StoredCode::Fresh(fresh) => (StoredCode::Used, Some(fresh)),
            StoredCode::Used => (StoredCode::Over, None),
            StoredCode::Gave(grant) => return Ok(Round::Done(TakenCode::Again(Some(grant)))),
            StoredCode::Over => return Ok(Round::Done(TakenCode::Again(None))),
        };
        let unchanged = Condition::Version(found.version);
        let written = self.store.run(put(&digest, &next, REMEMBERED, unchanged)?).await?;
        let Ok(mut outputs) = written else { return Ok(Round::Again) };
        let (Some(Output::Version(version)), Some(fresh)) = (outputs.pop(), fresh) else {
            return Ok(Round::Done(TakenCode::Again(None)));
        };
        let FreshCode { mut code, epoch, sealed } = *fresh;
        code.upstream = self.opened(sealed.as_deref(), &digest);
        Ok(Round::Done(TakenCode::Good(Box::new(code), CodeUse { version, epoch })))
    }

    /// Records the grant that a code was exchanged for. If the code is no longer valid, returns `false`, and the caller must end the grant.
    pub(crate) async fn gave(
        &self,
        code: &str,
        grant: Digest,
        used: CodeUse,
    ) -> Result<bool, OAuthError> {
        let unchanged = Condition::Version(used.version);
        let gave = put(&Digest::of(code), &StoredCode::Gave(grant), REMEMBERED, unchanged)?;
        Ok(self.store.run(gave).await?.is_ok())
    }

    /// Removes codes of a user, so that they can be neither used nor confirmed. Returns the upstream tokens of codes that no client has sent.
    pub(crate) async fn end(&self, codes: &[Digest]) -> Result<Vec<UpstreamTokens>, OAuthError> {
        let end = |code: &Digest| {
            Transaction::on(partition(code))
                .then(StoreOperation::get(NAME))
                .then(StoreOperation::remove(NAME, Condition::Any))
        };
        let ended = self.store.execute(codes.iter().map(end).collect()).await?;
        let mut unused = Vec::new();
        for (digest, result) in codes.iter().zip(ended) {
            let found: Option<Record> =
                record(result.ok().and_then(|outputs| outputs.into_iter().next()));
            let stored = found.map(|found| self.store.read(&found)).transpose()?;
            if let Some(StoredCode::Fresh(fresh)) = stored {
                unused.extend(self.opened(fresh.sealed.as_deref(), digest));
            }
        }
        Ok(unused)
    }

    fn opened(&self, sealed: Option<&str>, code: &Digest) -> Option<UpstreamTokens> {
        self.provider.as_ref()?.open_code(sealed?, code)
    }
}
