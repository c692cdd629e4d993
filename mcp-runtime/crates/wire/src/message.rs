//! JSON-RPC messages. The reading half parses requests, notifications, responses and batches, and reports texts that are none of these. The
//! writing half writes the envelope, and the caller's closures write the content.

use std::borrow::Cow;

use crate::{
    duplicates::{DuplicateName, ObjectPlace, duplicate_member},
    id::Id,
    params::RpcParams,
    raw::{JsonKind, Raw},
    scanner::{Malformed, Scanned, Scanner},
    write::ObjectWriter,
};

/// A JSON-RPC message, borrowed from its text.
#[derive(Debug, Clone, PartialEq)]
pub enum RpcMessage<'a> {
    /// A message that expects a response.
    Request {
        /// Id that the response carries.
        id: Id<'a>,
        /// Name of the method.
        method: Cow<'a, str>,
        /// The member `params`, if there is one.
        params: Option<&'a RpcParams<'a>>,
    },
    /// A message that expects no response.
    Notification {
        /// Name of the method.
        method: Cow<'a, str>,
        /// The member `params`, if there is one.
        params: Option<&'a RpcParams<'a>>,
    },
    /// The response to a request that this process has sent.
    Response {
        /// Id of the request.
        id: Id<'a>,
        /// The member `result`, or the member `error`.
        result: Result<Raw<'a>, Raw<'a>>,
    },
}

/// JSON that is not a JSON-RPC message.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid<'a> {
    /// Id for the error response, if the text has a readable one.
    pub id: Option<Id<'a>>,
    /// Description of the problem, for the peer.
    pub reason: Cow<'static, str>,
    /// Whether to send an error response. `false` for a text that looks like a notification or a response, because JSON-RPC allows no
    /// response to these.
    pub answer: bool,
}

impl Invalid<'_> {
    /// Whether the text is a batch with more messages than [`ParseLimits::batch`] allows.
    pub fn is_long_batch(&self) -> bool {
        self.reason == LONG_BATCH
    }
}

const LONG_BATCH: &str = "the batch is too long";

/// Content of one line of stdio or of one HTTP body.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming<'a> {
    /// A single message.
    One(Result<RpcMessage<'a>, Invalid<'a>>),
    /// At least one element, in the order of the text. The protocol revision decides whether batches are allowed.
    Batch(Vec<Result<RpcMessage<'a>, Invalid<'a>>>),
    /// An empty array.
    EmptyBatch,
}

impl<'a> Incoming<'a> {
    /// Whether the text may contain a message that needs a response.
    #[inline]
    pub fn asks(&self) -> bool {
        !matches!(
            self,
            Self::One(Ok(RpcMessage::Notification { .. } | RpcMessage::Response { .. }))
        )
    }

    /// Returns the id of the request, if this is a single request.
    #[inline]
    pub fn id(&self) -> Option<Id<'a>> {
        match self {
            Self::One(Ok(RpcMessage::Request { id, .. })) => Some(*id),
            _ => None,
        }
    }
}

/// Limits of [`parse`].
#[derive(Debug, Clone, Copy)]
pub struct ParseLimits {
    /// Maximum depth of nested arrays and objects, including the message itself and a batch around it.
    pub depth: usize,
    /// Maximum number of elements of a batch. A longer batch is [`Invalid`] as a whole.
    pub batch: usize,
}

/// Storage for a parsed text, from which the messages of [`Incoming`] borrow.
#[derive(Debug, Default)]
pub struct Parsed<'a>(ParsedText<'a>);

/// Content of [`Parsed`].
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are one message, which needs no place of its own"
)]
pub(crate) enum ParsedText<'a> {
    One(Envelope<'a>),
    Batch(Vec<Envelope<'a>>),
    LongBatch,
}

impl Default for ParsedText<'_> {
    #[inline]
    fn default() -> Self {
        Self::One(Envelope::default())
    }
}

impl ParsedText<'_> {
    fn open(&self) -> Incoming<'_> {
        match self {
            Self::One(envelope) => Incoming::One(envelope.open()),
            Self::Batch(all) if all.is_empty() => Incoming::EmptyBatch,
            Self::Batch(all) => Incoming::Batch(all.iter().map(Envelope::open).collect()),
            Self::LongBatch => {
                Incoming::One(Err(Invalid { id: None, reason: LONG_BATCH.into(), answer: true }))
            }
        }
    }
}

