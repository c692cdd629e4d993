//! Subscriptions of clients: resources by their URIs, and the listen streams of the modern era.

use std::{collections::BTreeMap, sync::Arc};

use mcp_runtime_wire::{self as wire, ArrayWriter, Id, IdBuf, ObjectWriter};

use super::{encode, outbox::OutboxHold, revision::Revision, service::Service};
use crate::{
    catalog::Event,
    error::{Error, ErrorKind},
    item::uri::subscription_key,
    limits::{Limit, Limits, NoShare, Pool, Share, Tenant},
    model::TaskView,
};

/// Returns the method of the notification that a list has changed.
pub(super) fn list_changed(event: &Event) -> Option<&'static str> {
    match event {
        Event::ToolsChanged => Some("notifications/tools/list_changed"),
        Event::ResourcesChanged => Some("notifications/resources/list_changed"),
        Event::PromptsChanged => Some("notifications/prompts/list_changed"),
        Event::ResourceUpdated(_) | Event::TaskChanged(_) | Event::UrlCompleted(_) => None,
    }
}

/// Resources that a session or a stream is subscribed to.
///
/// URIs are compared by their [`subscription_key`]. Clients differ in which characters they encode, and servers often encode none, as in
/// `updated(format!("note://{title}"))`. Each client is notified with the URI as the client wrote it.
#[derive(Debug, Default)]
pub(super) struct SubscribedUris {
    /// Keys of the URIs, each with the client's spelling.
    spellings: BTreeMap<String, String>,
    bytes: usize,
    /// Share of the limit on the bytes that the subscriptions of all clients may use together.
    share: Option<Share>,
}

/// Approximate size of a subscription without its texts, in bytes.
const ENTRY: usize = 128;

/// Returns the number of bytes that a URI counts against the limit of all clients together.
fn size(uri: &str) -> usize {
    ENTRY + 2 * uri.len()
}

/// Returns the limit and the error for a client that exceeds a limit of its subscriptions: their number, or the bytes of their URIs if
/// `by_number` is false.
#[cold]
pub(super) fn too_many(limits: &Limits, by_number: bool) -> (Limit, Error) {
    let (most, bytes) = (limits.subscriptions, limits.subscription_bytes);
    let error = Error::invalid_params(format_args!(
        "at most {most} resources, with URIs of {bytes} bytes in total, can be subscribed to: end some subscriptions"
    ));
    (if by_number { Limit::Subscriptions } else { Limit::SubscriptionBytes }, error)
}

fn no_room(why: NoShare) -> &'static str {
    match why {
        NoShare::Empty => "all clients together have subscribed to too much: try again later",
        NoShare::Reserved | NoShare::Own => {
            "this client already uses its share of what all clients together may subscribe to: end some subscriptions"
        }
    }
}

impl SubscribedUris {
    /// Adds a subscription to a URI, under the key that the URI has for the server.
    ///
    /// # Errors
    /// Fails if the URI is too long, the client has too many subscriptions, or their bytes exceed a limit. `others` is the number of
    /// subscriptions that the client has elsewhere, which count as well. Returns the exceeded limit with the error.
    pub(super) fn add(
        &mut self,
        key: String,
        uri: &str,
        others: usize,
        limits: &Limits,
        tenant: &Arc<Tenant>,
    ) -> Result<(), (Limit, Error)> {
        if uri.len() > limits.uri {
            let error = Error::invalid_params(format_args!(
                "a URI of {} bytes is too long to subscribe to: at most {}",
                uri.len(),
                limits.uri
            ));
            return Err((Limit::Uri, error));
        }
        if self.spellings.contains_key(&key) {
            return Ok(());
        }
        let (count, bytes) = (self.spellings.len() + others, self.bytes + 2 * uri.len());
        if count >= limits.subscriptions || bytes > 2 * limits.subscription_bytes {
            return Err(too_many(limits, count >= limits.subscriptions));
        }
        let (size, all) = (size(uri), limits.all_subscription_bytes);
        let taken = match &mut self.share {
            Some(share) => share.grow(size, all),
            None => {
                tenant.take(Pool::Subscriptions, size, all).map(|share| self.share = Some(share))
            }
        };
        taken.map_err(|why| {
            (Limit::AllSubscriptionBytes, Error::of(ErrorKind::Failed, no_room(why)))
        })?;
        self.bytes = bytes;
        self.spellings.insert(key, uri.to_owned());
        Ok(())
    }

