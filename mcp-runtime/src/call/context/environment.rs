use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Shared values by their types.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Arc::new(value));
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn share<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.clone().downcast().ok()
    }
}

/// State that all calls of a server share.
pub(crate) struct Environment {
    pub(crate) states: States,
    blocking: AtomicUsize,
    max_blocking: usize,
}

impl Environment {
    pub(crate) fn new(states: States, max_blocking: usize) -> Self {
        Self { states, blocking: AtomicUsize::new(0), max_blocking }
    }

    /// Returns a permit for one blocking job, or `None` if all are taken. A job whose call was given up keeps its permit until it ends.
    pub(crate) fn blocking_permit(self: &Arc<Self>) -> Option<BlockingPermit> {
        let taken = self.blocking.fetch_update(Ordering::AcqRel, Ordering::Acquire, |it| {
            (it < self.max_blocking).then_some(it + 1)
        });
        taken.ok().map(|_| BlockingPermit(self.clone()))
    }

    pub(crate) fn max_blocking(&self) -> usize {
        self.max_blocking
    }
}

/// Permit for one blocking job. It is returned when it is dropped.
pub(crate) struct BlockingPermit(Arc<Environment>);

impl Drop for BlockingPermit {
    fn drop(&mut self) {
        self.0.blocking.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_come_back() {
        let environment = Arc::new(Environment::new(States::default(), 1));
        let permit = environment.blocking_permit();
        assert!(permit.is_some());
        assert!(environment.blocking_permit().is_none());
        drop(permit);
        assert!(environment.blocking_permit().is_some());
    }
}
