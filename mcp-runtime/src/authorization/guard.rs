//! Decides whether a caller may use an item, by the scopes and policies of the item and of the server.

use std::{borrow::Cow, sync::Arc};

use super::{
    challenge::{AuthRefusal, combined_scopes, scope_problem},
    resource::ProtectedResource,
};
use crate::{
    call::context::{Access, Authorization, Policy},
    error::{Error, ErrorKind},
    registry::ItemDef,
    unwind,
};

/// Type-erased policy.
pub(crate) type SharedPolicy = Arc<dyn Fn(&Authorization, &Access<'_>) -> bool + Send + Sync>;

/// Scopes and policy of one item. An item that declares neither has no guard, unless the server has policies.
#[derive(Clone, Default)]
pub(crate) struct ItemGuard {
    pub(crate) scopes: Vec<Cow<'static, str>>,
    pub(crate) policy: Option<SharedPolicy>,
}

impl ItemGuard {
    pub(crate) fn deciding(mut self, policy: impl Policy) -> Self {
        self.policy = Some(Arc::new(policy));
        self
    }

    /// Returns the guard that the attribute of an item declares.
    pub(crate) fn of(def: &ItemDef) -> Self {
        let scopes = def.scopes.iter().copied().map(Cow::Borrowed).collect();
        Self { scopes, policy: def.policy.map(|policy| -> SharedPolicy { Arc::new(policy) }) }
    }

    /// Describes the problem with the first invalid scope. Returns `None` if all scopes are valid.
    pub(crate) fn problem(&self) -> Option<String> {
        self.scopes.iter().find_map(|scope| scope_problem(scope))
    }

    /// Returns the guard, or `None` if the guard has neither scopes nor a policy.
    pub(crate) fn closed(self) -> Option<Box<Self>> {
        let is_open = self.scopes.is_empty() && self.policy.is_none();
        (!is_open).then(|| Box::new(self))
    }
}

/// Policies and scopes of the server, for all items.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) policies: Vec<SharedPolicy>,
    pub(crate) protected: Option<Arc<ProtectedResource>>,
}

/// Reason why a caller may not use an item. `refusal` is `None` if the caller's authorization is not the cause, for example if a policy
/// panicked.
pub(crate) struct AccessError {
    pub(crate) refusal: Option<AuthRefusal>,
    pub(crate) error: Error,
}

impl From<AuthRefusal> for AccessError {
    fn from(refusal: AuthRefusal) -> Self {
        let error = Error::of(ErrorKind::InvalidRequest, refusal.why());
        Self { refusal: Some(refusal), error }
    }
}

impl From<Error> for AccessError {
    fn from(error: Error) -> Self {
        Self { refusal: None, error }
    }
}

impl AccessError {
    /// Combines two refusals of one request. The combined refusal names the scopes of both, because a token with the scopes of only one of
    /// them would be rejected again.
    pub(crate) fn and(mut self, other: Self) -> Self {
        match (&mut self.refusal, other.refusal) {
            (
                Some(
                    AuthRefusal::Insufficient { scopes, .. } | AuthRefusal::Unknown { scopes, .. },
                ),
                Some(
                    AuthRefusal::Insufficient { scopes: more, .. }
                    | AuthRefusal::Unknown { scopes: more, .. },
                ),
            ) => {
                *scopes =
                    combined_scopes(scopes.split_whitespace().chain(more.split_whitespace()), [])
            }
            // A token with more scopes would not resolve `other`, so the response reports `other`.
            (Some(AuthRefusal::Insufficient { .. } | AuthRefusal::Unknown { .. }), refusal) => {
                return Self { refusal, error: other.error };
            }
            _ => {}
        }
        self
    }
}

impl Rules {
    /// Whether the server has policies. If so, items that declare neither scopes nor a policy get an empty guard, so that the policies of
    /// the server apply to them too.
    pub(crate) fn guard_all(&self) -> bool {
        !self.policies.is_empty()
    }

    /// Adds the scope hierarchy of the server to an authorization.
    pub(crate) fn completed(&self, authorization: Authorization) -> Authorization {
        match &self.protected {
            Some(protected) => protected.completed(authorization),
            None => authorization,
        }
    }

    fn required(&self) -> impl Iterator<Item = &str> {
        self.protected.iter().flat_map(|protected| protected.required())
    }