impl<'a> Parsed<'a> {
    /// Returns the content, for tests of details that [`Incoming`] does not expose.
    #[cfg(test)]
    pub(crate) fn text(&self) -> &ParsedText<'a> {
        &self.0
    }
}

/// UTF-8 byte order mark. Clients on .NET send it at the start of a stream, and some before each message.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses one text, without the byte order mark that it may begin with (RFC 8259, section 8.1). The same pass validates the text and finds
/// the members of the envelope. `parsed` must be a new [`Parsed`].
///
/// # Errors
///
/// Returns [`Malformed`] if the text is not JSON. JSON of the wrong shape is returned as [`Invalid`] inside the `Ok`.
pub fn parse<'a, 'p>(
    bytes: &'a [u8],
    limits: ParseLimits,
    parsed: &'p mut Parsed<'a>,
) -> Result<Incoming<'p>, Malformed> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut scanner = Scanner::new(bytes, limits.depth)?;
    let read = match &mut parsed.0 {
        ParsedText::One(envelope) if scanner.peek() != Some(b'[') => envelope.read(&mut scanner),
        text => batch(&mut scanner, limits.batch).map(|batch| *text = batch),
    };
    scanner.finish(read)?;
    Ok(parsed.0.open())
}

fn batch<'a>(scanner: &mut Scanner<'a>, limit: usize) -> Scanned<ParsedText<'a>> {
    let mut messages = Vec::new();
    let mut too_long = false;
    scanner.array(|scanner| {
        if messages.len() < limit {
            let mut envelope = Envelope::default();
            envelope.read(scanner)?;
            messages.push(envelope);
        } else {
            too_long = true;
            scanner.value()?;
        }
        Ok(())
    })?;
    Ok(if too_long { ParsedText::LongBatch } else { ParsedText::Batch(messages) })
}

/// Members of a message that JSON-RPC defines. Their values have not been checked, and other members are skipped.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) jsonrpc: Option<Raw<'a>>,
    pub(crate) id: Option<Raw<'a>>,
    pub(crate) method: Option<Raw<'a>>,
    pub(crate) params: Option<RpcParams<'a>>,
    pub(crate) result: Option<Raw<'a>>,
    pub(crate) error: Option<Raw<'a>>,
    /// First name that occurs twice in the message or in an object of the message.
    pub(crate) duplicate: Option<DuplicateName<'a>>,
    /// Whether the message has a member that JSON-RPC does not define.
    has_unknown: bool,
    /// Whether the message is a JSON value other than an object.
    is_other: bool,
}

impl<'a> Envelope<'a> {
    /// Reads the message at the cursor.
    fn read(&mut self, scanner: &mut Scanner<'a>) -> Scanned<()> {
        let start = scanner.at();
        if scanner.peek() != Some(b'{') {
            self.is_other = true;
            return scanner.value().map(|_| ());
        }
        scanner.object(|scanner| self.member(scanner))?;
        if self.has_unknown
            && let Some(name) = duplicate_member(scanner.since(start, scanner.at()))
        {
            scanner.note_duplicate(name, ObjectPlace::Message);
        }
        self.duplicate = scanner.take_duplicate();
        Ok(())
    }

    /// Reads the member at the cursor.
    // Inlined, because it has one caller and runs for each member of each message.
    #[inline(always)]
    fn member(&mut self, scanner: &mut Scanner<'a>) -> Scanned<()> {
        // Nearly every message has these members, and nearly every serializer writes them in exactly this form. So the text is first
        // compared with this form, which is cheaper than scanning a name.
        let (member, name) = if scanner.passes(r#""jsonrpc":"2.0""#) {
            if self.jsonrpc.replace(Raw::VERSION).is_some() {
                scanner.note_duplicate("jsonrpc".into(), ObjectPlace::Message);
            }
            return Ok(());
        } else if scanner.passes(r#""id":"#) {
            scanner.space();
            (&mut self.id, "id")
        } else if scanner.passes(r#""method":"#) {
            scanner.space();
            (&mut self.method, "method")
        } else {
            match &*scanner.key()? {
                "params" => {
                    if self.params.is_some() {
                        scanner.note_duplicate("params".into(), ObjectPlace::Message);
                    }
                    return self.params.insert(RpcParams::none()).read(scanner);
                }
                "jsonrpc" => (&mut self.jsonrpc, "jsonrpc"),
                "id" => (&mut self.id, "id"),
                "method" => (&mut self.method, "method"),
                "result" => (&mut self.result, "result"),
                "error" => (&mut self.error, "error"),
                _ => {
                    self.has_unknown = true;
                    return scanner.value().map(|_| ());
                }
            }
        };
        if member.replace(scanner.value()?).is_some() {
            scanner.note_duplicate(name.into(), ObjectPlace::Message);
        }
        Ok(())
    }

