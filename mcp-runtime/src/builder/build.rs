use std::sync::Arc;

use super::{
    Builder, Server,
    check::{self, Depth},
};
use crate::{catalog::Catalog, error::BuildError};

impl Builder {
    /// Checks everything that can be checked before the server runs.
    ///
    /// # Errors
    /// Returns all problems at once, each with its place in the code: duplicates, missing state, nothing to serve.
    /// [`assert_builds!`](crate::testing::assert_builds) makes a test fail with them.
    pub fn build(mut self) -> Result<Server, BuildError> {
        let found = check::entries(&self, Depth::Start);
        let problems: Vec<String> = self.own_problems().chain(found.problems).collect();
        if !problems.is_empty() {
            return Err(BuildError { problems });
        }
        #[cfg(feature = "auth")]
        let (unverified, rules) = (self.unverified(&found.entries), self.rules());
        let catalog = Catalog::new(found.entries, self.pages, self.profile);
        #[cfg(feature = "auth")]
        let catalog = catalog.guarding(rules.guard_all());
        let catalog = Arc::new(catalog.wanting(self.wanted));
        if found.needs_handle || self.changes {
            let _ = catalog.handle();
        }
        Ok(Server {
            identity: Arc::new(self.identity),
            catalog,
            states: self.states,
            setups: self.setups,
            adds: self.changes,
            shutdowns: self.shutdowns,
            around: self.around.map(|it| it.0),
            settings: self.settings,
            #[cfg(feature = "auth")]
            rules,
            #[cfg(feature = "auth")]
            unverified,
            max_blocking: self.max_blocking,
            limits: self.limits,
            state_settings: self.state_settings,
            task_store: self.task_store.0,
        })
    }

    /// Returns the problems of the settings, independent of the items.
    pub(super) fn own_problems(&mut self) -> impl Iterator<Item = String> + use<> {
        let unnamed =
            self.identity.problem().map(|it| format!("`server!` at {}: {it}", self.place));
        let own = std::mem::take(&mut self.problems).into_iter().chain(unnamed);
        #[cfg(feature = "auth")]
        let own = own.chain(self.auth_problems());
        own
    }
}
