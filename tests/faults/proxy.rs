//! A proxy that takes turns: each connection goes to the next server.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};

use crate::server::DEADLINE;

/// Ends with the value; what was connected ends by itself.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// So many connections a test may make.
    const MOST: usize = 64;

    pub(crate) async fn before(servers: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        let accepting = tokio::spawn(async move {
            for server in servers.into_iter().cycle().take(Self::MOST) {
                let Ok((mut client, _)) = listener.accept().await else { return };
                counted.fetch_add(1, Ordering::AcqRel);
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(server).await else { return };
                    // Either side may leave as it likes.
                    let _ = timeout(DEADLINE, copy_bidirectional(&mut client, &mut server)).await;
                });
            }
        });
        Self { address, connections, accepting }
    }

    /// How many connections there have been.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Acquire)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
