//! Description of a caller's access to an item, on which policies base their decisions.

use std::{cell::Cell, fmt};

use mcp_runtime_wire::{IndexedObject, Raw};
use serde::de::DeserializeOwned;

use super::Authorization;
use crate::{
    call::read::{json, text},
    item::template::UriTemplate,
};

/// Caller's access to an item, as a [`Policy`] sees it.
///
/// ```
/// use mcp_runtime::auth::{Access, Authorization};
///
/// /// Lets callers use only their own files.
/// fn own_files(caller: &Authorization, access: &Access<'_>) -> bool {
///     let user = access.argument::<String>("user");
///     access.is_listing() || user.as_deref() == Some(caller.principal())
/// }
///
/// let server = mcp_runtime::server!().policy(own_files);
/// # let _ = server;
/// ```
pub struct Access<'a> {
    pub(crate) kind: &'static str,
    pub(crate) item: &'a str,
    pub(crate) uri: Option<&'a str>,
    pub(crate) is_listing: bool,
    pub(crate) given: AccessArguments<'a>,
    /// Whether the policy requested an argument that is present but has a different type.
    pub(crate) is_unreadable: Cell<bool>,
}

/// Source of the arguments.
#[derive(Clone, Copy)]
pub(crate) enum AccessArguments<'a> {
    None,
    /// Arguments of a tool, and whether the tool is strict about JSON types.
    Json(IndexedObject<'a>, bool),
    /// Arguments of a prompt.
    Texts(Raw<'a>),
    /// Variables of the URI, as this template extracts them.
    Variables(&'a UriTemplate),
}

impl<'a> Access<'a> {
    /// Returns the kind of the item: `"tool"`, `"resource"` or `"prompt"`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the name of the tool or prompt, or the URI or template of the resource.
    pub fn item(&self) -> &str {
        self.item
    }

    /// Returns the URI that the client reads or subscribes to: that of the resource as its author wrote it, or for a template exactly as the
    /// client wrote it. Returns `None` for tools and prompts, and when a template is listed.
    ///
    /// Base decisions on [`argument`](Self::argument) instead, because a URI can be written in several ways: `note://%61da/1` names the
    /// same resource as `note://ada/1`.
    pub fn uri(&self) -> Option<&str> {
        self.uri
    }

    /// Returns whether the caller only lists the item, or completes one of its arguments. Such an access has no arguments. The server calls
    /// the policy again when the caller uses the item.
    pub fn is_listing(&self) -> bool {
        self.is_listing
    }

    /// Returns an argument of the call, or a variable of the URI, as a `T`. Returns `None` if the argument is missing, and while
    /// [listing](Self::is_listing).
    ///
    /// The result is also `None` if the argument cannot be read as a `T`. The server then rejects the call, even if the policy returns
    /// `true`.
    pub fn argument<T: DeserializeOwned + 'static>(&self, name: &str) -> Option<T> {
        let read = match self.given {
            AccessArguments::None => return None,
            AccessArguments::Json(arguments, strict) => {
                let [raw] = arguments.pick([name]);
                let raw = raw.filter(|value| !value.is_null())?;
                json::read(raw, strict).map(|(value, _)| value).ok()
            }
            AccessArguments::Texts(arguments) => {
                // `null` counts as missing, as in the handler of the prompt. Therefore a later `null` does not replace an earlier value of
                // the same name.
                let given =
                    arguments.members().filter(|member| member.0 == name && !member.1.is_null());
                let raw = given.last()?.1;
                let text = raw.string().unwrap_or_else(|| raw.as_str().into());
                text::read(&text, ',').ok()
            }
            AccessArguments::Variables(template) => {
                let variables = template.matches(self.uri?)?;
                let value = variables.into_iter().find(|variable| variable.0 == name)?.1;
                text::read(&value, '/').ok()
            }
        };
        if read.is_none() {
            self.is_unreadable.set(true);
        }
        read
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

/// Function that decides which callers may use an item.
///
/// Set a policy with `#[tool(auth(…))]` or [`Tool::auth`](crate::Tool::auth), or with [`Builder::policy`](crate::Builder::policy) for all
/// items. If the scopes of the token are enough for the decision, use `#[tool(scopes(…))]` instead. A policy is a function or closure that
/// takes the caller and the access:
///
/// ```
/// use mcp_runtime::{auth::{Access, Authorization}, prelude::*};
///
/// fn own_notes(caller: &Authorization, access: &Access<'_>) -> bool {
///     let owner = access.argument::<String>("owner");
///     access.is_listing() || owner.as_deref() == Some(caller.principal())
/// }
///
/// /// Returns the notes of a user.
/// #[tool(auth(own_notes))]
/// fn notes(owner: &str) -> String {
///     format!("what {owner} wrote")
/// }
///
/// /// Closes the shop.
/// #[tool(auth(|caller, _| caller.has_scope("admin")))]
/// fn close() {}
/// # fn main() {}
/// ```
///
/// The server calls the policy after it has checked the scopes, and before the handler runs. A caller for whom the policy returns `false`
/// gets status 403. An anonymous caller gets status 401, and the policy is not called. The variables of a resource's URI are arguments of
/// the access, and a policy also decides about subscriptions to the resource.
///
/// **Over stdio the server calls no policy**, because the user who starts the program may use all items. A handler that must know its
/// caller takes [`Auth`](crate::auth::Auth), and fails over stdio.
///
/// The server also calls the policy for each item of a list, so the policy must not block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot decide who may use an item",
    label = "not a function that takes a caller and an access, and returns `bool`",
    note = "write `|caller, access| caller.has_scope(\"admin\")`, or a `fn(&Authorization, &Access<'_>) -> bool`"
)]
pub trait Policy: Fn(&Authorization, &Access<'_>) -> bool + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<F: Fn(&Authorization, &Access<'_>) -> bool + Send + Sync + 'static> Policy for F {}

/// Calls a policy. Called by generated code, so that the bound `Policy` tells the compiler the argument types of a closure.
pub fn decide(policy: impl Policy, caller: &Authorization, access: &Access<'_>) -> bool {
    policy(caller, access)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(given: AccessArguments<'_>) -> Option<String> {
        let (kind, item, is_unreadable) = ("prompt", "summary", Cell::new(false));
        let access = Access { kind, item, uri: None, is_listing: false, given, is_unreadable };
        access.argument("owner")
    }

    #[test]
    fn a_policy_sees_the_argument_that_the_handler_gets() {
        let texts = |text| owner(AccessArguments::Texts(Raw::trusted(text)));
        let grace = Some("grace".to_owned());
        assert_eq!(texts(r#"{"owner":"ada","owner":"grace"}"#), grace);
        assert_eq!(texts(r#"{"owner":"grace","owner":null}"#), grace);
        assert_eq!(texts(r#"{"owner":null}"#), None);
        let json = |text| owner(AccessArguments::Json(Raw::trusted(text).into(), true));
        assert_eq!(json(r#"{"owner":"ada","owner":"grace"}"#), grace);
        assert_eq!(json(r#"{"owner":"grace","owner":null}"#), None);
    }
}
