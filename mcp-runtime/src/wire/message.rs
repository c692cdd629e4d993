//! Messages of the peer: requests, notifications, responses, batches of these, and texts that are none of them.

use std::borrow::Cow;

use super::id::Id;
use super::json::{Broken, Scanner};
use super::malformed::Malformed;
use super::names::{Doubled, Place};
use super::params::Params;
use super::raw::{Kind, Raw};

/// A JSON-RPC message, borrowed from its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message<'a> {
    Request { id: Id<'a>, method: Cow<'a, str>, params: Option<&'a Params<'a>> },
    Notification { method: Cow<'a, str>, params: Option<&'a Params<'a>> },
    Response { id: Id<'a>, result: Result<Raw<'a>, Raw<'a>> },
}

/// JSON that is no JSON-RPC message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Invalid<'a> {
    /// Id for the error response, if the text has a readable one.
    pub(crate) id: Option<Id<'a>>,
    pub(crate) reason: Cow<'static, str>,
    /// Whether to send an error response. False for a text that looks like a notification or a response, since these are never answered
    /// (rule RPC-05).
    pub(crate) answer: bool,
}

impl Invalid<'_> {
    pub(crate) fn is_long_batch(&self) -> bool {
        self.reason == LONG_BATCH
    }
}

const LONG_BATCH: &str = "the batch is too long";

/// Content of one line or body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming<'a> {
    One(Result<Message<'a>, Invalid<'a>>),
    /// At least one element, in the order of the text. The protocol revision decides whether batches are allowed.
    Batch(Vec<Result<Message<'a>, Invalid<'a>>>),
    EmptyBatch,
}

impl<'a> Incoming<'a> {
    /// Whether the text may contain a message that needs a response.
    #[cfg(feature = "http")]
    pub(crate) fn asks(&self) -> bool {
        !matches!(self, Self::One(Ok(Message::Notification { .. } | Message::Response { .. })))
    }

    /// Returns the id of the request, if this is a single request.
    #[cfg(feature = "http")]
    pub(crate) fn id(&self) -> Option<Id<'a>> {
        match self {
            Self::One(Ok(Message::Request { id, .. })) => Some(*id),
            _ => None,
        }
    }
}

/// Limits of [`parse`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Largest depth of nested arrays and objects, including the message itself and a batch around it.
    pub(crate) depth: usize,
    /// Largest number of elements of a batch. A longer batch is [`Invalid`] as a whole.
    pub(crate) batch: usize,
}

/// Storage for a parsed text, from which the messages of [`Incoming`] borrow.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are one message, which needs no place of its own"
)]
pub(crate) enum Parsed<'a> {
    One(Envelope<'a>),
    Batch(Vec<Envelope<'a>>),
    LongBatch,
}

impl Default for Parsed<'_> {
    fn default() -> Self {
        Self::One(Envelope::default())
    }
}

impl Parsed<'_> {
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

/// Reads one text: validates it and takes the envelope apart in the same pass. `parsed` must be a new value.
///
/// # Errors
///
/// Returns [`Malformed`] if the text is no JSON. JSON of the wrong shape is [`Invalid`], inside the `Ok`.
pub(crate) fn parse<'a, 'p>(
    bytes: &'a [u8],
    limits: Limits,
    parsed: &'p mut Parsed<'a>,
) -> Result<Incoming<'p>, Malformed> {
    let mut scanner = Scanner::new(bytes, limits.depth)?;
    let read = match parsed {
        Parsed::One(envelope) if scanner.peek() != Some(b'[') => envelope.read(&mut scanner),
        _ => batch(&mut scanner, limits.batch).map(|it| *parsed = it),
    };
    scanner.finish(read)?;
    Ok(parsed.open())
}

fn batch<'a>(scanner: &mut Scanner<'a>, limit: usize) -> Result<Parsed<'a>, Broken> {
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
    Ok(if too_long { Parsed::LongBatch } else { Parsed::Batch(messages) })
}

/// Members of a message that JSON-RPC defines, with any values. Other members are skipped.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    pub(super) jsonrpc: Option<Raw<'a>>,
    pub(super) id: Option<Raw<'a>>,
    pub(super) method: Option<Raw<'a>>,
    pub(super) params: Option<Params<'a>>,
    pub(super) result: Option<Raw<'a>>,
    pub(super) error: Option<Raw<'a>>,
    /// First name that the message, or an object in it, has twice.
    pub(super) doubled: Option<Doubled<'a>>,
    /// Whether the message has a member that is no part of JSON-RPC.
    has_unknown: bool,
    /// Whether the message is no object.
    is_other: bool,
}

