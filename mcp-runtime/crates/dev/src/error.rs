//! Error of the command `dev`.

use std::{fmt, io};

/// Reason why the command `dev` cannot start or go on.
#[derive(Debug)]
pub struct DevError(String);

impl DevError {
    pub(crate) fn new(text: impl fmt::Display) -> Self {
        Self(text.to_string())
    }
}

impl fmt::Display for DevError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DevError {}

impl From<io::Error> for DevError {
    fn from(error: io::Error) -> Self {
        Self::new(error)
    }
}
