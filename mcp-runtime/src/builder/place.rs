use std::{fmt, panic::Location};

/// Place in the user's code that makes a setting of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(&'static Location<'static>);

impl Place {
    /// Returns the place that called the calling function, if that function has `#[track_caller]`.
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