    /// Checks whether a caller may use an item.
    ///
    /// # Errors
    /// Fails if the caller lacks a scope, a policy rejects the caller, or the policies cannot be evaluated.
    pub(crate) fn check(
        &self,
        guard: Option<&ItemGuard>,
        caller: Option<&Authorization>,
        access: &Access<'_>,
    ) -> Result<(), AccessError> {
        let Some(guard) = guard else { return Ok(()) };
        let needed = || self.required().chain(guard.scopes.iter().map(|scope| &**scope));
        let (kind, item) = (access.kind(), access.item());
        let Some(caller) = caller else {
            let scopes = combined_scopes(needed(), []);
            let grants = match &*scopes {
                "" => String::new(),
                scopes => format!(" that grants `{scopes}`"),
            };
            let why = format!(
                "the {kind} `{item}` requires an access token{grants}: `Authorization: Bearer …`"
            );
            return Err(AuthRefusal::Unknown { why, scopes }.into());
        };
        let lacking: Vec<&str> = needed().filter(|scope| !caller.has_scope(scope)).collect();
        if !lacking.is_empty() {
            let scopes = combined_scopes(needed(), caller.granted());
            let lacking = combined_scopes(lacking, []);
            let too = if caller.granted().next().is_some() { " too" } else { "" };
            let why = format!("the {kind} `{item}` needs a token that grants `{lacking}`{too}");
            return Err(AuthRefusal::Insufficient { why, scopes }.into());
        }
        self.ask(guard, caller, access)
    }

    /// Whether an item appears in the lists that a caller gets.
    pub(crate) fn shows(
        &self,
        guard: Option<&ItemGuard>,
        caller: Option<&Authorization>,
        access: &Access<'_>,
    ) -> bool {
        if !self.protected.as_ref().is_some_and(|protected| protected.lists_beyond_scopes()) {
            return self.check(guard, caller, access).is_ok();
        }
        let Some(guard) = guard else { return true };
        let asks = self.guard_all() || guard.policy.is_some();
        !asks || caller.is_some_and(|caller| self.ask(guard, caller, access).is_ok())
    }

    /// Evaluates the policies of the server and of the item.
    fn ask(
        &self,
        guard: &ItemGuard,
        caller: &Authorization,
        access: &Access<'_>,
    ) -> Result<(), AccessError> {
        let says_yes = |policy: &SharedPolicy| policy(caller, access);
        let (kind, item) = (access.kind(), access.item());
        let all = || self.policies.iter().chain(&guard.policy).all(says_yes);
        let Ok(may) = unwind::catch(all) else {
            let text = format!("a policy panicked while deciding about the {kind} `{item}`");
            return Err(Error::internal(text).into());
        };
        if access.is_unreadable.get() {
            let text =
                format!("an argument that decides who may use the {kind} `{item}` cannot be read");
            return Err(Error::invalid_params(text).into());
        }
        if !may {
            let why = format!("this caller may not use the {kind} `{item}` with these arguments");
            return Err(AuthRefusal::Forbidden(why).into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_refusals_of_a_request_ask_for_the_scopes_of_both_at_once() {
        let step_up = |scopes: &str| -> AccessError {
            AuthRefusal::Insufficient { why: format!("needs {scopes}"), scopes: scopes.into() }
                .into()
        };
        let forbidden = || -> AccessError { AuthRefusal::Forbidden("no".into()).into() };
        let check = |one: AccessError, other: AccessError, expected: Option<(u16, &str)>| {
            let refusal = one.and(other).refusal;
            let found = refusal.as_ref().map(|refusal| {
                let scopes = match refusal {
                    AuthRefusal::Insufficient { scopes, .. }
                    | AuthRefusal::Unknown { scopes, .. } => &**scopes,
                    _ => "",
                };
                (refusal.status().as_u16(), scopes)
            });
            assert_eq!(found, expected);
        };
        check(step_up("a b"), step_up("c a"), Some((403, "a b c")));
        let unknown = |scopes: &str| -> AccessError {
            AuthRefusal::Unknown { why: String::new(), scopes: scopes.into() }.into()
        };
        check(unknown("a"), unknown("b"), Some((401, "a b")));
        check(unknown(""), unknown("b"), Some((401, "b")));
        // A token with more scopes would not resolve one of the two refusals, so the response does not name scopes to request.
        check(step_up("a"), forbidden(), Some((403, "")));
        check(forbidden(), step_up("a"), Some((403, "")));
        check(step_up("a"), Error::no_resource("x://y").into(), None);
    }
}
