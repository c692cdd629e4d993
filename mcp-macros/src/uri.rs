//! URI templates: the part of RFC 6570 that can be matched unambiguously.

use syn::LitStr;

/// URI without variables, or template of many URIs.
pub(crate) struct Template {
    pub(crate) uri: LitStr,
    pub(crate) segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Segment {
    Literal(String),
    Variable(Variable),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) kind: VariableKind,
    /// `{/x*}`: one or more path segments.
    pub(crate) explode: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum VariableKind {
    /// `{x}`
    Simple,
    /// `{+x}`
    Reserved,
    /// `{.x}`
    Label,
    /// `{/x}`
    Path,
    /// The first variable of `{?x,y}`.
    Query,
    /// The other variables of `{?x,y}`, and all variables of `{&x,y}`.
    QueryMore,
}

impl Template {
    /// Parses the literal.
    ///
    /// # Errors
    /// Returns all mistakes. Each error points at the literal, and its message shows the template with a caret below the mistake.
    pub(crate) fn read(uri: &LitStr) -> Result<Self, Vec<syn::Error>> {
        let text = uri.value();
        let mut parser = Parser { text: &text, segments: Vec::new(), problems: Vec::new() };
        parser.run();
        if parser.problems.is_empty() {
            return Ok(Self { uri: uri.clone(), segments: parser.segments });
        }
        parser.problems.sort_by_key(|problem| problem.at);
        let error = |problem: &Problem| syn::Error::new(uri.span(), problem.render(&text));
        Err(parser.problems.iter().map(error).collect())
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Variable(variable) => Some(variable),
            Segment::Literal(_) => None,
        })
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables().find(|variable| variable.name == name)
    }
}

/// A mistake and its byte offset in the template.
struct Problem {
    at: usize,
    message: String,
}

impl Problem {
    /// Returns the message, the template and a caret below the mistake. Control characters would move the caret, so they are shown as `?`.
    fn render(&self, text: &str) -> String {
        let shown: String =
            text.chars().map(|char| if char.is_control() { '?' } else { char }).collect();
        let column = text.get(..self.at).unwrap_or(text).chars().count();
        format!("{}\n  {shown}\n  {:column$}^", self.message, "")
    }
}

struct Parser<'a> {
    text: &'a str,
    segments: Vec<Segment>,
    problems: Vec<Problem>,
}

