//! URI templates (RFC 6570) of resources: their published text, and the values that their variables have in a URI.
//!
//! RFC 6570 only defines how variables expand to a URI. This crate defines its own rules for matching a URI:
//!
//! - Every variable outside the query is required and not empty. `{x}`, `{.x}` and `{/x}` match within one path segment (no `/`, `?`,
//!   `#`), `{/x*}` matches one or more segments, and `{+x}` matches any text. If a URI can be split in several ways, the earlier variable
//!   is as long as possible: `{name}{.extension}` splits `a.tar.gz` at the last dot.
//! - Query variables can come in any order and may be absent. A URI does not match if it has a repeated query parameter, or one that the
//!   template does not name, because a misspelt URI must not name a resource.
//! - Scheme and host are compared without regard to case, as far as the first variable. A literal character that is not ASCII matches its
//!   percent-encoding, and the other way round. Everything else is compared exactly.
//! - Values are percent-decoded. A URI whose value does not decode to UTF-8 does not match.
//! - **A value cannot leave its directory.** No value contains a `..` segment or a NUL. Only values of `{+x}` and of the query can be
//!   absolute paths, as on Unix or on Windows (`/x`, `//x`, `C:/x`); percent-encoding makes no difference. So if a handler joins another
//!   value to a directory, the path stays in that directory. `{/x*}` has no empty segments and no segments with an encoded slash, so a
//!   handler may also join its segments one by one.
//!
//! Matching takes time proportional to the length of the URI times the length of the template, because the matcher does not backtrack.

use std::{borrow::Cow, fmt};

use mcp_runtime_contract::percent;

use super::uri::{encoded, scheme_and_host};

mod matching;

/// Piece of a template, as the macro writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// Literal text.
    Literal(&'static str),
    /// A variable.
    Variable {
        /// Name of the variable, which is the name of a parameter.
        name: &'static str,
        /// Operator of the variable.
        kind: VariableKind,
        /// Whether the variable takes several path segments: `{/x*}`.
        explode: bool,
    },
}

/// Operator of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// `{x}`: text within one path segment.
    Simple,
    /// `{+x}`: any text, including slashes.
    Reserved,
    /// `{.x}`: a dot and text.
    Label,
    /// `{/x}`: a slash and text.
    Path,
    /// `{?x}`: the first query parameter.
    Query,
    /// `{&x}`, and the second variable of `{?x,y}`: a further query parameter.
    QueryMore,
}

impl VariableKind {
    fn is_query(self) -> bool {
        matches!(self, Self::Query | Self::QueryMore)
    }
}

/// URI template that is ready to match.
#[derive(Debug, Clone)]
pub(crate) struct UriTemplate {
    /// Pieces of the template before the query, in order.
    parts: Vec<TemplatePart>,
    /// Length of scheme and host in the first part, in bytes. Their case is ignored.
    any_case: usize,
    /// Query parameters with a fixed value.
    fixed: Vec<(String, String)>,
    query: Vec<TemplateText>,
    /// Whether a literal has an escape, which URIs can spell in several ways.
    has_escapes: bool,
}

/// Literal text, or the name of a variable.
pub(crate) type TemplateText = Cow<'static, str>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Literal(TemplateText),
    Variable { name: TemplateText, kind: VariableKind, explode: bool },
}

impl UriTemplate {
    /// Builds the template from the pieces that the macro has read.
    ///
    /// # Errors
    ///
    /// Fails if the macro accepted a template that [`parse`](Self::parse) rejects.
    pub(crate) fn new(segments: &'static [Segment]) -> Result<Self, String> {
        let parts = segments.iter().map(|segment| match *segment {
            Segment::Literal(text) => TemplatePart::Literal(text.into()),
            Segment::Variable { name, kind, explode } => {
                TemplatePart::Variable { name: name.into(), kind, explode }
            }
        });
        Self::build(parts.collect())
    }

