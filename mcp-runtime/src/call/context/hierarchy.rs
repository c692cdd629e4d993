use std::sync::Arc;

/// Scopes that imply narrower scopes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hierarchy {
    /// Pairs of a broader and a narrower scope.
    implied: Vec<(Box<str>, Box<str>)>,
}

impl Hierarchy {
    /// Declares that a grant of `broad` includes `narrow`.
    pub(crate) fn imply(&mut self, broad: &str, narrow: &str) {
        self.implied.push((broad.into(), narrow.into()));
    }

    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.implied.iter().flat_map(|(broad, narrow)| [&**broad, &**narrow])
    }

    /// Returns the hierarchy, or `None` if it is empty.
    pub(crate) fn shared(&self) -> Option<Arc<Self>> {
        (!self.implied.is_empty()).then(|| Arc::new(self.clone()))
    }

    /// Returns whether a granted scope is `needed`, or implies it over any number of steps.
    pub(crate) fn satisfies(&self, is_granted: impl Fn(&str) -> bool, needed: &str) -> bool {
        let mut reached = vec![needed];
        let mut position = 0;
        // The list grows during the walk. Each scope is added once, so that cycles end.
        while let Some(narrow) = reached.get(position).copied() {
            position += 1;
            if is_granted(narrow) {
                return true;
            }
            for (broad, it) in &self.implied {
                if **it == *narrow && !reached.contains(&&**broad) {
                    reached.push(broad);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hierarchy(pairs: &[(&str, &str)]) -> Hierarchy {
        let mut made = Hierarchy::default();
        pairs.iter().for_each(|(broad, narrow)| made.imply(broad, narrow));
        made
    }

    #[test]
    fn a_broader_scope_implies_a_narrower_scope_but_not_vice_versa() {
        let made = hierarchy(&[("admin", "write"), ("write", "read"), ("a", "b"), ("b", "a")]);
        let check = |granted: &str, needed: &str, expected: bool| {
            assert_eq!(made.satisfies(|it| it == granted, needed), expected, "{granted} {needed}");
        };
        check("admin", "read", true);
        check("admin", "admin", true);
        check("write", "read", true);
        check("read", "write", false);
        check("a", "b", true);
        check("b", "a", true);
        check("a", "read", false);
        check("other", "other", true);
    }

    proptest! {
        /// Compares with all paths, in hierarchies with any cycles.
        #[test]
        fn a_scope_hierarchy_is_the_transitive_closure_of_its_pairs(pairs in prop::collection::vec((0..6_usize, 0..6_usize), 0..14)) {
            const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
            let named: Vec<_> = pairs.iter().map(|(a, b)| (NAMES[*a], NAMES[*b])).collect();
            let made = hierarchy(&named);
            let mut closure = [[false; 6]; 6];
            (0..6).for_each(|at| closure[at][at] = true);
            for _ in 0..6 {
                for (broad, narrow) in &pairs {
                    let more = closure[*narrow];
                    closure[*broad].iter_mut().zip(more).for_each(|(it, more)| *it |= more);
                }
            }
            for broad in 0..6 {
                for narrow in 0..6 {
                    let found = made.satisfies(|it| it == NAMES[broad], NAMES[narrow]);
                    prop_assert_eq!(found, closure[broad][narrow], "{} {}", broad, narrow);
                }
            }
        }
    }
}
