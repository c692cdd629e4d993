//! Findings: the differences between two schemas of arguments or results, described for people. A finding is a mismatch in the accepted
//! values, or a difference in their descriptions, examples, defaults or headers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    difference::{
        Mismatch, MismatchContext, PathStep, Remedy, SchemaFinding, SchemaUse, ValuePath,
    },
    document::{ANNOTATIONS, SchemaDocument, without_annotations},
    inclusion::mismatches,
};
use crate::{JsonObject, change::ChangeClass, collect::collect_by_insert, suggest::nearest};

/// Keyword that marks an argument whose value clients repeat in an HTTP header (specification: server/tools).
const HEADER: &str = "x-mcp-header";

/// Returns all differences. Breaking differences come first, and differences of one class are sorted by path.
pub(crate) fn compare(usage: SchemaUse, old: &Value, new: &Value) -> Vec<SchemaFinding> {
    if old == new {
        return Vec::new();
    }
    let is_argument = usage == SchemaUse::Arguments;
    let forward = mismatches(old, new);
    let backward = mismatches(new, old);
    let mut judged: Vec<JudgedMismatch> = Vec::new();
    judged.extend(forward.into_iter().map(|found| JudgedMismatch::new(found, true, is_argument)));
    judged.extend(backward.into_iter().map(|found| JudgedMismatch::new(found, false, is_argument)));
    // A server sends only members that it declares, whether or not its schema excludes others. For a result, it therefore does not matter
    // whether the schema now excludes other members.
    judged.retain(|found| is_argument || found.mismatch != Mismatch::Closed);
    let renamed = take_renamed(&mut judged);

    // If a place has a breaking difference, its harmless differences are not reported. If a member is gone, its other differences are not
    // reported.
    let broken: Vec<(ValuePath, bool)> = judged
        .iter()
        .filter(|found| found.class == ChangeClass::Breaking)
        .map(|found| (found.path.clone(), found.is_gone()))
        .collect();
    judged.retain(|found| match found.class {
        ChangeClass::Breaking => {
            found.is_gone() || !broken.iter().any(|(path, is_gone)| *is_gone && *path == found.path)
        }
        _ => !broken.iter().any(|other| other.0 == found.path),
    });
    // A new member that is always there is one difference.
    let always_there: Vec<ValuePath> = judged
        .iter()
        .filter(|found| found.context.forward && found.mismatch == Mismatch::NewRequired)
        .map(|found| found.path.clone())
        .collect();
    judged.retain(|found| !found.is_new() || !always_there.contains(&found.path));
    let mut findings: Vec<SchemaFinding> =
        judged.into_iter().map(JudgedMismatch::finding).collect();
    findings.extend(renamed);
    compare_annotations(usage, old, new, &mut findings);
    if findings.is_empty() {
        findings.push(SchemaFinding {
            class: ChangeClass::Cosmetic,
            path: ValuePath::default(),
            text: "is written differently, with the same meaning".to_owned(),
            remedy: Remedy::None,
        });
    }
    findings.sort_by(|a, b| (a.class, &a.path).cmp(&(b.class, &b.path)));
    findings
}

/// Mismatch with its effect on clients.
struct JudgedMismatch {
    class: ChangeClass,
    path: ValuePath,
    mismatch: Mismatch,
    context: MismatchContext,
}

impl JudgedMismatch {
    fn new((path, mismatch): (ValuePath, Mismatch), forward: bool, is_argument: bool) -> Self {
        let declared = matches!(mismatch, Mismatch::Undeclared { .. });
        let class = match (forward, is_argument) {
            (true, true) => ChangeClass::Breaking,
            // Clients may rely on a member of a result even if it was optional, so its removal is breaking.
            (true, false) if declared => ChangeClass::Breaking,
            (true, false) | (false, true) => ChangeClass::Additive,
            (false, false) if matches!(mismatch, Mismatch::Undeclared { closed: false, .. }) => {
                ChangeClass::Additive
            }
            (false, false) => ChangeClass::Breaking,
        };
        Self { class, path, mismatch, context: MismatchContext { forward, is_argument } }
    }

