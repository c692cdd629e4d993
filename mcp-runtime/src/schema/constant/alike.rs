//! Compares the texts of nodes. The schema of a tuple lists those of its elements, each text once.

use super::node::{Node, What};

/// Whether `alike` can compare all of these nodes, or there is only one. Lists of names and `null` are left to schemars too, because the
/// rules of the compatible form rewrite a choice between them.
pub(super) const fn are_comparable(parts: &[Node]) -> bool {
    let mut i = 0;
    while i < parts.len() && parts.len() > 1 {
        if !is_comparable(&parts[i]) {
            return false;
        }
        i += 1;
    }
    true
}

const fn is_comparable(node: &Node) -> bool {
    match node.what {
        What::Names { .. }
        | What::OneOf(_)
        | What::Object(_)
        | What::Tagged { .. }
        | What::Null
        | What::Unknown(_)
        | What::TooDeep => false,
        What::Optional(it) | What::Map(it) | What::Array { items: it, .. } => is_comparable(it),
        What::Tuple(parts) => {
            let mut i = 0;
            while i < parts.len() {
                if !is_comparable(&parts[i]) {
                    return false;
                }
                i += 1;
            }
            true
        }
        _ => true,
    }
}

/// Whether the part at `index` is the first with its text.
pub(super) const fn is_first(parts: &[Node], index: usize) -> bool {
    let mut i = 0;
    while i < index {
        if alike(&parts[i], &parts[index]) {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether all parts have one text.
pub(super) const fn are_alike(parts: &[Node]) -> bool {
    let mut i = 1;
    while i < parts.len() && !is_first(parts, i) {
        i += 1;
    }
    i >= parts.len()
}

/// Compares two nodes as arguments, where an option has the schema of its value.
const fn alike(a: &Node, b: &Node) -> bool {
    match (a.what, b.what) {
        (What::Optional(a), _) => alike(a, b),
        (_, What::Optional(b)) => alike(a, b),
        _ if !same_text(a.description, b.description) => false,
        (What::Boolean, What::Boolean) | (What::Number, What::Number) | (What::Any, What::Any) => {
            true
        }
        (
            What::Text { format: a, least: least_a, most: most_a },
            What::Text { format: b, least: least_b, most: most_b },
        ) => same_text(a, b) && same(least_a, least_b) && same(most_a, most_b),
        (
            What::Integer { least: least_a, most: most_a },
            What::Integer { least: least_b, most: most_b },
        ) => same_bound(least_a, least_b) && same_bound(most_a, most_b),
        (
            What::Array { items: a, least: least_a, most: most_a, unique: unique_a },
            What::Array { items: b, least: least_b, most: most_b, unique: unique_b },
        ) => alike(a, b) && same(least_a, least_b) && same(most_a, most_b) && unique_a == unique_b,
        (What::Map(a), What::Map(b)) => alike(a, b) && a.is_anything() == b.is_anything(),
        (What::Tuple(a), What::Tuple(b)) => {
            let mut i = 0;
            while i < a.len() && i < b.len() {
                if !alike(&a[i], &b[i]) {
                    return false;
                }
                i += 1;
            }
            a.len() == b.len()
        }
        _ => false,
    }
}

const fn same(a: Option<usize>, b: Option<usize>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, None) => true,
        _ => false,
    }
}

const fn same_bound(a: Option<i128>, b: Option<i128>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, None) => true,
        _ => false,
    }
}

const fn same_text(a: Option<&str>, b: Option<&str>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => equal(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// `==` on strings, which constants cannot call.
pub(crate) const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    a.len() == b.len()
}

/// `<` on strings.
pub(super) const fn is_before(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}
