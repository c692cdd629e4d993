//! Legacy era, with a handshake: protocol revisions 2024-11-05 to 2025-11-25.

use std::sync::Arc;

use super::{
    encode,
    method::{Method, check_client, invalid, string},
    pages::SentPages,
    peer::Peer,
    request::{ClientRequest, Terms, unknown_method},
    revision::Revision,
    service::{self, Feature},
    shared::PeerState,
    tasks::{TaskIds, TaskMethod},
    turn::{Received, RefusalStatus, RefusedRequest},
    uris::SubscribedUris,
};
use crate::{
    call::context::logging,
    catalog::{Event, Topic},
    error::{Error, Kind, shown},
    limits::Limit,
    model::{ClientInfo, Level, Meta, TaskState},
    wire::{Raw, notification, response},
};

/// Session, which `initialize` begins.
#[derive(Default)]
pub(crate) struct LegacySession {
    open: Option<OpenSession>,
}

struct OpenSession {
    revision: Revision,
    client: Arc<ClientInfo>,
    log_level: Option<Level>,
    is_initialized: bool,
    /// Boxed, because most sessions have none and idle sessions are many.
    wishes: Option<Box<SessionInterests>>,
}

/// Notifications that a session gets in addition to list changes.
#[derive(Default)]
struct SessionInterests {
    subscriptions: SubscribedUris,
    /// Running tasks that the session has begun.
    tasks: TaskIds,
    pages: SentPages,
}

impl LegacySession {
    /// Begins the session, or replaces its revision and its client.
    ///
    /// A gateway may share one session between clients, each of which sends its own `initialize`. Therefore subscriptions, the log level
    /// and the readiness of the session stay as they are. A change of the revision ends subscriptions to tasks and pages, because the new
    /// revision may have no notification for them.
    fn initialize(&mut self, revision: Revision, client: Arc<ClientInfo>) {
        match &mut self.open {
            Some(open) => {
                if let Some(wishes) = open.wishes.as_mut().filter(|_| open.revision != revision) {
                    wishes.tasks.clear();
                    wishes.pages = SentPages::default();
                }
                (open.revision, open.client) = (revision, client);
            }
            None => {
                let (log_level, is_initialized, wishes) = (None, false, None);
                self.open =
                    Some(OpenSession { revision, client, log_level, is_initialized, wishes });
            }
        }
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.open.as_ref().map(|it| it.revision)
    }

    /// Marks the client as ready. A client that never sends this gets no notifications (rule LIFE-04), but may send requests.
    pub(super) fn set_initialized(&mut self) {
        self.change(|open| open.is_initialized = true);
    }

    fn terms(&self) -> Option<Terms> {
        self.open.as_ref().map(|it| Terms {
            revision: it.revision,
            client: it.client.clone(),
            log_level: it.log_level,
            is_private: false,
        })
    }

    /// Changes the session, if it has begun.
    fn change<T>(&mut self, change: impl FnOnce(&mut OpenSession) -> T) -> Option<T> {
        self.open.as_mut().map(change)
    }

    /// Changes the wishes of the session, if it has begun.
    fn wish<T>(&mut self, change: impl FnOnce(&mut SessionInterests) -> T) -> Option<T> {
        self.change(|open| change(open.wishes.get_or_insert_default()))
    }

    /// Returns the wishes of the session, if there are any.
    fn wishes(&mut self) -> Option<&mut SessionInterests> {
        self.open.as_mut()?.wishes.as_deref_mut()
    }

    #[cfg(all(test, feature = "http"))]
    pub(super) fn boxed(&mut self) -> usize {
        self.wishes().map_or(0, |it| size_of_val(it))
    }

    /// Makes the session follow this task, unless it follows `most` tasks already.
    pub(super) fn follow_task(&mut self, id: &Arc<str>, most: usize) {
        self.wish(|it| {
            if it.tasks.len() < most {
                it.tasks.insert(id.clone());
            }
        });
    }

    pub(super) fn forget_task(&mut self, id: &str) {
        if let Some(wishes) = self.wishes() {
            wishes.tasks.remove(id);
        }
    }

