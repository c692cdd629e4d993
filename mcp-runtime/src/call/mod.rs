//! Modules for one running call: `read`, `context`, `extract` and `reply`. Each module builds on the modules before it in this list.

pub(crate) mod context;
pub(crate) mod extract;
pub(crate) mod read;
pub(crate) mod reply;