impl<'a> Envelope<'a> {
    /// Reads the message at the cursor.
    fn read(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Broken> {
        let start = scanner.at();
        if scanner.peek() != Some(b'{') {
            self.is_other = true;
            return scanner.value().map(|_| ());
        }
        scanner.object(|scanner| self.member(scanner))?;
        if self.has_unknown
            && let Some(name) = scanner.since(start, scanner.at()).doubled_member()
        {
            scanner.note_doubled(name, Place::Message);
        }
        self.doubled = scanner.take_doubled();
        Ok(())
    }

    /// Reads the member at the cursor.
    // Inlined, because it has one caller and runs for each member of each message.
    #[inline(always)]
    fn member(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Broken> {
        // Nearly every message has these members, and nearly every serializer writes them in this form.
        let (member, name) = if scanner.passes(r#""jsonrpc":"2.0""#) {
            if self.jsonrpc.replace(Raw::VERSION).is_some() {
                scanner.note_doubled("jsonrpc".into(), Place::Message);
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
                        scanner.note_doubled("params".into(), Place::Message);
                    }
                    return self.params.insert(Params::none()).read(scanner);
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
            scanner.note_doubled(name.into(), Place::Message);
        }
        Ok(())
    }

    /// Returns the message, or the reason why the text is none.
    fn open(&self) -> Result<Message<'_>, Invalid<'_>> {
        if self.is_other {
            return Err(Invalid {
                id: None,
                reason: "a message is an object".into(),
                answer: true,
            });
        }
        let id = self.id.and_then(Id::parse);
        let invalid = |reason: Cow<'static, str>| {
            // With two ids it is unknown which of them the error response should carry.
            let id = id.filter(|_| !self.doubled.as_ref().is_some_and(|it| it.is_member("id")));
            let response = self.method.is_none() && (self.result.is_some() || self.error.is_some());
            let notification = self.method.is_some() && self.id.is_none();
            Err(Invalid { id, reason, answer: !response && !notification })
        };

        if let Some(doubled) = &self.doubled {
            return invalid(doubled.to_string().into());
        }
        let invalid = |reason: &'static str| invalid(reason.into());
        let is_ours = |it: Raw<'_>| {
            it.as_str() == "\"2.0\"" || it.string().is_some_and(|version| version == "2.0")
        };
        if !self.jsonrpc.is_some_and(is_ours) {
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
                if self
                    .params
                    .as_ref()
                    .is_some_and(|params| !matches!(params.kind(), Kind::Object | Kind::Array))
                {
                    return invalid("`params` is neither an object nor an array");
                }
                Ok(match id {
                    Some(id) => Message::Request { id, method, params: self.params.as_ref() },
                    None => Message::Notification { method, params: self.params.as_ref() },
                })
            }
            (Some(_), _, _) => invalid("a message with `method` has no `result` or `error`"),
            (None, None, None) => invalid("`method` is missing"),
            (None, Some(_), Some(_)) => invalid("a response has either `result` or `error`"),
            (None, result, error) => {
                let Some(id) = id else {
                    return invalid("a response has an `id`");
                };
                Ok(Message::Response { id, result: result.ok_or(error.unwrap_or(Raw::NULL)) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { depth: 128, batch: 3 };

    fn judge<T>(text: &str, judge: impl FnOnce(Result<Message<'_>, Invalid<'_>>) -> T) -> T {
        match parse(text.as_bytes(), LIMITS, &mut Parsed::default()) {
            Ok(Incoming::One(one)) => judge(one),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn id(text: &str) -> Id<'_> {
        Id::parse(Raw::trusted(text)).unwrap()
    }

    fn check(text: &str, expected: &Message<'_>) {
        judge(text, |one| assert_eq!(one.as_ref(), Ok(expected), "{text}"));
    }

    /// Checks that `text` is invalid. `echo` is the text of the id to answer with, empty for none.
    fn check_invalid(text: &str, echo: &str, answer: bool, reason: &str) {
        judge(text, |one| {
            let invalid = one.unwrap_err();
            assert_eq!(invalid.id.map_or("", Id::as_str), echo, "{text}");
            assert_eq!(invalid.answer, answer, "{text}");
            assert_eq!(invalid.reason, reason, "{text}");
        });
    }

    #[test]
    fn messages() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1]}}"#,
            &Message::Request {
                id: id("1"),
                method: "a".into(),
                params: Some(&Params::text(Raw::trusted(r#"{"x":[1]}"#))),
            },
        );
        check(
            " { \"params\" : [ 1 ], \"method\" : \"\\u0061\", \"x\":{}, \"id\" : \"7\", \"jsonrpc\":\"2.0\" }\r",
            &Message::Request {
                id: id("\"7\""),
                method: "a".into(),
                params: Some(&Params::text(Raw::trusted("[ 1 ]"))),
            },
        );
        check(
            r#"{"jsonrpc":"2.0","method":"n"}"#,
            &Message::Notification { method: "n".into(), params: None },
        );
        check(
            r#"{"jsonrpc":"2.0","id":"x","result":null}"#,
            &Message::Response { id: id("\"x\""), result: Ok(Raw::NULL) },
        );
        check(
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}"#,
            &Message::Response {
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
        for wrong in ["1", "null", "\"x\"", "true"] {
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
        assert!(matches!(batch[0], Ok(Message::Notification { .. })));
        assert_eq!(
            batch[1],
            Err(Invalid { id: None, reason: "a message is an object".into(), answer: true })
        );
        assert!(matches!(batch[2], Ok(Message::Request { .. })));
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
        let limits = Limits { depth: 2, batch: 1 };
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
}
