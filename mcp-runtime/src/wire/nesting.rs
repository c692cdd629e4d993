//! A stack of brackets that takes one bit each.

/// Kinds of the open containers, innermost last: one bit each, true for an object.
#[derive(Default)]
pub(super) struct Nesting {
    depth: usize,
    /// Bits of the innermost containers, up to 64.
    word: u64,
    /// Bits of the outer containers, 64 to a word. Allocated only for a text that is nested deeper than 64.
    full: Vec<u64>,
}

impl Nesting {
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    #[inline]
    pub(super) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.full.push(self.word);
            self.word = 0;
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    pub(super) fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.word & 1 == 1)
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.full.pop().unwrap_or_default();
        }
    }
}
