use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What clients name by an id that nobody can guess. In parts, so that they do not wait for each other.
pub(super) struct Table<T> {
    parts: [Mutex<HashMap<String, Arc<T>>>; 16],
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { parts: Default::default() }
    }
}

impl<T> Table<T> {
    fn part(&self, id: &str) -> MutexGuard<'_, HashMap<String, Arc<T>>> {
        let last = id.as_bytes().last().copied().unwrap_or_default();
        self.parts[usize::from(last % 16)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn insert(&self, id: &str, value: Arc<T>) {
        self.part(id).insert(id.to_owned(), value);
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<T>> {
        self.part(id).get(id).cloned()
    }

    pub(super) fn remove(&self, id: &str) -> Option<Arc<T>> {
        self.part(id).remove(id)
    }

    /// Takes out those that `is_past`, one part after the other.
    pub(super) fn sweep(&self, is_past: impl Fn(&Arc<T>) -> bool) {
        for part in &self.parts {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            // What ends with the last reference may take locks of its own: after this one.
            let past: Vec<_> = part.extract_if(|_, it| is_past(it)).collect();
            drop(part);
            drop(past);
        }
    }

    pub(super) fn for_each(&self, mut look: impl FnMut(&Arc<T>)) {
        for part in &self.parts {
            let all: Vec<_> = {
                let part = part.lock().unwrap_or_else(PoisonError::into_inner);
                part.values().cloned().collect()
            };
            all.iter().for_each(&mut look);
        }
    }
}

/// An id that nobody can guess: 128 random bits in visible ASCII (HL-16).
pub(super) fn unguessable() -> Result<String, getrandom::Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    Ok(bits.iter().map(|it| format!("{it:02x}")).collect())
}
