//! Byte searches shared by reading and writing.

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
/// Number of plain bytes after which the search continues with `long_plain_until`, which is faster but costs more to start. Must be a
/// multiple of eight.
const LONG: usize = 64;

const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Returns the index of the first byte from `at` on that cannot stand for itself inside a JSON string (a quote, a backslash or a control
/// character), or the length of `bytes`.
///
/// Eight bytes are compared together. A borrow in the subtractions can only flag bytes above a true hit, so the lowest flag is always
/// right.
// Not inlined, because the function has many callers. Its only call is a tail call, so the function needs no stack frame.
#[inline(never)]
pub(crate) fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    let long = at + LONG;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let hits = specials(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
        if at == long {
            return long_plain_until(bytes, at);
        }
    }
    // Compares the last eight bytes, without the bytes that have been compared already.
    if let Some(word) = bytes.last_chunk::<8>()
        && at < bytes.len()
    {
        let known = 8 * (8 - (bytes.len() - at));
        let hits = specials(u64::from_le_bytes(*word) >> known) & (HIGH >> known);
        return if hits == 0 { bytes.len() } else { at + hits.trailing_zeros() as usize / 8 };
    }
    while let Some(&byte) = bytes.get(at) {
        if is_special(byte) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// Like [`plain_until`], for strings that may be very long. It compares 64 bytes together, in a form that the compiler vectorizes.
#[inline(never)]
fn long_plain_until(bytes: &[u8], at: usize) -> usize {
    let (chunks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<64>();
    let is_plain =
        |chunk: &&[u8; 64]| !chunk.iter().fold(false, |any, byte| any | is_special(*byte));
    let at = at + 64 * chunks.iter().take_while(is_plain).count();
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// Returns a word with the high bit set in each byte that cannot stand for itself. Bits above the lowest one may be false hits.
#[inline]
fn specials(word: u64) -> u64 {
    // With the second bit flipped, a quote is 0x20 and the control characters are still below 0x20. So one comparison finds both.
    let quotes_and_controls = word ^ (ONES * 2);
    let backslash = word ^ (ONES * b'\\' as u64);
    let hits = (quotes_and_controls.wrapping_sub(ONES * 0x21) & !quotes_and_controls)
        | (backslash.wrapping_sub(ONES) & !backslash);
    hits & HIGH
}

/// Returns the index of the first byte from `at` on that is not JSON whitespace.
#[inline]
pub(crate) fn space_until(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn eight_at_once_find_what_one_at_a_time_finds(
            bytes in prop::collection::vec(prop_oneof![1 => 0x1e..0x24u8, 1 => 0x5b..0x5eu8, 60 => any::<u8>().prop_map(|byte| byte | 0x60)], 0..300),
            from in 0..300usize,
        ) {
            let from = from.min(bytes.len());
            let expected = bytes[from..].iter().position(|b| is_special(*b)).map_or(bytes.len(), |n| from + n);
            prop_assert_eq!(plain_until(&bytes, from), expected);
        }
    }
}
