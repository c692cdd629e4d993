//! Client that makes all calls on one connection.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::{
    Failure, MESSAGE, Tokens,
    issuer::Issuer,
    server::{PATIENCE, Server},
};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Era {
    /// Protocol revision 2025-11-25: all calls belong to one session.
    Sessions,
    /// Protocol revision 2026-07-28: each call stands alone.
    Alone,
}

struct Connection {
    stream: TcpStream,
    /// Request line and header fields of every request.
    head: String,
    /// Issuer of the tokens, if each request carries a new one.
    issuer: Option<Issuer>,
    received: Vec<u8>,
}

struct Response {
    head: String,
    body: String,
}

pub(crate) fn call(
    server: &mut Server,
    era: Era,
    tokens: Tokens,
    calls: usize,
) -> Result<(), Failure> {
    let address = server.address.ok_or("the server listens")?;
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    );
    let issuer = server.issuer.clone();
    if let Some(issuer) = issuer.as_ref().filter(|_| tokens == Tokens::One) {
        head.push_str(&issuer.authorization());
    }
    let issuer = issuer.filter(|_| tokens == Tokens::Each);
    let mut connection = Connection { stream, head, issuer, received: Vec::new() };
    let meta = match era {
        Era::Sessions => {
            connection.begin_session()?;
            ""
        }
        Era::Alone => {
            let own =
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";
            connection.head.push_str(own);
            r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#
        }
    };
    for id in 1..=calls {
        let id = 1_000_000 + id;
        connection.post(
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"{MESSAGE}"}}{meta}}}}}"#
            ),
            MESSAGE,
        )?;
    }
    Ok(())
}

impl Connection {
    fn begin_session(&mut self) -> Result<(), Failure> {
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#;
        let response = self.post(hello, "serverInfo")?;
        let session = response.header("mcp-session-id").ok_or("there is no session")?;
        let own = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
        self.head.push_str(&own);
        self.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "")?;
        Ok(())
    }

    /// Sends a message and reads the response, which must contain `expected`.
    fn post(&mut self, body: &str, expected: &str) -> Result<Response, Failure> {
        let new = self.issuer.as_ref().map(Issuer::authorization).unwrap_or_default();
        let request = format!("{}{new}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.write_all(request.as_bytes())?;
        let response = self.response()?;
        let is_good = response.head.starts_with("HTTP/1.1 20") && response.body.contains(expected);
        if !is_good {
            let Response { head, body } = response;
            return Err(format!("`{expected}` is not in the response: {head}\n\n{body}").into());
        }
        Ok(response)
    }

    fn response(&mut self) -> Result<Response, Failure> {
        loop {
            if let Some((response, end)) = Response::read(&self.received)? {
                self.received.drain(..end);
                return Ok(response);
            }
            let mut part = [0; 16 << 10];
            match self.stream.read(&mut part)? {
                0 => return Err("the server has closed the connection".into()),
                count => self.received.extend_from_slice(&part[..count]),
            }
        }
    }
}

impl Response {
    /// Returns the first response in these bytes and the index of its end, or `None` if the response is incomplete.
    fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Failure> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let mut response =
            Self { head: String::from_utf8_lossy(&bytes[..end]).into_owned(), body: String::new() };
        let length = match response.header("content-length") {
            Some(digits) => digits.parse()?,
            None if response.head.starts_with("HTTP/1.1 202") => 0,
            None => return Err(format!("a stream instead of an answer: {}", response.head).into()),
        };
        let body = end + 4..end + 4 + length;
        let Some(text) = bytes.get(body.clone()) else { return Ok(None) };
        response.body = String::from_utf8_lossy(text).into_owned();
        Ok(Some((response, body.end)))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.filter(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1.trim()).next()
    }
}
