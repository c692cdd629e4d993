//! The live server's items.

pub(crate) mod cursor;
