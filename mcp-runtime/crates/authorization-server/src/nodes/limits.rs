//! Limits on callers without a token, which all nodes count together.

use std::{sync::Arc, time::Duration};

use mcp_runtime::{
    __companion::CallerKey,
    store::{StoreOperation, Transaction},
};

use crate::{
    nodes::shared_store::SharedStore,
    oauth_error::OAuthError,
    secret::{Digest, random},
};

/// Maximum number of failed login attempts from one address within [`WINDOW`].
const ATTEMPTS: u32 = 20;

/// Time for which a failed login attempt counts.
const WINDOW: Duration = Duration::from_secs(2 * 60);

/// Name of the places that login attempts take.
const LOGINS: &str = "logins";

/// Rate of one address.
#[derive(Clone, Copy)]
pub(crate) enum CallerRate {
    Authorizations,
    Registrations,
}

impl CallerRate {
    /// Returns the name of the rate, its interval, and the burst after a pause.
    fn settings(self) -> (&'static str, Duration, u32) {
        match self {
            Self::Authorizations => ("authorizations", Duration::from_secs(1), 60),
            Self::Registrations => ("registrations", Duration::from_secs(6), 50),
        }
    }
}

/// Limits of the callers of all nodes.
pub(crate) struct SharedLimits(Arc<SharedStore>);

/// Login attempt that counts until it is given back.
pub(crate) struct CountedAttempt {
    caller: String,
    holder: String,
}

/// Returns a name of the caller without its address.
pub(super) fn caller_name(caller: CallerKey<'_>) -> String {
    match caller {
        CallerKey::Address(address) => Digest::of(&address.to_string()).text()[..16].to_owned(),
        _ => "all".to_owned(),
    }
}

fn partition(caller: &str) -> String {
    format!("authorization:caller:{caller}")
}

impl SharedLimits {
    pub(crate) fn new(store: Arc<SharedStore>) -> Self {
        Self(store)
    }

    /// Counts a use of a rate, and returns whether the rate allows it.
    pub(crate) async fn pass(
        &self,
        caller: CallerKey<'_>,
        rate: CallerRate,
    ) -> Result<bool, OAuthError> {
        let (rate, interval, burst) = rate.settings();
        let pass =
            StoreOperation::Pass { rate: rate.to_owned(), interval, slack: interval * (burst - 1) };
        let pass = Transaction::on(partition(&caller_name(caller))).then(pass);
        Ok(self.0.run(pass).await?.is_ok())
    }

    /// Counts a login attempt, or returns `None` if there were too many.
    pub(crate) async fn attempt(
        &self,
        caller: CallerKey<'_>,
    ) -> Result<Option<CountedAttempt>, OAuthError> {
        let attempt = CountedAttempt { caller: caller_name(caller), holder: random::<16>()? };
        let enter = StoreOperation::Enter {
            places: LOGINS.to_owned(),
            holder: attempt.holder.clone(),
            most: ATTEMPTS,
            lease: WINDOW,
        };
        let entered = self.0.run(Transaction::on(partition(&attempt.caller)).then(enter)).await?;
        Ok(entered.is_ok().then_some(attempt))
    }

    /// Undoes the count of an attempt that has succeeded. If the store cannot be used, the attempt counts until its time has passed.
    pub(crate) async fn give_back(&self, attempt: CountedAttempt) {
        let CountedAttempt { caller, holder } = attempt;
        let leave = StoreOperation::Leave { places: LOGINS.to_owned(), holder };
        let _ = self.0.run(Transaction::on(partition(&caller)).then(leave)).await;
    }
}