    /// Returns the message, or the reason why the text is not a message.
    fn open(&self) -> Result<RpcMessage<'_>, Invalid<'_>> {
        if self.is_other {
            return Err(Invalid {
                id: None,
                reason: "a message is an object".into(),
                answer: true,
            });
        }
        let id = self.id.and_then(Id::parse);
        let invalid = |reason: Cow<'static, str>| {
            // If the message has two ids, it is unknown which id the error response should carry.
            let id =
                id.filter(|_| !self.duplicate.as_ref().is_some_and(|name| name.is_member("id")));
            let response = self.method.is_none() && (self.result.is_some() || self.error.is_some());
            let notification = self.method.is_some() && self.id.is_none();
            Err(Invalid { id, reason, answer: !response && !notification })
        };

        if let Some(duplicate) = &self.duplicate {
            return invalid(duplicate.to_string().into());
        }
        let invalid = |reason: &'static str| invalid(reason.into());
        let is_version_2 = |version: Raw<'_>| {
            version.as_str() == "\"2.0\"" || version.string().is_some_and(|text| text == "2.0")
        };
        if !self.jsonrpc.is_some_and(is_version_2) {
            return invalid("`jsonrpc` is not \"2.0\"");
        }
        if self.id.is_some() && id.is_none() {
            return invalid("`id` is neither a string nor an integer");
        }
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => {
                let Some(method) = method.string() else {
                    return invalid("`method` is not a string");
                };
                if self.params.as_ref().is_some_and(|params| {
                    !matches!(params.kind(), JsonKind::Object | JsonKind::Array)
                }) {
                    return invalid("`params` is neither an object nor an array");
                }
                Ok(match id {
                    Some(id) => RpcMessage::Request { id, method, params: self.params.as_ref() },
                    None => RpcMessage::Notification { method, params: self.params.as_ref() },
                })
            }
            (Some(_), _, _) => invalid("a message with `method` has no `result` or `error`"),
            (None, None, None) => invalid("`method` is missing"),
            (None, Some(_), Some(_)) => invalid("a response has either `result` or `error`"),
            (None, result, error) => {
                let Some(id) = id else {
                    return invalid("a response has an `id`");
                };
                Ok(RpcMessage::Response { id, result: result.ok_or(error.unwrap_or(Raw::NULL)) })
            }
        }
    }
}

/// Text before the id of a response.
const BEFORE_ID: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
/// Text between the id and the result.
const BEFORE_RESULT: &[u8] = br#","result":"#;

/// Writes a response whose result is an object, as every result in MCP is.
pub fn response(out: &mut Vec<u8>, id: Id<'_>, result: impl FnOnce(&mut ObjectWriter<'_>)) {
    out.reserve(BEFORE_ID.len() + id.as_str().len() + BEFORE_RESULT.len() + 64);
    out.extend_from_slice(BEFORE_ID);
    out.extend_from_slice(id.as_str().as_bytes());
    out.extend_from_slice(BEFORE_RESULT);
    result(&mut ObjectWriter::begin(out));
    out.push(b'}');
}

