//! The structs with `#[config]` that a server knows, and the state that closures of `setup` take.

use std::{any::TypeId, collections::HashSet};

use super::settings::Builder;
use crate::config::{self, ConfigDef, ConfigPlan};

impl Builder {
    /// Returns the plan for the command line, which knows no items yet.
    #[cfg(feature = "stdio")]
    pub(crate) fn declared_config(&self) -> ConfigPlan {
        self.config_plan(&HashSet::new())
    }

    /// Returns the plan to read the structs of this server. `states` are the types that its items need.
    pub(super) fn config_plan(&self, states: &HashSet<TypeId>) -> ConfigPlan {
        let structs = config::registered().filter_map(|def| {
            let id = def.id();
            let is_needed = states.contains(&id) || self.taken.iter().any(|taken| taken.id == id);
            let is_given = self.promised.iter().any(|promised| promised.id == id);
            (!is_given && (is_needed || self.has_config(def))).then_some((def, is_needed))
        });
        ConfigPlan::new(&self.identity.name, structs, self.given.clone())
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
        let is_config = |id: TypeId| config::registered().any(|def| def.id() == id);
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
