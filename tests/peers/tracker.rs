//! Tracker for the example `issues`: an HTTP server that answers as the test prescribes, and keeps all requests.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use serde_json::{Value, json};
use support::clock::LIMIT;

/// Maximum number of connections of a test.
const MOST: usize = 256;

/// A tracker that listens on a port of the loopback address.
pub(crate) struct Tracker {
    /// Base URL of its API.
    pub(crate) url: String,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Request>,
    /// Number of connections that clients have closed while they waited for a reply.
    abandoned: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// Method and target: `GET /api/issues?per_page=50`.
    pub(crate) line: String,
    /// Headers with names in lower case.
    headers: Vec<(String, String)>,
    /// JSON of the body, or `null`.
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| &*header.1)
    }
}

#[derive(Clone)]
pub(crate) enum Reply {
    /// Status, headers and body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Closes the connection after these bytes.
    Cut(&'static str),
    /// Waits after these bytes until the client closes the connection.
    Hang(String),
}

impl Reply {
    pub(crate) fn json(body: &Value) -> Self {
        Self::Answer(200, Vec::new(), body.to_string())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), String::new())
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Answer(_, headers, _) = &mut self {
            headers.push((name, value.into()));
        }
        self
    }
}

/// An issue without comments.
pub(crate) fn issue(number: u64) -> Value {
    let title = format!("Issue {number}");
    json!({"number": number, "title": title, "state": "open", "labels": [], "body": "", "comments": []})
}

impl Tracker {
    /// Starts a tracker. `answer` gets the number of requests before this one.
    pub(crate) fn start(answer: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let (answer, seen) = (Arc::new(answer), Arc::<Mutex<Seen>>::default());
        let kept = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming().take(MOST).map_while(Result::ok) {
                let (answer, seen) = (answer.clone(), kept.clone());
                // The client may close the connection at any time, so an error is ignored.
                thread::spawn(move || drop(serve(stream, &*answer, &seen)));
            }
        });
        Self { url: format!("http://{address}/api"), seen }
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.seen).requests.clone()
    }

    /// Number of connections that clients have closed while they waited for a reply.
    pub(crate) fn abandoned(&self) -> usize {
        lock(&self.seen).abandoned
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves the requests of one connection.
fn serve(
    stream: TcpStream,
    answer: &dyn Fn(usize, &Request) -> Reply,
    seen: &Mutex<Seen>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(LIMIT))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    for _ in 0..MOST {
        let Some(request) = read(&mut reader)? else { break };
        let number = {
            let mut seen = lock(seen);
            seen.requests.push(request.clone());
            seen.requests.len() - 1
        };
        match answer(number, &request) {
            Reply::Answer(status, headers, body) => {
                let mut head = format!("HTTP/1.1 {status} \r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
            }
            Reply::Cut(bytes) => return stream.write_all(bytes.as_bytes()),
            Reply::Hang(bytes) => {
                stream.write_all(bytes.as_bytes())?;
                let is_closed = reader.read(&mut [0]).is_ok_and(|count| count == 0);
                lock(seen).abandoned += usize::from(is_closed);
                break;
            }
        }
    }
    Ok(())
}

/// Reads a request. Returns `None` if the client has closed the connection.
fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut request = Request::default();
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    request.line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    for line in reader.by_ref().lines() {
        match line?.split_once(": ") {
            Some((name, value)) => request.headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    request.body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(request))
}
