//! A relay between a proxy and its server that counts connections, and knows which end closes them.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A relay that runs as long as the runtime of the test.
#[derive(Clone)]
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    opened: AtomicUsize,
    closed_by_proxy: AtomicUsize,
    closed_by_server: AtomicUsize,
}

impl Relay {
    pub(crate) async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let relay = Self {
            address: listener.local_addr().expect("it has an address"),
            counts: Arc::default(),
        };
        let counts = relay.counts.clone();
        tokio::spawn(async move {
            while let Ok((proxy, _)) = listener.accept().await {
                counts.opened.fetch_add(1, Relaxed);
                let counts = counts.clone();
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(server).await else { return };
                    if pass(proxy, server).await {
                        counts.closed_by_proxy.fetch_add(1, Relaxed);
                    } else {
                        counts.closed_by_server.fetch_add(1, Relaxed);
                    }
                });
            }
        });
        relay
    }

    /// Number of connections that the proxy has opened.
    pub(crate) fn opened(&self) -> usize {
        self.counts.opened.load(Relaxed)
    }

    /// Number of connections that the proxy and the server have closed.
    pub(crate) fn closed(&self) -> (usize, usize) {
        (self.counts.closed_by_proxy.load(Relaxed), self.counts.closed_by_server.load(Relaxed))
    }
}

/// Passes bytes in both directions until an end closes the connection. Returns whether that was the proxy.
async fn pass(mut proxy: TcpStream, mut server: TcpStream) -> bool {
    let (mut from_proxy, mut from_server) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        tokio::select! {
            read = proxy.read(&mut from_proxy) => match read {
                Ok(count @ 1..) if server.write_all(&from_proxy[..count]).await.is_ok() => {}
                _ => return true,
            },
            read = server.read(&mut from_server) => match read {
                Ok(count @ 1..) if proxy.write_all(&from_server[..count]).await.is_ok() => {}
                _ => return false,
            },
        }
    }
}
