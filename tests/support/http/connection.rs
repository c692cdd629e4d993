//! A connection to a server, over which a test can send any bytes.

use std::{io::ErrorKind, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use super::{
    body::Body,
    events::{Events, Item},
    head::Head,
};

/// A connection and the response that is being read from it.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// Bytes that have arrived and have not been read yet.
    buffer: Vec<u8>,
    closed: bool,
    last: bool,
    body: Body,
    events: Events,
}

/// The next item of a stream of events, if there is one.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// Event or comment.
    Item(Item),
    /// End of the stream. The connection is then closed, or free for another request.
    End,
    /// No item in time.
    Silence,
}

impl Connection {
    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// Fails if no server listens at `address`.
    pub async fn open(address: SocketAddr) -> Result<Self, String> {
        Self::over(TcpStream::connect(address).await.map_err(|error| error.to_string())?)
    }

    /// Like [`open`](Self::open), without giving other tasks of the runtime a turn before the operating system has connected.
    ///
    /// # Errors
    ///
    /// Fails if no server listens at `address`.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub fn open_blocking(address: SocketAddr) -> Result<Self, String> {
        let stream = std::net::TcpStream::connect(address).map_err(|error| error.to_string())?;
        stream.set_nonblocking(true).map_err(|error| error.to_string())?;
        Self::over(TcpStream::from_std(stream).map_err(|error| error.to_string())?)
    }

    fn over(stream: TcpStream) -> Result<Self, String> {
        // Turns off Nagle's algorithm, because a test that sends a request in parts needs each part to leave at once. A whole request is
        // one write anyway.
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Self {
            stream,
            buffer: Vec::new(),
            closed: false,
            last: false,
            body: Body::Ended,
            events: Events::default(),
        })
    }

    /// Sends these bytes. It is not an error if the server closes the connection before it has read all of them: the response of the server
    /// gives the reason.
    ///
    /// # Errors
    ///
    /// Fails if the server does not read the bytes in time.
    pub async fn send(&mut self, bytes: &[u8], patience: Duration) -> Result<(), String> {
        match timeout(patience, self.stream.write_all(bytes)).await {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("the server did not read the request within {patience:?}")),
        }
    }

    /// Sends these bytes, and requires that the server receives all of them.
    ///
    /// # Errors
    ///
    /// Fails if the server does not receive all bytes in time.
    pub async fn send_all(&mut self, bytes: &[u8], patience: Duration) -> Result<(), String> {
        match timeout(patience, self.stream.write_all(bytes)).await {
            Ok(sent) => sent.map_err(|error| error.to_string()),
            Err(_) => Err(format!("the server did not read the request within {patience:?}")),
        }
    }

    /// Whether another request may follow: the response was read to its end, and the server keeps the connection open.
    pub fn is_free(&mut self) -> bool {
        let mut byte = [0];
        let open = match self.stream.try_read(&mut byte) {
            Err(error) => error.kind() == ErrorKind::WouldBlock,
            Ok(0) => false,
            // The server sent this byte without a request. It stays in the buffer, so reading the next response finds it.
            Ok(_) => {
                self.buffer.push(byte[0]);
                true
            }
        };
        open && !self.closed && !self.last && self.body.has_ended()
    }

    /// Whether the connection is open, and the server has sent no bytes that are still to be read.
    pub fn is_silent(&mut self) -> bool {
        self.is_free() && self.buffer.is_empty()
    }

    /// Whether a response is still being read.
    pub fn is_reading(&self) -> bool {
        !self.body.has_ended()
    }

    /// Reads the head of the next response. Responses with a status below 200 are skipped.
    ///
    /// # Errors
    ///
    /// Fails if no response comes in time, the server closes first, or the head is malformed.
    pub async fn head(&mut self, asked_for_head: bool, patience: Duration) -> Result<Head, String> {
        let until = Instant::now() + patience;
        loop {
            if let Some(length) = Head::length(&self.buffer) {
                let head = Head::parse(&self.buffer.drain(..length).collect::<Vec<_>>())?;
                if head.status < 200 {
                    continue;
                }
                self.body = Body::of(&head, asked_for_head)?;
                self.events = Events::default();
                self.last = head.get("connection").is_some_and(|value| value.contains("close"));
                return Ok(head);
            }
            match self.fill(until).await {
                Some(true) => {}
                Some(false) => {
                    let rest = String::from_utf8_lossy(&self.buffer);
                    return Err(format!("closed without a response: {rest:?}"));
                }
                None => return Err(format!("no response within {patience:?}")),
            }
        }
    }

    /// Reads the whole body of the response whose head was read last.
    ///
    /// # Errors
    ///
    /// Fails if the body does not arrive in time, or breaks off.
    pub async fn body(&mut self, patience: Duration) -> Result<Vec<u8>, String> {
        let until = Instant::now() + patience;
        let mut body = Vec::new();
        loop {
            body.extend(self.body.take(&mut self.buffer)?);
            if self.body.has_ended() {
                return Ok(body);
            }
            match self.fill(until).await {
                Some(true) => {}
                Some(false) if self.body == Body::UntilClose => self.body = Body::Ended,
                Some(false) => {
                    let got = String::from_utf8_lossy(&body);
                    return Err(format!("closed in the middle of the body: {got:?}"));
                }
                None => return Err(format!("no complete body within {patience:?}")),
            }
        }
    }

    /// Waits until the server closes the connection or resets it, and reads nothing.
    pub async fn closed(&self) {
        let ready = tokio::io::Interest::READABLE | tokio::io::Interest::WRITABLE;
        loop {
            match self.stream.ready(ready).await {
                Ok(ready) if ready.is_write_closed() || ready.is_read_closed() => return,
                // Bytes that have arrived are not read here, so the socket is ready again at once. Pause before the next check.
                Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                Err(_) => return,
            }
        }
    }

    /// Reads the next piece of the body of the response whose head was read last. It has at least `length` bytes, unless the body ends.
    ///
    /// # Errors
    ///
    /// Fails if the piece does not arrive in time, or the body breaks off.
    pub async fn piece(&mut self, length: usize, patience: Duration) -> Result<Vec<u8>, String> {
        let until = Instant::now() + patience;
        let mut piece = Vec::new();
        loop {
            piece.extend(self.body.take(&mut self.buffer)?);
            if self.body.has_ended() || piece.len() >= length {
                return Ok(piece);
            }
            match self.fill(until).await {
                Some(true) => {}
                Some(false) => return Err("closed in the middle of the body".into()),
                None => return Err(format!("no more of the body within {patience:?}")),
            }
        }
    }

    /// Waits for the next item of the stream whose head was read last.
    ///
    /// # Errors
    ///
    /// Fails at a malformed chunk or line, or if an event breaks off.
    pub async fn next(&mut self, patience: Duration) -> Result<Next, String> {
        let until = Instant::now() + patience;
        loop {
            let taken = self.body.take(&mut self.buffer)?;
            self.events.push(&taken);
            if let Some(item) = self.events.item()? {
                return Ok(Next::Item(item));
            }
            if !self.body.has_ended() {
                match self.fill(until).await {
                    Some(true) => continue,
                    // A server may close the connection without ending the stream, so that the client reconnects.
                    Some(false) => self.body = Body::Ended,
                    None => return Ok(Next::Silence),
                }
            }
            return match self.events.is_between_events() {
                true => Ok(Next::End),
                false => Err(format!("the stream ends inside an event: {:?}", self.events)),
            };
        }
    }

    /// Reads more bytes. Returns `false` when the server has closed, and `None` when nothing comes in time.
    async fn fill(&mut self, until: Instant) -> Option<bool> {
        if self.closed {
            return Some(false);
        }
        let read = timeout_at(until, self.stream.read_buf(&mut self.buffer)).await.ok()?;
        // If a server closes the connection before it has read a whole request, the client sees a reset. So an error counts as a close too.
        self.closed = !matches!(read, Ok(1..));
        Some(!self.closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{
        events::Event,
        fake::{Fake, block_on},
    };

    const PATIENCE: Duration = Duration::from_secs(5);
    const SHORT: Duration = Duration::from_millis(20);

    async fn asked(answer: &'static [&'static str]) -> Connection {
        let fake = Fake::start(vec![vec![("GET", answer)]]).await;
        let mut connection = Connection::open(fake.address()).await.unwrap();
        connection.send(b"GET / HTTP/1.1\r\n\r\n", PATIENCE).await.unwrap();
        connection
    }

    #[test]
    fn a_response_is_read_however_it_arrives() {
        block_on(async {
            let mut connection = asked(&[
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 O",
                "K\r\ncontent-length: 2\r\n\r",
                "\n{",
                "}",
            ])
            .await;
            let head = connection.head(false, PATIENCE).await.unwrap();
            assert_eq!(head.status, 200);
            assert!(connection.is_reading());
            assert_eq!(connection.body(PATIENCE).await.unwrap(), b"{}");
            assert!(connection.is_free());
        });
    }

    #[test]
    fn a_body_may_end_with_the_connection() {
        block_on(async {
            let mut connection = asked(&["HTTP/1.1 200 OK\r\n\r\n{", "}", "CLOSE"]).await;
            connection.head(false, PATIENCE).await.unwrap();
            assert_eq!(connection.body(PATIENCE).await.unwrap(), b"{}");
            assert!(!connection.is_free());
        });
    }

    #[test]
    fn an_incomplete_response_is_reported() {
        block_on(async {
            let error = asked(&["HTTP", "CLOSE"]).await.head(false, PATIENCE).await.unwrap_err();
            assert_eq!(error, "closed without a response: \"HTTP\"");
            let error = asked(&["HTTP"]).await.head(false, SHORT).await.unwrap_err();
            assert_eq!(error, "no response within 20ms");
            let mut connection =
                asked(&["HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}", "CLOSE"]).await;
            connection.head(false, PATIENCE).await.unwrap();
            let error = connection.body(PATIENCE).await.unwrap_err();
            assert_eq!(error, "closed in the middle of the body: \"{}\"");
        });
    }

    #[test]
    fn a_stream_is_read_event_by_event() {
        block_on(async {
            const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            let mut connection =
                asked(&[HEAD, "8\r\ndata: 1\n", "\r\n3\r\n\n:\n", "\r\n", "WAIT"]).await;
            assert!(connection.head(false, PATIENCE).await.unwrap().is_stream());
            let event = Event { data: Some("1".into()), ..Event::default() };
            let item = Next::Item(Item::Event(event));
            assert_eq!(connection.next(PATIENCE).await, Ok(item));
            let comment = Next::Item(Item::Comment(String::new()));
            assert_eq!(connection.next(PATIENCE).await, Ok(comment));
            assert_eq!(connection.next(SHORT).await, Ok(Next::Silence));
        });
    }

    #[test]
    fn a_stream_ends_or_is_dropped_between_events() {
        block_on(async {
            const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            let mut ended = asked(&[CHUNKED, "0\r\n\r\n"]).await;
            ended.head(false, PATIENCE).await.unwrap();
            assert_eq!(ended.next(PATIENCE).await, Ok(Next::End));
            assert!(ended.is_free());
            let mut dropped = asked(&[CHUNKED, "3\r\n:x\n\r\n", "CLOSE"]).await;
            dropped.head(false, PATIENCE).await.unwrap();
            assert_eq!(dropped.next(PATIENCE).await, Ok(Next::Item(Item::Comment("x".into()))));
            assert_eq!(dropped.next(PATIENCE).await, Ok(Next::End));
            let mut broken = asked(&[CHUNKED, "8\r\ndata: x\n\r\n", "CLOSE"]).await;
            broken.head(false, PATIENCE).await.unwrap();
            assert!(broken.next(PATIENCE).await.unwrap_err().contains("inside an event"));
        });
    }
}
