//! Names of servers in the registry, and the line of a README that proves who owns a package.

use std::fmt;

/// Text in front of the name, in the README of a package.
const MARK: &str = "mcp-name: ";

/// Name of a server in the registry, such as `io.github.ada/notes`.
///
/// ```
/// use mcp_runtime_workbench::RegistryName;
///
/// let name = RegistryName::new("io.github.ada/notes").unwrap();
/// assert!(name.check_readme("# Notes\n\nmcp-name: io.github.ada/notes\n").is_ok());
/// assert!(name.check_readme("# Notes\n").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryName(String);

/// Reason why a text is no name of a server.
#[derive(Debug, PartialEq, Eq)]
pub struct RegistryNameError {
    name: String,
    rule: &'static str,
}

impl fmt::Display for RegistryNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no name in the registry: {}, as in `io.github.ada/notes` or `com.example/notes`",
            self.name, self.rule
        )
    }
}

impl std::error::Error for RegistryNameError {}

/// Reason why a README does not prove that its package belongs to a server.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadmeProblem {
    /// The README has no name.
    Missing,
    /// The name is only in a comment. The page of a package does not contain comments.
    Hidden,
    /// The README has this name instead.
    Other(String),
    /// The README has a text instead that is no name.
    Invalid(RegistryNameError),
    /// This character follows the name directly.
    Glued(char),
}

impl fmt::Display for ReadmeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("has no name of the server"),
            Self::Hidden => f.write_str(
                "has the name in a comment, and the page of a package does not contain comments",
            ),
            Self::Other(name) => write!(f, "has the name `{name}` instead"),
            Self::Invalid(why) => write!(f, "has a name that the registry rejects: {why}"),
            Self::Glued(next) => {
                write!(
                    f,
                    "has `{next}` at the end of the name, where a space or a new line has to be"
                )
            }
        }
    }
}

impl std::error::Error for ReadmeProblem {}

impl RegistryName {
    /// Checks a name.
    ///
    /// # Errors
    /// Fails if the registry would reject the name. It takes a namespace, which is a domain in reverse order, `/`, and a name.
    pub fn new(name: &str) -> Result<Self, RegistryNameError> {
        match broken_rule(name) {
            None => Ok(Self(name.to_owned())),
            Some(rule) => Err(RegistryNameError { name: name.to_owned(), rule }),
        }
    }

    /// Returns the first name that a README shows, or the error of the first text that is no name if it shows no other.
    pub fn of_readme(text: &str) -> Option<Result<Self, RegistryNameError>> {
        let shown = visible(text);
        let mut found = names(&shown).map(|(name, _)| Self::new(name));
        let first = found.next()?;
        Some(first.or_else(|why| found.find_map(Result::ok).ok_or(why)))
    }

    /// Returns the name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a line for the README that shows the name.
    pub fn readme_line(&self) -> String {
        line(&self.0)
    }

    /// Returns an example of such a line, for a server whose name is not known.
    pub fn example_line() -> String {
        line("io.github.USER/NAME")
    }

    /// Checks that a README shows the name, as the registry does before it takes an entry for the package.
    ///
    /// # Errors
    /// Fails if the name is missing, is in a comment only, or has another character at its end.
    pub fn check_readme(&self, text: &str) -> Result<(), ReadmeProblem> {
        let shown = visible(text);
        let mut problem = None;
        for (name, next) in names(&shown) {
            let rest = name.strip_prefix(&*self.0).map(|rest| rest.chars().next());
            match (rest, next) {
                // On the page of the package, the end of a code span or of bold text is a tag, which ends the name.
                (Some(None), None | Some('`' | '<' | '*')) => return Ok(()),
                (Some(None), Some(next)) if next.is_whitespace() => return Ok(()),
                (Some(None), Some(next)) => problem = Some(ReadmeProblem::Glued(next)),
                (Some(Some(next)), _) if RegistryName::new(name).is_err() => {
                    problem = Some(ReadmeProblem::Glued(next));
                }
                _ => {
                    let other = || match RegistryName::new(name) {
                        Ok(name) => ReadmeProblem::Other(name.0),
                        Err(why) => ReadmeProblem::Invalid(why),
                    };
                    problem = problem.or_else(|| Some(other()));
                }
            }
        }
        Err(match problem {
            Some(problem) => problem,
            None if names(text).any(|(name, _)| name == self.0) => ReadmeProblem::Hidden,
            None => ReadmeProblem::Missing,
        })
    }
}

impl fmt::Display for RegistryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn line(name: &str) -> String {
    format!("- MCP Registry: `{MARK}{name}`")
}

