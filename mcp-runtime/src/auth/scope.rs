//! Scopes: the names of what can be granted (RFC 6749, section 3.3).

/// Maximum bytes of a caller's granted scopes that a challenge repeats, because the head of a response is limited in size.
const MOST: usize = 4 << 10;

/// Returns why an author cannot ask for this scope; `None` if the scope is valid.
pub fn problem(scope: &str) -> Option<String> {
    if scope == "offline_access" {
        let why = "whether a client stays signed in is between it and the issuer";
        return Some(format!("leave out the scope `offline_access`: {why}"));
    }
    let why = "letters of ASCII without blanks, `\"` and `\\`";
    (!is_scope(scope)).then(|| format!("`{scope}` is no scope: {why}"))
}

/// Whether a text is a scope: `1*( %x21 / %x23-5B / %x5D-7E )`.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
}

/// Returns the scopes that a client should ask for: those that are needed, and those that it has and would lose (rule AUTH-09).
pub(super) fn together<'a>(
    needed: impl IntoIterator<Item = &'a str>,
    granted: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut all: Vec<&str> = Vec::new();
    for scope in needed {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    let mut room = MOST;
    for scope in granted {
        if scope.len() <= room && problem(scope).is_none() && !all.contains(&scope) {
            room -= scope.len();
            all.push(scope);
        }
    }
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_one_word_of_ascii() {
        for good in ["a", "notes:read", "https://a.example/notes.read", "a'b[]!~"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in ["", " ", "a b", "a\"", "\\", "\u{e4}", "a\n", "\u{7f}", "offline_access"] {
            assert!(problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_client_is_told_what_it_needs_and_what_it_has() {
        let check = |needed: &[&str], granted: &[&str], expected: &str| {
            let said = together(needed.iter().copied(), granted.iter().copied());
            assert_eq!(said, expected, "{needed:?} {granted:?}");
        };
        check(&["a", "b", "a"], &[], "a b");
        check(&["b"], &["a", "b", "c", "c"], "b a c");
        check(&["b"], &["offline_access", "\u{e4}", "a\"b", ""], "b");
        let long = "x".repeat(3 << 10);
        check(&[&long], &[&long, "y", &"z".repeat(4 << 10), "a"], &format!("{long} y a"));
    }
}
