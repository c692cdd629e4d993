use std::any::TypeId;

use super::place::Place;

/// A function by its name and identity, as [`items!`](crate::items) lists them.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub(crate) name: &'static str,
    pub(crate) identity: TypeId,
}

#[doc(hidden)]
#[allow(missing_docs, reason = "public only for generated code")]
pub const fn named(name: &'static str, identity: TypeId) -> Named {
    Named { name, identity }
}

/// Items named one by one, with [`items!`](crate::items).
#[derive(Clone, Debug)]
pub struct Items {
    pub(super) named: Vec<Named>,
    /// Of the list.
    pub(super) place: Place,
}

#[doc(hidden)]
#[allow(missing_docs, reason = "public only for generated code")]
#[track_caller]
pub fn items(list: &[Named]) -> Items {
    Items { named: list.to_vec(), place: Place::here() }
}
