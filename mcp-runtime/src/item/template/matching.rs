//! Matching: reads the values of the variables from a URI.

use std::borrow::Cow;

use mcp_runtime_contract::percent;

use super::{TemplatePart, UriTemplate, VariableKind, encoded};

/// Maximum length of a URI that can match, in bytes. It bounds the memory for a match, which grows with the length of the URI. Clients send
/// much shorter URIs.
const LONGEST: usize = 64 * 1024;

/// Decoded variables of one URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UriVariables<'t, 'u>(Vec<(&'t str, Cow<'u, str>)>);

impl<'t, 'u> UriVariables<'t, 'u> {
    #[cfg(test)]
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| *found == name).map(|(_, value)| &**value)
    }

    /// Returns names and values in the order of the template. Absent query variables are left out.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (*name, &**value))
    }

    fn push(&mut self, name: &'t str, value: Cow<'u, str>, may_be_absolute: bool) -> Option<()> {
        let safe = !value.contains('\0')
            && !value.split(['/', '\\']).any(is_parent)
            && (may_be_absolute || !is_absolute(&value));
        safe.then(|| self.0.push((name, value)))
    }

    fn into_owned(self) -> UriVariables<'t, 'static> {
        let owned = self.0.into_iter().map(|(name, value)| (name, value.into_owned().into()));
        UriVariables(owned.collect())
    }
}

impl<'t, 'u> IntoIterator for UriVariables<'t, 'u> {
    type Item = (&'t str, Cow<'u, str>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Returns whether a segment of a path names the parent directory. Windows ignores spaces and dots at the end of a segment. A handler may
/// trim the value, so whitespace at the start does not count either.
fn is_parent(segment: &str) -> bool {
    let name = segment.trim();
    let is_padded = || name.contains(' ') && name.trim_matches([' ', '.']).is_empty();
    name == ".." || name.starts_with("..") && is_padded()
}

/// Returns whether a path is absolute on Windows or on Unix, because a server may be developed on one system and run on the other.
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    path.starts_with(['/', '\\'])
        || drive && (cfg!(windows) || matches!(bytes.get(2), Some(b'/' | b'\\')))
}

/// Part of the pattern that the path must match.
enum MatchToken<'a> {
    Text(&'a [u8]),
    /// Value of at least one byte. The function returns whether a byte may occur in the value.
    Value(fn(u8) -> bool),
}

impl UriTemplate {
    /// Returns the variables of `uri`, or `None` if the template does not match it.
    pub(crate) fn matches<'t, 'u>(&'t self, uri: &'u str) -> Option<UriVariables<'t, 'u>> {
        if self.has_escapes
            && let Cow::Owned(uri) = encoded(uri)
        {
            return self.find(&uri, &mut 0).map(UriVariables::into_owned);
        }
        self.find(uri, &mut 0)
    }

    /// Like `matches`, for a URI whose escapes are spelled as those of the template. Also adds the number of byte comparisons to `steps`.
    pub(super) fn find<'t, 'u>(
        &'t self,
        uri: &'u str,
        steps: &mut usize,
    ) -> Option<UriVariables<'t, 'u>> {
        if uri.len() > LONGEST {
            return None;
        }
        let (path, query) = if self.query.is_empty() && self.fixed.is_empty() {
            (uri, None)
        } else {
            uri.split_once('?').map_or((uri, None), |(path, query)| (path, Some(query)))
        };

        let Some((TemplatePart::Literal(first), parts)) = self.parts.split_first() else {
            return None;
        };
        let (start, rest) = path.split_at_checked(first.len())?;
        let any_case = start.as_bytes()[..self.any_case]
            .eq_ignore_ascii_case(&first.as_bytes()[..self.any_case]);
        if !any_case || start.as_bytes()[self.any_case..] != first.as_bytes()[self.any_case..] {
            return None;
        }
        *steps += first.len();
        // This check reads the whole URI, so it comes after the first literal, which rules out most templates.
        if uri.bytes().any(|byte| byte.is_ascii_control()) {
            return None;
        }

        let mut variables = UriVariables(Vec::new());
        let mut values = values(parts, rest, steps)?.into_iter();
        for part in parts {
            let TemplatePart::Variable { name, kind, explode } = part else { continue };
            let raw = values.next()?;
            if *explode && !raw.split('/').all(is_name) {
                return None;
            }
            variables.push(name, percent::decode(raw)?, *kind == VariableKind::Reserved)?;
        }
        self.read_query(query.unwrap_or_default(), &mut variables)?;
        Some(variables)
    }