    /// Remembers that the user is sent to a page, and returns an id for the page.
    pub(super) fn send_to(&mut self, url: &str) -> String {
        self.wish(|it| it.pages.send_to(url)).unwrap_or_default()
    }

    /// Returns the notifications that this session gets for an event.
    pub(super) fn notifications(&mut self, event: &Event) -> Vec<Vec<u8>> {
        let Some(open) = self.open.as_mut().filter(|it| it.is_initialized) else {
            return Vec::new();
        };
        let wishes = open.wishes.as_deref_mut();
        let message = |method: &str, param: Option<(&'static str, &str)>| {
            let mut out = Vec::new();
            notification(&mut out, method, |params| {
                if let Some((name, text)) = param {
                    params.str(name, text);
                }
            });
            out
        };
        match event {
            Event::ResourceUpdated(uri) => {
                let uri = wishes.and_then(|it| it.subscriptions.get(uri)).into_iter();
                uri.map(|it| message("notifications/resources/updated", Some(("uri", it))))
                    .collect()
            }
            Event::TaskChanged(view) => {
                let Some(wishes) = wishes.filter(|it| it.tasks.contains(&view.id)) else {
                    return Vec::new();
                };
                if matches!(view.state, TaskState::Ended(_)) {
                    wishes.tasks.remove(&view.id);
                }
                let mut out = Vec::new();
                encode::task_changed(&mut out, open.revision, view, None);
                vec![out]
            }
            Event::UrlCompleted(url) => {
                let told = |id: String| {
                    message("notifications/elicitation/complete", Some(("elicitationId", &id)))
                };
                let ids = wishes.map(|it| it.pages.completed(url)).unwrap_or_default();
                ids.into_iter().map(told).collect()
            }
            other => list_changed(other).into_iter().map(|it| message(it, None)).collect(),
        }
    }
}

/// Request that changes the session and has an empty result.
#[derive(Clone, Copy)]
enum SessionMethod {
    SetLevel,
    Subscribe,
    Unsubscribe,
}

impl SessionMethod {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "logging/setLevel" => Some(Self::SetLevel),
            "resources/subscribe" => Some(Self::Subscribe),
            "resources/unsubscribe" => Some(Self::Unsubscribe),
            _ => None,
        }
    }
}

/// Method of a request within a session.
enum LegacyMethod {
    Items(Method),
    Session(SessionMethod),
    Tasks(TaskMethod),
}

impl LegacyMethod {
    fn parse(name: &str, state: &PeerState) -> Option<Self> {
        let session = || SessionMethod::parse(name).map(Self::Session);
        // Tried last, because this needs the revision of the session.
        let tasks = || TaskMethod::parse(name, state.spoken()).map(Self::Tasks);
        Method::parse(name).map(Self::Items).or_else(session).or_else(tasks)
    }
}

/// Returns the method of the notification that a list has changed.
pub(super) fn list_changed(event: &Event) -> Option<&'static str> {
    match event {
        Event::ToolsChanged => Some("notifications/tools/list_changed"),
        Event::ResourcesChanged => Some("notifications/resources/list_changed"),
        Event::PromptsChanged => Some("notifications/prompts/list_changed"),
        Event::ResourceUpdated(_) | Event::TaskChanged(_) | Event::UrlCompleted(_) => None,
    }
}

