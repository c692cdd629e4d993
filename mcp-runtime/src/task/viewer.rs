use std::{collections::BTreeSet, sync::Arc};

/// Whose tasks somebody asks for, and of which tools: what a caller may not use, it may not have the results of either.
#[derive(Clone)]
pub(crate) struct Viewer {
    owner: Box<str>,
    /// The tools that are not for everybody: those that it may not use, and those that it may. `None` where nobody is asked.
    judged: Option<Arc<[BTreeSet<Box<str>>; 2]>>,
}

impl Viewer {
    pub(crate) fn of(owner: &str, judged: Option<[BTreeSet<Box<str>>; 2]>) -> Self {
        Self { owner: owner.into(), judged: judged.map(Arc::new) }
    }

    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    /// Whether a task of this owner's, which this tool has begun, is there for it. Of a tool that was not for everybody and is gone nobody
    /// knows any more who may use it.
    pub(super) fn sees(&self, owner: &str, tool: &str, was_guarded: bool) -> bool {
        *self.owner == *owner
            && self.judged.as_ref().is_none_or(|it| {
                let [barred, open] = &**it;
                !barred.contains(tool) && (!was_guarded || open.contains(tool))
            })
    }
}
