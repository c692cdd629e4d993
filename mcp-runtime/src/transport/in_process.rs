//! In-process connection, which passes whole lines instead of a byte stream.

use std::{collections::VecDeque, future::poll_fn, task::Poll, time::Duration};

use tokio::task::JoinHandle;

use crate::{
    call::context::Carrier,
    protocol::{Arrival, Peer, Received},
};

/// Client side of an in-process connection.
pub(crate) struct InProcessConnection {
    peer: Peer,
    /// Transport data that accompanies each line from the client, such as the caller that a test has set.
    pub(crate) carrier: Carrier,
    received: VecDeque<Vec<u8>>,
}

impl InProcessConnection {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer, carrier: Carrier::default(), received: VecDeque::new() }
    }

    /// Sends one line to the server. `line` has no newline. Returns the tokio tasks of calls whose handlers have to wait.
    pub(crate) fn send(&self, line: &[u8]) -> Vec<JoinHandle<()>> {
        let mut turn = Received::default();
        let arrival = Arrival { carrier: self.carrier.clone(), ..self.peer.plainly() };
        self.peer.receive_as(line, &arrival, &mut turn);
        turn.waiting.into_iter().map(tokio::spawn).collect()
    }

    /// Returns the next line from the server, or `None` if no line arrives within `patience`.
    pub(crate) async fn receive(&mut self, patience: Duration) -> Option<Vec<u8>> {
        let next = async {
            loop {
                if let Some(line) = self.received.pop_front() {
                    return line;
                }
                let mut bytes = Vec::new();
                poll_fn(|cx| {
                    self.peer.outbox().watch(cx);
                    if self.peer.outbox().take(&mut bytes) {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                })
                .await;
                let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                self.received.extend(lines.map(<[u8]>::to_vec));
            }
        };
        tokio::time::timeout(patience, next).await.ok()
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for InProcessConnection {
    fn drop(&mut self) {
        self.peer.cancel_all();
    }
}
