//! Checks for tests of a server that does not start.

use std::sync::Arc;

use super::{
    Builder, Identity,
    check::{self, Depth},
};
use crate::{
    catalog::{Catalog, Snapshot},
    error::BuildError,
    registry,
};

impl Builder {
    /// Finds the problems that [`build`](Builder::build) finds, and problems of schemas that a running server builds at their first use. No
    /// `setup` runs, and no task store is opened.
    pub(crate) fn judge(mut self) -> Result<(), BuildError> {
        let problems = self.all_problems(Depth::All);
        refuse(problems)
    }

    /// Does the same for all items of the package, each group on its own, as it is served. Missing state is not reported, because it is not
    /// known which state the items will have.
    pub(crate) fn judge_package(mut self) -> Result<(), BuildError> {
        let own = registry::all().filter(|it| it.origin.package == self.identity.package);
        let mut groups: Vec<_> = own.map(|it| it.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut problems: Vec<String> = Vec::new();
        // Without any item, the check of the items without a group reports that there is nothing to serve.
        for group in if groups.is_empty() { vec![None] } else { groups } {
            self.group = group;
            for problem in self.all_problems(Depth::Stateless) {
                // A completion function is checked with each group that uses it, so its problems may come up again.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        refuse(problems)
    }

    /// Returns what the server would publish. The state that it will have makes no difference.
    pub(crate) fn published(mut self) -> Result<(Identity, Arc<Snapshot>), BuildError> {
        let found = check::entries(&self, Depth::Stateless);
        refuse(self.own_problems().chain(found.problems).collect())?;
        let catalog = Catalog::new(found.entries, self.pages, self.profile);
        Ok((self.identity, catalog.snapshot()))
    }

    /// Returns all problems: those of the settings, and those of the items.
    pub(super) fn all_problems(&mut self, depth: Depth) -> Vec<String> {
        let found = check::entries(self, depth);
        self.own_problems().chain(found.problems).collect()
    }
}

fn refuse(problems: Vec<String>) -> Result<(), BuildError> {
    if problems.is_empty() { Ok(()) } else { Err(BuildError { problems }) }
}