/// Reads `clientInfo` and `capabilities` of either era.
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
    pub(super) fn legacy_request(&self, request: &ClientRequest<'_>, received: &mut Received) {
        let state = &self.state;
        match request.method {
            "initialize" => return self.initialize(request, received),
            "ping" => return state.acknowledge(request, state.spoken()),
            _ => {}
        }
        // Unknown methods are rejected before the handshake too, so that a client that probes for methods gets a clear answer.
        let Some(method) = LegacyMethod::parse(request.method, state) else {
            return state.refuse(request, state.spoken(), &unknown_method(request.method));
        };
        let terms = state.session().terms();
        let Some(terms) = terms else {
            let text =
                format!("`{}` before `initialize`: the session has not begun", request.method);
            let error = Error::of(Kind::InvalidRequest, text);
            return state.refuse(request, state.spoken(), &error);
        };
        match method {
            LegacyMethod::Items(method) => self.operate(method, &terms, request, received),
            LegacyMethod::Session(method) => match self.change_session(method, request) {
                Ok(()) => state.acknowledge(request, terms.revision),
                Err(refused) => self.reject(request, terms.revision, refused, received),
            },
            LegacyMethod::Tasks(method) => self.task_request(method, &terms, request, received),
        }
    }

    fn initialize(&self, request: &ClientRequest<'_>, received: &mut Received) {
        let state = &self.state;
        let mut refuse = |text: &str| {
            let error = Error::of(Kind::InvalidRequest, text);
            self.reject(request, state.spoken(), RefusalStatus::Malformed.because(error), received);
        };
        if request.to.is_batch() {
            return refuse("`initialize` cannot be part of a batch");
        }
        let params = request.params;
        let Ok(wanted) = string(params.get("protocolVersion"), "protocolVersion") else {
            let error = invalid("`protocolVersion` must be a string");
            return state.refuse(request, state.spoken(), &error);
        };
        // The modern revision has no `initialize`, so it is never the answer (rule C-24).
        let revision = Revision::parse(&wanted)
            .filter(|it| !it.is_modern())
            .unwrap_or(Revision::NEWEST_LEGACY);
        let (info, capabilities) = (params.get("clientInfo"), params.get("capabilities"));
        if let Err(error) = check_client(&state.service.limits, info, capabilities) {
            let error = state.service.note(Limit::Client, error);
            return state.refuse(request, state.spoken(), &error);
        }
        let client = state.client(info, capabilities.unwrap_or(Raw::EMPTY_OBJECT));
        state.session().initialize(revision, client);
        // The known roots belong to the previous client.
        state.forget_roots();
        state.hear(Topic::Lists);
        let (shared, snapshot) = (&state.service, state.snapshot());
        request.to.write(|out| {
            response(out, request.id, |result| {
                result.str("protocolVersion", revision.name());
                service::capabilities(
                    &mut result.object("capabilities"),
                    revision,
                    shared,
                    &snapshot,
                    request.carrier.is_identified(),
                );
                service::implementation(
                    &mut result.object("serverInfo"),
                    revision,
                    &shared.identity,
                );
                result.opt_str("instructions", shared.identity.instructions.as_deref());
            });
        });
    }

    fn change_session(
        &self,
        method: SessionMethod,
        request: &ClientRequest<'_>,
    ) -> Result<(), RefusedRequest> {
        let state = &self.state;
        let feature = match method {
            SessionMethod::SetLevel => Feature::Logging,
            SessionMethod::Subscribe | SessionMethod::Unsubscribe => Feature::Subscriptions,
        };
        if !feature.is_served(&state.snapshot()) {
            return Err(unknown_method(request.method).into());
        }
        let params = request.params;
        match method {
            SessionMethod::SetLevel => {
                let level = level(&string(params.get("level"), "level")?)?;
                logging::listen(level);
                state.session().change(|open| open.log_level = Some(level));
            }
            SessionMethod::Subscribe => {
                let uri = string(params.get("uri"), "uri")?;
                #[cfg(feature = "auth")]
                self.permit_uris(&state.snapshot(), request, [&*uri])?;
                let service = &state.service;
                state.hear(Topic::Resources);
                let tenant = state.tenant(request.carrier, state.spoken());
                let add = |it: &mut SessionInterests| {
                    it.subscriptions.add(&uri, 0, &service.limits, &tenant)
                };
                let added = state.session().wish(add).unwrap_or(Ok(()));
                added.map_err(|(limit, error)| service.note(limit, error))?;
            }
            SessionMethod::Unsubscribe => {
                let uri = string(params.get("uri"), "uri")?;
                if let Some(wishes) = state.session().wishes() {
                    wishes.subscriptions.remove(&uri);
                }
            }
        }
        Ok(())
    }
}

/// Returns the level of this name.
///
/// # Errors
/// Invalid params. The message lists the valid names.
pub(super) fn level(name: &str) -> Result<Level, Error> {
    Level::parse(name).ok_or_else(|| {
        let names: Vec<_> = Level::ALL.iter().map(|it| it.name()).collect();
        invalid(format_args!("`{}` is no log level: {}", shown(name), names.join(", ")))
    })
}
