//! Byte searches shared by reading and writing.

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// The index of the first byte from `at` on that cannot stand for itself inside a JSON string (a quote, a backslash or
/// a control character), or the length of `bytes`.
///
/// Eight bytes are looked at together. A borrow in the subtractions can only flag bytes above a true hit, so the lowest
/// flag is always right.
#[inline]
pub(super) fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * b'"' as u64);
        let backslash = word ^ (ONES * b'\\' as u64);
        let hits = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let hits = hits & HIGH;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if is_special(byte) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// The index of the first byte from `at` on that is no JSON whitespace.
#[inline]
pub(super) fn space_until(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn eight_at_once_find_what_one_at_a_time_finds(
            bytes in prop::collection::vec(prop_oneof![3 => 0x1e..0x24u8, 1 => 0x5b..0x5eu8, 4 => any::<u8>()], 0..40),
            from in 0..40usize,
        ) {
            let from = from.min(bytes.len());
            let expected = bytes[from..].iter().position(|b| is_special(*b)).map_or(bytes.len(), |n| from + n);
            prop_assert_eq!(plain_until(&bytes, from), expected);
        }
    }
}
