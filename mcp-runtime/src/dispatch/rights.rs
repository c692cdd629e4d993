//! Authorization of requests: finds the item of a request, and checks that the caller may use it.

#[cfg(feature = "auth")]
use std::cell::Cell;
use std::{collections::BTreeSet, sync::Arc};

#[cfg(feature = "auth")]
use mcp_runtime_wire::Raw;

#[cfg(feature = "auth")]
use super::request::{Request, matching_template};
#[cfg(feature = "auth")]
use crate::{
    authorization::{AccessError, Rules},
    call::context::{Access, AccessArguments, Authorization},
};
use crate::{
    call::context::Carrier,
    catalog::{Entry, Snapshot},
    error::Error,
    model::{ListKind, ListPage},
};

/// Access rules of the server and of its items. Without authorization, every caller may use every item.
pub(crate) struct ItemRights {
    #[cfg(feature = "auth")]
    pub(crate) rules: Rules,
}

impl ItemRights {
    /// Returns one page of a list, which the cursor selects. The page contains only items that this caller may see.
    pub(super) fn page(
        &self,
        snapshot: &Snapshot,
        kind: ListKind,
        cursor: Option<&str>,
        carrier: &Carrier,
    ) -> Result<ListPage, Error> {
        if snapshot.guards(kind) && carrier.is_judged() {
            return snapshot.page_of(kind, cursor, |entry| self.shows(entry, carrier));
        }
        snapshot.page(kind, cursor)
    }

    /// Returns the items of a list that a caller may see.
    pub(super) fn seen<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        kind: ListKind,
        carrier: &'a Carrier,
    ) -> impl Iterator<Item = &'a Arc<Entry>> {
        let all = !snapshot.guards(kind) || !carrier.is_judged();
        snapshot.list(kind).iter().filter(move |entry| all || self.shows(entry, carrier))
    }

    /// Returns the names of the tools that have tasks and restricted access, in two sets: first the tools that the caller may not call,
    /// then those that the caller may call. Returns `None` if the rights of the caller are not checked, as over stdio.
    pub(crate) fn judged(
        &self,
        snapshot: &Snapshot,
        carrier: &Carrier,
    ) -> Option<[BTreeSet<String>; 2]> {
        carrier.is_judged().then(|| {
            let mut judged = [BTreeSet::new(), BTreeSet::new()];
            for entry in snapshot.guarded_with_tasks() {
                judged[usize::from(self.may_call(entry, carrier))].insert((*entry.name).into());
            }
            judged
        })
    }

    #[cfg(not(feature = "auth"))]
    fn may_call(&self, _: &Entry, _: &Carrier) -> bool {
        true
    }

    #[cfg(feature = "auth")]
    fn may_call(&self, entry: &Entry, carrier: &Carrier) -> bool {
        self.check(entry, carrier, listing(entry)).is_ok()
    }

    #[cfg(not(feature = "auth"))]
    fn shows(&self, _: &Entry, _: &Carrier) -> bool {
        true
    }

    #[cfg(feature = "auth")]
    fn shows(&self, entry: &Entry, carrier: &Carrier) -> bool {
        self.rules.shows(entry.guard.as_deref(), carrier.authorization(), &listing(entry))
    }

    /// Returns the carrier for a call that runs again after a restart. `caller` is the stored authorization of the caller that began the
    /// call.
    pub(crate) fn carrier_of(&self, owner: &str, caller: Option<&str>) -> Carrier {
        #[cfg(feature = "auth")]
        if let Some(kept) = caller.and_then(Authorization::kept) {
            return Carrier::of_caller(owner, self.rules.completed(kept));
        }
        let _ = caller;
        Carrier::of(owner)
    }
}

#[cfg(feature = "auth")]
impl ItemRights {
    /// Checks that the caller may use the item of a request. `target` is the item that [`Request::target`] returns. A completion has no
    /// target, so this function finds its item through the reference. A request without an item is allowed for every caller.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub(crate) fn permit(
        &self,
        snapshot: &Snapshot,
        target: Option<&Arc<Entry>>,
        carrier: &Carrier,
        request: &Request<'_>,
    ) -> Result<(), AccessError> {
        if !carrier.is_judged() {
            return Ok(());
        }
        match (request, target) {
            (Request::CallTool { arguments, .. }, Some(entry)) => {
                let strict = entry.tool().is_some_and(|tool| tool.strict);
                let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT.into());
                self.check(
                    entry,
                    carrier,
                    using(entry, None, AccessArguments::Json(arguments, strict)),
                )
            }
            (Request::GetPrompt { arguments, .. }, Some(entry)) => {
                let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT);
                self.check(entry, carrier, using(entry, None, AccessArguments::Texts(arguments)))
            }
            (Request::ReadResource { uri }, Some(entry)) => self.check_uri(entry, carrier, uri),
            // The arguments of the later call are not known yet, so the rules are checked without arguments, as for a list.
            (Request::Complete { reference, .. }, _) => match reference.find(snapshot) {
                Ok(entry) => self.check(entry, carrier, listing(entry)),
                Err(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Checks that the caller may subscribe to a resource.
    ///
    /// # Errors
    /// Returns the reason for the refusal. A URI without a resource is refused too: subscriptions compare keys of URIs, and a key may
    /// be the URI of a guarded resource.
    pub(crate) fn permit_uri(
        &self,
        snapshot: &Snapshot,
        carrier: &Carrier,
        uri: &str,
    ) -> Result<(), AccessError> {
        if !carrier.is_judged() {
            return Ok(());
        }
        let found = |uri: &str| {
            snapshot.find_resource(uri).or_else(|| matching_template(snapshot, uri)).cloned()
        };
        let entry = found(uri).ok_or_else(|| Error::no_resource(uri))?;
        self.check_uri(&entry, carrier, uri)?;
        // The caller must also be allowed to use the resource whose URI is the key of the subscription.
        let key = snapshot.subscription_key(uri);
        match found(&key) {
            Some(entry) => self.check_uri(&entry, carrier, &key),
            None => Ok(()),
        }
    }

    fn check_uri(&self, entry: &Entry, carrier: &Carrier, uri: &str) -> Result<(), AccessError> {
        let template = entry.resource().and_then(|resource| resource.template.as_ref());
        let given = template.map_or(AccessArguments::None, AccessArguments::Variables);
        // A policy compares the URI that the author has written, also if the client spells it in another way.
        let uri = if template.is_none() { entry.key() } else { uri };
        self.check(entry, carrier, using(entry, Some(uri), given))
    }

    fn check(
        &self,
        entry: &Entry,
        carrier: &Carrier,
        access: Access<'_>,
    ) -> Result<(), AccessError> {
        self.rules.check(entry.guard.as_deref(), carrier.authorization(), &access)
    }
}

#[cfg(feature = "auth")]
fn using<'a>(entry: &'a Entry, uri: Option<&'a str>, given: AccessArguments<'a>) -> Access<'a> {
    let (kind, item) = (entry.kind_name(), entry.key());
    Access { kind, item, uri, is_listing: false, given, is_unreadable: Cell::new(false) }
}

#[cfg(feature = "auth")]
fn listing(entry: &Entry) -> Access<'_> {
    let fixed = entry
        .resource()
        .filter(|resource| resource.template.is_none())
        .map(|resource| &*resource.uri);
    Access { is_listing: true, ..using(entry, fixed, AccessArguments::None) }
}
