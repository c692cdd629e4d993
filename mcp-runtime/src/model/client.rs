use crate::model::Meta;

/// Who is calling, as the client says of itself. Nothing here is verified: no decision about rights may rest
/// on it (META-03).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientInfo {
    /// The program's name, empty when it did not say.
    pub name: String,
    /// Its version, empty when it did not say.
    pub version: String,
    /// What it shows to people.
    pub title: Option<String>,
    pub(crate) capabilities: Meta,
}

impl ClientInfo {
    /// Whether the client declared this capability, such as `sampling` or `elicitation.url`.
    pub fn can(&self, capability: &str) -> bool {
        let mut names = capability.split('.');
        let mut found = names.next().and_then(|it| self.capabilities.0.get(it));
        for name in names {
            found = found.and_then(|it| it.get(name));
        }
        found.is_some_and(|it| !it.is_null())
    }
}
