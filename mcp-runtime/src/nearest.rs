//! "Did you mean": the name that a wrong one most likely stands for.

/// How much alike two names are, from 0 to 1.
pub(crate) fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

/// Names less alike than this are two names.
const ALIKE: f64 = 0.75;

/// So many names at most are compared letter by letter, which costs about two thousand instructions each: a client that calls what is
/// not there must not make the others wait.
const MOST: usize = 1000;

/// The name most like `wrong`, when one is like it at all. Of more than a thousand that could be it, the first ones are looked at.
#[cold]
pub(crate) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = Letters::of(wrong);
    let likely = names.filter(|it| letters.may_be_alike(it)).take(MOST);
    let scored = likely.map(|it| (likeness(it, wrong), it));
    scored.filter(|it| it.0 > ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1)
}

/// How often each byte is in a name, for a quick look at others.
struct Letters {
    count: [u8; 256],
    len: usize,
    is_ascii: bool,
}

impl Letters {
    fn of(name: &str) -> Self {
        let mut count = [0_u8; 256];
        for byte in name.bytes() {
            count[usize::from(byte)] = count[usize::from(byte)].saturating_add(1);
        }
        Self { count, len: name.len(), is_ascii: name.is_ascii() }
    }

    /// False only for names of which it is certain: those with too few letters in common.
    fn may_be_alike(&self, other: &str) -> bool {
        // Other letters are several bytes, names of more than 255 bytes have been counted badly, and nothing is like nothing.
        let is_plain = self.is_ascii && other.is_ascii() && self.len <= 255;
        if !is_plain || self.len == 0 || other.is_empty() {
            return true;
        }
        let mut left = self.count;
        let mut common = 0_u32;
        for byte in other.bytes() {
            let left = &mut left[usize::from(byte)];
            common += u32::from(*left > 0);
            *left = left.saturating_sub(1);
        }
        // Jaro is a third of the sum of: matches in one, in the other, and of those without a swap; Winkler adds up to 0.4 of the rest.
        let common = f64::from(common);
        let jaro = (common / self.len as f64 + common / other.len() as f64 + 1.0) / 3.0;
        jaro + 0.4 * (1.0 - jaro) > ALIKE
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ALIKE, Letters, MOST, likeness, nearest};

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        fn check(wrong: &str, expected: Option<&str>) {
            let names = ["search", "subtract", "add"];
            assert_eq!(nearest(wrong, names.into_iter()), expected, "{wrong}");
        }
        check("serach", Some("search"));
        check("Add", Some("add"));
        check("weather", None);
        assert_eq!(nearest("add", std::iter::empty()), None);
    }

    #[test]
    fn of_very_many_names_that_could_be_it_the_first_are_looked_at() {
        let names: Vec<String> = (0..10 * MOST).map(|n| format!("tool_{n:05}")).collect();
        let near = |wrong| nearest(wrong, names.iter().map(String::as_str));
        assert_eq!(near("tool-00042"), Some("tool_00042"));
        assert!(near("tool-09999").is_some());
        assert_eq!(near("quux"), None);
        // Those that it cannot be do not count.
        let names = names.iter().map(String::as_str).chain(["weather"]);
        assert_eq!(nearest("waether", names), Some("weather"));
    }

    proptest! {
        #[test]
        fn the_quick_look_passes_over_nothing_that_is_alike(a in "[a-e_é]{0,8}", b in "[a-e_é]{0,8}") {
            prop_assert!(likeness(&b, &a) <= ALIKE || Letters::of(&a).may_be_alike(&b));
        }
    }
}
