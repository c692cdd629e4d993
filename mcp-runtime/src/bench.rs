//! Entry points for benchmarks. Each function runs one stage of a call exactly as the server does. This module is not part of the public
//! API, and may change in any release.

#![allow(missing_docs, reason = "public only for the crate's own benchmarks")]

use std::{
    fmt,
    future::Future as _,
    hint::black_box,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use mcp_runtime_wire::{self as wire, Id, Raw};

use crate::{
    call::context::Caller,
    catalog::{ListCursor, Snapshot},
    dispatch::{Dispatched, Request},
    error::{Error, ServeError},
    item::template,
    limits::Limits,
    model::{ClientInfo, Done, ListKind, OperationResult},
    protocol::{AnswerScope, Revision, Service, answer},
    server::Server,
    transport::lines::{Line, Lines},
};

/// Buffer of a connection whose messages are lines.
#[derive(Debug)]
pub struct Frames(Lines);

impl Default for Frames {
    fn default() -> Self {
        Self(Lines::new(Limits::default().message))
    }
}

impl Frames {
    /// Adds the bytes of one or more reads, and splits them into lines. Returns the number of complete lines.
    pub fn cut(&mut self, mut bytes: &[u8]) -> usize {
        let mut count = 0;
        while !bytes.is_empty() {
            let room = self.0.room();
            let (head, tail) = bytes.split_at(room.len().min(bytes.len()));
            room[..head.len()].copy_from_slice(head);
            self.0.filled(head.len());
            bytes = tail;
            while let Some(line) = self.0.next() {
                count += usize::from(matches!(black_box(line), Line::Complete(_)));
            }
        }
        count
    }
}

/// Parses a message. Returns whether the text is a single valid message.
pub fn parse(text: &[u8]) -> bool {
    let mut parsed = wire::Parsed::default();
    let incoming = wire::parse(text, Limits::default().of_wire(), &mut parsed);
    matches!(black_box(incoming), Ok(wire::Incoming::One(Ok(_))))
}

/// State that all connections of a server share.
pub struct Rooms {
    service: Arc<Service>,
    snapshot: Arc<Snapshot>,
    client: Arc<ClientInfo>,
}

impl fmt::Debug for Rooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rooms").finish_non_exhaustive()
    }
}

impl Rooms {
    /// # Errors
    /// Returns the error of a `setup`.
    pub async fn start(server: Server) -> Result<Self, ServeError> {
        let service = Service::new(&server.start().await?);
        let snapshot = service.dispatcher.catalog.snapshot();
        Ok(Self { service, snapshot, client: Arc::default() })
    }

    /// Calls a tool. Its handler must be ready at the first poll.
    pub fn call(&self, name: &str, arguments: &str) -> Answered {
        let arguments = Some(Raw::trusted(arguments).into());
        self.dispatch(Request::CallTool { name: name.into(), arguments })
    }

    /// Reads a resource. Its handler must be ready at the first poll.
    pub fn read(&self, uri: &str) -> Answered {
        self.dispatch(Request::ReadResource { uri: uri.into() })
    }

    /// Returns the page of the tool list that begins after this cursor.
    pub fn tools(&self, cursor: Option<&str>) -> Answered {
        self.dispatch(Request::List { kind: ListKind::Tools, cursor: cursor.map(Into::into) })
    }

    /// Returns the cursor of the next page.
    pub fn next_cursor(&self, page: &Answered) -> Option<String> {
        match &page.0 {
            Ok(Done::List(page)) => self.snapshot.next_cursor(page),
            _ => None,
        }
    }

    fn dispatch(&self, request: Request<'_>) -> Answered {
        let target = request.target(&self.snapshot);
        let caller = Caller { client: self.client.clone(), ..Caller::default() };
        let dispatcher = &self.service.dispatcher;
        Answered(match dispatcher.dispatch(&self.snapshot, target, caller, request) {
            Dispatched::Ready(answer) => answer,
            Dispatched::Pending(pending) => {
                match pin!(pending).poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(Some(answer)) => answer,
                    _ => Err(Error::internal("the handler had to wait")),
                }
            }
        })
    }

    /// Writes the response into the buffer of a connection.
    pub fn encode(&self, out: &mut Vec<u8>, revision: Revision, answered: &Answered) {
        let scope = AnswerScope { revision, is_private: false };
        let id = Id::parse(Raw::trusted("1234567")).expect("a number is an id");
        answer(out, &self.service, &self.snapshot, scope, id, &answered.0);
    }
}

/// Outcome of a call, before it is encoded for a revision.
#[derive(Debug)]
pub struct Answered(OperationResult);

impl Answered {
    /// Whether the call succeeded. A tool result that reports a failure does not count as success.
    pub fn is_good(&self) -> bool {
        match &self.0 {
            Ok(Done::Tool(result)) => !result.is_error,
            other => other.is_ok(),
        }
    }
}

/// A URI template that is ready to match.
#[derive(Debug)]
pub struct ParsedTemplate(template::UriTemplate);

impl ParsedTemplate {
    /// # Errors
    /// Fails if the text is not a valid template.
    pub fn parse(text: &str) -> Result<Self, String> {
        template::UriTemplate::parse(text).map(Self)
    }

    /// Returns the number of variables in a URI, or `None` if the template does not match.
    pub fn matches(&self, uri: &str) -> Option<usize> {
        self.0.matches(uri).map(|variables| variables.into_iter().map(black_box).count())
    }
}

/// Encodes the cursor that follows a tool in a list.
pub fn write_cursor(order: i64, name: &str) -> String {
    ListCursor { order, name: name.to_owned() }.encode(ListKind::Tools)
}

/// Whether a text is a cursor of the tools.
pub fn read_cursor(text: &str) -> bool {
    black_box(ListCursor::decode(ListKind::Tools, text)).is_some()
}

/// Key that seals the state of a call, which the client keeps between two rounds of the call.
#[cfg(feature = "state-key")]
#[derive(Debug)]
pub struct Sealed(crate::ask::StateSealer);

#[cfg(feature = "state-key")]
impl Sealed {
    pub fn new(key: [u8; 32]) -> Self {
        Self(crate::ask::StateSealer::new(vec![key]).expect("there is a key"))
    }

    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub fn seal(&self, state: &[u8], bound: &[u8]) -> crate::error::Result<String> {
        self.0.seal(state, bound)
    }

    /// Returns the length of the sealed state, or `None` if it was sealed for another `bound` or with another key.
    pub fn open(&self, sealed: &str, bound: &[u8]) -> Option<usize> {
        self.0.open(sealed, bound).ok().map(|opened| black_box(opened.0).len())
    }
}
