//! Finds differences that are one: those of a type that is used in several places.

use serde_json::Value;

use super::{
    Side, bare,
    document::Document,
    gap::{Path, Step},
};

/// Largest number of references and choices on the way to one member.
const DEEPEST: u8 = 16;

/// Returns a key that a difference shares with the same difference of the same type elsewhere, and with no others. The key holds the type
/// before and after, and the path inside of it. Returns `None` if the difference is in no type but JSON's own.
pub(in crate::contract) fn kin(
    side: Side,
    path: &Path,
    old: &Value,
    new: &Value,
) -> Option<String> {
    let both = |steps: &[Step]| {
        let old = follow(Document::new(old), old, steps, DEEPEST)?;
        Some((old, follow(Document::new(new), new, steps, DEEPEST)?))
    };
    let key = |(old, new): (&Value, &Value), rest: &[Step]| {
        let rest = Path(rest.to_vec());
        format!("{side:?} {rest} {} {}", bare(old), bare(new))
    };
    let steps = &path.0;
    if let Some(of) = both(steps).filter(|it| is_type(it.0) || is_type(it.1)) {
        return Some(key(of, &[]));
    }
    let at = steps.iter().rposition(|it| matches!(it, Step::Member(_)))?;
    let (outer, rest) = steps.split_at(at);
    Some(key(both(outer)?, rest))
}

/// Whether the schema is of a type that an author has made: an object, a list of values, or a choice.
fn is_type(schema: &Value) -> bool {
    ["properties", "enum", "oneOf", "anyOf"].iter().any(|it| schema.get(it).is_some())
}

/// Returns the schema at the end of `steps`, in the first alternative that has such a place.
fn follow<'a>(
    document: Document<'a>,
    schema: &'a Value,
    steps: &[Step],
    depth: u8,
) -> Option<&'a Value> {
    let depth = depth.checked_sub(1)?;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return follow(document, document.resolve(reference)?, steps, depth);
    }
    let Some((step, rest)) = steps.split_first() else { return Some(schema) };
    let inside = match step {
        Step::Member(name) => schema.get("properties").and_then(|it| it.get(name)),
        Step::Element => schema.get("items"),
        Step::Place(index) => schema.get("prefixItems").and_then(|it| it.get(index)),
        Step::Others => schema.get("additionalProperties"),
        Step::Definition(name) => {
            document.definitions().into_iter().flatten().find_map(|it| it.get(name))
        }
    };
    if let Some(inside) = inside {
        return follow(document, inside, rest, DEEPEST);
    }
    let branches =
        ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|it| schema.get(it)?.as_array());
    branches.flatten().find_map(|it| follow(document, it, steps, depth))
}
