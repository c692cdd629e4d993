//! "Did you mean": finds the known name that is nearest to a wrong one.

/// Returns the similarity of two names, from 0 to 1.
pub fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

/// Maximum number of names that are compared letter by letter, which costs about two thousand instructions each. The limit bounds the delay
/// that a client can cause for other clients by calling unknown items.
const MAX_COMPARED: usize = 1000;

/// Returns the name that differs from `wrong` by the fewest slips, or `None` if every name differs by too many.
///
/// A slip is a letter that is missing, added, replaced, or swapped with the next letter. The case of letters and the kind of separator do
/// not count. One slip is allowed for each three letters of the shorter name, and at least one for names of two letters or more. The
/// function compares at most `MAX_COMPARED` names that may be near.
#[cold]
pub fn nearest<'a>(wrong: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(wrong, &mut names)
}

/// Returns the nearest name. This function is not generic, so that it is compiled once and not for each caller.
fn nearest_of<'a>(wrong: &str, names: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = Letters::of(wrong);
    let likely = names.filter(|name| letters.may_be_near(name)).take(MAX_COMPARED);
    let near = likely.filter_map(|name| slips(name, wrong).map(|slips| (slips, name)));
    near.min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// Returns the number of slips between two names, or `None` if the names are too different.
fn slips(a: &str, b: &str) -> Option<usize> {
    let plain = |name: &str| name.chars().map(plain_char).collect::<String>();
    let (a, b) = (plain(a), plain(b));
    let count = strsim::osa_distance(&a, &b);
    is_near(count, a.chars().count(), b.chars().count()).then_some(count)
}

fn is_near(slips: usize, one: usize, other: usize) -> bool {
    let shorter = one.min(other);
    slips <= (shorter / 3).max(1) && slips < shorter
}

fn plain_char(char: char) -> char {
    if matches!(char, '-' | '.' | ' ') { '_' } else { char.to_ascii_lowercase() }
}

/// Number of times that each byte occurs in a name.
struct Letters {
    count: [u8; 256],
    len: usize,
    is_ascii: bool,
}

impl Letters {
    fn of(name: &str) -> Self {
        let mut count = [0_u8; 256];
        for byte in name.bytes().map(plain_byte) {
            count[usize::from(byte)] = count[usize::from(byte)].saturating_add(1);
        }
        Self { count, len: name.len(), is_ascii: name.is_ascii() }
    }

    /// Returns whether another name may be near this name. This check is cheaper than counting the slips.
    fn may_be_near(&self, other: &str) -> bool {
        // A client may send megabytes in place of a name, so the lengths are compared first. The numbers of letters in two near names
        // differ by a third at most, or by one, and a letter has one to four bytes. Therefore the longer name has at most six times as many
        // bytes as the shorter one, plus the four bytes of one letter.
        let (shorter, longer) = (self.len.min(other.len()), self.len.max(other.len()));
        if longer > 6 * shorter + 4 {
            return false;
        }
        // The byte counts can rule out a name only if each letter is one byte (ASCII) and no count has reached its maximum of 255.
        if !(self.is_ascii && other.is_ascii() && self.len <= 255) {
            return true;
        }
        let mut left = self.count;
        let mut common = 0;
        for byte in other.bytes().map(plain_byte) {
            let left = &mut left[usize::from(byte)];
            common += usize::from(*left > 0);
            *left = left.saturating_sub(1);
        }
        // Each letter of the longer name that the shorter name lacks is a separate slip.
        is_near(self.len.max(other.len()) - common, self.len, other.len())
    }
}

fn plain_byte(byte: u8) -> u8 {
    plain_char(byte.into()) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Letters, MAX_COMPARED, nearest, slips};

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        fn check(wrong: &str, expected: Option<&str>) {
            let names = ["search", "subtract", "add"];
            assert_eq!(nearest(wrong, names.into_iter()), expected, "{wrong}");
        }
        check("serach", Some("search"));
        check("Add", Some("add"));
        check("weather", None);
        // Only the first letter is the same.
        check("a", None);
        assert_eq!(nearest("add", std::iter::empty()), None);
    }

    #[test]
    fn a_common_beginning_alone_is_no_likeness() {
        fn check(wrong: &str, names: &[&str], expected: Option<&str>) {
            assert_eq!(nearest(wrong, names.iter().copied()), expected, "{wrong}");
        }
        check("git_nope", &["git_log", "git_diff", "git_status"], None);
        check("git_lgo", &["git_log", "git_diff"], Some("git_log"));
        check("getWeather", &["get_weather", "get_whether"], Some("get_weather"));
        check("get-weather", &["get_weather"], Some("get_weather"));
        check("read_file", &["read_files", "read_text"], Some("read_files"));
        check("create_user", &["create_team", "delete_user"], None);
        check("x", &["y"], None);
        check("point", &["count", "names"], None);
    }

    #[test]
    fn among_very_many_candidates_only_the_first_names_are_compared() {
        let names: Vec<String> = (0..10 * MAX_COMPARED).map(|n| format!("tool_{n:05}")).collect();
        let near = |wrong| nearest(wrong, names.iter().map(String::as_str));
        assert_eq!(near("tool-00042"), Some("tool_00042"));
        assert!(near("tool-09999").is_some());
        assert_eq!(near("quux"), None);
        // Names that cannot be near do not count towards the maximum.
        let names = names.iter().map(String::as_str).chain(["weather"]);
        assert_eq!(nearest("waether", names), Some("weather"));
    }

    /// A client may send megabytes in place of a name. Comparing them letter by letter with every name would take minutes, so the length
    /// alone rules such a text out.
    #[test]
    fn a_text_much_longer_than_a_name_is_not_compared_with_it() {
        for letter in ["x", "é", "😀"] {
            let wrong = letter.repeat(2_000_000);
            assert!(!Letters::of(&wrong).may_be_near("staging"), "{letter}");
        }
        assert!(!Letters::of("").may_be_near("staging"));
        assert!(Letters::of("ßßß😀").may_be_near("ßßßx"));
    }

    proptest! {
        #[test]
        fn the_quick_check_rules_out_no_near_name(a in "[a-eB_.é😀]{0,8}", b in "[a-eB_.é😀]{0,8}") {
            prop_assert!(slips(&b, &a).is_none() || Letters::of(&a).may_be_near(&b));
        }
    }
}
