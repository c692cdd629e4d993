//! Reads the doc comments of items and parameters, which become the descriptions that models and users see.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The documentation of an item or a parameter.
pub(crate) enum Doc<'a> {
    /// Text that the macro can read. The lines are joined, and blank lines at both ends are removed.
    Text(String),
    /// Text with an expression in it, such as `include_str!(…)`. The compiler joins and trims the parts.
    Parts(Vec<DocPart<'a>>),
}

pub(crate) enum DocPart<'a> {
    Line(String),
    Expr(&'a Expr),
}

/// Reads the documentation from `attrs`. Returns `None` if there is none, or if all lines are blank.
pub(crate) fn read(attrs: &[Attribute]) -> Option<Doc<'_>> {
    let mut parts = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
        // `#[doc(hidden)]` and similar attributes are lists without text, so they are skipped.
        let Meta::NameValue(pair) = &attr.meta else { continue };
        match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                parts.extend(lines(&text.value()).map(DocPart::Line));
            }
            expr => parts.push(DocPart::Expr(expr)),
        }
    }
    if parts.iter().any(|part| matches!(part, DocPart::Expr(_))) {
        return Some(Doc::Parts(parts));
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        if let DocPart::Line(line) = part {
            lines.push(line);
        }
    }
    let text = trim(&lines);
    (!text.is_empty()).then_some(Doc::Text(text))
}

/// Returns the lines of one doc attribute, without the space or the `*` with which each line of a comment starts.
fn lines(text: &str) -> impl Iterator<Item = String> + '_ {
    let block = text.contains('\n');
    let starred = block
        && text
            .lines()
            .skip(1)
            .all(|line| line.trim_start().starts_with('*') || line.trim().is_empty());
    text.split('\n').enumerate().map(move |(index, line)| {
        let line = line.trim_end();
        let line = if starred && index > 0 {
            line.trim_start().strip_prefix('*').unwrap_or_default()
        } else {
            line
        };
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    })
}

fn trim(lines: &[String]) -> String {
    let full = |text: &String| !text.trim().is_empty();
    let Some(first) = lines.iter().position(full) else { return String::new() };
    let last = lines.iter().rposition(full).unwrap_or(first);
    lines[first..=last].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse::Parser as _;

    fn text(source: &str) -> Option<String> {
        let attrs = Attribute::parse_outer.parse_str(source).unwrap();
        read(&attrs).map(|doc| match doc {
            Doc::Text(text) => text,
            Doc::Parts(parts) => {
                let part = |part: &DocPart<'_>| match part {
                    DocPart::Line(line) => line.clone(),
                    DocPart::Expr(_) => "<expr>".to_owned(),
                };
                parts.iter().map(part).collect::<Vec<_>>().join("|")
            }
        })
    }

    #[test]
    fn comments_become_text() {
        let check = |source, expected: Option<&str>| {
            assert_eq!(text(source).as_deref(), expected, "{source}");
        };
        check("/// Adds two numbers.", Some("Adds two numbers."));
        check("///One\n/// two", Some("One\ntwo"));
        check("///\n/// A.\n///\n///     code\n///\n", Some("A.\n\n    code"));
        check("/** One\n * two\n *\n *   three\n */", Some("One\ntwo\n\n  three"));
        check("/**\n One\n two */", Some("One\ntwo"));
        check("#[doc(hidden)]", None);
        check("///   ", None);
        check("", None);
        check("/// A\n#[doc = include_str!(\"x.md\")]", Some("A|<expr>"));
    }
}