/// Writes an error response. A missing id is written as `null`, or left out if `omit_id` is set, because protocol revisions differ in this.
pub fn error(
    out: &mut Vec<u8>,
    id: Option<Id<'_>>,
    code: i64,
    message: &str,
    data: Option<Raw<'_>>,
    omit_id: bool,
) {
    let mut response = begin_message(out);
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
pub fn notification(out: &mut Vec<u8>, method: &str, params: impl FnOnce(&mut ObjectWriter<'_>)) {
    let mut message = begin_message(out);
    message.str("method", method);
    write_params(&mut message, params);
}

/// Writes a request. Empty `params` are left out.
pub fn request(
    out: &mut Vec<u8>,
    id: Id<'_>,
    method: &str,
    params: impl FnOnce(&mut ObjectWriter<'_>),
) {
    let mut message = begin_message(out);
    message.raw("id", id.as_str()).str("method", method);
    write_params(&mut message, params);
}

/// Begins a message with the member that all messages have.
#[inline]
fn begin_message(out: &mut Vec<u8>) -> ObjectWriter<'_> {
    let mut message = ObjectWriter::begin(out);
    message.word("jsonrpc", "2.0");
    message
}

/// Writes the member `params`, unless it would be empty.
fn write_params(message: &mut ObjectWriter<'_>, write: impl FnOnce(&mut ObjectWriter<'_>)) {
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

    const LIMITS: ParseLimits = ParseLimits { depth: 128, batch: 3 };

    fn judge<T>(text: &str, judge: impl FnOnce(Result<RpcMessage<'_>, Invalid<'_>>) -> T) -> T {
        match parse(text.as_bytes(), LIMITS, &mut Parsed::default()) {
            Ok(Incoming::One(one)) => judge(one),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn id(text: &str) -> Id<'_> {
        Id::parse(Raw::trusted(text)).unwrap()
    }

    fn check(text: &str, expected: &RpcMessage<'_>) {
        judge(text, |one| assert_eq!(one.as_ref(), Ok(expected), "{text}"));
    }

    /// Checks that `text` is invalid. `echo` is the id of the error response as text, or empty if there is no id.
    fn check_invalid(text: &str, echo: &str, answer: bool, reason: &str) {
        judge(text, |one| {
            let invalid = one.unwrap_err();
            assert_eq!(invalid.id.map_or("", Id::as_str), echo, "{text}");
            assert_eq!(invalid.answer, answer, "{text}");
            assert_eq!(invalid.reason, reason, "{text}");
        });
    }

    #[test]
    fn messages_are_read() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1]}}"#,
            &RpcMessage::Request {
                id: id("1"),
                method: "a".into(),
                params: Some(&RpcParams::text(Raw::trusted(r#"{"x":[1]}"#))),
            },
        );
        check(
            " { \"params\" : [ 1 ], \"method\" : \"\\u0061\", \"x\":{}, \"id\" : \"7\", \"jsonrpc\":\"2.0\" }\r",
            &RpcMessage::Request {
                id: id("\"7\""),
                method: "a".into(),
                params: Some(&RpcParams::text(Raw::trusted("[ 1 ]"))),
            },
        );
        check(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"n\"}",
            &RpcMessage::Notification { method: "n".into(), params: None },
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null}"#,
            &RpcMessage::Request {
                id: id("1"),
                method: "a".into(),
                params: Some(&RpcParams::NONE),
            },
        );
        check(
            r#"{"jsonrpc":"2.0","id":"x","result":null}"#,
            &RpcMessage::Response { id: id("\"x\""), result: Ok(Raw::NULL) },
        );
        check(
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}"#,
            &RpcMessage::Response {
                id: id("2"),
                result: Err(Raw::trusted(r#"{"code":1,"message":"m"}"#)),
            },
        );
    }

    #[test]
    fn invalid_requests_are_answered_with_their_id() {
        let version = "`jsonrpc` is not \"2.0\"";
        check_invalid(r#"{"id":1,"method":"a"}"#, "1", true, version);
        check_invalid(r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "1", true, version);
        check_invalid(r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#, "1", true, version);
        check_invalid(
            r#"{"jsonrpc":"2.0","id":"b","method":1}"#,
            "\"b\"",
            true,
            "`method` is not a string",
        );
        check_invalid(r#"{"jsonrpc":"2.0","id":1}"#, "1", true, "`method` is missing");
        for wrong in ["null", "1.5", "1e3", "true", "[1]", "{}"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{wrong},"method":"a"}}"#);
            check_invalid(&text, "", true, "`id` is neither a string nor an integer");
        }
        for wrong in ["1", "\"x\"", "true"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{wrong}}}"#);
            check_invalid(&text, "1", true, "`params` is neither an object nor an array");
        }
        let mixed = "a message with `method` has no `result` or `error`";
        check_invalid(r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#, "1", true, mixed);
        check_invalid(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"a"}"#,
            "1",
            true,
            "`method` appears twice",
        );
        check_invalid(
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#,
            "",
            true,
            "`id` appears twice",
        );
    }

    #[test]
    fn json_that_is_no_object_is_answered_without_an_id() {
        for text in ["1", "\"a\"", "null", "true"] {
            check_invalid(text, "", true, "a message is an object");
        }
        check_invalid("{}", "", true, "`jsonrpc` is not \"2.0\"");
    }

    #[test]
    fn invalid_notifications_and_responses_are_not_answered() {
        check_invalid(r#"{"method":"a"}"#, "", false, "`jsonrpc` is not \"2.0\"");
        check_invalid(r#"{"jsonrpc":"2.0","method":7}"#, "", false, "`method` is not a string");
        let params = "`params` is neither an object nor an array";
        check_invalid(r#"{"jsonrpc":"2.0","method":"a","params":1}"#, "", false, params);
        let both = "a response has either `result` or `error`";
        check_invalid(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, "1", false, both);
        check_invalid(r#"{"jsonrpc":"2.0","result":1}"#, "", false, "a response has an `id`");
        let id = "`id` is neither a string nor an integer";
        check_invalid(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "", false, id);
        check_invalid(
            r#"{"jsonrpc":"2.0","id":1,"id":1,"result":1}"#,
            "",
            false,
            "`id` appears twice",
        );
    }

    #[test]
    fn batches_keep_their_order_and_judge_each_element() {
        let text =
            r#" [ {"jsonrpc":"2.0","method":"n"} , [] , {"jsonrpc":"2.0","id":1,"method":"a"} ] "#;
        let mut parsed = Parsed::default();
        let Ok(Incoming::Batch(batch)) = parse(text.as_bytes(), LIMITS, &mut parsed) else {
            panic!()
        };
        assert!(matches!(batch[0], Ok(RpcMessage::Notification { .. })));
        assert_eq!(
            batch[1],
            Err(Invalid { id: None, reason: "a message is an object".into(), answer: true })
        );
        assert!(matches!(batch[2], Ok(RpcMessage::Request { .. })));
        assert_eq!(parse(b"[ ]", LIMITS, &mut Parsed::default()), Ok(Incoming::EmptyBatch));
        check_invalid("[1,2,3,4]", "", true, "the batch is too long");
    }

    #[test]
    fn text_that_is_no_json_is_malformed_wherever_it_breaks() {
        for text in [
            "",
            "{",
            "{}{}",
            "[{}",
            "[1,2,3,4,]",
            r#"{"jsonrpc":"2.0","method":"a","params":{"x":}}"#,
        ] {
            assert!(
                matches!(
                    parse(text.as_bytes(), LIMITS, &mut Parsed::default()),
                    Err(Malformed::Syntax { .. })
                ),
                "{text}"
            );
        }
        let limits = ParseLimits { depth: 2, batch: 1 };
        let parsed = &mut Parsed::default;
        assert!(parse(br#"{"params":{"a":1}}"#, limits, &mut parsed()).is_ok());
        assert!(matches!(
            parse(br#"{"params":{"a":[]}}"#, limits, &mut parsed()),
            Err(Malformed::TooDeep { .. })
        ));
        assert!(matches!(
            parse(br#"[{"params":[]}]"#, limits, &mut parsed()),
            Err(Malformed::TooDeep { .. })
        ));
    }

    fn check_written(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut out = b">".to_vec();
        write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!(">{expected}"));
    }

    #[test]
    fn messages_are_written() {
        check_written(
            |out| {
                response(out, id("\"7\""), |result| {
                    result.bool("ok", true);
                });
            },
            r#"{"jsonrpc":"2.0","id":"7","result":{"ok":true}}"#,
        );
        check_written(
            |out| response(out, id("7"), |_| {}),
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        );
        check_written(
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
        check_written(
            |out| error(out, None, -32700, "m", None, false),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
        );
        check_written(
            |out| error(out, None, -32700, "m", None, true),
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#,
        );
        check_written(
            |out| {
                notification(out, "n", |params| {
                    params.u64("p", 1);
                });
            },
            r#"{"jsonrpc":"2.0","method":"n","params":{"p":1}}"#,
        );
        check_written(|out| notification(out, "n", |_| {}), r#"{"jsonrpc":"2.0","method":"n"}"#);
        check_written(
            |out| request(out, id("3"), "ping", |_| {}),
            r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
        );
    }
}
