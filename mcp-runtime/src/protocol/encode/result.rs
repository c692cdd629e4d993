//! Encoding of errors, of results without content, and of members that several results share: `resultType`, `_meta` and the cache fields.

use mcp_runtime_wire::{self as wire, Id, ObjectWriter, Raw};

use crate::{
    error::{Error, ErrorKind},
    model::Meta,
    protocol::{revision::Revision, service::Service},
};

/// Time for which clients may cache a list that cannot change, in milliseconds.
const STATIC_LIST_MS: u64 = 300_000;

/// Protocol revision in which an answer is encoded, and whether the answer is for one client only.
#[derive(Clone, Copy)]
pub(crate) struct AnswerScope {
    pub(crate) revision: Revision,
    /// Whether a cache must not give the answer to other clients.
    pub(crate) is_private: bool,
}

/// Logs an internal error, because its message is not sent to the client. Do not call this function while a message is being written: the
/// outbox is locked then, and a `tracing` subscriber may run code that takes the same lock.
pub(in crate::protocol) fn log_internal(error: &Error) {
    if error.kind() == ErrorKind::Internal {
        tracing::error!("{}", error.message());
    }
}

/// Writes the response to a request that has failed.
pub(in crate::protocol) fn error(
    out: &mut Vec<u8>,
    revision: Revision,
    id: Option<Id<'_>>,
    error: &Error,
) {
    let kind = error.kind();
    let message = if kind == ErrorKind::Internal { "internal error" } else { error.message() };
    let data = error.data().filter(|_| kind != ErrorKind::Internal).map(Raw::trusted);
    let omit_id = revision.features().omits_unknown_id;
    wire::error(out, id, revision.code(kind), message, data, omit_id);
}

/// Returns the error response to a message that was refused before it reached a `Peer`. Without a `revision`, the response has the form of
/// the newest legacy revision.
#[cfg(feature = "http")]
pub(crate) fn unread(revision: Option<Revision>, id: Option<Id<'_>>, error: &Error) -> Vec<u8> {
    let mut out = Vec::new();
    self::error(&mut out, revision.unwrap_or(Revision::NEWEST_LEGACY), id, error);
    out
}

/// Writes an empty result. In the modern era it has the members that every result has.
pub(in crate::protocol) fn empty(
    out: &mut Vec<u8>,
    service: &Service,
    revision: Revision,
    id: Id<'_>,
) {
    wire::response(out, id, |result| {
        result_type(result, revision, "complete");
        meta(result, service, revision, None);
    });
}

/// Writes the empty result that ends a listen stream.
pub(in crate::protocol) fn listen_result(
    result: &mut ObjectWriter<'_>,
    service: &Service,
    key: &'static str,
    id: Id<'_>,
) {
    result.str("resultType", "complete");
    let mut meta = result.object("_meta");
    meta.raw(key, id.as_str());
    meta.raw("io.modelcontextprotocol/serverInfo", &service.server_info);
}

/// Writes `resultType`, which only the modern era has.
#[inline]
pub(super) fn result_type(result: &mut ObjectWriter<'_>, revision: Revision, name: &'static str) {
    if revision.is_modern() {
        result.word("resultType", name);
    }
}

/// Writes `_meta` of a result: the author's entries and, in the modern era, `serverInfo` (rule META-05).
#[inline]
pub(super) fn meta(
    result: &mut ObjectWriter<'_>,
    service: &Service,
    revision: Revision,
    of_author: Option<&Meta>,
) {
    let of_author = of_author.filter(|meta| !meta.is_empty());
    if !revision.is_modern() && of_author.is_none() {
        return;
    }
    let mut meta = result.object("_meta");
    if revision.is_modern() {
        meta.raw("io.modelcontextprotocol/serverInfo", &service.server_info);
    }
    entries(&mut meta, of_author);
}

/// Writes the author's own entries of a `_meta`.
pub(super) fn entries(meta: &mut ObjectWriter<'_>, of_author: Option<&Meta>) {
    for (key, value) in of_author.iter().flat_map(|meta| &meta.0) {
        let _ = wire::write::value(meta.given_key(key), value);
    }
}

/// Writes the cache fields, which some results of the modern era are required to have (rule CACHE-01).
pub(super) fn cache(result: &mut ObjectWriter<'_>, revision: Revision, ttl_ms: u64, public: bool) {
    if revision.is_modern() {
        result.u64("ttlMs", ttl_ms).str("cacheScope", if public { "public" } else { "private" });
    }
}

/// Writes the cache fields of a list. A list that can change may become stale at any time, so its lifetime is zero. Caches may share a list
/// between clients only if the scope is not private.
pub(super) fn list_cache(result: &mut ObjectWriter<'_>, service: &Service, scope: AnswerScope) {
    let changes = service.dispatcher.catalog.is_dynamic();
    let ttl_ms = if changes { 0 } else { STATIC_LIST_MS };
    cache(result, scope.revision, ttl_ms, !scope.is_private);
}
