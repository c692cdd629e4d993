//! What somebody wants of an item, for those who decide whether they may.

use std::{cell::Cell, fmt};

use serde::de::DeserializeOwned;

use super::Authorization;
use crate::{
    extract::{read_json, read_text},
    item::template::Template,
    wire::{Known, Raw},
};

/// What a caller wants of an item, as a [`Policy`] sees it.
pub struct Access<'a> {
    pub(crate) kind: &'static str,
    pub(crate) item: &'a str,
    pub(crate) uri: Option<&'a str>,
    pub(crate) is_listing: bool,
    pub(crate) given: Given<'a>,
    /// Whether an argument that was asked for is there and of another type.
    pub(crate) is_unreadable: Cell<bool>,
}

/// Where the arguments are.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    None,
    /// Those of a tool, and whether each must be of its JSON type.
    Json(Known<'a>, bool),
    /// Those of a prompt.
    Texts(Raw<'a>),
    /// The variables of a URI.
    Variables(&'a Template),
}

impl<'a> Access<'a> {
    /// `"tool"`, `"resource"` or `"prompt"`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The name of the tool or prompt; the URI of the resource, or its template.
    pub fn item(&self) -> &str {
        self.item
    }

    /// The URI that is read or subscribed to, as its client writes it: `note://%61da/1` names the same as `note://ada/1`, so decide by
    /// [`argument`](Self::argument). None while a template is listed, and of tools and prompts.
    pub fn uri(&self) -> Option<&str> {
        self.uri
    }

    /// Whether the item is only shown in a list, or an argument of it completed: there are no arguments then. Whoever goes on to call
    /// it is asked about again.
    pub fn is_listing(&self) -> bool {
        self.is_listing
    }

    /// An argument of the call, or a variable of the URI that is read, as a `T`; `None` where it is not given, and while
    /// [listing](Self::is_listing). A call whose argument is no `T` is refused, whatever the policy says then.
    pub fn argument<T: DeserializeOwned + 'static>(&self, name: &str) -> Option<T> {
        let read = match self.given {
            Given::None => return None,
            Given::Json(arguments, strict) => {
                let [raw] = arguments.pick([name]);
                let raw = raw.filter(|it| !it.is_null())?;
                read_json(raw, strict).map(|it| it.0)
            }
            Given::Texts(arguments) => {
                // As the prompt finds it: what is null is not there, also when it comes after something that is.
                let given = arguments.members().filter(|it| it.0 == name && !it.1.is_null());
                let raw = given.last()?.1;
                let text = raw.string().unwrap_or_else(|| raw.as_str().into());
                read_text(&text, ',')
            }
            Given::Variables(template) => {
                let variables = template.matches(self.uri?)?;
                let value = variables.into_iter().find(|it| it.0 == name)?.1;
                read_text(&value, '/')
            }
        };
        if read.is_err() {
            self.is_unreadable.set(true);
        }
        read.ok()
    }
}

impl fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("kind", &self.kind)
            .field("item", &self.item)
            .field("is_listing", &self.is_listing)
            .finish_non_exhaustive()
    }
}

/// Decides who may use an item: `#[tool(auth(…))]`, [`Tool::auth`](crate::Tool::auth), or [`Builder::policy`](crate::Builder::policy) for
/// all items. It is a function, or a closure, of who calls and what for:
///
/// ```
/// use mcp_runtime::{Access, Authorization, prelude::*};
///
/// fn own_notes(caller: &Authorization, access: &Access<'_>) -> bool {
///     let owner = access.argument::<String>("owner");
///     access.is_listing() || owner.as_deref() == Some(caller.principal().as_str())
/// }
///
/// /// Reads the notes of somebody.
/// #[tool(auth(own_notes))]
/// fn notes(owner: &str) -> String {
///     format!("what {owner} wrote")
/// }
///
/// /// Ends the server's day.
/// #[tool(auth(|caller, _| caller.has_scope("admin")))]
/// fn close() {}
/// # fn main() {}
/// ```
///
/// It is asked after the scopes, before anything runs, and once for each item when a list is made, so it must return at once. Callers
/// nobody knows are never asked about: they are told to show a token.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot decide who may use something",
    label = "not a function of a caller and what they want",
    note = "write `|caller, access| caller.has_scope(\"admin\")`, or a `fn(&Authorization, &Access<'_>) -> bool`"
)]
pub trait Policy: Fn(&Authorization, &Access<'_>) -> bool + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<F: Fn(&Authorization, &Access<'_>) -> bool + Send + Sync + 'static> Policy for F {}

/// What generated code calls. The bound is on the parameter itself: from it the compiler knows what a closure takes.
pub fn decide(policy: impl Policy, caller: &Authorization, access: &Access<'_>) -> bool {
    policy(caller, access)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(given: Given<'_>) -> Option<String> {
        let (kind, item, is_unreadable) = ("prompt", "summary", Cell::new(false));
        let access = Access { kind, item, uri: None, is_listing: false, given, is_unreadable };
        access.argument("owner")
    }

    #[test]
    fn a_policy_sees_the_argument_that_the_handler_gets() {
        let texts = |text| owner(Given::Texts(Raw::trusted(text)));
        let grace = Some("grace".to_owned());
        assert_eq!(texts(r#"{"owner":"ada","owner":"grace"}"#), grace);
        assert_eq!(texts(r#"{"owner":"grace","owner":null}"#), grace);
        assert_eq!(texts(r#"{"owner":null}"#), None);
        let json = |text| owner(Given::Json(Raw::trusted(text).into(), true));
        assert_eq!(json(r#"{"owner":"ada","owner":"grace"}"#), grace);
        assert_eq!(json(r#"{"owner":"grace","owner":null}"#), None);
    }
}
