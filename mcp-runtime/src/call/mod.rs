//! One running call: its context, the extraction of its parameters, and its reply.

pub(crate) mod context;
pub(crate) mod extract;
pub(crate) mod reply;
