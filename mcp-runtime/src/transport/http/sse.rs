//! Server-sent events as bytes (WHATWG HTML, section 9.2).

use std::time::Duration;

/// A comment, which clients ignore. It shows to proxies that the connection is alive.
pub(super) const KEEP_ALIVE: &[u8] = b":\n\n";

/// Writes one event for each line of `lines`, which are messages with their newlines.
pub(super) fn messages(out: &mut Vec<u8>, lines: &[u8], event: Option<&str>) {
    for line in lines.split_inclusive(|it| *it == b'\n') {
        if let Some(event) = event {
            field(out, "event", event.as_bytes());
        }
        data(out, line);
    }
}

/// Writes one message, with its newline, as an event with an id. The client can resume after this event.
pub(super) fn numbered(out: &mut Vec<u8>, id: &str, line: &[u8]) {
    field(out, "id", id.as_bytes());
    data(out, line);
}

/// Writes an event that only has an id, after which the client can resume (SEP-1699).
pub(super) fn priming(out: &mut Vec<u8>, id: &str) {
    field(out, "id", id.as_bytes());
    out.extend_from_slice(b"data:\n\n");
}

/// Writes how long the client has to wait before it reconnects.
pub(super) fn retry(out: &mut Vec<u8>, after: Duration) {
    field(out, "retry", after.as_millis().to_string().as_bytes());
    out.push(b'\n');
}

/// Writes the event that tells a client of protocol revision 2024-11-05 where to post (rule SSE-02).
pub(super) fn endpoint(out: &mut Vec<u8>, uri: &str) {
    field(out, "event", b"endpoint");
    field(out, "data", uri.as_bytes());
    out.push(b'\n');
}

fn data(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(line);
    out.push(b'\n');
}

fn field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut out = Vec::new();
        write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn events_are_framed() {
        check(|out| messages(out, b"{}\n[]\n", None), "data: {}\n\ndata: []\n\n");
        check(|out| messages(out, b"{}\n", Some("message")), "event: message\ndata: {}\n\n");
        check(|out| numbered(out, "1-2", b"{}\n"), "id: 1-2\ndata: {}\n\n");
        check(|out| priming(out, "1-0"), "id: 1-0\ndata:\n\n");
        check(|out| retry(out, Duration::from_millis(500)), "retry: 500\n\n");
        check(|out| endpoint(out, "message?x"), "event: endpoint\ndata: message?x\n\n");
    }
}