    fn read_query<'t, 'u>(
        &'t self,
        query: &'u str,
        variables: &mut UriVariables<'t, 'u>,
    ) -> Option<()> {
        if query.contains('#') {
            return None;
        }
        let mut given: Vec<(Cow<'u, str>, Cow<'u, str>)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = percent::decode(name)?;
            let named =
                self.query.contains(&name) || self.fixed.iter().any(|(known, _)| *known == name);
            if !named || given.iter().any(|(other, _)| *other == name) {
                return None;
            }
            given.push((name, percent::decode(value)?));
        }
        for (name, value) in &self.fixed {
            let position = given.iter().position(|(other, _)| other == name)?;
            if given.swap_remove(position).1 != *value {
                return None;
            }
        }
        for name in &self.query {
            if let Some(position) = given.iter().position(|(other, _)| other == name) {
                variables.push(name, given.swap_remove(position).1, true)?;
            }
        }
        Some(())
    }
}

/// Returns whether a segment of several decodes to the name of one file or directory, so that it can be joined to a path by itself.
fn is_name(segment: &str) -> bool {
    percent::decode(segment)
        .is_some_and(|name| !name.is_empty() && !name.contains(['/', '\\']) && !is_absolute(&name))
}

/// Returns the raw values of the variables among `parts`, if the parts match all of `text`.
///
/// The first pass goes backwards. For each part it records the positions at which the part can start so that all later parts match. The
/// second pass goes forwards, and makes each variable as long as these positions allow.
fn values<'a>(parts: &[TemplatePart], text: &'a str, steps: &mut usize) -> Option<Vec<&'a str>> {
    let tokens = tokens(parts);
    let bytes = text.as_bytes();
    let columns = bytes.len() + 1;
    let mut fits = vec![false; columns * (tokens.len() + 1)];
    fits[columns * tokens.len() + bytes.len()] = true;
    for (row, token) in tokens.iter().enumerate().rev() {
        for at in (0..bytes.len()).rev() {
            let (here, below) = (columns * row + at, columns * (row + 1) + at);
            fits[here] = match token {
                MatchToken::Text(wanted) => {
                    *steps += wanted.len();
                    bytes[at..].starts_with(wanted) && fits[below + wanted.len()]
                }
                MatchToken::Value(accepts) => {
                    *steps += 1;
                    accepts(bytes[at]) && (fits[below + 1] || fits[here + 1])
                }
            };
        }
    }
    if !fits[0] {
        return None;
    }

    let mut values = Vec::new();
    let mut at = 0;
    for (row, token) in tokens.iter().enumerate() {
        match token {
            MatchToken::Text(wanted) => at += wanted.len(),
            MatchToken::Value(accepts) => {
                let longest = bytes[at..].iter().take_while(|byte| accepts(**byte)).count();
                *steps += longest;
                let below = columns * (row + 1);
                let end = (at + 1..=at + longest).rev().find(|end| fits[below + end])?;
                values.push(text.get(at..end)?);
                at = end;
            }
        }
    }
    Some(values)
}

fn tokens(parts: &[TemplatePart]) -> Vec<MatchToken<'_>> {
    let mut tokens = Vec::with_capacity(parts.len() + 1);
    for part in parts {
        match part {
            TemplatePart::Literal(text) => tokens.push(MatchToken::Text(text.as_bytes())),
            TemplatePart::Variable { kind, explode, .. } => {
                let prefix = super::prefix(*kind);
                if !prefix.is_empty() {
                    tokens.push(MatchToken::Text(prefix.as_bytes()));
                }
                tokens.push(MatchToken::Value(match (kind, explode) {
                    (VariableKind::Reserved, _) => |_| true,
                    (_, true) => |byte| !b"?#".contains(&byte),
                    _ => |byte| !b"/?#".contains(&byte),
                }));
            }
        }
    }
    tokens
}