    /// Whether the member was declared before, and is not any more.
    fn is_gone(&self) -> bool {
        self.context.forward && matches!(self.mismatch, Mismatch::Undeclared { .. })
    }

    /// Whether the member is declared now, and was not before.
    fn is_new(&self) -> bool {
        !self.context.forward && matches!(self.mismatch, Mismatch::Undeclared { .. })
    }

    fn finding(self) -> SchemaFinding {
        let remedy = match (self.class, self.context.is_argument, &self.mismatch) {
            (ChangeClass::Additive | ChangeClass::Cosmetic, ..) => Remedy::None,
            (_, true, Mismatch::Undeclared { .. }) => Remedy::KeepArgument,
            (_, false, Mismatch::Undeclared { .. }) if self.context.forward => Remedy::KeepMember,
            (_, true, Mismatch::Required | Mismatch::NewRequired) => Remedy::MakeOptional,
            (_, true, Mismatch::Closed) => Remedy::LeaveOpen,
            (_, true, _) => Remedy::AcceptBoth,
            (_, false, _) => Remedy::KeepPromise,
        };
        let text = self.mismatch.text(self.context);
        SchemaFinding { class: self.class, path: self.path, text, remedy }
    }
}

/// Finds renamed members: an object has lost a member and got another one with a similar name. If there is only one lost and one new member, the
/// same type is enough. Removes both from `judged`.
fn take_renamed(judged: &mut Vec<JudgedMismatch>) -> Vec<SchemaFinding> {
    let mut renamed = Vec::new();
    let gone: Vec<ValuePath> =
        judged.iter().filter(|found| found.is_gone()).map(|found| found.path.clone()).collect();
    for path in gone {
        let beside = |found: &&JudgedMismatch| found.path.parent() == path.parent();
        let new: Vec<&JudgedMismatch> =
            judged.iter().filter(|found| found.is_new()).filter(beside).collect();
        let went = judged.iter().filter(|found| found.is_gone()).filter(beside).count();
        let schema = judged
            .iter()
            .find(|found| found.is_gone() && found.path == path)
            .map(|found| &found.mismatch);
        let name = path.name().unwrap_or_default();
        let alike = nearest(name, new.iter().filter_map(|found| found.path.name()));
        let other = match (alike, new.as_slice()) {
            (Some(name), _) => new.iter().find(|found| found.path.name() == Some(name)),
            // If exactly one member is gone and one is new, the same type is enough evidence that the member was renamed.
            (None, [one])
                if went == 1
                    && schema.is_some_and(|schema| have_equal_types(schema, &one.mismatch)) =>
            {
                Some(one)
            }
            _ => None,
        };
        let Some(other) = other.map(|found| found.path.clone()) else { continue };
        renamed.push(SchemaFinding {
            class: ChangeClass::Breaking,
            text: format!(
                "seems to have been `{name}` before: the old one is gone, and this one is new"
            ),
            remedy: Remedy::KeepOldName(name.to_owned()),
            path: other.clone(),
        });
        judged.retain(|found| found.path != path && found.path != other);
    }
    renamed
}

/// Whether two members have the same type, apart from their annotations.
fn have_equal_types(a: &Mismatch, b: &Mismatch) -> bool {
    match (a, b) {
        (Mismatch::Undeclared { schema: a, .. }, Mismatch::Undeclared { schema: b, .. }) => {
            without_annotations(a) == without_annotations(b)
        }
        _ => false,
    }
}

/// Adds the differences in annotations, defaults, headers and order to the findings.
fn compare_annotations(usage: SchemaUse, old: &Value, new: &Value, to: &mut Vec<SchemaFinding>) {
    let mut walk = AnnotationWalk { usage, path: ValuePath::default(), to };
    walk.schema(old, new);
}

struct AnnotationWalk<'a> {
    usage: SchemaUse,
    path: ValuePath,
    to: &'a mut Vec<SchemaFinding>,
}

