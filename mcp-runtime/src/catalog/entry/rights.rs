//! Access to an item.

use super::Entry;

impl Entry {
    /// Whether access to the item is restricted.
    pub(crate) fn is_guarded(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.guard.is_some();
        #[cfg(not(feature = "auth"))]
        return false;
    }

    /// Returns the scopes that a caller must have been granted.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        #[cfg(feature = "auth")]
        return self.guard.iter().flat_map(|it| &it.scopes).map(|it| &**it);
        #[cfg(not(feature = "auth"))]
        return std::iter::empty();
    }
}
