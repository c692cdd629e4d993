//! Session of the legacy era, which a client begins with `initialize`: its protocol revision, its client and its subscriptions. Also
//! contains the revision and the client settings for a single request ([`Terms`]).

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
};

use mcp_runtime_wire::notification;

use super::{
    encode,
    revision::Revision,
    subscriptions::{SubscribedUris, is_news, list_changed},
};
use crate::{
    catalog::Event,
    model::{ClientInfo, Level, TaskState},
    random::random,
};

/// Protocol revision and client settings for one request. They come from the handshake or from the request itself.
#[derive(Clone)]
pub(super) struct Terms {
    pub(super) revision: Revision,
    pub(super) client: Arc<ClientInfo>,
    pub(super) log_level: Option<Level>,
    /// Whether the responses are only for this client, and must not be cached for others.
    pub(super) is_private: bool,
}

/// Session of the legacy era, which begins with `initialize`.
#[derive(Default)]
pub(super) struct LegacySession {
    open: Option<OpenSession>,
}

/// Session that has begun.
struct OpenSession {
    revision: Revision,
    client: Arc<ClientInfo>,
    log_level: Option<Level>,
    is_initialized: bool,
    /// Whether this node notifies the client of changed lists and resources. For each session, only one node does so.
    hears: bool,
    /// Boxed to save memory in idle sessions, because most sessions have no interests.
    interests: Option<Box<SessionInterests>>,
}

/// Notifications that a session gets in addition to list changes.
#[derive(Default)]
struct SessionInterests {
    subscriptions: SubscribedUris,
    /// Running tasks that the session has begun, each with the version of the state that the client knows.
    tasks: HashMap<Arc<str>, u64>,
    pages: SentPages,
}

impl LegacySession {
    /// Begins the session, or replaces its revision and its client.
    ///
    /// A gateway may share one session between clients, each of which sends its own `initialize`. Therefore subscriptions, the log level
    /// and the readiness of the session stay as they are. A change of the revision ends the notifications about tasks and URL-mode
    /// elicitations, because the new revision may not have them.
    pub(super) fn initialize(&mut self, revision: Revision, client: Arc<ClientInfo>) {
        match &mut self.open {
            Some(open) => {
                if let Some(interests) =
                    open.interests.as_mut().filter(|_| open.revision != revision)
                {
                    interests.tasks.clear();
                    interests.pages = SentPages::default();
                }
                (open.revision, open.client) = (revision, client);
            }
            None => {
                self.open = Some(OpenSession {
                    revision,
                    client,
                    log_level: None,
                    is_initialized: false,
                    hears: true,
                    interests: None,
                });
            }
        }
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.open.as_ref().map(|session| session.revision)
    }

    /// Sets whether the client is ready. Before that, the server accepts requests, but sends no notifications outside of requests (rule
    /// LIFE-04).
    pub(super) fn set_initialized(&mut self, is_initialized: bool) {
        self.change(|open| open.is_initialized = is_initialized);
    }

    #[cfg(feature = "http")]
    pub(super) fn is_initialized(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.is_initialized)
    }

    /// Sets whether this node notifies the client of changed lists and resources.
    #[cfg(feature = "http")]
    pub(super) fn set_hears(&mut self, hears: bool) {
        self.change(|open| open.hears = hears);
    }

    #[cfg(feature = "http")]
    pub(super) fn hears(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.hears)
    }

    pub(super) fn terms(&self) -> Option<Terms> {
        self.open.as_ref().map(|session| Terms {
            revision: session.revision,
            client: session.client.clone(),
            log_level: session.log_level,
            is_private: false,
        })
    }

    /// Changes the session, if it has begun.
    fn change<T>(&mut self, change: impl FnOnce(&mut OpenSession) -> T) -> Option<T> {
        self.open.as_mut().map(change)
    }

    /// Changes the interests of the session, if it has begun.
    fn change_interests<T>(
        &mut self,
        change: impl FnOnce(&mut SessionInterests) -> T,
    ) -> Option<T> {
        self.change(|open| change(open.interests.get_or_insert_default()))
    }

    /// Returns the interests of the session, if there are any.
    fn interests(&mut self) -> Option<&mut SessionInterests> {
        self.open.as_mut()?.interests.as_deref_mut()
    }

    #[cfg(all(test, feature = "http"))]
    pub(super) fn boxed(&mut self) -> usize {
        self.interests().map_or(0, |interests| size_of_val(interests))
    }

    /// Subscribes the session to the changes of a task, unless it is subscribed to `most` tasks already.
    pub(super) fn follow_task(&mut self, id: &Arc<str>, most: usize) {
        self.change_interests(|interests| {
            if interests.tasks.len() < most {
                interests.tasks.insert(id.clone(), 0);
            }
        });
    }

    pub(super) fn forget_task(&mut self, id: &str) {
        if let Some(interests) = self.interests() {
            interests.tasks.remove(id);
        }
    }

    pub(super) fn follows_task(&mut self, id: &str) -> bool {
        self.interests().is_some_and(|interests| interests.tasks.contains_key(id))
    }

    /// Records that the user is sent to a URL, and returns the id of this URL-mode elicitation.
    pub(super) fn send_to(&mut self, url: &str) -> String {
        self.change_interests(|interests| interests.pages.send_to(url)).unwrap_or_default()
    }

    /// Returns the notifications that this session gets for an event.
    pub(super) fn notifications(&mut self, event: &Event) -> Vec<Vec<u8>> {
        // A node notifies the client of its own tasks and URL-mode elicitations, even if another node sends all other notifications.
        let is_own = matches!(event, Event::TaskChanged(_) | Event::UrlCompleted(_));
        let is_ready =
            |session: &&mut OpenSession| session.is_initialized && (session.hears || is_own);
        let Some(open) = self.open.as_mut().filter(is_ready) else {
            // A task that has ended is no longer followed, even if this node does not notify the client of its end.
            if let Event::TaskChanged(view) = event
                && matches!(view.state, TaskState::Ended(_))
            {
                self.forget_task(&view.id);
            }
            return Vec::new();
        };
        let interests = open.interests.as_deref_mut();
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
                let uri =
                    interests.and_then(|interests| interests.subscriptions.get(uri)).into_iter();
                uri.map(|uri| message("notifications/resources/updated", Some(("uri", uri))))
                    .collect()
            }
            Event::TaskChanged(view) => {
                let Some(interests) = interests else { return Vec::new() };
                let known = interests.tasks.get_mut(&view.id);
                if !known.is_some_and(|known| is_news(known, view)) {
                    return Vec::new();
                }
                if matches!(view.state, TaskState::Ended(_)) {
                    interests.tasks.remove(&view.id);
                }
                let mut out = Vec::new();
                encode::task_changed(&mut out, open.revision, view, None);
                vec![out]
            }
            Event::UrlCompleted(url) => {
                let told = |id: String| {
                    message("notifications/elicitation/complete", Some(("elicitationId", &id)))
                };
                let ids =
                    interests.map(|interests| interests.pages.completed(url)).unwrap_or_default();
                ids.into_iter().map(told).collect()
            }
            other => list_changed(other).into_iter().map(|method| message(method, None)).collect(),
        }
    }

    pub(super) fn set_log_level(&mut self, level: Option<Level>) {
        self.change(|session| session.log_level = level);
    }

    /// Returns the subscriptions of the session, or `None` before the session begins.
    pub(super) fn subscriptions(&mut self) -> Option<&mut SubscribedUris> {
        let session = self.open.as_mut()?;
        Some(&mut session.interests.get_or_insert_default().subscriptions)
    }

    /// Returns the URIs of the resources that the session is subscribed to.
    pub(super) fn subscribed(&self) -> impl Iterator<Item = &str> {
        let interests = self.open.as_ref().and_then(|open| open.interests.as_deref());
        interests.into_iter().flat_map(|interests| interests.subscriptions.iter())
    }

    pub(super) fn unsubscribe(&mut self, key: &str, uri: &str) {
        if let Some(interests) = self.interests() {
            interests.subscriptions.remove(key, uri);
        }
    }
}

