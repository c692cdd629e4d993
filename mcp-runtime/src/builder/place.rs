use std::{fmt, panic::Location};

/// Where in the user's code something was said of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(&'static Location<'static>);

impl Place {
    /// The caller of the caller, when that one has `#[track_caller]`.
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.file(), self.0.line())
    }
}
