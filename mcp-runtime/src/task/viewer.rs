use std::{collections::BTreeSet, sync::Arc};

/// Whose tasks somebody asks for, and of which tools not: what a caller may not use, it may not have the results of either.
#[derive(Clone)]
pub(crate) struct Viewer {
    owner: Box<str>,
    barred: Option<Arc<BTreeSet<Box<str>>>>,
}

impl Viewer {
    pub(crate) fn of(owner: &str, barred: BTreeSet<Box<str>>) -> Self {
        Self { owner: owner.into(), barred: (!barred.is_empty()).then(|| Arc::new(barred)) }
    }

    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    /// Whether a task of this owner's, which this tool has begun, is there for it.
    pub(super) fn sees(&self, owner: &str, tool: &str) -> bool {
        let is_barred = || self.barred.as_ref().is_some_and(|it| it.contains(tool));
        *self.owner == *owner && !is_barred()
    }
}