/// URL-mode elicitations that the user of a session may not have finished. Only the client of the session knows their ids (rule ELIC-08).
#[derive(Default)]
struct SentPages(VecDeque<SentPage>);

struct SentPage {
    url: Box<str>,
    id: String,
}

impl SentPages {
    /// Maximum number of entries. Not every user finishes, so at the maximum a new entry replaces the oldest one.
    const MOST: usize = 64;

    /// Adds an entry for a URL, and returns the id of the elicitation.
    fn send_to(&mut self, url: &str) -> String {
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        let id = elicitation_id();
        self.0.push_back(SentPage { url: url.into(), id: id.clone() });
        id
    }

    /// Removes the entries for a URL at which the user has finished, and returns their ids.
    fn completed(&mut self, url: &str) -> Vec<String> {
        let (done, left) = self.0.drain(..).partition(|page: &SentPage| *page.url == *url);
        self.0 = left;
        let done: VecDeque<SentPage> = done;
        done.into_iter().map(|page| page.id).collect()
    }
}

/// Returns an id that is unique across all servers and cannot be guessed, if there is a random number generator.
fn elicitation_id() -> String {
    if let Ok(bits) = random() {
        return format!("{:032x}", u128::from_ne_bytes(bits));
    }
    // On wasm without a generator, the keys of `RandomState` are the only source. Each `RandomState` has different keys, so the ids of one
    // process differ, but the keys may be predictable.
    let half = || RandomState::new().hash_one(());
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_completed_once_and_the_oldest_is_forgotten() {
        let mut pages = SentPages::default();
        let ids = ["a", "b", "a"].map(|url| pages.send_to(url));
        assert_eq!(pages.completed("a"), [ids[0].clone(), ids[2].clone()]);
        assert_eq!(pages.completed("a"), Vec::<String>::new());
        for _ in 0..SentPages::MOST {
            pages.send_to("c");
        }
        assert_eq!(pages.completed("b"), Vec::<String>::new());
        assert_eq!(pages.completed("c").len(), SentPages::MOST);
    }

    #[cfg(feature = "http")]
    #[test]
    fn a_node_that_does_not_hear_for_a_session_still_reports_its_own_pages() {
        let mut session = LegacySession::default();
        session.initialize(Revision::NEWEST_LEGACY, Arc::default());
        session.set_initialized(true);
        let events = |session: &mut LegacySession| {
            let id = session.send_to("https://pay.example");
            let completed =
                session.notifications(&Event::UrlCompleted("https://pay.example".into()));
            let text = completed.iter().map(|message| str::from_utf8(message).unwrap());
            assert!(text.collect::<String>().contains(&id));
            session.notifications(&Event::ToolsChanged).len()
        };
        assert_eq!(events(&mut session), 1);
        session.set_hears(false);
        assert_eq!(events(&mut session), 0);
    }

    #[test]
    fn no_two_ids_are_alike() {
        let ids: std::collections::BTreeSet<_> = (0..1000).map(|_| elicitation_id()).collect();
        assert_eq!(ids.len(), 1000);
        // The ids are not consecutive, and do not share a prefix within one process.
        let starts: std::collections::BTreeSet<_> = ids.iter().map(|id| &id[..8]).collect();
        assert!(ids.iter().all(|id| id.len() == 32) && starts.len() > 990, "{}", starts.len());
    }
}
