//! Grammar of templates, and the conditions under which a template can be matched.

use super::{Part, Template, VariableKind};
use crate::percent;

const SUPPORTED: &str = "supported are {x}, {+x}, {.x}, {/x}, {/x*}, {?x,y} and {&x,y}";

/// Cuts the text of a template into its pieces.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (literal, expression) =
            rest.split_once('{').map_or((rest, None), |(a, b)| (a, Some(b)));
        if literal.contains('}') {
            return Err(format!("`{text}`: a `}}` without a `{{`"));
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal.to_owned().into()));
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

fn variables(expression: &str, parts: &mut Vec<Part>) -> Result<(), String> {
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
            return Err(format!("only a path explodes, `{{/{name}*}}`, not `{{{expression}}}`"));
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
        parts.push(Part::Variable { name: name.to_owned().into(), kind, explode });
    }
    Ok(())
}

impl Template {
    pub(super) fn build(pieces: impl Iterator<Item = Part>) -> Result<Self, String> {
        let mut template =
            Self { parts: Vec::new(), any_case: 0, fixed: Vec::new(), query: Vec::new() };
        let mut in_query = false;
        for piece in pieces {
            match piece {
                Part::Literal(text) => {
                    if in_query {
                        return Err(format!(
                            "nothing but `{{&x}}` can follow the query, and `{text}` does"
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
                Part::Variable { name, kind, explode } => {
                    if in_query && !kind.is_query() {
                        return Err(format!(
                            "a variable of the query is written `{{?{name}}}` or `{{&{name}}}`"
                        ));
                    }
                    let known = template.names().any(|other| other == name)
                        || kind.is_query()
                            && template.fixed.iter().any(|(other, _)| *other == name);
                    if known {
                        return Err(format!("the variable `{name}` is there twice"));
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
        template.any_case = scheme_and_host(template.parts.first())
            .ok_or("a URI template begins with a scheme, as `notes://` does")?;
        Ok(template)
    }

    fn literal(&mut self, text: super::Name) {
        match self.parts.last_mut() {
            Some(Part::Literal(before)) => before.to_mut().push_str(&text),
            _ if text.is_empty() => {}
            _ => self.parts.push(Part::Literal(text)),
        }
    }

    fn variable(
        &mut self,
        name: super::Name,
        kind: VariableKind,
        explode: bool,
    ) -> Result<(), String> {
        if let Some(Part::Variable { name: before, .. }) = self.parts.last()
            && super::prefix(kind).is_empty()
        {
            return Err(format!(
                "nothing says where `{before}` ends and `{name}` begins: put text between them"
            ));
        }
        self.parts.push(Part::Variable { name, kind, explode });
        Ok(())
    }
}

fn check_literal(text: &str) -> Result<(), String> {
    let illegal = |c: char| c.is_ascii_control() || " \"<>\\^`{|}".contains(c);
    if let Some(c) = text.chars().find(|c| illegal(*c)) {
        return Err(format!("{c:?} cannot be in a URI"));
    }
    if text.split(['/', '?', '#']).any(|segment| segment == "..") {
        return Err(format!("`{text}` has a `..` segment, which clients take out before they ask"));
    }
    if text.matches('%').count() > 0 && percent::decode(text).is_none() {
        return Err(format!("`{text}` has an escape that cannot be read"));
    }
    Ok(())
}

/// Returns the length of scheme and host in the first literal, in bytes. Their case does not matter. A host with a part before an `@` does
/// not count, because that part is case-sensitive. If a variable is part of the host, only the text before the variable counts. `None`
/// means that the literal has no scheme.
fn scheme_and_host(first: Option<&Part>) -> Option<usize> {
    let Some(Part::Literal(text)) = first else { return None };
    let (scheme, after) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme {
        return None;
    }
    let host = after.strip_prefix("//").unwrap_or_default();
    let host = &host[..host.find(['/', '?', '#']).unwrap_or(host.len())];
    let slashes = if after.starts_with("//") { 2 } else { 0 };
    let host = if host.contains('@') { 0 } else { host.len() };
    Some(scheme.len() + 1 + slashes + host)
}
