//! Decides which conversation a message over HTTP belongs to (rule B2). One endpoint serves both eras at once.

use mcp_runtime_wire::{Incoming, RpcMessage, RpcParams};

use super::{modern::RequestMeta, revision::Revision};

/// Header that names the protocol revision.
pub(crate) const VERSION_HEADER: &str = "mcp-protocol-version";

/// Conversation that a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Message of the modern era, without a session.
    Modern,
    /// Request of the modern era whose answer is a stream of events.
    Listen,
    /// Request that begins a session.
    Initialize,
    /// Message of the session that its header names.
    Session,
}

/// Returns the route of a message. A message is modern if its version header names a modern or an unknown revision. A request is modern too
/// if it claims to be.
pub(crate) fn route(incoming: &Incoming<'_>, version: Option<&[u8]>) -> Route {
    let by_header = version.is_some_and(|said| {
        let named = Revision::ALL.into_iter().find(|it| it.name().as_bytes() == said);
        named.is_none_or(Revision::is_modern)
    });
    match incoming {
        Incoming::One(Ok(RpcMessage::Request { method, params, .. })) => {
            let is_modern = by_header || {
                let meta = params.and_then(RpcParams::meta);
                RequestMeta::read(meta).claims(method)
            };
            match (is_modern, &**method) {
                (true, "subscriptions/listen") => Route::Listen,
                (true, _) => Route::Modern,
                (false, "initialize") => Route::Initialize,
                (false, _) => Route::Session,
            }
        }
        _ if by_header => Route::Modern,
        _ => Route::Session,
    }
}

#[cfg(test)]
mod tests {
    use mcp_runtime_wire as wire;

    use super::*;

    fn check(message: &str, version: Option<&str>, expected: Route) {
        let (limits, mut parsed) =
            (wire::ParseLimits { depth: 9, batch: 9 }, wire::Parsed::default());
        let incoming = wire::parse(message.as_bytes(), limits, &mut parsed).unwrap();
        assert_eq!(route(&incoming, version.map(str::as_bytes)), expected, "{message} {version:?}");
    }

    #[test]
    fn the_era_is_decided_for_each_message() {
        let modern = Revision::MODERN[0].name();
        let legacy = Revision::NEWEST_LEGACY.name();
        let request = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        let claiming = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{modern}"}}}}}}"#
        );
        check(&claiming, None, Route::Modern);
        check(&claiming.replace("_meta", "\\u005fmeta"), None, Route::Modern);
        check(&claiming, Some(legacy), Route::Modern);
        check(&request("initialize"), None, Route::Initialize);
        check(&request("initialize"), Some(legacy), Route::Initialize);
        check(&request("initialize"), Some(modern), Route::Modern);
        check(&request("tools/list"), None, Route::Session);
        check(&request("tools/list"), Some("v9"), Route::Modern);
        check(&request("server/discover"), None, Route::Modern);
        check(&request("subscriptions/listen"), None, Route::Listen);
        check(r#"{"jsonrpc":"2.0","method":"n"}"#, None, Route::Session);
        check(r#"{"jsonrpc":"2.0","method":"n"}"#, Some(modern), Route::Modern);
        check("[]", Some(legacy), Route::Session);
        check("[]", Some(modern), Route::Modern);
    }
}
