use std::any::TypeId;

use super::place::Place;

/// Function in a list of [`items!`](crate::items), by its name and identity.
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

/// List of items that are named one by one, with [`items!`](crate::items).
#[derive(Clone, Debug)]
pub struct Items {
    pub(super) named: Vec<Named>,
    /// Place of the list in the user's code.
    pub(super) place: Place,
}

#[doc(hidden)]
#[allow(missing_docs, reason = "public only for generated code")]
#[track_caller]
pub fn items(list: &[Named]) -> Items {
    Items { named: list.to_vec(), place: Place::here() }
}
