//! Items that are made while the server runs, by value instead of by attribute.

mod prompt;
mod resource;
mod tool;

use std::{borrow::Cow, collections::BTreeMap};

pub use prompt::Prompt;
pub use resource::Resource;
pub use tool::Tool;

use super::{Entry, EntryKind, Handler, entry::DynHandler};
use crate::{call::extract::Names, limits::RateConfig, model::Asks};

type Text = Cow<'static, str>;

fn entry(name: Text, kind: EntryKind, handler: Option<DynHandler>) -> Result<Entry, String> {
    let handler = handler.ok_or_else(|| format!("`{name}` has no handler"))?;
    Ok(Entry {
        name,
        title: None,
        description: None,
        icons: &[],
        order: 0,
        timeout: None,
        wanted: RateConfig::default(),
        gate: None,
        #[cfg(feature = "auth")]
        guard: None,
        audience: &[],
        priority: None,
        meta: Vec::new(),
        origin: None,
        parameters: Vec::new(),
        identity: None,
        handler: Handler::Dynamic(handler),
        names: Names::default(),
        needs_meta: true,
        asks: Asks::new(),
        can_ask: true,
        single_use: false,
        kind,
    })
}

/// The variables of a template or the arguments of a prompt, by name.
pub type Variables = BTreeMap<String, String>;

/// Methods that the builders of all kinds share.
macro_rules! common {
    ($ty:ident) => {
        impl $ty {
            /// Sets the title, which clients show to users instead of the name.
            #[must_use]
            pub fn title(mut self, title: impl Into<Text>) -> Self {
                self.title = Some(title.into());
                self
            }

            /// Sets the description, which tells the model what the item does.
            #[must_use]
            pub fn description(mut self, description: impl Into<Text>) -> Self {
                self.description = Some(description.into());
                self
            }

            /// Sets the position in the list: a lower number comes first, and items with the same number are sorted by name. Default: 0.
            #[must_use]
            pub fn order(mut self, order: i32) -> Self {
                self.order = order;
                self
            }

            /// Sets how long a call may take. Default: the timeout of the server.
            #[must_use]
            pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
                self.timeout = Some(timeout);
                self
            }

            /// Sets how often one caller may call the item. Default: the rate of the server.
            #[must_use]
            pub fn rate(mut self, rate: $crate::Rate) -> Self {
                self.wanted.rate = Some(rate);
                self
            }

            /// Sets how many calls may run at once, for all callers together. Default: the concurrency of the server.
            #[must_use]
            pub fn concurrency(mut self, calls: u32) -> Self {
                self.wanted.concurrency = Some(calls);
                self
            }

            /// Adds scopes, all of which a caller's access token must grant. A call with a token that grants less gets a 403 response with
            /// `insufficient_scope`.
            #[cfg(feature = "auth")]
            #[must_use]
            pub fn scopes<S: Into<Text>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
                self.guard.scopes.extend(scopes.into_iter().map(Into::into));
                self
            }

            /// Sets a policy that decides who may use the item: a closure that takes the caller and the access that it requests.
            #[cfg(feature = "auth")]
            #[must_use]
            pub fn auth(mut self, policy: impl $crate::Policy) -> Self {
                self.guard = self.guard.deciding(policy);
                self
            }

            fn finish(self, mut entry: $crate::catalog::Entry) -> Result<EntryBox, String> {
                if let Some(problem) = self.wanted.problem() {
                    return Err(format!("`{}`: {problem}", self.name));
                }
                #[cfg(feature = "auth")]
                {
                    if let Some(problem) = self.guard.problem() {
                        return Err(format!("`{}`: {problem}", self.name));
                    }
                    entry.guard = self.guard.closed();
                }
                entry.wanted = self.wanted;
                entry.title = self.title;
                entry.description = self.description;
                entry.order = $crate::catalog::entry::rank(self.order);
                entry.timeout = self.timeout;
                Ok(EntryBox(entry))
            }
        }

        #[cfg(not(feature = "auth"))]
        $crate::unavailable::unavailable! {
            impl $ty where $crate::unavailable::AuthFeature {
                fn scopes<S>(self, _: S) -> Self;
                fn auth<P>(self, _: P) -> Self where {
                    P: Fn(&$crate::unavailable::OfPolicy, &$crate::unavailable::OfPolicy) -> bool,
                };
            }
        }

        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($ty), "({})"), self.name)
            }
        }
    };
}
use common;
