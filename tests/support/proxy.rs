//! A proxy that passes requests to several servers in turn.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// A proxy that listens on the loopback address until it is dropped. Connections that are open at that time are served to their end.
#[derive(Debug)]
pub struct Proxy {
    /// Address that the proxy listens on.
    pub address: SocketAddr,
    requests: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    /// Maximum number of requests that a test may make.
    const MOST: usize = 256;

    /// Starts a proxy that passes the first request to the first of these servers.
    ///
    /// # Panics
    ///
    /// When no port is free.
    pub fn before(servers: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let (requests, is_over) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (counted, ends) = (requests.clone(), is_over.clone());
        thread::spawn(move || {
            for server in servers.into_iter().cycle().take(Self::MOST) {
                let Ok((client, _)) = listener.accept() else { return };
                if ends.load(Ordering::Acquire) {
                    return;
                }
                counted.fetch_add(1, Ordering::AcqRel);
                // The client or the server may close the connection at any time, so an error is ignored.
                thread::spawn(move || drop(pass(client, server)));
            }
        });
        Self { address, requests, is_over }
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Acquire)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // The thread checks `is_over` only when it accepts a connection, so connect once.
        drop(TcpStream::connect(self.address));
    }
}

/// Passes on one request and its response. The server then closes the connection, because the request asks for it.
fn pass(mut client: TcpStream, server: SocketAddr) -> io::Result<()> {
    const HANGS: Option<Duration> = Some(Duration::from_secs(60));
    let mut server = TcpStream::connect(server)?;
    for side in [&client, &server] {
        side.set_read_timeout(HANGS)?;
    }
    let (head, rest) = head(&mut client)?;
    server.write_all(last(&head).as_bytes())?;
    server.write_all(&rest)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || io::copy(&mut from, &mut to));
    let copied = io::copy(&mut server, &mut client);
    client.shutdown(Shutdown::Both)?;
    copied.map(drop)
}

/// Reads the head of a request, and returns it with the bytes that came after it.
fn head(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(END.len()).position(|window| window == END) {
            let rest = bytes.split_off(at + END.len());
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        let mut part = [0; 4096];
        let read = client.read(&mut part)?;
        if read == 0 || bytes.len() > 1 << 16 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        bytes.extend_from_slice(&part[..read]);
    }
}

/// Returns the head of a request with `Connection: close`, so that the server closes the connection after its response.
fn last(head: &str) -> String {
    let is_kept = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:");
    let lines: Vec<_> = head.trim_end().lines().filter(is_kept).collect();
    format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_the_last_one() {
        let head =
            "GET / HTTP/1.1\r\nHost: a\r\nconnection: keep-alive\r\nX: connection: y\r\n\r\n";
        let expected = "GET / HTTP/1.1\r\nHost: a\r\nX: connection: y\r\nConnection: close\r\n\r\n";
        assert_eq!(last(head), expected);
    }

    /// Starts a server that answers each of two connections with its name and the request line.
    fn named(name: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for mut stream in listener.incoming().take(2).map(Result::unwrap) {
                let (head, _) = head(&mut stream).unwrap();
                write!(stream, "{name}: {}", head.lines().next().unwrap()).unwrap();
            }
        });
        address
    }

    #[test]
    fn servers_take_turns() {
        let proxy = Proxy::before(vec![named("one"), named("two")]);
        let said: Vec<_> = ["/a", "/b", "/c"]
            .map(|path| {
                let mut stream = TcpStream::connect(proxy.address).unwrap();
                write!(stream, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
                let mut said = String::new();
                stream.read_to_string(&mut said).unwrap();
                said
            })
            .into();
        let expected = ["one: GET /a HTTP/1.1", "two: GET /b HTTP/1.1", "one: GET /c HTTP/1.1"];
        assert_eq!(said, expected);
        assert_eq!(proxy.requests(), 3);
    }
}
