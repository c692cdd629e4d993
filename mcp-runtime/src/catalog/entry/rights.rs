//! Who may use an item.

use super::Entry;

impl Entry {
    /// Whether it is not for everybody.
    pub(crate) fn is_guarded(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.guard.is_some();
        #[cfg(not(feature = "auth"))]
        return false;
    }

    /// What a caller must have been granted.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        #[cfg(feature = "auth")]
        return self.guard.iter().flat_map(|it| &it.scopes).map(|it| &**it);
        #[cfg(not(feature = "auth"))]
        return std::iter::empty();
    }
}
