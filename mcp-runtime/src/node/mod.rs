//! This process as one of several nodes that share a store: its lease, the other live nodes, and the messages between them (decision
//! 0105).

mod barrier;
mod lease;
mod message;
mod outgoing;
mod process;

pub(crate) use lease::NodeId;
pub(crate) use message::{Delivery, Subject};
pub(crate) use process::ServerNode;
