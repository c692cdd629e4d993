//! A stack of brackets that takes one bit each.

/// The kinds of the containers that are open, innermost last: one bit each, true for an object.
#[derive(Default)]
pub(super) struct Nesting {
    depth: usize,
    /// The innermost up to 64.
    word: u64,
    /// The others, 64 to a word; allocated only for a text deeper than that.
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
