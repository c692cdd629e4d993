//! Items that clients, or the server itself, could not tell apart.

use std::{any::TypeId, collections::HashMap};

use super::check::Found;
use crate::{
    call::extract::{ArgumentSource, ItemParams},
    catalog::{Entry, EntryKind},
    item::template::UriTemplate,
};

/// Set of URIs that a template reads: its shape, and the types of its variables. Two templates of one shape may differ in the types: a
/// URI whose value the first template cannot read goes to the second.
pub(super) type Shape = (String, Vec<TypeId>);

/// Property that two items of a list must not share.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Name(&'a str),
    Shape(&'a Shape),
}

/// Returns the parameters that are read from a text, with their types. Parameters with constraints are left out.
pub(super) fn variables(params: &ItemParams) -> Vec<(&'static str, TypeId)> {
    let fields = params.fields.iter().filter(|it| it.def.constraints.is_empty());
    let variables = fields.filter_map(|it| match it.source {
        ArgumentSource::Text { read_as, .. } => Some((it.def.name, read_as)),
        ArgumentSource::Json { .. } | ArgumentSource::Spread { .. } => None,
    });
    variables.collect()
}

/// Returns the shape of a template; `None` if the URIs that it reads depend on more than that.
pub(super) fn shape(template: &UriTemplate, variables: &[(&'static str, TypeId)]) -> Option<Shape> {
    let (shape, names) = template.shape();
    let type_of = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1);
    let types = names.iter().map(|it| type_of(it)).collect::<Option<_>>()?;
    Some((shape, types))
}

pub(super) fn check(found: &mut Found) {
    let mut seen: HashMap<(&str, Key<'_>), &Entry> = HashMap::new();
    let items = found.entries.iter().zip(&found.shapes);
    for (entry, shape) in items.filter(|it| !matches!(it.0.kind, EntryKind::Completion { .. })) {
        let kind = entry.kind_name();
        let same_name = seen.insert((kind, Key::Name(entry.key())), entry);
        let same_shape = shape.as_ref().and_then(|it| seen.insert((kind, Key::Shape(it)), entry));
        let Some(other) = same_name.or(same_shape) else { continue };
        let (first, second) = (other.place(), entry.place());
        let fix = match entry.kind {
            EntryKind::Resource(_) => "give one of them another URI",
            _ => "rename one, or give it `name = \"…\"`",
        };
        found.problems.push(if other.key() == entry.key() {
            format!("there are two {kind}s `{}`: {first} and {second}: {fix}", entry.key())
        } else {
            format!(
                "the templates `{}` and `{}` match the same URIs, so only one of them would be read: {first} and {second}: {fix}",
                other.key(),
                entry.key()
            )
        });
    }
}
