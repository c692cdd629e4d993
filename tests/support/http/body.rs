//! Framing of a body, which determines how much of the body is still to come.

use super::head::Head;

/// The part of a body that has not been read yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Number of bytes.
    Length(usize),
    /// Chunks. `Some` is the number of bytes of the current chunk that are still to come, without its line end. `None` means that a new
    /// chunk begins.
    Chunked(Option<usize>),
    /// Everything until the server closes the connection.
    UntilClose,
    /// Nothing.
    Ended,
}

impl Body {
    /// Returns the framing that `head` announces. `asked_for_head` is true if the request had the method `HEAD`.
    ///
    /// # Errors
    ///
    /// Fails if the framing contradicts itself or is not supported here.
    pub fn of(head: &Head, asked_for_head: bool) -> Result<Self, String> {
        if asked_for_head || matches!(head.status, 100..=199 | 204 | 304) {
            return Ok(Self::Ended);
        }
        match (head.get("transfer-encoding"), head.get("content-length")) {
            (Some(_), Some(_)) => Err("both transfer-encoding and content-length".into()),
            (Some(coding), None) if coding == "chunked" => Ok(Self::Chunked(None)),
            (Some(coding), None) => Err(format!("transfer-encoding {coding}")),
            (None, Some(length)) => match length.parse() {
                Ok(0) => Ok(Self::Ended),
                Ok(length) => Ok(Self::Length(length)),
                Err(_) => Err(format!("content-length {length}")),
            },
            (None, None) => Ok(Self::UntilClose),
        }
    }

    /// Whether the body has been read to its end.
    pub fn has_ended(&self) -> bool {
        *self == Self::Ended
    }

    /// Removes the bytes of the body from the beginning of `buffer`, and returns them without their framing.
    ///
    /// # Errors
    ///
    /// Fails at a malformed chunk, or at trailers after the last chunk.
    pub fn take(&mut self, buffer: &mut Vec<u8>) -> Result<Vec<u8>, String> {
        let mut taken = Vec::new();
        loop {
            match self {
                Self::Ended => return Ok(taken),
                Self::UntilClose => {
                    taken.append(buffer);
                    return Ok(taken);
                }
                Self::Length(left) => {
                    let now = buffer.len().min(*left);
                    taken.extend(buffer.drain(..now));
                    *left -= now;
                    if *left > 0 {
                        return Ok(taken);
                    }
                    *self = Self::Ended;
                }
                Self::Chunked(None) => {
                    let Some(at) = buffer.windows(2).position(|window| window == b"\r\n") else {
                        return Ok(taken);
                    };
                    let size = chunk_size(&buffer[..at])?;
                    if size > 0 {
                        buffer.drain(..at + 2);
                        *self = Self::Chunked(Some(size));
                    } else if buffer.len() < at + 4 {
                        return Ok(taken);
                    } else if &buffer[at + 2..at + 4] == b"\r\n" {
                        buffer.drain(..at + 4);
                        *self = Self::Ended;
                    } else {
                        return Err("a chunked body with trailers".into());
                    }
                }
                Self::Chunked(Some(0)) => match buffer.get(..2) {
                    None => return Ok(taken),
                    Some(b"\r\n") => {
                        buffer.drain(..2);
                        *self = Self::Chunked(None);
                    }
                    Some(other) => return Err(format!("{other:?} after a chunk")),
                },
                Self::Chunked(Some(left)) => {
                    let now = buffer.len().min(*left);
                    if now == 0 {
                        return Ok(taken);
                    }
                    taken.extend(buffer.drain(..now));
                    *left -= now;
                }
            }
        }
    }
}

fn chunk_size(line: &[u8]) -> Result<usize, String> {
    let text = String::from_utf8_lossy(line);
    let digits = text.split(';').next().unwrap_or_default().trim_end();
    usize::from_str_radix(digits, 16).map_err(|_| format!("no size of a chunk: {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &str) -> Head {
        Head::parse(format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes()).unwrap()
    }

    /// Reads `bytes` one by one. Returns the text of the body, its state, and the number of bytes left in the buffer.
    fn read(mut body: Body, bytes: &[u8]) -> Result<(String, Body, usize), String> {
        let (mut buffer, mut whole) = (Vec::new(), Vec::new());
        for byte in bytes {
            buffer.push(*byte);
            whole.extend(body.take(&mut buffer)?);
        }
        Ok((String::from_utf8(whole).unwrap(), body, buffer.len()))
    }

    #[test]
    fn the_framing_is_read_off_the_head() {
        assert_eq!(Body::of(&head("content-length: 7\r\n"), false), Ok(Body::Length(7)));
        assert_eq!(Body::of(&head("content-length: 7\r\n"), true), Ok(Body::Ended));
        assert_eq!(Body::of(&head("Content-Length: 0\r\n"), false), Ok(Body::Ended));
        assert_eq!(
            Body::of(&head("Transfer-Encoding: chunked\r\n"), false),
            Ok(Body::Chunked(None))
        );
        assert_eq!(Body::of(&head(""), false), Ok(Body::UntilClose));
        assert_eq!(Body::of(&Head { status: 204, headers: Vec::new() }, false), Ok(Body::Ended));
        for wrong in [
            "content-length: x\r\n",
            "content-length: 1\r\ncontent-length: 1\r\n",
            "transfer-encoding: gzip\r\n",
            "transfer-encoding: chunked\r\ncontent-length: 1\r\n",
        ] {
            assert!(Body::of(&head(wrong), false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_body_is_taken_as_it_arrives() {
        let whole = |body, bytes, text: &str, left| {
            assert_eq!(read(body, bytes), Ok((text.into(), Body::Ended, left)));
        };
        whole(Body::Length(2), b"{}HTTP", "{}", 4);
        whole(
            Body::Chunked(None),
            b"2\r\n{}\r\nA;x=y\r\n0123456789\r\n0\r\n\r\nH",
            "{}0123456789",
            1,
        );
        assert_eq!(read(Body::UntilClose, b"ab"), Ok(("ab".into(), Body::UntilClose, 0)));
        assert_eq!(
            read(Body::Chunked(None), b"2\r\n{"),
            Ok(("{".into(), Body::Chunked(Some(1)), 0))
        );
    }

    #[test]
    fn a_broken_chunk_is_refused() {
        assert!(read(Body::Chunked(None), b"x\r\n").unwrap_err().contains("no size of a chunk"));
        assert!(read(Body::Chunked(None), b"1\r\nab\r\n").unwrap_err().contains("after a chunk"));
        assert!(read(Body::Chunked(None), b"0\r\nx: y\r\n").unwrap_err().contains("trailers"));
    }
}
