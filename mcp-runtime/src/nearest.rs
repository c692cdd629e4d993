//! "Did you mean": the name that a wrong one most likely stands for.

/// How much alike two names are, from 0 to 1.
pub(crate) fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

/// The name most like `wrong`, when one is like it at all.
#[cold]
pub(crate) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|it| (likeness(it, wrong), it));
    scored.filter(|it| it.0 > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::nearest;

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
}
