use super::ClientInfo;

/// Capabilities of the client that an item may use while it runs. They are known before the item runs, so that a client that lacks one can
/// be rejected before anything is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    elicitation: bool,
    sampling: bool,
    roots: bool,
}

#[allow(missing_docs, reason = "public only for generated code")]
impl Asks {
    pub const fn new() -> Self {
        Self { elicitation: false, sampling: false, roots: false }
    }

    /// Adds a form that the user fills in. Asking through a URL is a separate capability.
    #[must_use]
    pub const fn elicitation(mut self) -> Self {
        self.elicitation = true;
        self
    }

    #[must_use]
    pub const fn sampling(mut self) -> Self {
        self.sampling = true;
        self
    }

    #[must_use]
    pub const fn roots(mut self) -> Self {
        self.roots = true;
        self
    }
}

impl Asks {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::new()
    }

    pub(crate) fn elicits(self) -> bool {
        self.elicitation
    }

    /// Joins the capabilities of both.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            elicitation: self.elicitation || other.elicitation,
            sampling: self.sampling || other.sampling,
            roots: self.roots || other.roots,
        }
    }

    /// Returns the capabilities that this client did not declare; empty if it declared all of them.
    #[must_use]
    pub(crate) fn missing(self, client: &ClientInfo) -> Self {
        Self {
            elicitation: self.elicitation && !client.can_elicit(),
            sampling: self.sampling && !client.can_sample(),
            roots: self.roots && !client.can_list_roots(),
        }
    }

    /// Returns the names of the capabilities, as in the specification.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.capabilities().map(|(name, _)| name)
    }

    /// Writes the object for `data.requiredCapabilities` (rule C-04).
    pub(crate) fn required_json(self) -> String {
        let members: Vec<_> =
            self.capabilities().map(|(name, json)| format!("\"{name}\":{json}")).collect();
        format!("{{{}}}", members.join(","))
    }

    fn capabilities(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            (self.elicitation, "elicitation", r#"{"form":{}}"#),
            (self.sampling, "sampling", "{}"),
            (self.roots, "roots", "{}"),
        ];
        all.into_iter().filter(|it| it.0).map(|(_, name, json)| (name, json))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Meta;

    const ALL: Asks = Asks::new().elicitation().sampling().roots();

    fn client(capabilities: serde_json::Value) -> ClientInfo {
        let serde_json::Value::Object(capabilities) = capabilities else { panic!("an object") };
        ClientInfo { capabilities: Meta(capabilities), ..ClientInfo::default() }
    }

    #[test]
    fn the_missing_capabilities_are_those_that_the_client_did_not_declare() {
        let check = |capabilities: serde_json::Value, expected: &[&str]| {
            let missing = ALL.missing(&client(capabilities.clone()));
            assert_eq!(missing.names().collect::<Vec<_>>(), expected, "{capabilities}");
        };
        check(json!({}), &["elicitation", "sampling", "roots"]);
        check(json!({ "elicitation": {}, "sampling": {}, "roots": {} }), &[]);
        check(json!({ "sampling": { "tools": {} } }), &["elicitation", "roots"]);
        check(
            json!({ "elicitation": null, "roots": { "listChanged": true } }),
            &["elicitation", "sampling"],
        );
        check(json!({ "elicitation": { "form": {} } }), &["sampling", "roots"]);
        check(json!({ "elicitation": { "url": {} } }), &["elicitation", "sampling", "roots"]);
        check(json!({ "elicitation": { "form": {}, "url": {} } }), &["sampling", "roots"]);
        // A mode that only a later revision defines does not take the form away.
        check(json!({ "elicitation": { "voice": {} } }), &["sampling", "roots"]);
        assert!(Asks::new().missing(&client(json!({}))).is_empty());
        assert!(!Asks::new().roots().missing(&client(json!({}))).is_empty());
    }

    #[test]
    fn required_capabilities_are_an_object() {
        assert_eq!(Asks::new().required_json(), "{}");
        assert_eq!(Asks::new().elicitation().required_json(), r#"{"elicitation":{"form":{}}}"#);
        assert_eq!(ALL.required_json(), r#"{"elicitation":{"form":{}},"sampling":{},"roots":{}}"#);
    }

    #[test]
    fn two_sources_are_joined() {
        let joined = Asks::new().elicitation().and(Asks::new().roots());
        assert_eq!(joined, Asks::new().elicitation().roots());
        assert_eq!(joined.and(Asks::new()), joined);
    }
}
