//! Cursors of lists. Each cursor names the last item of the page that it was sent with.
//!
//! A cursor contains the sort key of the last item that was sent, not an index. Therefore it stays valid when items are added or removed,
//! after a restart, and at another instance (rules PAGE-02 and PAGE-04). Clients must not interpret a cursor, so the text is opaque:
//! base64url of a tag, a checksum and the sort key. The checksum detects mistakes, but is no protection. A client that makes up a cursor
//! can read the list from any position.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::model::ListKind;

/// Sort key of the last item of a page. Lists are sorted by `order`, then by `name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListCursor {
    pub(crate) order: i64,
    pub(crate) name: String,
}

/// Returns the tag of a list. The tag is part of each cursor, so that a cursor of one list is rejected in another list.
fn tag(list: ListKind) -> u8 {
    match list {
        ListKind::Tools => b't',
        ListKind::Resources => b'r',
        ListKind::Templates => b'u',
        ListKind::Prompts => b'p',
    }
}

const TAG: usize = 1;
const CHECKSUM: usize = 4;
const ORDER: usize = 8;

impl ListCursor {
    /// Returns the text for `nextCursor`.
    pub(crate) fn encode(&self, list: ListKind) -> String {
        let mut bytes = Vec::with_capacity(TAG + CHECKSUM + ORDER + self.name.len());
        bytes.push(tag(list));
        bytes.extend([0; CHECKSUM]);
        bytes.extend(self.order.to_be_bytes());
        bytes.extend(self.name.as_bytes());
        let checksum = checksum(list, &bytes[TAG + CHECKSUM..]);
        bytes[TAG..TAG + CHECKSUM].copy_from_slice(&checksum);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Decodes the `cursor` of a request. Returns `None` if the cursor was not created by this server, or was created for another list. The
    /// client then gets error -32602. An empty string counts as a cursor (rule PAGE-03), and causes the same error.
    pub(crate) fn decode(list: ListKind, text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (first, rest) = bytes.split_first()?;
        let (sum, key) = rest.split_first_chunk::<CHECKSUM>()?;
        if *first != tag(list) || *sum != checksum(list, key) {
            return None;
        }
        let (order, name) = key.split_first_chunk::<ORDER>()?;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        Some(Self { order: i64::from_be_bytes(*order), name })
    }
}

/// Returns the FNV-1a checksum. Every step is invertible, so one changed byte always changes the checksum.
fn checksum(list: ListKind, key: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = 0x811c_9dc5_u32;
    for byte in std::iter::once(tag(list)).chain(key.iter().copied()) {
        sum = (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    sum.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LISTS: [ListKind; 4] =
        [ListKind::Tools, ListKind::Resources, ListKind::Templates, ListKind::Prompts];

    fn cursors() -> impl Strategy<Value = ListCursor> {
        (any::<i64>(), "\\PC{0,40}").prop_map(|(order, name)| ListCursor { order, name })
    }

    /// Clients keep cursors across an upgrade of the server, so the encoding must not change.
    #[test]
    fn the_encoding_does_not_change() {
        let cursor = ListCursor { order: 0, name: "add".into() };
        assert_eq!(cursor.encode(ListKind::Tools), "dLaHgcYAAAAAAAAAAGFkZA");
        assert_eq!(ListCursor::decode(ListKind::Tools, "dLaHgcYAAAAAAAAAAGFkZA"), Some(cursor));
    }

    #[test]
    fn invalid_cursors_are_rejected() {
        for text in
            ["", " ", "0", "dA", "null", "dLaHgcYAAAAAAAAAAGFkZA==", "dAUy3YsAAAAAAAAAAGFkZB", "é"]
        {
            for list in LISTS {
                assert_eq!(ListCursor::decode(list, text), None, "{text}");
            }
        }
    }

    #[test]
    fn cursors_sort_by_order_and_then_by_name() {
        let cursor = |order, name: &str| ListCursor { order, name: name.into() };
        assert!(cursor(-1, "z") < cursor(0, "a"));
        assert!(cursor(0, "a") < cursor(0, "b"));
    }

    proptest! {
        #[test]
        fn round_trip(cursor in cursors()) {
            for list in LISTS {
                let text = cursor.encode(list);
                prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
                for other in LISTS {
                    let expected = (other == list).then(|| cursor.clone());
                    prop_assert_eq!(ListCursor::decode(other, &text), expected);
                }
            }
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC*", bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            for list in LISTS {
                prop_assert_eq!(ListCursor::decode(list, &text), None);
                prop_assert_eq!(ListCursor::decode(list, &URL_SAFE_NO_PAD.encode(&bytes)), None);
            }
        }

        #[test]
        fn a_flipped_bit_is_refused(cursor in cursors(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
            let mut bytes = URL_SAFE_NO_PAD.decode(cursor.encode(ListKind::Tools)).unwrap();
            *at.get_mut(&mut bytes) ^= 1 << bit;
            for list in LISTS {
                prop_assert_eq!(ListCursor::decode(list, &URL_SAFE_NO_PAD.encode(&bytes)), None);
            }
        }
    }
}
