//! Items: what generated code registers.

pub(crate) mod template;
