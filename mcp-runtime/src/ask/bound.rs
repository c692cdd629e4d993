use super::canonical;
use crate::wire::Raw;

/// What the state of a call belongs to: it is found for the same item, with the same arguments, for the same principal (MRTR-06).
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
