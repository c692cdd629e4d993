//! Modern era, in which each request is self-contained: protocol revision 2026-07-28.

use std::sync::Arc;

use super::{
    encode,
    legacy::{client, level},
    method::{Method, check_client, invalid},
    peer::Peer,
    request::{ClientRequest, Terms, unknown_method},
    revision::Revision,
    tasks::TaskMethod,
    turn::{Received, RefusalStatus},
};
use crate::{
    call::context::logging,
    error::{Error, Kind, shown},
    limits::Limit,
    model::ClientInfo,
    wire::{Kind as JsonKind, Known, Raw, USUAL_META, response},
};

const VERSION: &str = USUAL_META[0];
const CAPABILITIES: &str = USUAL_META[2];
const CLIENT: &str = USUAL_META[1];
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Returns headers and body of `server/discover`, the shortest request that every server answers with 200 and without a session.
#[cfg(all(feature = "http", feature = "stdio"))]
pub(crate) fn example_request() -> ([(&'static str, String); 2], String) {
    const METHOD: &str = "server/discover";
    let revision = Revision::MODERN[0];
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{METHOD}","params":{{"_meta":{{"{VERSION}":"{revision}","{CAPABILITIES}":{{}}}}}}}}"#
    );
    ([("MCP-Protocol-Version", revision.to_string()), ("Mcp-Method", METHOD.to_owned())], body)
}

/// `_meta` of a request. All members that have a meaning here are found in one pass.
pub(super) struct RequestMeta<'a> {
    pub(super) whole: Option<Raw<'a>>,
    pub(super) progress_token: Option<Raw<'a>>,
    version: Option<Raw<'a>>,
    capabilities: Option<Raw<'a>>,
    client: Option<Raw<'a>>,
    log_level: Option<Raw<'a>>,
}

impl<'a> RequestMeta<'a> {
    pub(super) fn read(meta: Option<Known<'a>>) -> Self {
        let names = ["progressToken", VERSION, CAPABILITIES, CLIENT, LOG_LEVEL];
        let [progress_token, version, capabilities, client, log_level] =
            meta.map_or_else(Default::default, |it| it.pick(names));
        let whole = meta.map(|it| it.whole);
        Self { whole, progress_token, version, capabilities, client, log_level }
    }

    /// Whether a request claims to belong to this era (rule B2). The name of a method that both eras have decides nothing (rule C-01).
    pub(super) fn claims(&self, method: &str) -> bool {
        self.version.is_some()
            || self.capabilities.is_some()
            || matches!(method, "server/discover" | "subscriptions/listen")
    }

    /// Returns version and capabilities. This is the first check: both must be there, for any version (rule META-01).
    fn envelope(&self) -> Result<(Raw<'a>, Raw<'a>), Error> {
        if self.whole.is_none_or(|it| it.kind() != JsonKind::Object) {
            return Err(invalid(format_args!(
                "`_meta` must be an object with `{VERSION}` and `{CAPABILITIES}`"
            )));
        }
        let of_kind = |member: Option<Raw<'a>>, key: &str, kind: JsonKind, what: &str| {
            let found = member.ok_or_else(|| invalid(format_args!("`_meta` has no `{key}`")))?;
            if found.kind() == kind {
                Ok(found)
            } else {
                Err(invalid(format_args!("`{key}` must be {what}")))
            }
        };
        Ok((
            of_kind(self.version, VERSION, JsonKind::String, "a string")?,
            of_kind(self.capabilities, CAPABILITIES, JsonKind::Object, "an object")?,
        ))
    }
}

/// Last client of a connection. Clients send the same description in each request, so it is read again only if the text differs.
#[derive(Default)]
pub(super) struct LastClient {
    info: String,
    capabilities: String,
    client: Arc<ClientInfo>,
}

impl LastClient {
    pub(super) fn client(
        &mut self,
        info: Option<Raw<'_>>,
        capabilities: Raw<'_>,
    ) -> Arc<ClientInfo> {
        let text = info.map_or("", Raw::as_str);
        if self.info != text || self.capabilities != capabilities.as_str() {
            self.client = Arc::new(client(info, Some(capabilities)));
            text.clone_into(&mut self.info);
            capabilities.as_str().clone_into(&mut self.capabilities);
        }
        self.client.clone()
    }
}

impl Peer {
    /// Checks and handles a request. Clients can observe the order of the checks (rule C-02).
    pub(super) fn modern_request(&self, request: &ClientRequest<'_>, received: &mut Received) {
        let terms = match self.terms(request) {
            Ok(terms) => terms,
            Err(error) => {
                let refused = RefusalStatus::Malformed.because(error);
                return self.reject(request, Revision::MODERN[0], refused, received);
            }
        };
        let revision = terms.revision;
        match request.method {
            "server/discover" => self.discover(&terms, request),
            "subscriptions/listen" => self.listen(&terms, request, received),
            name => {
                if let Some(method) = Method::parse(name) {
                    self.operate(method, &terms, request, received);
                } else if let Some(method) = TaskMethod::parse(name, revision) {
                    self.task_request(method, &terms, request, received);
                } else {
                    let refused = RefusalStatus::UnknownMethod.because(unknown_method(name));
                    self.reject(request, revision, refused, received);
                }
            }
        }
    }

    fn terms(&self, request: &ClientRequest<'_>) -> Result<Terms, Error> {
        let meta = &request.meta;
        let (version, capabilities) = meta.envelope()?;
        let version = version.string().unwrap_or_default();
        #[cfg(feature = "http")]
        if let Some(http) = &request.carrier.http {
            super::mirrored::check(&http.headers, &version, request)?;
        }
        let Some(revision) = Revision::parse(&version).filter(|it| it.is_modern()) else {
            return Err(unsupported(&version));
        };
        let log_level = match meta.log_level {
            None => None,
            Some(it) => {
                let name = it
                    .string()
                    .ok_or_else(|| invalid(format_args!("`{LOG_LEVEL}` must be a string")))?;
                Some(level(&name)?)
            }
        };
        if let Some(level) = log_level {
            logging::listen(level);
        }
        let info = meta.client.filter(|it| it.kind() == JsonKind::Object);
        let service = &self.state.service;
        check_client(&service.limits, info, Some(capabilities))
            .map_err(|error| service.note(Limit::Client, error))?;
        let client = self.state.client(info, capabilities);
        let is_private = request.carrier.is_authenticated();
        Ok(Terms { revision, client, log_level, is_private })
    }

    fn discover(&self, terms: &Terms, request: &ClientRequest<'_>) {
        let (service, snapshot) = (&self.state.service, self.state.snapshot());
        let Terms { revision, is_private, .. } = *terms;
        request.to.write(|out| {
            response(out, request.id, |result| {
                encode::discover(result, service, revision, &snapshot, is_private)
            });
        });
    }
}

#[cold]
fn unsupported(version: &str) -> Error {
    let version = shown(version);
    let supported: Vec<_> = Revision::MODERN.iter().map(|it| it.name()).collect();
    let text = format!("revision `{version}` is not served; served: {}", supported.join(", "));
    let data = serde_json::json!({ "supported": supported, "requested": version });
    Error::of(Kind::UnsupportedVersion, text).with_data(data)
}
