//! Code for one running call. The modules build on each other in the order `read`, `context`, `extract`, `reply`.

pub(crate) mod context;
pub(crate) mod extract;
pub(crate) mod read;
pub(crate) mod reply;