/// Returns the rule that a name breaks.
fn broken_rule(name: &str) -> Option<&'static str> {
    let Some((namespace, own)) = name.split_once('/') else {
        return Some("it needs a namespace, `/` and a name");
    };
    let is_plain = |text: &str, others: &str| {
        let is_end = |end: Option<char>| end.is_some_and(|letter| letter.is_ascii_alphanumeric());
        let is_known = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
        text.len() > 1
            && is_end(text.chars().next())
            && is_end(text.chars().last())
            && text.chars().all(is_known)
    };
    if own.contains('/') {
        Some("it can only have a single `/`")
    } else if !is_plain(namespace, ".-") || !namespace.contains('.') || namespace.contains("..") {
        Some("its namespace must be a domain in reverse order, with letters, digits, `.` and `-`")
    } else if !is_plain(own, "._-") {
        Some(
            "the part after `/` has only letters, digits, `.`, `_` and `-`, and begins and ends with a letter or a digit",
        )
    } else if name.len() > 200 {
        Some("it can have at most 200 characters")
    } else {
        None
    }
}

/// Returns each name after [`MARK`], and the character that follows the name.
fn names(text: &str) -> impl Iterator<Item = (&str, Option<char>)> {
    text.split(MARK).skip(1).filter_map(|rest| {
        let is_end = |letter: char| !letter.is_ascii_alphanumeric() && !"._-/".contains(letter);
        let (name, rest) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
        (!name.is_empty()).then(|| (name, rest.chars().next()))
    })
}

/// Returns a text of Markdown without its comments.
fn visible(text: &str) -> String {
    let mut parts = text.split("<!--");
    let first = parts.next().unwrap_or_default();
    // A comment without an end reaches to the end of the text.
    let others = parts.map(|part| part.split_once("-->").map_or("", |(_, shown)| shown));
    std::iter::once(first).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules of `docs/modelcontextprotocol-io/package-types.mdx` and of the validators in `modelcontextprotocol/registry`, read on
    /// 2026-11-27.
    #[test]
    fn a_name_has_a_namespace_and_a_name() {
        for name in ["io.github.ada/notes", "com.example/a_b.c-d", "io.github.Ada-L/n1"] {
            assert_eq!(RegistryName::new(name).map(|name| name.0), Ok(name.to_owned()));
        }
        for (name, rule) in [
            ("notes", "a namespace, `/` and a name"),
            ("io.github.ada/notes/x", "a single `/`"),
            ("ada/notes", "a domain in reverse order"),
            ("io..ada/notes", "a domain in reverse order"),
            ("io.github.a_da/notes", "a domain in reverse order"),
            ("io.github.ada/-notes", "begins and ends with a letter or a digit"),
            ("io.github.ada/my notes", "letters, digits"),
            (&format!("io.github.ada/{}", "n".repeat(200)), "at most 200 characters"),
        ] {
            let why = RegistryName::new(name).unwrap_err().to_string();
            assert!(why.contains(rule), "{name}: {why}");
        }
    }

    #[test]
    fn a_readme_proves_a_name_that_its_page_shows() {
        let name = RegistryName::new("io.github.ada/notes").unwrap();
        for text in [
            "mcp-name: io.github.ada/notes",
            "# Notes\n\nmcp-name: io.github.ada/notes\nmore",
            "mcp-name: io.github.ada/other\nmcp-name: io.github.ada/notes\n",
            "<!-- a -->**mcp-name: io.github.ada/notes**",
            &name.readme_line(),
        ] {
            assert_eq!(name.check_readme(text), Ok(()), "{text}");
        }
        for (text, problem) in [
            ("# Notes", ReadmeProblem::Missing),
            ("mcp-name:io.github.ada/notes", ReadmeProblem::Missing),
            ("<!-- mcp-name: io.github.ada/notes -->", ReadmeProblem::Hidden),
            ("<!-- mcp-name: io.github.ada/notes", ReadmeProblem::Hidden),
            ("Its mcp-name: io.github.ada/notes.", ReadmeProblem::Glued('.')),
            ("(mcp-name: io.github.ada/notes)", ReadmeProblem::Glued(')')),
            (
                "mcp-name: io.github.ada/notes-evil",
                ReadmeProblem::Other("io.github.ada/notes-evil".to_owned()),
            ),
            ("mcp-name: com.example/notes", ReadmeProblem::Other("com.example/notes".to_owned())),
        ] {
            assert_eq!(name.check_readme(text), Err(problem), "{text}");
        }
        assert_eq!(RegistryName::of_readme("<!-- mcp-name: a.b/c -->"), None);
        let found = RegistryName::of_readme("see `mcp-name: io.github.ada/notes`");
        assert_eq!(found, Some(Ok(name)));
        let wrong = RegistryName::of_readme("mcp-name: box").expect("a text").expect_err("no name");
        assert!(wrong.to_string().contains("a namespace"), "{wrong}");
    }
}
