//! The status line and the headers of a response.

/// The head of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Headers in order: names as received, values without surrounding blanks.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The length of the head at the beginning of `bytes`, with the empty line that ends it.
    pub fn length(bytes: &[u8]) -> Option<usize> {
        bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
    }

    /// Reads a head.
    ///
    /// # Errors
    ///
    /// The first line that breaks RFC 9112.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(bytes).map_err(|error| format!("a head in UTF-8: {error}"))?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| {
            let digits = rest.get(..3)?;
            let end = rest[3..].is_empty() || rest[3..].starts_with(' ');
            end.then(|| digits.parse().ok()).flatten()
        });
        let status = status.ok_or_else(|| format!("no status line: {first:?}"))?;
        let mut headers = Vec::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) =
                line.split_once(':').ok_or_else(|| format!("no header: {line:?}"))?;
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(format!("no name of a header: {name:?}"));
            }
            if value.bytes().any(|byte| byte < b' ' && byte != b'\t') {
                return Err(format!("no value of a header: {value:?}"));
            }
            headers.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
        }
        Ok(Self { status, headers })
    }

    /// Returns the value of a header. The values of several headers with one name are joined by commas (RFC 9110).
    pub fn get(&self, name: &str) -> Option<String> {
        let named = self.headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
        let values: Vec<_> = named.map(|header| header.1.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Whether the body is a stream of events.
    pub fn is_stream(&self) -> bool {
        let kind = self.get("content-type").unwrap_or_default();
        kind.split(';').next().is_some_and(|kind| kind.trim() == "text/event-stream")
    }
}

/// Whether `byte` may be in the name of a header.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_taken_apart() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; x=y\r\nVary:\tOrigin \r\nvary: Accept\r\nempty:\r\n\r\n{}";
        let length = Head::length(text).unwrap();
        assert_eq!(&text[length..], b"{}");
        let head = Head::parse(&text[..length]).unwrap();
        assert_eq!(head.status, 200);
        assert!(head.is_stream());
        assert_eq!(head.get("VARY").as_deref(), Some("Origin, Accept"));
        assert_eq!(head.get("Empty").as_deref(), Some(""));
        assert_eq!(head.get("x"), None);
        assert_eq!(Head::length(&text[..length - 1]), None);
        assert_eq!(Head::parse(b"HTTP/1.1 202\r\n\r\n").unwrap().status, 202);
    }

    #[test]
    fn malformed_heads_are_refused() {
        let error = |text: &str| Head::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error("HTTP/1.0 200 OK\r\n\r\n"), "no status line: \"HTTP/1.0 200 OK\"");
        assert_eq!(error("HTTP/1.1 2000\r\n\r\n"), "no status line: \"HTTP/1.1 2000\"");
        assert_eq!(error("HTTP/1.1 200 OK\r\nx\r\n\r\n"), "no header: \"x\"");
        assert_eq!(error("HTTP/1.1 200 OK\r\nx : y\r\n\r\n"), "no name of a header: \"x \"");
        assert_eq!(error("HTTP/1.1 200 OK\r\nx: a\nb\r\n\r\n"), "no value of a header: \" a\\nb\"");
    }
}
