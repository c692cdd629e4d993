//! A session of the revisions before 2026-07-28 that outlasts its server: each further server gets the handshake again.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Method, Request, Response, Uri,
    body::Incoming,
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue},
};
use tokio::time::timeout;

use super::upstream::Upstream;
use crate::{message::Message, record::SessionRecord};

pub(crate) const SESSION: &str = "mcp-session-id";

/// Time for the handshake at a new server.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Session of a client.
pub(crate) struct Session {
    /// Id that the client knows.
    id: String,
    uri: Uri,
    /// Headers of the last request that a server has accepted, among them the token of the user.
    headers: Mutex<HeaderMap>,
    record: Mutex<SessionRecord>,
    /// Id of the session at each server that has accepted it.
    ids: tokio::sync::Mutex<HashMap<u64, String>>,
    /// Servers of the open requests, by the keys of the ids.
    open: Mutex<HashMap<String, u64>>,
    /// Last server whose lists the client knows to be new.
    told: AtomicU64,
}

impl Session {
    /// Creates a session that a server has begun with this id.
    pub(crate) fn new(
        uri: Uri,
        headers: &HeaderMap,
        initialize: &Message,
        server: u64,
        id: &str,
    ) -> Self {
        let mut record = SessionRecord::default();
        record.note(initialize);
        let session = Self {
            id: id.to_owned(),
            uri,
            headers: Mutex::default(),
            record: Mutex::new(record),
            ids: tokio::sync::Mutex::new(HashMap::from([(server, id.to_owned())])),
            open: Mutex::default(),
            told: server.into(),
        };
        session.note_headers(headers);
        session
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Path of the endpoint of the session.
    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, SessionRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the requests that a server accepts with this answer or batch of answers, for the handshake at the next server.
    pub(crate) fn note_accepted(&self, requests: &[Message], answer: &Message) {
        for answer in answer.members().iter().filter(|answer| !answer.has(&["error"])) {
            let accepted = requests.iter().filter(|request| answer.answers(request));
            accepted.for_each(|request| self.record().note(request));
        }
    }

    pub(crate) fn note_headers(&self, headers: &HeaderMap) {
        *self.headers.lock().unwrap_or_else(PoisonError::into_inner) = without_own(headers);
    }

    /// Whether the client has been told of the lists of this server.
    pub(crate) fn is_told(&self, server: u64) -> bool {
        self.told.load(Ordering::Relaxed) >= server
    }

    /// Notes that the client has been told of the lists of a server.
    pub(crate) fn told(&self, server: u64) {
        self.told.fetch_max(server, Ordering::Relaxed);
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the server of a request until the returned value is dropped.
    pub(crate) fn begin(self: &Arc<Self>, key: String, server: u64) -> SessionRequest {
        self.open().insert(key.clone(), server);
        SessionRequest { session: self.clone(), key }
    }

    /// Returns the server of an open request.
    pub(crate) fn server_of(&self, key: &str) -> Option<u64> {
        self.open().get(key).copied()
    }

    /// Returns the id of the session at a server, after the handshake if the server does not know the session yet. If the server does not
    /// accept the token of the session any longer, that of the request may be a newer one.
    pub(crate) async fn id_at(&self, upstream: &Upstream, request: &HeaderMap) -> Option<String> {
        let mut ids = self.ids.lock().await;
        if let Some(id) = ids.get(&upstream.number) {
            return Some(id.clone());
        }
        let noted = self.headers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let shake_hands = async {
            match self.shake_hands(upstream, &noted).await {
                Some(id) => Some(id),
                None => self.shake_hands(upstream, &without_own(request)).await,
            }
        };
        let id = timeout(HANDSHAKE, shake_hands).await.ok().flatten()?;
        ids.insert(upstream.number, id.clone());
        Some(id)
    }

    async fn shake_hands(&self, upstream: &Upstream, headers: &HeaderMap) -> Option<String> {
        let mut number = 0;
        let mut next = || {
            number += 1;
            number
        };
        let (greeting, replay) = {
            let record = self.record();
            (record.greeting(next()), record.replay(next))
        };
        let response = self.post(upstream, headers, &greeting, None).await?;
        let id = response.headers().get(SESSION)?.to_str().ok()?.to_owned();
        let _ = response.into_body().collect().await;
        for message in replay {
            let response = self.post(upstream, headers, &message, Some(&id)).await?;
            let _ = response.into_body().collect().await;
        }
        Some(id)
    }

    async fn post(
        &self,
        upstream: &Upstream,
        like: &HeaderMap,
        message: &Message,
        id: Option<&str>,
    ) -> Option<Response<Incoming>> {
        let mut request = Request::new(Full::new(Bytes::from(message.to_string())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        let headers = request.headers_mut();
        headers.clone_from(like);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        match id {
            Some(id) => drop(headers.insert(SESSION, HeaderValue::from_str(id).ok()?)),
            None => drop(headers.remove("mcp-protocol-version")),
        }
        upstream.send(request).await.ok().filter(|response| response.status().is_success())
    }
}

/// Returns headers without those that belong to a single request.
fn without_own(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for own in [SESSION, "last-event-id", CONTENT_LENGTH.as_str()] {
        headers.remove(own);
    }
    headers
}

/// Open request of a session.
pub(crate) struct SessionRequest {
    session: Arc<Session>,
    key: String,
}

impl Drop for SessionRequest {
    fn drop(&mut self) {
        self.session.open().remove(&self.key);
    }
}
