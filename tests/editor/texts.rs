//! Half-typed texts: an item up to a border between two tokens, with the brackets closed, as an editor closes them.

use crate::{
    project::Side,
    shops::{self, TEMPLATE, rendered},
};

/// Kinds of items, each with an attribute of ours. The item of `data` has no path with `::`, because rust-analyzer repairs a path without its end
/// before the derives of serde see it, and then reports errors in their code.
pub(crate) const KINDS: [&str; 8] =
    ["handlers", "data", "config", "prompt", "tool", "resource", "completion", "form"];

/// Fewest texts of a kind.
pub(crate) const FEWEST: usize = 60;

/// A half-typed text, for the plain shop and for ours.
pub(crate) struct Pair {
    pub(crate) plain: String,
    pub(crate) ours: String,
    /// Whether an attribute of ours is half-typed, or has no item yet. The macro then reports it, and the plain text has nothing of it.
    pub(crate) is_in_attribute: bool,
    /// Whether the item ends at a border between two tokens, as all texts of rmcp do.
    pub(crate) is_cut: bool,
}

/// Returns the texts of a kind. An attribute is typed above the rest of the item. In the plain shop, the item then has no attribute.
pub(crate) fn pairs(kind: &str) -> Vec<Pair> {
    let (before, item, after) = shops::item(TEMPLATE, kind).expect("the template has the kind");
    let shop = |item: &str, rest: &str, side: Side| {
        let (before, after) = (rendered(before, side), rendered(after, side));
        format!("{before}{}{}{after}", closed(&rendered(item, side)), rendered(rest, side))
    };
    let pairs = sample(borders(item)).into_iter().map(|border| {
        let part = &item[..border];
        let is_open = part.matches('«').count() > part.matches('»').count();
        // An attribute without its item belongs to the next function.
        let is_alone = rendered(part, Side::Plain).lines().all(|line| line.starts_with("//"));
        // A form or a `#[config]` without fields is a mistake of its own.
        let is_empty = part.contains("struct ") && part.trim_end().ends_with('{');
        let is_in_attribute = is_open || (is_alone || is_empty) && part.contains('«');
        let rest = if is_open { &item[border..] } else { "" };
        let rest = rest.split_once('»').map_or("", |(_, rest)| rest);
        let ours = if is_open {
            let start = part.rfind('«').unwrap_or_default();
            let (head, attribute) = part.split_at(start);
            let whole = format!("{head}{}{rest}", closed(attribute));
            format!(
                "{}{}{}",
                rendered(before, Side::Ours),
                rendered(&whole, Side::Ours),
                rendered(after, Side::Ours)
            )
        } else {
            shop(part, rest, Side::Ours)
        };
        Pair { plain: shop(part, "", Side::Plain), ours, is_in_attribute, is_cut: true }
    });
    pairs.chain(inserted(before, item, after)).collect()
}

/// Returns some of the borders, at equal distances, because each text takes time.
fn sample(borders: Vec<usize>) -> Vec<usize> {
    let count = borders.len();
    let chosen = borders
        .into_iter()
        .enumerate()
        .filter(|(index, _)| index * FEWEST / count != (index + 1) * FEWEST / count);
    chosen.map(|(_, border)| border).collect()
}

/// Returns the texts of rmcp for a kind. The list is empty for a kind that rmcp has no attribute for.
pub(crate) fn of_rmcp(kind: &str) -> Vec<String> {
    let kind = if kind == "handlers" { "tool" } else { kind };
    let Some((before, item, after)) = shops::item(shops::shop(Side::Rmcp), kind) else {
        return Vec::new();
    };
    let borders = sample(borders(item)).into_iter();
    borders.map(|border| format!("{before}{}{after}", closed(&item[..border]))).collect()
}

/// Returns texts in which the author begins a parameter, field or statement above another.
fn inserted(before: &str, item: &str, after: &str) -> Vec<Pair> {
    let lines = item.match_indices('\n').map(|(end, _)| end + 1).filter(|start| {
        let line = item[*start..].trim_start();
        // Only at a whole line of both shops, which starts with a name or a mark.
        // Above the item, the editor's own parser would end the block of a method.
        item[..*start].contains(['(', '{'])
            && line.starts_with(|char: char| char.is_lowercase() || char == '«')
            && item[..*start].matches('«').count() == item[..*start].matches('»').count()
    });
    let mut pairs = Vec::new();
    for line in lines {
        for typed in ["na,\n", "na: ,\n", "na\n"] {
            // The editor's own parser then takes the tokens of the attribute for fields.
            if typed == "na\n"
                && item.contains("struct")
                && item[line..].trim_start().starts_with('«')
            {
                continue;
            }
            let text = |side: Side| {
                let (head, tail) = (rendered(&item[..line], side), rendered(&item[line..], side));
                format!("{}{head}{typed}{tail}{}", rendered(before, side), rendered(after, side))
            };
            let (plain, ours) = (text(Side::Plain), text(Side::Ours));
            pairs.push(Pair { plain, ours, is_in_attribute: false, is_cut: false });
        }
    }
    pairs
}

/// Returns the ends of the tokens. A comment and a string are one token, and a mark is none.
fn borders(item: &str) -> Vec<usize> {
    let mut borders = Vec::new();
    let mut rest = item;
    while let Some(char) = rest.chars().next() {
        let len = match char {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            '\'' if rest[1..].find('\'').is_some_and(|end| end < 3) => {
                rest[1..].find('\'').map_or(1, |end| end + 2)
            }
            _ if is_word(char) => rest.find(|char| !is_word(char)).unwrap_or(rest.len()),
            _ => char.len_utf8(),
        };
        rest = &rest[len..];
        if !char.is_whitespace() && !['«', '»', '‹', '›'].contains(&char) {
            borders.push(item.len() - rest.len());
        }
    }
    borders
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns the part of an item with its open brackets closed, and a line break.
fn closed(part: &str) -> String {
    let mut open = Vec::new();
    let mut start = 0;
    for end in borders(part) {
        match part[start..end].trim() {
            "(" => open.push(')'),
            "[" => open.push(']'),
            "{" => open.push('}'),
            ")" | "]" | "}" => {
                open.pop();
            }
            _ => {}
        }
        start = end;
    }
    // A bracket behind a comment would be part of it.
    let is_comment = part.lines().last().is_some_and(|line| line.trim_start().starts_with("//"));
    let mut text = part.to_owned();
    if is_comment {
        text.push('\n');
    }
    text.extend(open.iter().rev());
    text.push('\n');
    text
}
