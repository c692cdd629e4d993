//! `subscriptions/listen`: the streams on which a modern client hears of events.

use std::{borrow::Cow, collections::BTreeSet};

use super::{
    Service,
    encode::{self, Feature},
    legacy::list_changed,
    method::{check_uri, invalid},
    outbox::Hold,
    peer::Peer,
    request::{ClientRequest, id_in_use},
    revision::Revision,
    turn::{Refusal, Turn},
};
use crate::{
    catalog::Event,
    error::{Error, Kind},
    percent,
    wire::{self, Array, Id, IdBuf, Kind as JsonKind, Object, Raw},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The open streams of one connection.
#[derive(Default)]
pub(crate) struct Listens(Vec<Listen>);

struct Listen {
    id: IdBuf,
    filter: Filter,
    _hold: Hold,
}

/// What a stream wants to hear, as far as the server has it.
#[derive(Default)]
struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: BTreeSet<String>,
}

impl Filter {
    fn wants(&self, event: &Event) -> bool {
        match event {
            Event::ToolsChanged => self.tools,
            Event::PromptsChanged => self.prompts,
            Event::ResourcesChanged => self.resources,
            Event::ResourceUpdated(uri) => subscribed(&self.uris, uri).is_some(),
        }
    }

    fn write(&self, object: &mut Object<'_>) {
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                object.bool(name, true);
            }
        }
        if !self.uris.is_empty() {
            let mut uris: Array<'_> = object.array("resourceSubscriptions");
            for uri in &self.uris {
                uris.str(uri);
            }
        }
    }
}

/// The id with the JSON type it came with (C-14).
fn subscription_meta(object: &mut Object<'_>, id: &IdBuf) {
    object.object("_meta").raw(SUBSCRIPTION, id.as_id().as_str());
}

/// The URI under which a client subscribed to `uri`.
///
/// Clients differ in what they percent-encode, and servers write `updated(format!("note://{title}"))`: it is
/// what a URI says that counts, and each client hears it in its own words.
pub(super) fn subscribed<'a>(uris: &'a BTreeSet<String>, uri: &str) -> Option<&'a str> {
    let plain = |it: &'_ str| percent::decode(it).map_or_else(|| it.to_owned(), Cow::into_owned);
    uris.get(uri).map(String::as_str).or_else(|| {
        let wanted = plain(uri);
        uris.iter().map(String::as_str).find(|it| plain(it) == wanted)
    })
}

impl Listens {
    /// One copy for each stream that wants the event, tagged with its id.
    pub(super) fn notifications(&self, event: &Event) -> impl Iterator<Item = (&IdBuf, Vec<u8>)> {
        let wanting = self.0.iter().filter(move |it| it.filter.wants(event));
        wanting.map(move |listen| {
            let mut out = Vec::new();
            let method = list_changed(event).unwrap_or("notifications/resources/updated");
            wire::notification(&mut out, method, |params| {
                if let Event::ResourceUpdated(uri) = event {
                    params.str("uri", subscribed(&listen.filter.uris, uri).unwrap_or(uri));
                }
                subscription_meta(params, &listen.id);
            });
            (&listen.id, out)
        })
    }

    pub(super) fn contains(&self, id: Id<'_>) -> bool {
        self.0.iter().any(|it| it.id.as_id() == id)
    }

    pub(super) fn remove(&mut self, id: Id<'_>) {
        self.0.retain(|it| it.id.as_id() != id);
    }

