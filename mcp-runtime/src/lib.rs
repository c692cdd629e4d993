//! Model Context Protocol servers from plain functions.

// Remove when the rooms below are used by those that build on them.
#![allow(dead_code, unused_imports)]

mod transport;
mod wire;
