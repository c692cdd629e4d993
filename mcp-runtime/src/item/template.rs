//! URI templates (RFC 6570) of resources: publishing them, and reading the variables back out of a URI.
//!
//! RFC 6570 only defines how variables become a URI. For the way back, these rules are our own:
//!
//! - Every variable outside the query is required and not empty. `{x}`, `{.x}` and `{/x}` stay within one path segment (no `/`, `?`, `#`),
//!   `{/x*}` takes one or more segments, `{+x}` takes anything. If a URI can be read in several ways, the earlier variable is as long as
//!   possible: `{name}{.extension}` splits `a.tar.gz` at the last dot.
//! - Query variables come in any order and may be absent. A URI with a parameter that the template does not name, or with a repeated
//!   parameter, does not match. The reason: a URI is the name of a resource, and a misspelt name has no resource.
//! - Scheme and host are compared without regard to case, everything else exactly.
//! - Values are percent-decoded. A value that does not decode to UTF-8 does not match.
//! - **A value cannot leave its directory.** No value contains a `..` segment or a NUL. A value of `{x}`, `{.x}` or `{/x}` is no absolute
//!   path either, not even a percent-encoded one. A path that joins it to a directory stays in that directory.
//!
//! Matching takes time proportional to the length of the URI times the length of the template: nothing is tried twice.

use std::borrow::Cow;
use std::fmt;

mod matching;
mod parse;

/// A piece of a template, as the macro writes it.
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

/// The operator of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// `{x}`: text within one path segment.
    Simple,
    /// `{+x}`: any text, slashes too.
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

/// A template ready to match.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// Pieces of the template before the query, in order.
    parts: Vec<Part>,
    /// Length of scheme and host in the first part, in bytes. Their case is ignored.
    any_case: usize,
    /// Query parameters with a fixed value.
    fixed: Vec<(String, String)>,
    query: Vec<Name>,
}

pub(crate) type Name = Cow<'static, str>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(Name),
    Variable { name: Name, kind: VariableKind, explode: bool },
}

impl Template {
    /// Builds the template from the pieces that the macro has read.
    ///
    /// # Errors
    ///
    /// Fails if the template is one that [`parse`](Self::parse) rejects, but the macro accepted.
    pub(crate) fn new(segments: &'static [Segment]) -> Result<Self, String> {
        Self::build(segments.iter().map(|segment| match *segment {
            Segment::Literal(text) => Part::Literal(text.into()),
            Segment::Variable { name, kind, explode } => {
                Part::Variable { name: name.into(), kind, explode }
            }
        }))
    }

    /// Reads a template at run time, for items that are added to a running server.
    ///
    /// # Errors
    ///
    /// Fails if the text is no supported template. The error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::build(parse::parts(text)?.into_iter())
    }

    /// Whether the template names exactly one resource.
    #[cfg(test)]
    pub(crate) fn is_concrete(&self) -> bool {
        self.query.is_empty() && self.parts.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// Returns the names of the variables, in the order in which they are written.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let path = self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(&**name),
            Part::Literal(_) => None,
        });
        path.chain(self.query.iter().map(|name| &**name))
    }

    /// Returns the template without the names of its variables, and these names in their order. The names do not change which URIs the
    /// template matches, except in the query, where they are part of the URI and stay.
    pub(crate) fn shape(&self) -> (String, Vec<Name>) {
        let mut shape = self.clone();
        let mut names = Vec::new();
        for (index, part) in shape.parts.iter_mut().enumerate() {
            match part {
                Part::Literal(text) if index == 0 => {
                    let (before, after) = text.split_at(self.any_case);
                    *text = format!("{}{after}", before.to_ascii_lowercase()).into();
                }
                Part::Literal(_) => {}
                Part::Variable { name, .. } => names.push(std::mem::take(name)),
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

    /// Returns the URI with these variables. A variable that is absent from `variables` is left out.
    #[cfg(test)]
    pub(crate) fn expand(&self, variables: &[(&str, &str)]) -> String {
        use crate::percent::encode;

        let value = |wanted: &str| {
            variables.iter().find(|(name, _)| name == &wanted).map(|(_, value)| *value)
        };
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => uri.push_str(text),
                Part::Variable { name, kind, explode } => {
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

/// Returns the text that comes before the value of a variable.
fn prefix(kind: VariableKind) -> &'static str {
    match kind {
        VariableKind::Label => ".",
        VariableKind::Path => "/",
        _ => "",
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Literal(text) => f.write_str(text)?,
                Part::Variable { name, kind, explode } => {
                    let operator =
                        if *kind == VariableKind::Reserved { "+" } else { prefix(*kind) };
                    write!(f, "{{{operator}{name}{}}}", if *explode { "*" } else { "" })?;
                }
            }
        }
        for (index, (name, value)) in self.fixed.iter().enumerate() {
            let mut pair = String::from(if index == 0 { "?" } else { "&" });
            crate::percent::encode(name, |_| false, &mut pair);
            pair.push('=');
            crate::percent::encode(value, |_| false, &mut pair);
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
