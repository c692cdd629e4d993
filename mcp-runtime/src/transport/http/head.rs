use http::{HeaderMap, HeaderValue, header};

use super::legacy::SESSION;
use crate::protocol::VERSION_HEADER;

/// Headers of a request that decide how it is handled, found in one pass.
#[derive(Default)]
pub(super) struct Head<'a> {
    pub(super) host: Said<'a>,
    pub(super) origin: Said<'a>,
    pub(super) accept: Said<'a>,
    pub(super) content_type: Said<'a>,
    pub(super) session: Said<'a>,
    pub(super) version: Said<'a>,
    /// Approximate number of bytes that the headers had on the wire.
    pub(super) size: usize,
}

/// First value of a header, and whether there are more.
#[derive(Clone, Copy, Default)]
pub(super) struct Said<'a> {
    pub(super) first: Option<&'a HeaderValue>,
    pub(super) is_repeated: bool,
}

impl<'a> Said<'a> {
    fn say(&mut self, value: &'a HeaderValue) {
        match self.first {
            None => self.first = Some(value),
            Some(_) => self.is_repeated = true,
        }
    }
}

impl<'a> Head<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let mut head = Self::default();
        for (name, value) in headers {
            head.size += name.as_str().len() + value.len() + 4;
            // Names that are in the library's table are compared as numbers, the others as text.
            let said = match name {
                it if *it == header::HOST => &mut head.host,
                it if *it == header::CONTENT_TYPE => &mut head.content_type,
                it if *it == header::ACCEPT => &mut head.accept,
                it if *it == header::CONTENT_LENGTH => continue,
                it if *it == header::ORIGIN => &mut head.origin,
                it if it.as_str() == SESSION => &mut head.session,
                it if it.as_str() == VERSION_HEADER => &mut head.version,
                _ => continue,
            };
            said.say(value);
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_once_or_more() {
        let mut headers = HeaderMap::new();
        headers.append("host", HeaderValue::from_static("a"));
        headers.append("Mcp-Session-Id", HeaderValue::from_static("b"));
        headers.append("x", HeaderValue::from_static("c"));
        headers.append("MCP-Protocol-Version", HeaderValue::from_static("d"));
        headers.append("mcp-protocol-version", HeaderValue::from_static("e"));
        let head = Head::of(&headers);
        assert_eq!(head.host.first.unwrap(), "a");
        assert_eq!(head.session.first.unwrap(), "b");
        assert_eq!(head.version.first.unwrap(), "d");
        assert!(head.version.is_repeated && !head.session.is_repeated);
        assert!(head.accept.first.is_none() && head.origin.first.is_none());
        assert_eq!(head.size, 4 + 14 + 1 + 20 + 20 + 5 + 5 * 4);
    }
}
