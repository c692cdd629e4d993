use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::limits::Limit;

/// How many tasks run: of everybody together, and of each owner that is known.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    all: usize,
    each: HashMap<Box<str>, usize>,
}

/// One of the tasks that run, or may come to run.
pub(super) struct Place {
    places: Places,
    owner: Box<str>,
}

impl Places {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a task of this owner, where there is one. Nobody is known by an empty name.
    ///
    /// # Errors
    /// How many are taken already, of all or of this owner.
    pub(super) fn take(
        &self,
        owner: &str,
        all: usize,
        each: usize,
    ) -> Result<Place, (Limit, usize)> {
        let mut taken = self.taken();
        if taken.all >= all {
            return Err((Limit::Tasks, all));
        }
        if !owner.is_empty() {
            let own = taken.each.entry(owner.into()).or_default();
            if *own >= each {
                return Err((Limit::OwnerTasks, each));
            }
            *own += 1;
        }
        taken.all += 1;
        Ok(Place { places: self.clone(), owner: owner.into() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all -= 1;
        if let Some(own) = taken.each.get_mut(&*self.owner) {
            *own -= 1;
            if *own == 0 {
                taken.each.remove(&*self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_every_place() {
        let places = Places::default();
        let take = |owner: &str| places.take(owner, 5, 2);
        let alice = [take("alice"), take("alice")];
        assert_eq!(take("alice").err(), Some((Limit::OwnerTasks, 2)));
        let bob = take("bob");
        assert!(bob.is_ok());
        // Whoever is not known is nobody in particular.
        let others = [take(""), take("")];
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(take("bob").err(), Some((Limit::Tasks, 5)));
        drop(alice);
        assert!(take("alice").is_ok());
        drop((bob, others));
        assert_eq!(places.taken().all, 0);
        assert!(places.taken().each.is_empty());
    }
}
