//! The era in which each request stands alone: 2026-07-28.

use std::sync::Arc;

use super::{
    call::{PendingCall, ReplyTo},
    encode,
    legacy::{client, unknown_level},
    params::{invalid, operation},
    peer::{Asked, From, Peer, unknown_method},
    revision::Revision,
};
use crate::{
    context::logging,
    error::{Error, Kind},
    model::{ClientInfo, Level},
    wire::{Kind as JsonKind, Raw, response},
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Whether a request means to be one of this era (B2). The method name alone decides nothing for methods both eras have (C-01).
pub(super) fn claims(method: &str, meta: Option<Raw<'_>>) -> bool {
    meta.is_some_and(|it| it.members().any(|(key, _)| key == VERSION || key == CAPABILITIES))
        || matches!(method, "server/discover" | "subscriptions/listen")
}

/// The last client this connection saw. Clients say the same in each request; it is read again only when the text differs.
#[derive(Default)]
pub(crate) struct Envelopes {
    info: String,
    capabilities: String,
    client: Arc<ClientInfo>,
}

impl Envelopes {
    fn client(&mut self, info: Option<Raw<'_>>, capabilities: Raw<'_>) -> Arc<ClientInfo> {
        let text = info.map_or("", Raw::as_str);
        if self.info != text || self.capabilities != capabilities.as_str() {
            self.client = Arc::new(client(info, Some(capabilities)));
            text.clone_into(&mut self.info);
            capabilities.as_str().clone_into(&mut self.capabilities);
        }
        self.client.clone()
    }
}

/// The envelope of one request.
struct Envelope<'a> {
    version: Raw<'a>,
    capabilities: Raw<'a>,
    client: Option<Raw<'a>>,
    log_level: Option<Raw<'a>>,
}

/// The first step of the ladder: version and capabilities must be there, in whatever version (META-01).
fn envelope<'a>(meta: Option<Raw<'a>>) -> Result<Envelope<'a>, Error> {
    let Some(meta) = meta.filter(|it| it.kind() == JsonKind::Object) else {
        return Err(invalid(format_args!(
            "`_meta` must be an object with `{VERSION}` and `{CAPABILITIES}`"
        )));
    };
    let member = |key: &str, kind: JsonKind, what: &str| {
        let found = meta.get(key).ok_or_else(|| invalid(format_args!("`_meta` has no `{key}`")))?;
        if found.kind() == kind {
            Ok(found)
        } else {
            Err(invalid(format_args!("`{key}` must be {what}")))
        }
    };
    Ok(Envelope {
        version: member(VERSION, JsonKind::String, "a string")?,
        capabilities: member(CAPABILITIES, JsonKind::Object, "an object")?,
        client: meta.get(CLIENT).filter(|it| it.kind() == JsonKind::Object),
        log_level: meta.get(LOG_LEVEL),
    })
}

impl Peer {
    /// The ladder of checks, whose order a client can see (C-02).
    pub(super) fn modern_request(
        &self,
        request: &Asked<'_>,
        to: &ReplyTo,
        waiting: &mut Vec<PendingCall>,
    ) {
        let shared = &self.shared;
        let newest = Revision::MODERN[0];
        let from = match self.judge(request) {
            Ok(from) => from,
            Err(error) => return shared.error(newest, Some(request.id), &error, to),
        };
        match request.method {
            "server/discover" => self.discover(from.revision, request, to),
            "subscriptions/listen" => self.listen(from.revision, request, to),
            method if operation(method, None).is_some() => self.operate(from, request, to, waiting),
            method => shared.error(from.revision, Some(request.id), &unknown_method(method), to),
        }
    }

    fn judge(&self, request: &Asked<'_>) -> Result<From, Error> {
        let envelope = envelope(request.meta)?;
        let version = envelope.version.string().unwrap_or_default();
        let Some(revision) = Revision::parse(&version).filter(|it| it.is_modern()) else {
            let supported: Vec<_> = Revision::MODERN.iter().map(|it| it.name()).collect();
            let text =
                format!("revision `{version}` is not served; served: {}", supported.join(", "));
            let data = serde_json::json!({ "supported": supported, "requested": version });
            return Err(Error::of(Kind::UnsupportedVersion, text).with_data(data));
        };
        let log_level = match envelope.log_level {
            None => None,
            Some(it) => {
                let name = it
                    .string()
                    .ok_or_else(|| invalid(format_args!("`{LOG_LEVEL}` must be a string")))?;
                Some(Level::parse(&name).ok_or_else(|| unknown_level(&name))?)
            }
        };
        if let Some(level) = log_level {
            logging::listen(level);
        }
        let mut envelopes =
            self.shared.envelopes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(From {
            revision,
            client: envelopes.client(envelope.client, envelope.capabilities),
            log_level,
        })
    }

    fn discover(&self, revision: Revision, request: &Asked<'_>, to: &ReplyTo) {
        let (service, snapshot) = (&self.shared.service, self.shared.snapshot());
        self.shared.write(to, |out| {
            response(out, request.id, |result| {
                encode::discover(result, service, revision, &snapshot)
            });
        });
    }
}