    /// Reads a template at run time, for items added to a running server.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a supported template. The error describes the problem.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::build(parts(text)?)
    }

    /// Assembles the pieces, and checks that URIs can be matched against the template.
    fn build(pieces: Vec<TemplatePart>) -> Result<Self, String> {
        let mut template = Self {
            parts: Vec::new(),
            any_case: 0,
            fixed: Vec::new(),
            query: Vec::new(),
            has_escapes: false,
        };
        let mut in_query = false;
        for piece in pieces {
            match piece {
                TemplatePart::Literal(text) => {
                    if in_query {
                        return Err(format!(
                            "only `{{&x}}` can follow the query, but `{text}` does"
                        ));
                    }
                    check_literal(&text)?;
                    let Some((path, query)) = text.split_once('?') else {
                        template.literal(text);
                        continue;
                    };
                    in_query = true;
                    template.literal(path.to_owned().into());
                    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
                        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                        let (Some(name), Some(value)) =
                            (percent::decode(name), percent::decode(value))
                        else {
                            return Err(format!("`{pair}` has an escape that cannot be read"));
                        };
                        template.fixed.push((name.into_owned(), value.into_owned()));
                    }
                }
                TemplatePart::Variable { name, kind, explode } => {
                    if in_query && !kind.is_query() {
                        return Err(format!(
                            "a variable of the query is written `{{?{name}}}` or `{{&{name}}}`"
                        ));
                    }
                    let known = template.names().any(|other| other == name)
                        || kind.is_query()
                            && template.fixed.iter().any(|(other, _)| *other == name);
                    if known {
                        return Err(format!("the variable `{name}` occurs twice"));
                    }
                    if kind == VariableKind::QueryMore && !in_query {
                        return Err(format!(
                            "`{{&{name}}}` continues a query, but there is none: write `{{?{name}}}`"
                        ));
                    }
                    if kind.is_query() {
                        in_query = true;
                        template.query.push(name);
                        continue;
                    }
                    template.variable(name, kind, explode)?;
                }
            }
        }
        let any_case = match template.parts.first() {
            Some(TemplatePart::Literal(text)) => scheme_and_host(text),
            _ => None,
        };
        template.any_case =
            any_case.ok_or("a URI template must begin with a scheme, such as `notes://`")?;
        Ok(template)
    }

    fn literal(&mut self, text: TemplateText) {
        let text = match encoded(&text) {
            Cow::Owned(encoded) => encoded.into(),
            Cow::Borrowed(_) => text,
        };
        self.has_escapes |= text.contains('%');
        match self.parts.last_mut() {
            Some(TemplatePart::Literal(before)) => before.to_mut().push_str(&text),
            _ if text.is_empty() => {}
            _ => self.parts.push(TemplatePart::Literal(text)),
        }
    }

    fn variable(
        &mut self,
        name: TemplateText,
        kind: VariableKind,
        explode: bool,
    ) -> Result<(), String> {
        if let Some(TemplatePart::Variable { name: before, .. }) = self.parts.last()
            && prefix(kind).is_empty()
        {
            return Err(format!(
                "nothing says where `{before}` ends and `{name}` begins: put text between them"
            ));
        }
        self.parts.push(TemplatePart::Variable { name, kind, explode });
        Ok(())
    }

    /// Returns whether the template names exactly one resource.
    #[cfg(test)]
    pub(crate) fn is_concrete(&self) -> bool {
        self.query.is_empty()
            && self.parts.iter().all(|part| matches!(part, TemplatePart::Literal(_)))
    }

    /// Returns the names of the variables, in the order in which they are written.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let path = self.parts.iter().filter_map(|part| match part {
            TemplatePart::Variable { name, .. } => Some(&**name),
            TemplatePart::Literal(_) => None,
        });
        path.chain(self.query.iter().map(|name| &**name))
    }

    /// Returns the template without the names of its path variables, and the names of all variables. Templates that match the same URIs
    /// have the same text, because the names of path variables have no effect on matching. Query variables keep their names, which are part
    /// of the URI.
    pub(crate) fn shape(&self) -> (String, Vec<TemplateText>) {
        let mut shape = self.clone();
        let mut names = Vec::new();
        for (index, part) in shape.parts.iter_mut().enumerate() {
            match part {
                TemplatePart::Literal(text) if index == 0 => {
                    let (before, after) = text.split_at(self.any_case);
                    *text = format!("{}{after}", before.to_ascii_lowercase()).into();
                }
                TemplatePart::Literal(_) => {}
                TemplatePart::Variable { name, .. } => names.push(std::mem::take(name)),
            }
        }
        shape.fixed.sort_unstable();
        shape.query.sort_unstable();
        names.extend_from_slice(&shape.query);
        (shape.to_string(), names)
    }

    /// Returns the text to publish as `uriTemplate`.
    #[cfg(test)]
    pub(crate) fn as_uri_template(&self) -> String {
        self.to_string()
    }

    /// Returns the URI with these values. Variables without a value are left out.
    #[cfg(test)]
    pub(crate) fn expand(&self, variables: &[(&str, &str)]) -> String {
        use mcp_runtime_contract::percent::encode;

        let value = |wanted: &str| {
            variables.iter().find(|(name, _)| name == &wanted).map(|(_, value)| *value)
        };
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Literal(text) => uri.push_str(text),
                TemplatePart::Variable { name, kind, explode } => {
                    let Some(value) = value(name) else { continue };
                    uri.push_str(prefix(*kind));
                    match (kind, explode) {
                        (VariableKind::Reserved, _) => {
                            encode(value, |byte| b":/?#[]@!$&'()*+,;=".contains(&byte), &mut uri);
                        }
                        (_, true) => encode(value, |byte| byte == b'/', &mut uri),
                        _ => encode(value, |_| false, &mut uri),
                    }
                }
            }
        }
        let fixed = self.fixed.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let given = self.query.iter().filter_map(|name| Some((&**name, value(name)?)));
        for (index, (name, value)) in fixed.chain(given).enumerate() {
            uri.push(if index == 0 { '?' } else { '&' });
            encode(name, |_| false, &mut uri);
            uri.push('=');
            encode(value, |_| false, &mut uri);
        }
        uri
    }
}

