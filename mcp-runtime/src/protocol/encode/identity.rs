//! Identity and capabilities of the server, derived from what the server has (rule DISC-04).

use mcp_runtime_wire::ObjectWriter;

use crate::{
    call::context::logging,
    catalog::Snapshot,
    model::Icon,
    protocol::{
        Service,
        revision::{Revision, TaskDialect},
        tasks::EXTENSION,
    },
    server::Identity,
};

/// Writes `Implementation`, with the members that the revision has.
pub(in crate::protocol) fn implementation(
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

/// Returns `Implementation` in the newest revision.
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
        let mut it = list.object();
        it.str("src", icon.src).opt_str("mimeType", icon.mime_type);
        if !icon.sizes.is_empty() {
            let mut sizes = it.array("sizes");
            for size in icon.sizes {
                sizes.str(size);
            }
        }
    }
}

/// Writes `ServerCapabilities`, with existing features only. `listChanged` is declared only if the catalog can change.
pub(in crate::protocol) fn capabilities(
    object: &mut ObjectWriter<'_>,
    revision: Revision,
    service: &Service,
    snapshot: &Snapshot,
    lists_tasks: bool,
) {
    let changes = service.dispatcher.catalog.is_dynamic();
    let list = |it: &mut ObjectWriter<'_>| {
        if changes {
            it.bool("listChanged", true);
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
                // A server that cannot tell clients apart must not list tasks that belong to one of them (rule TASK4-10).
                if lists_tasks {
                    tasks.object("list").end();
                }
                tasks.object("cancel").end();
                tasks.object("requests").object("tools").object("call").end();
            }
            TaskDialect::Extension => object.object("extensions").object(EXTENSION).end(),
        }
    }
}

/// Optional feature of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum Feature {
    Tools,
    Resources,
    Prompts,
    Completions,
    Subscriptions,
    Logging,
    Tasks,
}

impl Feature {
    pub(in crate::protocol) fn is_served(self, snapshot: &Snapshot) -> bool {
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
