//! Writing JSON-RPC messages: the envelope around the content that other modules write.

use super::id::Id;
use super::raw::Raw;
use super::write::Object;

/// Text before the id of a response.
const ID: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
/// Text between the id and the result.
const RESULT: &[u8] = br#","result":"#;

/// Writes a response whose result is an object, as every result in MCP is.
pub(crate) fn response(out: &mut Vec<u8>, id: Id<'_>, result: impl FnOnce(&mut Object<'_>)) {
    out.reserve(ID.len() + id.as_str().len() + RESULT.len() + 64);
    out.extend_from_slice(ID);
    out.extend_from_slice(id.as_str().as_bytes());
    out.extend_from_slice(RESULT);
    result(&mut Object::begin(out));
    out.push(b'}');
}

/// Like [`response`], for a result that may fail.
///
/// # Errors
///
/// Returns the error of `result`. Nothing is written then.
#[cfg(test)]
pub(crate) fn try_response<E>(
    out: &mut Vec<u8>,
    id: Id<'_>,
    result: impl FnOnce(&mut Object<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    let mut done = Ok(());
    response(out, id, |object| done = result(object));
    if done.is_err() {
        out.truncate(start);
    }
    done
}

/// Writes an error response. A missing id is written as `null`, or left out if the protocol revision requires that (rule RPC-12).
pub(crate) fn error(
    out: &mut Vec<u8>,
    id: Option<Id<'_>>,
    code: i64,
    message: &str,
    data: Option<Raw<'_>>,
    omit_id: bool,
) {
    let mut response = envelope(out);
    match id {
        Some(id) => {
            response.raw("id", id.as_str());
        }
        None if omit_id => {}
        None => {
            response.null("id");
        }
    }
    let mut error = response.object("error");
    error.i64("code", code).str("message", message);
    if let Some(data) = data {
        error.raw("data", data.as_str());
    }
}

/// Writes a notification. Empty `params` are left out.
pub(crate) fn notification(out: &mut Vec<u8>, method: &str, params: impl FnOnce(&mut Object<'_>)) {
    let mut message = envelope(out);
    message.str("method", method);
    params_of(&mut message, params);
}

/// Writes a request. Empty `params` are left out.
pub(crate) fn request(
    out: &mut Vec<u8>,
    id: Id<'_>,
    method: &str,
    params: impl FnOnce(&mut Object<'_>),
) {
    let mut message = envelope(out);
    message.raw("id", id.as_str()).str("method", method);
    params_of(&mut message, params);
}

fn envelope(out: &mut Vec<u8>) -> Object<'_> {
    let mut message = Object::begin(out);
    message.word("jsonrpc", "2.0");
    message
}

fn params_of(message: &mut Object<'_>, write: impl FnOnce(&mut Object<'_>)) {
    let before = message.position();
    let mut params = message.object("params");
    write(&mut params);
    let empty = params.is_empty();
    params.end();
    if empty {
        message.back_to(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut out = b">".to_vec();
        write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!(">{expected}"));
    }

    fn id(text: &str) -> Id<'_> {
        Id::parse(Raw::trusted(text)).unwrap()
    }

    #[test]
    fn messages() {
        check(
            |out| {
                response(out, id("\"7\""), |result| {
                    result.bool("ok", true);
                });
            },
            r#"{"jsonrpc":"2.0","id":"7","result":{"ok":true}}"#,
        );
        check(|out| response(out, id("7"), |_| {}), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        check(
            |out| {
                error(
                    out,
                    Some(id("1")),
                    -32601,
                    "no \"x\"",
                    Some(Raw::trusted("{\"a\":1}")),
                    true,
                );
            },
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no \"x\"","data":{"a":1}}}"#,
        );
        check(
            |out| error(out, None, -32700, "m", None, false),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
        );
        check(
            |out| error(out, None, -32700, "m", None, true),
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#,
        );
        check(
            |out| {
                notification(out, "n", |params| {
                    params.u64("p", 1);
                });
            },
            r#"{"jsonrpc":"2.0","method":"n","params":{"p":1}}"#,
        );
        check(|out| notification(out, "n", |_| {}), r#"{"jsonrpc":"2.0","method":"n"}"#);
        check(
            |out| request(out, id("3"), "ping", |_| {}),
            r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
        );
    }

    #[test]
    fn a_result_that_fails_leaves_no_trace() {
        let write = |fails: bool| {
            move |out: &mut Vec<u8>| {
                let done = try_response(out, id("1"), |result| {
                    result.u64("a", 1);
                    if fails { Err(()) } else { Ok(()) }
                });
                assert_eq!(done.is_err(), fails);
            }
        };
        check(write(true), "");
        check(write(false), r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#);
    }
}
