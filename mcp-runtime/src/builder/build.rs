//! `build`, which returns a server that has passed its checks, and methods that only run the checks.

use std::{any::TypeId, collections::HashSet, sync::Arc};

use super::{
    check::{self, ServerState},
    settings::Builder,
};
use crate::{
    catalog::{Catalog, Snapshot},
    config::{self, ConfigDef, DeclaredConfig},
    dispatch::ItemRights,
    error::BuildError,
    protocol::written_question,
    registry,
    server::{Identity, Server},
};

/// Checks of the items and the settings.
impl Builder {
    /// Checks the items and the settings, and returns a server that is ready to start.
    ///
    /// The methods that serve call `build` themselves. Call it to check a server without starting it. In a test, use
    /// [`assert_builds!`](crate::testing::assert_builds), which fails with the problems and also checks every schema.
    ///
    /// # Errors
    /// Fails with all problems at once, each with its location in your code: duplicates, missing state, or no items to serve.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// assert!(mcp_runtime::server!().items(items![add]).build().is_ok());
    /// ```
    pub fn build(mut self) -> Result<Server, BuildError> {
        self.configure_auth_if_possible();
        let found = check::entries(&self, ServerState::Known);
        let config = self.config_plan(&found.states);
        let of_config = self.config_problems(found.states);
        let problems = self.own_problems().chain(found.problems).chain(of_config);
        fail_unless_empty(problems.chain(self.taken_too_early()).collect())?;
        #[cfg(feature = "auth")]
        let (unverified, rules) = (self.unverified(&found.entries), self.rules());
        let catalog = Catalog::new(found.entries, self.pages, self.profile);
        #[cfg(feature = "auth")]
        let catalog = catalog.with_guards(rules.guard_all());
        let catalog = Arc::new(catalog.with_rates(self.rates));
        if found.needs_handle || self.setups_may_add_items {
            let _ = catalog.handle();
        }
        Ok(Server {
            identity: Arc::new(self.identity),
            catalog,
            states: self.states,
            setups: self.setups,
            config,
            setups_may_add_items: self.setups_may_add_items,
            nothing_to_serve: found.nothing_to_serve,
            shutdowns: self.shutdowns,
            around: self.around.map(|(around, _)| around),
            settings: self.settings,
            rights: ItemRights {
                #[cfg(feature = "auth")]
                rules,
            },
            #[cfg(feature = "auth")]
            unverified,
            max_blocking: self.max_blocking,
            limits: self.limits,
            state_settings: self.state_settings,
            store: self.store,
            is_store_open: false,
            write_question: written_question,
        })
    }

    /// Returns the problems of the settings, independent of the items.
    fn own_problems(&mut self) -> impl Iterator<Item = String> + use<> {
        let unnamed = self
            .identity
            .problem()
            .map(|problem| format!("`server!` at {}: {problem}", self.place));
        let own = std::mem::take(&mut self.problems).into_iter().chain(unnamed);
        #[cfg(feature = "auth")]
        let own = own.chain(self.auth_problems());
        own
    }

    /// Runs the checks of [`build`](Builder::build). The method does not run `setup`, and does not open the store.
    pub(crate) fn check_all(mut self) -> Result<(), BuildError> {
        self.configure_auth_if_possible();
        let problems = self.all_problems(ServerState::Known);
        fail_unless_empty(problems)
    }

