//! Where bytes come from and go to.

pub(crate) mod lines;
#[cfg(all(feature = "stdio", any(unix, windows)))]
pub(crate) mod stdio;
