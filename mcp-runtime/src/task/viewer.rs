use std::{collections::BTreeSet, sync::Arc};

/// Caller that asks for tasks. It sees its own tasks only, and none of a tool that it may not use.
#[derive(Clone)]
pub(crate) struct Viewer {
    owner: Box<str>,
    /// Tools with restricted access: those that the caller may not use, and those that it may use. `None` if callers are not checked.
    judged: Option<Arc<[BTreeSet<Box<str>>; 2]>>,
}

impl Viewer {
    pub(crate) fn of(owner: &str, judged: Option<[BTreeSet<Box<str>>; 2]>) -> Self {
        Self { owner: owner.into(), judged: judged.map(Arc::new) }
    }

    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    /// Whether the caller sees a task of this owner and this tool. Tasks of a restricted tool that is gone are hidden, because it is
    /// unknown who may use the tool.
    pub(super) fn sees(&self, owner: &str, tool: &str, was_guarded: bool) -> bool {
        *self.owner == *owner
            && self.judged.as_ref().is_none_or(|it| {
                let [barred, open] = &**it;
                !barred.contains(tool) && (!was_guarded || open.contains(tool))
            })
    }
}
