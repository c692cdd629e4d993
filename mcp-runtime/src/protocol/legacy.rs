//! The era with a handshake: 2024-11-05 to 2025-11-25.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    call::{PendingCall, ReplyTo},
    encode::{self, Feature},
    listen::subscribed,
    params::{invalid, text},
    peer::{Asked, From, Peer, unknown_method},
    revision::Revision,
};
use crate::{
    catalog::Event,
    context::logging,
    error::{Error, Kind},
    model::{ClientInfo, Level, Meta},
    wire::{Raw, notification, response},
};

/// What `initialize` began.
#[derive(Default)]
pub(crate) struct Session {
    open: Option<Open>,
    initialized: bool,
}

struct Open {
    revision: Revision,
    client: Arc<ClientInfo>,
    log_level: Option<Level>,
    subscriptions: BTreeSet<String>,
}

impl Session {
    pub(super) fn revision(&self) -> Option<Revision> {
        self.open.as_ref().map(|it| it.revision)
    }

    /// A client that never says so gets no notifications (LIFE-04); requests it may send all the same.
    pub(super) fn set_initialized(&mut self) {
        self.initialized = self.open.is_some();
    }

    /// What this session is told of an event.
    pub(super) fn notification(&self, event: &Event) -> Option<Vec<u8>> {
        let open = self.open.as_ref().filter(|_| self.initialized)?;
        let mut out = Vec::new();
        match event {
            Event::ResourceUpdated(uri) => {
                let uri = subscribed(&open.subscriptions, uri)?;
                notification(&mut out, "notifications/resources/updated", |params| {
                    params.str("uri", uri);
                });
            }
            other => notification(&mut out, list_changed(other)?, |_| {}),
        }
        Some(out)
    }
}

/// The notification that a list has changed.
pub(super) fn list_changed(event: &Event) -> Option<&'static str> {
    match event {
        Event::ToolsChanged => Some("notifications/tools/list_changed"),
        Event::ResourcesChanged => Some("notifications/resources/list_changed"),
        Event::PromptsChanged => Some("notifications/prompts/list_changed"),
        Event::ResourceUpdated(_) => None,
    }
}

/// `clientInfo` and `capabilities` of either era.
pub(super) fn client(info: Option<Raw<'_>>, capabilities: Option<Raw<'_>>) -> ClientInfo {
    let member = |name: &str| info.and_then(|it| it.get(name)).and_then(Raw::string);
    ClientInfo {
        name: member("name").unwrap_or_default().into_owned(),
        version: member("version").unwrap_or_default().into_owned(),
        title: member("title").map(Into::into),
        capabilities: Meta(
            capabilities.and_then(|it| serde_json::from_str(it.as_str()).ok()).unwrap_or_default(),
        ),
    }
}

impl Peer {
    pub(super) fn legacy_request(
        &self,
        request: &Asked<'_>,
        to: &ReplyTo,
        waiting: &mut Vec<PendingCall>,
    ) {
        let shared = &self.shared;
        match request.method {
            "initialize" => return self.initialize(request, to),
            "ping" => {
                let revision = shared.spoken();
                return shared
                    .write(to, |out| encode::empty(out, &shared.service, revision, request.id));
            }
            _ => {}
        }
        let known = super::params::operation(request.method, None).is_some()
            || matches!(
                request.method,
                "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
            );
        let from = shared.session().open.as_ref().map(|it| From {
            revision: it.revision,
            client: it.client.clone(),
            log_level: it.log_level,
        });
        match from {
            // Also before the handshake, so that a client that only asks what there is gets a clear answer.
            _ if !known => {
                shared.error(shared.spoken(), Some(request.id), &unknown_method(request.method), to)
            }
            None => {
                let text =
                    format!("`{}` before `initialize`: the session has not begun", request.method);
                shared.error(
                    shared.spoken(),
                    Some(request.id),
                    &Error::of(Kind::InvalidRequest, text),
                    to,
                );
            }
            Some(from) => match request.method {
                "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                    let revision = from.revision;
                    match self.session_request(request) {
                        Ok(()) => shared.write(to, |out| {
                            encode::empty(out, &shared.service, revision, request.id)
                        }),
                        Err(error) => shared.error(revision, Some(request.id), &error, to),
                    }
                }
                _ => self.operate(from, request, to, waiting),
            },
        }
    }

    fn initialize(&self, request: &Asked<'_>, to: &ReplyTo) {
        let shared = &self.shared;
        let refuse = |kind, text: &str| {
            shared.error(shared.spoken(), Some(request.id), &Error::of(kind, text), to);
        };
        if matches!(to, ReplyTo::Batch(_)) {
            return refuse(Kind::InvalidRequest, "`initialize` cannot be part of a batch");
        }
        if shared.session().open.is_some() {
            return refuse(Kind::InvalidRequest, "the session has been initialized already");
        }
        let params = request.params.unwrap_or(Raw::EMPTY_OBJECT);
        let Ok(wanted) = text(params, "protocolVersion") else {
            return refuse(Kind::InvalidParams, "`protocolVersion` must be a string");
        };
        // The modern revision has no `initialize`, so it is never the answer (C-24).
        let revision = Revision::parse(&wanted)
            .filter(|it| !it.is_modern())
            .unwrap_or(Revision::NEWEST_LEGACY);
        let client = client(params.get("clientInfo"), params.get("capabilities"));
        shared.session().open = Some(Open {
            revision,
            client: Arc::new(client),
            log_level: None,
            subscriptions: BTreeSet::new(),
        });
        let (service, snapshot) = (&shared.service, shared.snapshot());
        shared.outbox.push(|out| {
            response(out, request.id, |result| {
                result.str("protocolVersion", revision.name());
                encode::capabilities(
                    &mut result.object("capabilities"),
                    revision,
                    service,
                    &snapshot,
                );
                encode::implementation(
                    &mut result.object("serverInfo"),
                    revision,
                    &service.identity,
                );
                result.opt_str("instructions", service.identity.instructions.as_deref());
            });
        });
    }

    /// Requests that change the session and are answered with nothing.
    fn session_request(&self, request: &Asked<'_>) -> Result<(), Error> {
        let shared = &self.shared;
        let snapshot = shared.snapshot();
        let params = request.params.unwrap_or(Raw::EMPTY_OBJECT);
        let feature = if request.method == "logging/setLevel" {
            Feature::Logging
        } else {
            Feature::Subscriptions
        };
        if !feature.is_served(&snapshot) {
            return Err(unknown_method(request.method));
        }
        if feature == Feature::Logging {
            let name = text(params, "level")?;
            let level = Level::parse(&name).ok_or_else(|| unknown_level(&name))?;
            logging::listen(level);
            if let Some(open) = &mut shared.session().open {
                open.log_level = Some(level);
            }
            return Ok(());
        }
        let uri = text(params, "uri")?;
        shared.service.limits.check_uri(&uri)?;
        let mut session = shared.session();
        let Some(open) = &mut session.open else { return Ok(()) };
        if request.method == "resources/unsubscribe" {
            open.subscriptions.remove(&*uri);
        } else if open.subscriptions.len() >= shared.service.limits.subscriptions {
            return Err(invalid("the session has too many subscriptions"));
        } else {
            open.subscriptions.insert(uri.into_owned());
        }
        Ok(())
    }
}

pub(super) fn unknown_level(name: &str) -> Error {
    let names: Vec<_> = Level::ALL.iter().map(|it| it.name()).collect();
    invalid(format_args!("`{name}` is no log level: {}", names.join(", ")))
}
