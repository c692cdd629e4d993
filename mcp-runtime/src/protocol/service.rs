//! State that all connections of a server share. Also writes the identity and the capabilities of the server. The capabilities follow from
//! its items (rule DISC-04).

use std::sync::Arc;

use mcp_runtime_wire::{Invalid, Malformed, ObjectWriter};

use super::revision::{Revision, TaskDialect};
use crate::{
    ask::RoundStates,
    call::context::logging,
    catalog::Snapshot,
    dispatch::Dispatcher,
    error::Error,
    limits::{ByteBudget, Limit, Limits, RefusalCounters, Shares},
    model::Icon,
    server::{Identity, Started},
    task::Tasks,
};

/// Name of the tasks extension, in the capabilities of client and server.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// State that all connections of a server share.
pub(crate) struct Service {
    pub(crate) identity: Arc<Identity>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) limits: Limits,
    pub(super) tasks: Arc<Tasks>,
    /// Size in bytes of all large messages that are being read or whose calls are running.
    pub(crate) bodies: Arc<ByteBudget>,
    /// JSON text of the server's `Implementation`, for every result of the modern era.
    pub(super) server_info: String,
    pub(super) round_states: Arc<RoundStates>,
    /// Ids of questions to clients are higher than this number. Each node of a server has a number of its own, because an answer may arrive
    /// at any node.
    pub(super) first_question: u64,
}

impl Service {
    /// Returns the number of calls that wait for their handlers.
    #[cfg(feature = "http")]
    pub(crate) fn calls_waiting(&self) -> usize {
        self.shares().used(crate::limits::Pool::Calls)
    }

    pub(crate) fn tally(&self) -> &Arc<RefusalCounters> {
        &self.dispatcher.catalog.tally
    }

    /// Returns whether requests to the shared store have failed for a while, because the store is unavailable or has no space.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has health checks"))]
    pub(crate) fn is_store_away(&self) -> bool {
        self.dispatcher.catalog.is_store_away()
    }

    /// Returns the shares of clients in the limits that apply to all clients together.
    pub(crate) fn shares(&self) -> &Shares {
        &self.dispatcher.catalog.shares
    }

    /// Counts a request that this limit has refused, and returns its error.
    pub(crate) fn count_refusal(&self, limit: Limit, error: Error) -> Error {
        self.tally().refuse(limit);
        error
    }

    /// Counts a message that cannot be read because it is nested too deeply.
    pub(crate) fn note_malformed(&self, malformed: &Malformed) {
        if matches!(malformed, Malformed::TooDeep { .. }) {
            self.tally().refuse(Limit::Depth);
        }
    }

    /// Counts a batch with too many messages.
    pub(crate) fn note_invalid(&self, invalid: &Invalid<'_>) {
        if invalid.is_long_batch() {
            self.tally().refuse(Limit::Batch);
        }
    }

    pub(crate) fn new(started: &Started) -> Arc<Self> {
        let mut info = Vec::new();
        let mut object = ObjectWriter::begin(&mut info);
        implementation(&mut object, Revision::MODERN[0], &started.identity);
        object.end();
        Arc::new(Self {
            identity: started.identity.clone(),
            dispatcher: started.dispatcher.clone(),
            limits: started.limits,
            tasks: started.tasks.clone(),
            bodies: Arc::default(),
            server_info: String::from_utf8(info).unwrap_or_default(),
            round_states: started.round_states.clone(),
            first_question: started.node.as_ref().map_or(0, |node| node.id().first_number()),
        })
    }
}

/// Optional feature of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Tools,
    Resources,
    Prompts,
    Completions,
    Subscriptions,
    Logging,
    Tasks,
}

impl Feature {
    pub(super) fn is_served(self, snapshot: &Snapshot) -> bool {
        match self {
            Self::Tools => snapshot.offers.tools,
            Self::Resources => snapshot.offers.resources,
            Self::Prompts => snapshot.offers.prompts,
            Self::Completions => snapshot.offers.completions,
            Self::Subscriptions => snapshot.offers.subscriptions,
            Self::Logging => logging::is_installed(),
            Self::Tasks => snapshot.offers.tasks,
        }
    }
}

/// Writes `Implementation`, with the members that the revision has.
pub(super) fn implementation(
    object: &mut ObjectWriter<'_>,
    revision: Revision,
    identity: &Identity,
) {
    let features = revision.features();
    object.str("name", &identity.name).str("version", &identity.version);
    if features.titles {
        object.opt_str("title", identity.title.as_deref());
    }
    if features.icons {
        object.opt_str("description", identity.description.as_deref());
        object.opt_str("websiteUrl", identity.website.as_deref());
        icons(object, revision, &identity.icons);
    }
}

/// Returns `Implementation` in the form of the newest revision.
pub(crate) fn presented(identity: &Identity) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    implementation(&mut object, Revision::MODERN[0], identity);
    object.end();
    out
}

pub(super) fn icons(object: &mut ObjectWriter<'_>, revision: Revision, icons: &[Icon]) {
    if icons.is_empty() || !revision.features().icons {
        return;
    }
    let mut list = object.array("icons");
    for icon in icons {
        let mut member = list.object();
        member.str("src", icon.src).opt_str("mimeType", icon.mime_type);
        if !icon.sizes.is_empty() {
            let mut sizes = member.array("sizes");
            for size in icon.sizes {
                sizes.str(size);
            }
        }
    }
}

/// Writes `ServerCapabilities`, with the features that the server has. `listChanged` is declared only if the catalog can change.
pub(super) fn capabilities(
    object: &mut ObjectWriter<'_>,
    revision: Revision,
    service: &Service,
    snapshot: &Snapshot,
    lists_tasks: bool,
) {
    let changes = service.dispatcher.catalog.is_dynamic();
    let list = |capability: &mut ObjectWriter<'_>| {
        if changes {
            capability.bool("listChanged", true);
        }
    };
    if Feature::Tools.is_served(snapshot) {
        list(&mut object.object("tools"));
    }
    if Feature::Prompts.is_served(snapshot) {
        list(&mut object.object("prompts"));
    }
    if Feature::Resources.is_served(snapshot) {
        let mut resources = object.object("resources");
        list(&mut resources);
        if Feature::Subscriptions.is_served(snapshot) {
            resources.bool("subscribe", true);
        }
    }
    if revision.features().completions_capability && Feature::Completions.is_served(snapshot) {
        object.object("completions").end();
    }
    if logging::is_installed() {
        object.object("logging").end();
    }
    if Feature::Tasks.is_served(snapshot) {
        match revision.features().tasks {
            TaskDialect::None => {}
            TaskDialect::Core => {
                let mut tasks = object.object("tasks");
                // A server that cannot tell clients apart must not offer `tasks/list`, because each task belongs to one client (rule
                // TASK4-10).
                if lists_tasks {
                    tasks.object("list").end();
                }
                tasks.object("cancel").end();
                tasks.object("requests").object("tools").object("call").end();
            }
            TaskDialect::Extension => object.object("extensions").object(TASKS_EXTENSION).end(),
        }
    }
}