impl AnnotationWalk<'_> {
    fn find(&mut self, class: ChangeClass, text: String, remedy: Remedy) {
        let finding = SchemaFinding { class, path: self.path.clone(), text, remedy };
        if !self.to.contains(&finding) {
            self.to.push(finding);
        }
    }

    fn at(&mut self, step: PathStep, old: &Value, new: &Value) {
        self.path.0.push(step);
        self.schema(old, new);
        self.path.0.pop();
    }

    fn schema(&mut self, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        let (Value::Object(old), Value::Object(new)) = (old, new) else { return };
        self.annotations(old, new);
        self.default(old, new);
        self.header(old, new);
        self.order(old, new);
        self.inside(old, new);
    }

    fn annotations(&mut self, old: &JsonObject, new: &JsonObject) {
        let extensions = || {
            let keys = old.keys().chain(new.keys()).map(String::as_str);
            collect_by_insert::<BTreeSet<_>, _>(
                keys.filter(|keyword| keyword.starts_with("x-") && *keyword != HEADER),
            )
        };
        for keyword in ANNOTATIONS.into_iter().chain(extensions()) {
            if let Some(text) = describe_change(keyword, old.get(keyword), new.get(keyword)) {
                self.find(ChangeClass::Cosmetic, text, Remedy::None);
            }
        }
    }

    /// Compares defaults. A call that omits an argument gets its default, so a changed default is a breaking change.
    fn default(&mut self, old: &JsonObject, new: &JsonObject) {
        let (was, is) = (old.get("default"), new.get("default"));
        if was == is {
            return;
        }
        // An argument that is required now needs no default. The finding that it became required is enough, so the lost default is only
        // cosmetic.
        let is_required = self.to.iter().any(|finding| {
            finding.class == ChangeClass::Breaking
                && finding.path == self.path
                && finding.remedy == Remedy::MakeOptional
        });
        match (was, is) {
            _ if self.usage == SchemaUse::Result || is_required => {
                let text = describe_change("default", was, is).unwrap_or_default();
                self.find(ChangeClass::Cosmetic, text, Remedy::None);
            }
            (None, Some(is)) => {
                let text = format!("has a default now: leaving it out means {is}");
                self.find(ChangeClass::Additive, text, Remedy::None);
            }
            (Some(was), None) => {
                let text = format!(
                    "has no default any more: leaving it out meant {was}, and its meaning now is unspecified"
                );
                self.find(ChangeClass::Breaking, text, Remedy::KeepDefault);
            }
            (Some(was), Some(is)) => {
                let text = format!(
                    "has a different default: leaving it out meant {was}, and means {is} now"
                );
                self.find(ChangeClass::Breaking, text, Remedy::KeepDefault);
            }
            (None, None) => {}
        }
    }

    /// Compares headers. Clients that have the old schema send the old header, and routers may depend on it. So every difference is
    /// breaking, except in the case of letters.
    fn header(&mut self, old: &JsonObject, new: &JsonObject) {
        let (was, is) = (old.get(HEADER), new.get(HEADER));
        let name = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
        match (was, is) {
            (Some(was), Some(is)) if name(was) == name(is) => return,
            (None, None) => return,
            _ => {}
        }
        let shown =
            |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), ToString::to_string);
        let text = format!("has a different header: was {}, is {}", shown(was), shown(is));
        self.find(ChangeClass::Breaking, text, Remedy::KeepHeader);
    }

    /// Finds an `enum` that lists the same values in another order.
    fn order(&mut self, old: &JsonObject, new: &JsonObject) {
        let (Some(Value::Array(was)), Some(Value::Array(is))) = (old.get("enum"), new.get("enum"))
        else {
            return;
        };
        let all_in =
            |some: &[Value], others: &[Value]| some.iter().all(|value| others.contains(value));
        if was != is && all_in(was, is) && all_in(is, was) {
            let text = "lists its values in another order".to_owned();
            self.find(ChangeClass::Cosmetic, text, Remedy::None);
        }
    }

    fn inside(&mut self, old: &JsonObject, new: &JsonObject) {
        let both = |keyword: &str| Some((old.get(keyword)?, new.get(keyword)?));
        for (keyword, step) in [
            ("properties", PathStep::Member as fn(String) -> PathStep),
            ("$defs", PathStep::Definition),
        ] {
            let Some((Value::Object(was), Value::Object(is))) = both(keyword) else { continue };
            for (name, was) in was {
                if let Some(is) = is.get(name) {
                    self.at(step(name.clone()), was, is);
                }
            }
        }
        if let Some((was, is)) = both("items") {
            self.at(PathStep::Element, was, is);
        }
        if let Some((was, is)) = both("additionalProperties") {
            self.at(PathStep::Others, was, is);
        }
        for keyword in ["prefixItems", "anyOf", "oneOf", "allOf"] {
            let Some((Value::Array(was), Value::Array(is))) = both(keyword) else { continue };
            for (index, (was, is)) in was.iter().zip(is).enumerate() {
                if keyword == "prefixItems" {
                    self.at(PathStep::Place(index), was, is);
                } else {
                    self.schema(was, is);
                }
            }
        }
    }
}

