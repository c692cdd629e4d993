//! One running call: reading of values, its context, the extraction of its parameters, and its reply. Each of these uses those before it.

pub(crate) mod context;
pub(crate) mod extract;
pub(crate) mod read;
pub(crate) mod reply;
