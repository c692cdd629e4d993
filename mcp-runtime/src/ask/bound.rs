use mcp_runtime_wire::Raw;

use super::canonical;

/// Call that a state belongs to. The state is found only for the same method, item, arguments and principal (rule MRTR-06).
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound(String);

impl Bound {
    pub(crate) fn to(method: &str, item: &str, arguments: Raw<'_>, principal: &str) -> Self {
        let mut text = String::new();
        for part in [method, item, principal] {
            text.push_str(&part.len().to_string());
            text.push('"');
            text.push_str(part);
        }
        canonical::write(&mut text, arguments);
        Self(text)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