/// Describes how an annotation differs. The description does not repeat the annotation, which may be long.
pub(crate) fn describe_change(
    name: &str,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Option<String> {
    // Some names are plural, such as `examples`, `icons` and `instructions`.
    let are_many = name.ends_with('s');
    match (old, new) {
        (old, new) if old == new => None,
        (None, _) if are_many => Some(format!("has {name} now")),
        (None, _) if name.starts_with('x') => Some(format!("has an {name} now")),
        (None, _) => Some(format!("has a {name} now")),
        (_, None) => Some(format!("has no {name} any more")),
        _ if are_many => Some(format!("has different {name}")),
        _ => Some(format!("has a different {name}")),
    }
}

/// Maximum number of references and choices that are followed to find one member.
const MOST_REFERENCES: u8 = 16;

/// Returns a key that two differences share if they are the same change of the same type, found in two places. The key consists of the type
/// before and after the change, and the path inside the type. Returns `None` if the difference is not inside a type that the author has
/// defined.
pub(crate) fn type_key(
    usage: SchemaUse,
    path: &ValuePath,
    old: &Value,
    new: &Value,
) -> Option<String> {
    let both = |steps: &[PathStep]| {
        let old = follow(SchemaDocument::new(old), old, steps, MOST_REFERENCES)?;
        Some((old, follow(SchemaDocument::new(new), new, steps, MOST_REFERENCES)?))
    };
    let key = |(old, new): (&Value, &Value), rest: &[PathStep]| {
        let rest = ValuePath(rest.to_vec());
        format!("{usage:?} {rest} {} {}", without_annotations(old), without_annotations(new))
    };
    let steps = &path.0;
    if let Some(of) = both(steps).filter(|types| is_type(types.0) || is_type(types.1)) {
        return Some(key(of, &[]));
    }
    let at = steps.iter().rposition(|step| matches!(step, PathStep::Member(_)))?;
    let (outer, rest) = steps.split_at(at);
    Some(key(both(outer)?, rest))
}

/// Whether the schema describes a type that an author has defined: an object, a list of values, or a choice.
fn is_type(schema: &Value) -> bool {
    ["properties", "enum", "oneOf", "anyOf"].iter().any(|keyword| schema.get(keyword).is_some())
}

/// Returns the schema that `steps` lead to. Among alternatives, the first one in which all steps exist is used.
fn follow<'a>(
    document: SchemaDocument<'a>,
    schema: &'a Value,
    steps: &[PathStep],
    depth: u8,
) -> Option<&'a Value> {
    let depth = depth.checked_sub(1)?;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return follow(document, document.resolve(reference)?, steps, depth);
    }
    let Some((step, rest)) = steps.split_first() else { return Some(schema) };
    let inside = match step {
        PathStep::Member(name) => {
            schema.get("properties").and_then(|properties| properties.get(name))
        }
        PathStep::Element => schema.get("items"),
        PathStep::Place(index) => schema.get("prefixItems").and_then(|places| places.get(index)),
        PathStep::Others => schema.get("additionalProperties"),
        PathStep::Definition(name) => document
            .definitions()
            .into_iter()
            .flatten()
            .find_map(|definitions| definitions.get(name)),
    };
    if let Some(inside) = inside {
        return follow(document, inside, rest, MOST_REFERENCES);
    }
    let branches = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword)?.as_array());
    branches.flatten().find_map(|branch| follow(document, branch, steps, depth))
}