    /// Ends the subscription to a URI. Its key may be another one than at the beginning, if the resource has been added or removed since.
    pub(super) fn remove(&mut self, key: &str, uri: &str) {
        let removed = self.spellings.remove(key).or_else(|| {
            let key = self.spellings.iter().find(|(_, spelling)| *spelling == uri)?.0.clone();
            self.spellings.remove(&key)
        });
        if let Some(spelling) = removed {
            self.bytes -= 2 * spelling.len();
            if let Some(share) = &mut self.share {
                share.shrink(size(&spelling));
            }
        }
    }

    /// Returns the client's spelling of `uri`, if the client has subscribed to the resource.
    pub(super) fn get(&self, uri: &str) -> Option<&str> {
        self.spellings.get(&subscription_key(uri)).map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.spellings.len()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.spellings.values().map(String::as_str)
    }
}

pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Open listen streams of one connection.
#[derive(Default)]
pub(super) struct ListenStreams(Vec<ListenStream>);

/// Open listen stream.
pub(super) struct ListenStream {
    pub(super) id: IdBuf,
    pub(super) revision: Revision,
    pub(super) filter: EventFilter,
    pub(super) _hold: OutboxHold,
}

/// Events that a stream is subscribed to, as far as the server supports them.
#[derive(Default)]
pub(super) struct EventFilter {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) uris: SubscribedUris,
    /// Running tasks that belong to the caller of the stream, on this node or on another.
    pub(super) tasks: Vec<FollowedTask>,
}

/// Task that a stream follows.
pub(super) struct FollowedTask {
    id: Arc<str>,
    /// Version of the state that the client knows. Zero if the store is not shared.
    version: u64,
}

impl FollowedTask {
    pub(super) fn new(view: &TaskView) -> Self {
        Self { id: view.id.clone(), version: view.version }
    }
}

/// Returns whether a client has to be told this state of a task, and remembers the version of the state. If several nodes share the store,
/// the same state may be reported more than once.
pub(super) fn is_news(known: &mut u64, view: &TaskView) -> bool {
    let is_news = view.version == 0 || view.version > *known;
    // States may arrive out of order. An old state must not hide that the client knows a newer state.
    *known = view.version.max(*known);
    is_news
}

impl EventFilter {
    fn wants(&mut self, event: &Event) -> bool {
        match event {
            Event::ToolsChanged => self.tools,
            Event::PromptsChanged => self.prompts,
            Event::ResourcesChanged => self.resources,
            Event::ResourceUpdated(uri) => self.uris.get(uri).is_some(),
            Event::TaskChanged(task) => {
                let followed = self.tasks.iter_mut().find(|followed| followed.id == task.id);
                followed.is_some_and(|followed| is_news(&mut followed.version, task))
            }
            Event::UrlCompleted(_) => false,
        }
    }

    pub(super) fn write(&self, object: &mut ObjectWriter<'_>) {
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                object.bool(name, true);
            }
        }
        if self.uris.len() > 0 {
            let mut uris: ArrayWriter<'_> = object.array("resourceSubscriptions");
            for uri in self.uris.iter() {
                uris.str(uri);
            }
        }
        if !self.tasks.is_empty() {
            let mut ids = object.array("taskIds");
            for task in &self.tasks {
                ids.str(&task.id);
            }
        }
    }
}

/// Writes the id of a stream, with the JSON type that the client gave it (rule C-14).
pub(super) fn subscription_meta(object: &mut ObjectWriter<'_>, id: &IdBuf) {
    object.object("_meta").raw(SUBSCRIPTION, id.as_id().as_str());
}

impl ListenStreams {
    /// Returns a notification for each stream that wants the event, tagged with the id of the stream.
    pub(super) fn notifications(
        &mut self,
        event: &Event,
    ) -> impl Iterator<Item = (&IdBuf, Vec<u8>)> {
        let wanting = self.0.iter_mut().filter_map(move |stream| {
            let is_wanted = stream.filter.wants(event);
            is_wanted.then_some(&*stream)
        });
        wanting.map(move |listen| {
            let mut out = Vec::new();
            if let Event::TaskChanged(task) = event {
                let stream = Some((SUBSCRIPTION, &listen.id));
                encode::task_changed(&mut out, listen.revision, task, stream);
                return (&listen.id, out);
            }
            let method = list_changed(event).unwrap_or("notifications/resources/updated");
            wire::notification(&mut out, method, |params| {
                if let Event::ResourceUpdated(uri) = event {
                    params.str("uri", listen.filter.uris.get(uri).unwrap_or(uri));
                }
                subscription_meta(params, &listen.id);
            });
            (&listen.id, out)
        })
    }