    /// Runs the checks of [`check_all`](Builder::check_all) on all items of the package. Each group is checked separately, because each
    /// group is served on its own. Missing state is not reported, because the items alone do not show which state their server has.
    pub(crate) fn check_package(mut self) -> Result<(), BuildError> {
        let own = registry::all().filter(|def| def.origin.package == self.identity.package);
        let mut groups: Vec<_> = own.map(|def| def.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut problems: Vec<String> = Vec::new();
        // A package without items has no groups. The check of the items without a group then reports that there are none.
        for group in if groups.is_empty() { vec![None] } else { groups } {
            self.group = group;
            for problem in self.all_problems(ServerState::Unknown) {
                // A completion function is checked with each group that uses it, so the same problem can be found several times.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        fail_unless_empty(problems)
    }

    /// Returns the identity and the items that the server would publish. Missing state is not reported.
    #[cfg_attr(not(feature = "contract"), allow(dead_code, reason = "for `assert_contract!`"))]
    pub(crate) fn published(mut self) -> Result<(Identity, Arc<Snapshot>), BuildError> {
        self.configure_auth_if_possible();
        let found = check::entries(&self, ServerState::Unknown);
        fail_unless_empty(self.own_problems().chain(found.problems).collect())?;
        let catalog = Catalog::new(found.entries, self.pages, self.profile);
        Ok((self.identity, catalog.snapshot()))
    }

    /// Returns the problems of the settings and of the items.
    fn all_problems(&mut self, state: ServerState) -> Vec<String> {
        let found = check::entries(self, state);
        let config = self.config_problems(found.states);
        let own = self.own_problems().chain(found.problems).chain(config);
        own.chain(self.taken_too_early()).collect()
    }
}

/// Structs with `#[config]` that the server knows, and the state that closures of `setup` take.
impl Builder {
    /// Returns the plan for the command line, which knows no items yet.
    #[cfg(feature = "stdio")]
    pub(crate) fn declared_config(&self) -> DeclaredConfig {
        self.config_plan(&HashSet::new())
    }

    /// Returns the plan that knows which structs the items need.
    #[cfg(feature = "workbench")]
    pub(crate) fn needed_config(&self) -> DeclaredConfig {
        self.config_plan(&check::entries(self, ServerState::Unknown).states)
    }

    /// Returns the plan to read the structs of this server. `states` are the types that its items need.
    pub(super) fn config_plan(&self, states: &HashSet<TypeId>) -> DeclaredConfig {
        let structs = config::registered().filter_map(|entry| {
            let id = entry.def().id();
            let is_needed = states.contains(&id) || self.taken.iter().any(|taken| taken.id == id);
            let is_given = self.promised.iter().any(|promised| promised.id == id);
            let is_known = is_needed || self.has_config(entry.def());
            #[cfg(feature = "auth")]
            let is_known = is_known || self.auth_config == Some(id);
            (!is_given && is_known).then_some((entry, is_needed))
        });
        DeclaredConfig::new(&self.identity.name, structs, self.given.as_ref())
    }

    /// Returns the problems of the names of options. `states` are the types that the items need.
    fn config_problems(
        &self,
        #[cfg_attr(not(feature = "auth"), allow(unused_mut, reason = "for `auth_with`"))]
        mut states: HashSet<TypeId>,
    ) -> Vec<String> {
        #[cfg(feature = "auth")]
        states.extend(self.auth_config);
        self.config_plan(&states).problems()
    }

    /// Runs the closure of `auth_with`. Missing values are no problem, because only HTTP needs them.
    fn configure_auth_if_possible(&mut self) {
        #[cfg(feature = "auth")]
        let _ = self.configure_auth();
    }

    /// Whether the options of the struct belong to this server, because it serves the crate of the struct. A server with a list of items may
    /// have items of each crate.
    fn has_config(&self, def: &ConfigDef) -> bool {
        let is_served = |name: &str| self.with.iter().any(|(with, _)| *with == name);
        self.items.is_some()
            || def.origin.package == self.identity.package
            || is_served(def.origin.crate_name())
    }

    /// Returns the problems of closures that take state which does not exist yet.
    pub(super) fn taken_too_early(&self) -> Vec<String> {
        let is_config = |id: TypeId| config::registered().any(|entry| entry.def().id() == id);
        let early = self.taken.iter().filter(|taken| !taken.is_promised);
        let early = early.filter(|taken| {
            // A struct with `#[config]` exists before each `setup`, unless another `setup` creates it.
            match self.promised.iter().find(|promised| promised.id == taken.id) {
                Some(promised) => promised.is_made_by_setup,
                None => !is_config(taken.id),
            }
        });
        let problem = early.map(|taken| {
            format!(
                "`.setup(…)` at {}: there is no state of type `{}` yet: call the `.state(…)` or `.setup(…)` that creates it before, or write \
                 `#[config]` above the type",
                taken.place, taken.name
            )
        });
        problem.collect()
    }
}

fn fail_unless_empty(problems: Vec<String>) -> Result<(), BuildError> {
    if problems.is_empty() { Ok(()) } else { Err(BuildError { problems }) }
}
