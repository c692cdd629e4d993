//! Resource templates that a URI is read through.

use std::{borrow::Cow, cell::Cell, sync::Arc};

use crate::{
    call::context::{Caller, Environment, LazyContext, States},
    call::extract::{ArgumentMember, Arguments, Call, Mode},
    catalog::{Entry, Handler, Snapshot},
    model::ListKind,
    unwind,
};

type Variables<'a> = Vec<ArgumentMember<'a, Cow<'a, str>>>;

/// Returns the templates that match a URI, each with its variables.
pub(super) fn matching<'s: 'a, 'a>(
    snapshot: &'s Snapshot,
    uri: &'a str,
) -> impl Iterator<Item = (&'s Arc<Entry>, Variables<'a>)> {
    snapshot.list(ListKind::Templates).iter().filter_map(move |entry| {
        let template = entry.resource()?.template.as_ref()?;
        let variables = template.matches(uri)?.into_iter();
        let members = variables.map(|(name, value)| ArgumentMember::new(name.into(), value));
        Some((entry, members.collect()))
    })
}

/// Returns the template that a URI is read through: of several that match, the first whose variables fit their types, else the last.
/// Returns `None` without a search if no template is guarded, can ask or has a gate, as on most servers.
pub(super) fn template<'s>(snapshot: &'s Snapshot, uri: &str) -> Option<&'s Arc<Entry>> {
    let templates = snapshot.list(ListKind::Templates);
    if !snapshot.guards(ListKind::Templates)
        && templates.iter().all(|it| !it.can_ask && it.gate.is_none())
    {
        return None;
    }
    let mut matching = matching(snapshot, uri).peekable();
    while let Some((entry, variables)) = matching.next() {
        if matching.peek().is_none() || fits(entry, variables) {
            return Some(entry);
        }
    }
    None
}

/// Whether the variables fit their types. Reads them as a call would, without running the handler. A variable whose type panics counts as
/// fitting: the call will panic in the same way, and its panic gets a response.
fn fits(entry: &Entry, variables: Variables<'_>) -> bool {
    let Handler::Static(read) = entry.handler else { return true };
    let fits = Cell::new(false);
    let environment = Arc::new(Environment::new(States::default(), 0));
    let context = LazyContext::new(&environment, Caller::default(), None);
    let mode = Mode::Fit { fits: &fits };
    let call = Call::new(mode, Arguments::Text(variables), &entry.names, &context);
    unwind::catch(|| read(call)).is_err() || fits.get()
}