    /// The empty result that ends each stream (SUB-04).
    pub(super) fn results(&self, service: &Service) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().map(|Listen { id, .. }| {
            let mut result = Vec::new();
            wire::response(&mut result, id.as_id(), |result| {
                encode::listen_result(result, service, SUBSCRIPTION, id.as_id());
            });
            result
        })
    }

    /// The cancellation of each stream.
    fn cancellations(&self) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().map(|Listen { id, .. }| {
            let mut cancelled = Vec::new();
            wire::notification(&mut cancelled, "notifications/cancelled", |params| {
                params.raw("requestId", id.as_id().as_str()).str("reason", "the server stops");
                subscription_meta(params, id);
            });
            cancelled
        })
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Peer {
    /// Ends the listen streams in the protocol's terms (SUB-04): on a connection that carries more than one of them, each
    /// is cancelled before its result.
    pub(crate) fn close(&self) {
        let mut listens = self.shared.listens();
        let service = &self.shared.service;
        for (cancelled, result) in listens.cancellations().zip(listens.results(service)) {
            for message in [cancelled, result] {
                self.shared.outbox.push_after_events(|out| out.extend_from_slice(&message));
            }
        }
        listens.clear();
    }

    /// The client does not want to hear any more, not even of what has not gone out.
    pub(super) fn end_listen(&self, id: Id<'_>) {
        let mut listens = self.shared.listens();
        listens.remove(id);
        self.shared.outbox.forget_events(id);
    }

    pub(super) fn listen(&self, revision: Revision, request: &ClientRequest<'_>, turn: &mut Turn) {
        let shared = &self.shared;
        shared.hear();
        match self.open(request) {
            Err(error) if error.kind() == Kind::Failed => {
                self.reject(request, revision, Refusal::Busy, &error, turn);
            }
            Err(error) => shared.refuse(request, revision, &error),
            Ok(listen) => {
                // The acknowledgement is the stream's first message, so no event may come between (SUB-02).
                let mut listens = shared.listens();
                shared.outbox.push(|out| {
                    wire::notification(out, "notifications/subscriptions/acknowledged", |params| {
                        listen.filter.write(&mut params.object("notifications"));
                        subscription_meta(params, &listen.id);
                    });
                });
                listens.0.push(listen);
            }
        }
    }

    fn open(&self, request: &ClientRequest<'_>) -> Result<Listen, Error> {
        let shared = &self.shared;
        let wanted = request.params.get("notifications");
        let Some(wanted) = wanted.filter(|it| it.kind() == JsonKind::Object) else {
            return Err(invalid("`notifications` must be an object that says what to listen for"));
        };
        let id = request.id;
        let (used, streams, uris) = {
            let listens = shared.listens();
            let uris: usize = listens.0.iter().map(|it| it.filter.uris.len()).sum();
            (listens.contains(id), listens.0.len(), uris)
        };
        if used || shared.calls().contains_key(id.as_str()) {
            return Err(id_in_use());
        }
        let limits = shared.service.limits;
        if streams >= limits.streams {
            return Err(Error::of(
                Kind::Failed,
                format_args!("{streams} listen streams are open already: close some of them"),
            ));
        }
        let filter = self.honoured(wanted)?;
        if uris + filter.uris.len() > limits.subscriptions {
            let limit = limits.subscriptions;
            return Err(invalid(format_args!(
                "at most {limit} resources can be subscribed to: ask for fewer, or close a stream"
            )));
        }
        Ok(Listen { id: id.to_owned(), filter, _hold: shared.outbox.hold() })
    }

    /// What of the filter the server can do: the rest is left out of the acknowledgement.
    fn honoured(&self, wanted: Raw<'_>) -> Result<Filter, Error> {
        let snapshot = self.shared.snapshot();
        let changes = self.shared.service.dispatcher.catalog.is_dynamic();
        let flag = |name: &str, feature: Feature| -> Result<bool, Error> {
            match wanted.get(name) {
                None => Ok(false),
                Some(it) => {
                    let wanted = it
                        .bool()
                        .ok_or_else(|| invalid(format_args!("`{name}` must be true or false")))?;
                    Ok(wanted && changes && feature.is_served(&snapshot))
                }
            }
        };
        let mut filter = Filter {
            tools: flag("toolsListChanged", Feature::Tools)?,
            prompts: flag("promptsListChanged", Feature::Prompts)?,
            resources: flag("resourcesListChanged", Feature::Resources)?,
            uris: BTreeSet::new(),
        };
        if let Some(uris) = wanted.get("resourceSubscriptions") {
            if uris.kind() != JsonKind::Array {
                return Err(invalid("`resourceSubscriptions` must be an array of URIs"));
            }
            for uri in uris.elements() {
                let uri = uri
                    .string()
                    .ok_or_else(|| invalid("`resourceSubscriptions` must be an array of URIs"))?;
                check_uri(&self.shared.service.limits, &uri)?;
                filter.uris.insert(uri.into_owned());
            }
            if !Feature::Subscriptions.is_served(&snapshot) {
                filter.uris.clear();
            }
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::subscribed;

    #[test]
    fn a_resource_is_known_by_what_its_uri_says() {
        fn check(updated: &str, expected: Option<&str>) {
            let uris = ["note://a%20b", "note://100%25", "note://%zz"].map(str::to_owned).into();
            assert_eq!(subscribed(&uris, updated), expected, "{updated}");
        }
        check("note://a%20b", Some("note://a%20b"));
        check("note://a b", Some("note://a%20b"));
        check("note://100%", Some("note://100%25"));
        check("note://%zz", Some("note://%zz"));
        check("note://a", None);
    }
}
