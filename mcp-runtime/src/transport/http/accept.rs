//! Media types that the client accepts, and that it sends.

use http::{HeaderMap, header};

use super::head::{Head, Said};

/// The two media types of an answer, and whether the client accepts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// Usual value from a client that follows the specification.
    const USUAL: &str = "application/json, text/event-stream";

    pub(super) fn said(head: &Head<'_>, headers: &HeaderMap) -> Self {
        match head.accept {
            Said { first: Some(it), is_repeated: false } if it == Self::USUAL => {
                Self { json: true, events: true }
            }
            _ => Self::of(headers),
        }
    }

    /// Parses the header. A client that sends no `Accept` accepts everything.
    fn of(headers: &HeaderMap) -> Self {
        let mut accepts = Self { json: false, events: false };
        let mut lines = headers.get_all(header::ACCEPT).iter().peekable();
        if lines.peek().is_none() {
            return Self { json: true, events: true };
        }
        for range in lines.filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(',')) {
            let mut parts = range.split(';').map(str::trim_ascii);
            let name = parts.next().unwrap_or_default();
            if parts.any(is_zero_quality) {
                continue;
            }
            let is = |it: &str| name.eq_ignore_ascii_case(it);
            accepts.json |= is("application/json") || is("application/*") || is("*/*");
            accepts.events |= is("text/event-stream") || is("text/*") || is("*/*");
        }
        accepts
    }
}

/// Whether a parameter is `q=0`, which means "not this".
fn is_zero_quality(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, value)| {
        name.trim_ascii().eq_ignore_ascii_case("q") && value.trim_ascii().parse() == Ok(0.0)
    })
}

/// Whether `Content-Type` says that the body is JSON.
pub(super) fn is_json(head: &Head<'_>) -> bool {
    const JSON: &[u8] = b"application/json";
    let said = head.content_type.first.map_or(&b""[..], |it| it.as_bytes());
    let end = memchr::memchr(b';', said).unwrap_or(said.len());
    said == JSON || said[..end].trim_ascii().eq_ignore_ascii_case(JSON)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(accept: &'static str, json: bool, events: bool) {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
        assert_eq!(Accepts::of(&headers), Accepts { json, events }, "{accept}");
    }

    #[test]
    fn types_are_read_from_accept() {
        check("application/json, text/event-stream", true, true);
        check("Application/JSON;charset=utf-8", true, false);
        check("text/event-stream", false, true);
        check("*/*;q=0.1", true, true);
        check("text/html, application/*", true, false);
        check("application/json;q=0, text/*", false, true);
        check("", false, false);
        assert_eq!(Accepts::of(&HeaderMap::new()), Accepts { json: true, events: true });
    }
}