impl Parser<'_> {
    fn run(&mut self) {
        self.check_scheme();
        let mut at = 0;
        while let Some(rest) = self.text.get(at..).filter(|text| !text.is_empty()) {
            if rest.starts_with('{') {
                let Some(length) = rest.find('}') else {
                    return self.problem(at, "this `{` is never closed");
                };
                self.expression(at + 1, at + length);
                at += length + 1;
            } else {
                let length = rest.find('{').unwrap_or(rest.len());
                self.literal(at, at + length);
                at += length;
            }
        }
        self.check_parents();
    }

    fn problem(&mut self, at: usize, message: impl Into<String>) {
        self.problems.push(Problem { at, message: message.into() });
    }

    /// Checks the scheme (RFC 3986, section 3.1).
    fn check_scheme(&mut self) {
        let scheme = self.text.split_once(':').map(|(scheme, _)| scheme);
        let valid = |text: &str| {
            text.starts_with(|value: char| value.is_ascii_alphabetic())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        if !scheme.is_some_and(valid) {
            self.problem(0, "the URI must start with a scheme of its own, such as `users://`");
        }
    }

    fn literal(&mut self, start: usize, end: usize) {
        let text = &self.text[start..end];
        // Characters before this offset are covered by an earlier error.
        let mut said = 0;
        for (offset, char) in text.char_indices() {
            let at = start + offset;
            if offset < said {
                continue;
            }
            if char == '}' {
                self.problem(at, "this `}` closes nothing");
            } else if char == '%' {
                let code = text.get(offset + 1..offset + 3);
                if !code.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit())) {
                    self.problem(
                        at,
                        "`%` must be followed by two hexadecimal digits; write `%25` for `%` itself",
                    );
                }
            } else if char == '<'
                && let Some((name, _)) = text[offset + 1..].split_once('>')
            {
                said = offset + name.len() + 2;
                self.problem(at, format!("a variable is written in braces: `{{{name}}}`"));
            } else if !is_uri_char(char) {
                let begin = text[..offset].rfind('/').map_or(0, |rfind| rfind + 1);
                said = text[offset..].find('/').map_or(text.len(), |text| offset + text);
                let segment: String = text[begin..said].chars().map(encoded).collect();
                self.problem(at, format!("{char:?} is not allowed in a URI: write `{segment}`"));
            }
        }
        if let Some(Segment::Variable(Variable { kind, .. })) = self.segments.last()
            && matches!(kind, VariableKind::Query | VariableKind::QueryMore)
            && !text.starts_with('#')
        {
            self.problem(start, "nothing but `{&…}` can follow a query");
        }
        self.segments.push(Segment::Literal(text.to_owned()));
    }

    /// Reads the expression between two braces, which is the text at `start..end`.
    fn expression(&mut self, start: usize, end: usize) {
        let text = &self.text[start..end];
        let (kind, skipped) = match text.chars().next() {
            None => return self.problem(start, "a variable needs a name: `{id}`"),
            Some('+') => (VariableKind::Reserved, 1),
            Some('.') => (VariableKind::Label, 1),
            Some('/') => (VariableKind::Path, 1),
            Some('?') => (VariableKind::Query, 1),
            Some('&') => (VariableKind::QueryMore, 1),
            Some(operator @ ('#' | ';' | '=' | ',' | '!' | '@' | '|')) => {
                let supported = "`{x}`, `{+x}`, `{.x}`, `{/x}`, `{/x*}`, `{?x,y}` and `{&x,y}`";
                let message =
                    format!("`{{{operator}…}}` is not supported; supported are {supported}");
                return self.problem(start, message);
            }
            Some(_) => (VariableKind::Simple, 0),
        };
        self.check_neighbour(start - 1, kind);
        let query = matches!(kind, VariableKind::Query | VariableKind::QueryMore);
        let mut at = start + skipped;
        for (index, name) in text[skipped..].split(',').enumerate() {
            if index > 0 && !query {
                return self
                    .problem(at - 1, "one variable per expression: write `{x}/{y}` or `{?x,y}`");
            }
            let kind = if index > 0 { VariableKind::QueryMore } else { kind };
            self.variable(at, name, kind);
            at += name.len() + 1;
        }
    }

    fn variable(&mut self, at: usize, written: &str, kind: VariableKind) {
        if let Some(colon) = written.find(':') {
            let message = if written[colon + 1..].starts_with(|value: char| value.is_ascii_digit())
            {
                "a prefix such as `{x:3}` is not supported: write `{x}`".to_owned()
            } else {
                format!(
                    "a variable has the type of its parameter: write `{{{}}}`",
                    &written[..colon]
                )
            };
            return self.problem(at + colon, message);
        }
        if kind == VariableKind::Simple
            && let Some(fix) = borrowed_from_elsewhere(written)
        {
            return self.problem(at, format!("this is not the syntax of RFC 6570: {fix}"));
        }
        let name = written.strip_suffix('*').unwrap_or(written);
        let explode = name.len() < written.len();
        if name.is_empty() {
            return self.problem(at, "a variable needs a name: `{id}`");
        }
        if explode && kind != VariableKind::Path {
            return self.problem(at + name.len(), "`*` is supported in `{/x*}` only");
        }
        let allowed = |value: char| value.is_ascii_alphanumeric() || value == '_' || value == '.';
        if let Some(wrong) = name.find(|name| !allowed(name)) {
            return self.problem(at + wrong, "a variable's name is letters, digits, `_` and `.`");
        }
        let twice = self
            .segments
            .iter()
            .any(|segment| matches!(segment, Segment::Variable(variable) if variable.name == name));
        if twice {
            return self.problem(
                at,
                format!("`{name}` appears twice, so its value is ambiguous: remove one, or give it another name"),
            );
        }
        self.segments.push(Segment::Variable(Variable { name: name.to_owned(), kind, explode }));
    }

    /// Checks that the end of the previous variable is unambiguous.
    fn check_neighbour(&mut self, at: usize, kind: VariableKind) {
        use VariableKind::{Label, Path, Query, QueryMore, Reserved, Simple};
        let before = match self.segments.last() {
            Some(Segment::Variable(variable)) => Some((variable.kind, variable.explode)),
            Some(Segment::Literal(_)) | None => None,
        };
        let queried = matches!(before, Some((Query | QueryMore, _)));
        if queried && kind != QueryMore {
            return self.problem(at, "nothing but `{&…}` can follow a query");
        }
        let asked = queried
            || self.segments.iter().any(
                |segment| matches!(segment, Segment::Literal(literal) if literal.contains('?')),
            );
        if kind == QueryMore && !asked {
            return self.problem(at, "`{&…}` continues a query: begin it with `{?…}`");
        }
        let touching = matches!((before, kind), (Some(_), Simple | Reserved));
        let swallowed = matches!((before, kind), (Some((_, true)), Path | Label));
        if touching || swallowed {
            self.problem(
                at,
                "the end of the previous variable is ambiguous: put text between the two, such as `/`",
            );
        }
    }

    /// Rejects `..` segments in literal text, because clients resolve them before they send a request.
    fn check_parents(&mut self) {
        let path = self.text.split(['?', '#']).next().unwrap_or_default();
        let mut at = 0;
        for segment in path.split('/') {
            if segment == ".." {
                self.problem(
                    at,
                    "clients resolve a `..` segment before they send a request: write the real path",
                );
            }
            at += segment.len() + 1;
        }
    }
}

/// Returns the correct spelling of a variable that is written in the syntax of another framework.
fn borrowed_from_elsewhere(written: &str) -> Option<String> {
    let name = written.trim_matches(['*', '?', ' ']);
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        None
    } else if written.trim() == name && written != name {
        Some(format!("write `{{{name}}}`"))
    } else if written.ends_with('?') {
        Some(format!("write `{{?{name}}}` for a variable of the query, which may be missing"))
    } else if written.starts_with('*') || written.ends_with('*') {
        Some(format!("write `{{+{name}}}` for a variable with slashes in it"))
    } else {
        None
    }
}

/// Whether the character is unreserved or reserved (RFC 3986, section 2).
fn is_uri_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=".contains(char)
}

/// Returns the character in percent-encoded UTF-8, or unchanged if it is allowed in a URI.
fn encoded(char: char) -> String {
    if is_uri_char(char) || char == '%' {
        return char.to_string();
    }
    let mut buffer = [0; 4];
    char.encode_utf8(&mut buffer).bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[cfg(test)]
#[path = "uri_tests.rs"]
mod tests;