    /// Returns whether a stream follows the task with this id.
    pub(super) fn follows_task(&self, id: &str) -> bool {
        self.0.iter().any(|stream| stream.filter.tasks.iter().any(|task| *task.id == *id))
    }

    /// Returns the URIs of the resources that the streams are subscribed to.
    pub(super) fn subscribed(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|stream| stream.filter.uris.iter())
    }

    pub(super) fn contains(&self, id: Id<'_>) -> bool {
        self.0.iter().any(|stream| stream.id.as_id() == id)
    }

    pub(super) fn remove(&mut self, id: Id<'_>) {
        self.0.retain(|stream| stream.id.as_id() != id);
    }

    /// Returns the empty result that ends each stream (rule SUB-04).
    pub(super) fn results(&self, service: &Service) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().map(|ListenStream { id, .. }| {
            let mut result = Vec::new();
            wire::response(&mut result, id.as_id(), |result| {
                encode::listen_result(result, service, SUBSCRIPTION, id.as_id());
            });
            result
        })
    }

    /// Returns the cancellation of each stream.
    pub(super) fn cancellations(&self) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().map(|ListenStream { id, .. }| {
            let mut cancelled = Vec::new();
            wire::notification(&mut cancelled, "notifications/cancelled", |params| {
                params
                    .raw("requestId", id.as_id().as_str())
                    .str("reason", "the server is stopping");
                subscription_meta(params, id);
            });
            cancelled
        })
    }

    /// Returns the number of streams, and the number of resources that they have subscribed to.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().map(|stream| stream.filter.uris.len()).sum())
    }

    pub(super) fn push(&mut self, stream: ListenStream) {
        self.0.push(stream);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        limits::{CallerKey, Shares},
        model::{TaskState, Timestamp},
    };

    #[test]
    fn a_state_that_arrives_after_a_newer_one_does_not_make_the_newer_one_news_again() {
        let view = |version: u64| TaskView {
            id: "a".into(),
            message: None,
            created: Timestamp(1),
            updated: Timestamp(1),
            ttl: None,
            poll: std::time::Duration::ZERO,
            version,
            state: TaskState::Working,
        };
        let mut known = 0;
        for (version, expected) in [(5, true), (4, false), (5, false), (6, true), (0, true)] {
            assert_eq!(is_news(&mut known, &view(version)), expected, "{version}");
        }
        assert_eq!(known, 6);
    }

    fn tenant() -> Arc<Tenant> {
        Shares::default().tenant(CallerKey::Anybody)
    }

    #[test]
    fn subscribed_uris_are_compared_by_what_they_mean() {
        fn check(updated: &str, expected: Option<&str>) {
            let mut uris = SubscribedUris::default();
            for uri in ["note://a%20b", "note://100%25", "note://%zz"] {
                uris.add(subscription_key(uri), uri, 0, &Limits::new(), &tenant()).unwrap();
            }
            assert_eq!(uris.get(updated), expected, "{updated}");
        }
        check("note://a%20b", Some("note://a%20b"));
        check("NOTE://a%20b", Some("note://a%20b"));
        check("note://A%20b", None);
        check("note://a b", Some("note://a%20b"));
        check("note://100%", Some("note://100%25"));
        check("note://%zz", Some("note://%zz"));
        check("note://a", None);
    }

    #[test]
    fn subscribed_uris_are_limited_in_number_and_length() {
        let limits = Limits::new().uri(10).subscriptions(3).subscription_bytes(12);
        let (mut uris, room) = (SubscribedUris::default(), tenant());
        assert!(uris.add("12345678901".into(), "12345678901", 0, &limits, &room).is_err());
        for uri in ["12345", "1", "1", "123456"] {
            assert!(uris.add(uri.into(), uri, 0, &limits, &room).is_ok(), "{uri}");
        }
        assert_eq!(uris.len(), 3);
        assert!(uris.add("2".into(), "2", 0, &limits, &room).is_err(), "too many");
        uris.remove("other key", "1");
        assert!(uris.add("22".into(), "22", 0, &limits, &room).is_err(), "too long together");
        assert!(uris.add("2".into(), "2", 1, &limits, &room).is_err(), "too many with others");
        assert!(uris.add("2".into(), "2", 0, &limits, &room).is_ok());
    }
}