/// List of the supported operators, for errors.
const SUPPORTED: &str = "supported are {x}, {+x}, {.x}, {/x}, {/x*}, {?x,y} and {&x,y}";

/// Splits the text of a template into its pieces.
fn parts(text: &str) -> Result<Vec<TemplatePart>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (literal, expression) =
            rest.split_once('{').map_or((rest, None), |(a, b)| (a, Some(b)));
        if literal.contains('}') {
            return Err(format!("`{text}`: a `}}` without a `{{`"));
        }
        if !literal.is_empty() {
            parts.push(TemplatePart::Literal(literal.to_owned().into()));
        }
        let Some(expression) = expression else { break };
        let Some((expression, after)) = expression.split_once('}') else {
            return Err(format!("`{text}`: a `{{` without a `}}`"));
        };
        variables(expression, &mut parts).map_err(|problem| format!("`{text}`: {problem}"))?;
        rest = after;
    }
    Ok(parts)
}

fn variables(expression: &str, parts: &mut Vec<TemplatePart>) -> Result<(), String> {
    let (kind, names) = match expression.chars().next() {
        Some('+') => (VariableKind::Reserved, &expression[1..]),
        Some('.') => (VariableKind::Label, &expression[1..]),
        Some('/') => (VariableKind::Path, &expression[1..]),
        Some('?') => (VariableKind::Query, &expression[1..]),
        Some('&') => (VariableKind::QueryMore, &expression[1..]),
        Some('#' | ';' | '=' | ',' | '!' | '@' | '|') => {
            return Err(format!(
                "`{{{expression}}}` has an operator that is not supported; {SUPPORTED}"
            ));
        }
        _ => (VariableKind::Simple, expression),
    };
    if names.contains(',') && !kind.is_query() {
        return Err(format!(
            "`{{{expression}}}` has several variables; write one per expression, or {{?x,y}}"
        ));
    }
    for (index, name) in names.split(',').enumerate() {
        let (name, explode) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
        if explode && kind != VariableKind::Path {
            return Err(format!(
                "only a path can be exploded: write `{{/{name}*}}`, not `{{{expression}}}`"
            ));
        }
        if name.contains(':') {
            return Err(format!(
                "`{{{expression}}}` has a prefix length, which is not supported; {SUPPORTED}"
            ));
        }
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if !is_name {
            return Err(format!("`{{{expression}}}` has no name made of letters, digits and `_`"));
        }
        let kind = if index > 0 { VariableKind::QueryMore } else { kind };
        parts.push(TemplatePart::Variable { name: name.to_owned().into(), kind, explode });
    }
    Ok(())
}

fn check_literal(text: &str) -> Result<(), String> {
    let illegal = |c: char| c.is_ascii_control() || " \"<>\\^`{|}".contains(c);
    if let Some(c) = text.chars().find(|c| illegal(*c)) {
        return Err(format!("{c:?} cannot be in a URI"));
    }
    if text.split(['/', '?', '#']).any(|segment| segment == "..") {
        return Err(format!(
            "`{text}` has a `..` segment, which clients remove before they send the request"
        ));
    }
    if text.matches('%').count() > 0 && percent::decode(text).is_none() {
        return Err(format!("`{text}` has an escape that cannot be read"));
    }
    Ok(())
}

/// Returns the text that comes before the value of a variable.
fn prefix(kind: VariableKind) -> &'static str {
    match kind {
        VariableKind::Label => ".",
        VariableKind::Path => "/",
        _ => "",
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                TemplatePart::Literal(text) => f.write_str(text)?,
                TemplatePart::Variable { name, kind, explode } => {
                    let operator =
                        if *kind == VariableKind::Reserved { "+" } else { prefix(*kind) };
                    write!(f, "{{{operator}{name}{}}}", if *explode { "*" } else { "" })?;
                }
            }
        }
        for (index, (name, value)) in self.fixed.iter().enumerate() {
            let mut pair = String::from(if index == 0 { "?" } else { "&" });
            percent::encode(name, |_| false, &mut pair);
            pair.push('=');
            percent::encode(value, |_| false, &mut pair);
            f.write_str(&pair)?;
        }
        if !self.query.is_empty() {
            let operator = if self.fixed.is_empty() { "?" } else { "&" };
            write!(f, "{{{operator}{}}}", self.query.join(","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
