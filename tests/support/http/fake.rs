//! A server that sends what a test prescribes.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::sleep,
};

/// Text that the server waits for, and the pieces that it sends after it has received that text.
///
/// The piece `CLOSE` closes the connection, and `WAIT` keeps it open. After other pieces, the next exchange follows.
pub(crate) type Exchange = (&'static str, &'static [&'static str]);

pub(crate) struct Fake(SocketAddr);

impl Fake {
    /// Listens, and plays one list of exchanges on each connection, in the order in which the connections are opened.
    pub(crate) async fn start(connections: Vec<Vec<Exchange>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            for exchanges in connections {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, exchanges));
            }
        });
        Self(address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0
    }
}

async fn serve(mut stream: TcpStream, exchanges: Vec<Exchange>) {
    stream.set_nodelay(true).unwrap();
    let mut received = String::new();
    for (expected, pieces) in exchanges {
        while !received.contains(expected) {
            let mut buffer = [0; 4096];
            let Ok(count @ 1..) = stream.read(&mut buffer).await else { return };
            received.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        received.clear();
        for piece in pieces {
            match *piece {
                "CLOSE" => return,
                "WAIT" => sleep(Duration::from_secs(60)).await,
                piece => stream.write_all(piece.as_bytes()).await.unwrap(),
            }
            // After this pause, the piece arrives at the client separately from the next one.
            sleep(Duration::from_millis(2)).await;
        }
    }
    // A connection without further exchanges stays open until the test ends.
    sleep(Duration::from_secs(60)).await;
}

pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test)
}
