//! Bounds for the lengths of texts, lists and objects.

#[derive(Clone, Copy)]
pub(super) struct Lengths {
    pub(super) least: Option<usize>,
    pub(super) most: Option<usize>,
}

impl Lengths {
    pub(super) const NONE: Self = Self { least: None, most: None };

    /// Returns the tighter bounds of both.
    pub(super) const fn tighter(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Self {
            least: match (a.least, b.least) {
                (Some(a), Some(b)) => Some(if a > b { a } else { b }),
                (Some(it), None) | (None, Some(it)) => Some(it),
                (None, None) => None,
            },
            most: match (a.most, b.most) {
                (Some(a), Some(b)) => Some(if a < b { a } else { b }),
                (Some(it), None) | (None, Some(it)) => Some(it),
                (None, None) => None,
            },
        }
    }
}
