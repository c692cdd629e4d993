//! What a test asks of a server that is not to start.

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
    /// Finds what [`build`](Builder::build) finds, and what is wrong with the schemas that a server makes at first use. Nothing is made but
    /// those: no state, no task store is opened.
    pub(crate) fn judge(mut self) -> Result<(), BuildError> {
        let problems = self.all_problems(Depth::All);
        refuse(problems)
    }

    /// The same for all items of the package, each group on its own as it is served, where it is not known which state they will have.
    pub(crate) fn judge_package(mut self) -> Result<(), BuildError> {
        let own = registry::all().filter(|it| it.origin.package == self.identity.package);
        let mut groups: Vec<_> = own.map(|it| it.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut problems: Vec<String> = Vec::new();
        // Without any, there is nothing to serve in no group.
        for group in if groups.is_empty() { vec![None] } else { groups } {
            self.group = group;
            for problem in self.all_problems(Depth::Stateless) {
                // Functions that complete arguments are looked at with each group that uses them.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        refuse(problems)
    }

    /// What the server would publish, whatever state it will have.
    pub(crate) fn published(mut self) -> Result<(Identity, Arc<Snapshot>), BuildError> {
        let found = check::entries(&self, Depth::Stateless);
        refuse(self.own_problems().chain(found.problems).collect())?;
        let catalog = Catalog::new(found.entries, self.pages, self.profile);
        Ok((self.identity, catalog.snapshot()))
    }

    /// Everything that is wrong: with what was said of the server, and with its items.
    pub(super) fn all_problems(&mut self, depth: Depth) -> Vec<String> {
        let found = check::entries(self, depth);
        self.own_problems().chain(found.problems).collect()
    }
}

fn refuse(problems: Vec<String>) -> Result<(), BuildError> {
    if problems.is_empty() { Ok(()) } else { Err(BuildError { problems }) }
}
