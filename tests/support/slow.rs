//! A slow network between two programs on this machine.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use crate::clock::linger_blocking;

/// Passes connections on to another address, and each piece of data only after a delay. Its threads end with the connections, and the
/// listener ends with the process.
#[derive(Debug)]
pub struct SlowProxy {
    /// Address for the clients.
    pub address: SocketAddr,
}

impl SlowProxy {
    /// Starts the proxy. Each direction has this delay.
    ///
    /// # Panics
    ///
    /// When there is no free port.
    #[must_use]
    pub fn start(to: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(to) else { continue };
                let directions = [(&client, &server), (&server, &client)];
                for (from, into) in directions {
                    let (Ok(from), Ok(into)) = (from.try_clone(), into.try_clone()) else {
                        continue;
                    };
                    thread::spawn(move || pass(from, into, delay));
                }
            }
        });
        Self { address }
    }
}

fn pass(mut from: TcpStream, mut into: TcpStream, delay: Duration) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        linger_blocking(delay);
        if into.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = into.shutdown(std::net::Shutdown::Both);
}
