//! Decides whether one schema accepts everything that another schema accepts, and finds the reasons if it does not.
//!
//! The narrower side is a [`ValueSet`]. The set is divided until each part contains values of one kind and has no choice left. The wider
//! side is not divided: each part is compared with the schema as it is written. If the wider side cannot be shown to accept a part, the
//! reason is recorded as a [`Mismatch`].
//!
//! Schemas that refer to themselves are compared by induction. To show that a schema accepts a set, the comparison may assume that it does
//! so at deeper levels of the value. It may not assume this at the same level, where the schemas refer only to themselves and the proof
//! would be circular.

use serde_json::Value;

use super::{
    difference::{Mismatch, PathStep, ValuePath},
    document::{SchemaDocument, are_equally_written, have_equal_meaning, is_annotation},
    set::{SetKey, ValueSet, alternative_tag, are_disjoint},
    value::TypeSet,
};
use crate::JsonObject;

/// Maximum number of steps, enough for schemas a hundred times as large as the schemas that clients read.
const MOST_STEPS: u32 = 50_000;

/// Maximum nesting of comparisons, which protects the stack. Schemas written by people are nested less deeply.
const MOST_OPEN: usize = 96;

/// Maximum depth of the check that two objects have no value in common.
const DISJOINT_DEPTH: u8 = 3;

/// Returns the reasons why `wide` is not shown to accept everything that `narrow` accepts. The list is empty if this is shown.
pub(super) fn mismatches(narrow: &Value, wide: &Value) -> Vec<(ValuePath, Mismatch)> {
    let (narrow_in, wide_in) = (SchemaDocument::new(narrow), SchemaDocument::new(wide));
    let mut inclusion = Inclusion {
        narrow_in,
        wide_in,
        same_definitions: have_the_same_definitions(narrow_in, wide_in),
        path: ValuePath::default(),
        open: Vec::new(),
        steps: 0,
        mismatches: Vec::new(),
    };
    inclusion.within(ValueSet::new([narrow]), wide);
    inclusion.mismatches
}

pub(super) struct Inclusion<'a> {
    pub(super) narrow_in: SchemaDocument<'a>,
    pub(super) wide_in: SchemaDocument<'a>,
    /// Whether both sides have the same definitions, so that a reference means the same on both sides.
    same_definitions: bool,
    path: ValuePath,
    /// Comparisons in progress, to recognize recursion: key of the set, memory address of the wider schema, and depth in the value.
    open: Vec<(SetKey, usize, usize)>,
    steps: u32,
    mismatches: Vec<(ValuePath, Mismatch)>,
}

impl<'a> Inclusion<'a> {
    pub(super) fn mismatch(&mut self, mismatch: Mismatch) {
        // The branches of a choice often have similar mismatches, which are merged.
        let path = self.path.clone();
        for (at, found) in &mut self.mismatches {
            match (found, &mismatch) {
                (
                    Mismatch::Types { narrow, wide },
                    Mismatch::Types { narrow: more, wide: same },
                ) if *at == path && wide == same => {
                    *narrow = narrow.or(*more);
                    return;
                }
                (found, mismatch) if *at == path && found == mismatch => return,
                _ => {}
            }
        }
        self.mismatches.push((path, mismatch));
    }

    pub(super) fn undecided(&mut self, why: impl Into<String>) {
        self.mismatch(Mismatch::Undecided(why.into()));
    }

    /// Calls `show` with the path extended by `step`.
    pub(super) fn inside(&mut self, step: PathStep, show: impl FnOnce(&mut Self)) {
        self.path.0.push(step);
        show(self);
        self.path.0.pop();
    }

    /// Whether `show` finds no mismatch. Mismatches that it finds are not recorded.
    fn finds_no_mismatch(&mut self, show: impl FnOnce(&mut Self)) -> bool {
        let before = std::mem::take(&mut self.mismatches);
        show(self);
        std::mem::replace(&mut self.mismatches, before).is_empty()
    }

    /// Whether a value on the narrower side that is equal to `said` also has the same meaning. `said` is the value of a keyword on the
    /// wider side. If it contains a reference, both sides must have the same definitions.
    pub(super) fn has_equal_meaning(&self, said: &Value) -> bool {
        self.same_definitions || !has_reference(said)
    }

    pub(super) fn within(&mut self, set: ValueSet<'a>, wide: &'a Value) {
        let map = match wide {
            Value::Bool(true) => return,
            Value::Object(map) if map.keys().all(|keyword| is_annotation(keyword)) => return,
            Value::Object(map) => Some(map),
            _ => None,
        };
        if set.single().is_some_and(|schema| are_equally_written(schema, wide))
            && self.has_equal_meaning(wide)
        {
            return;
        }
        self.steps += 1;
        if self.steps > MOST_STEPS || self.open.len() > MOST_OPEN {
            self.undecided("it is too large to be compared");
            return;
        }
        let here = (set.key(), std::ptr::from_ref(wide) as usize, self.path.0.len());
        let before = self
            .open
            .iter()
            .rev()
            .find(|statement| (&statement.0, statement.1) == (&here.0, here.1));
        if let Some((_, _, depth)) = before {
            if *depth == here.2 {
                self.undecided("it refers only to itself");
            }
            return;
        }
        let Some(set) = set.flatten(self.narrow_in) else { return };
        let Some(map) = map else {
            let nothing = wide == &Value::Bool(false);
            let other = || Mismatch::Undecided(format!("{wide} is not a schema"));
            self.mismatch(if nothing { Mismatch::Nothing } else { other() });
            return;
        };
        self.open.push(here);
        self.divide(&set, map, wide);
        self.open.pop();
    }

    fn divide(&mut self, set: &ValueSet<'a>, map: &'a JsonObject, wide: &'a Value) {
        if let Some((values, are_listed)) = set.values() {
            self.values(set, &values, are_listed, wide);
            return;
        }
        if let Some(sets) = set.choices() {
            sets.into_iter().for_each(|set| self.within(set, wide));
            return;
        }
        let mut groups = set.types.groups();
        let first = groups.next();
        if first == Some(set.types) {
            self.keywords(set, map);
        } else {
            let all = first.into_iter().chain(groups);
            all.for_each(|types| self.within(set.with_types(types), wide));
        }
    }

    /// Compares a set that contains only `values`, one value at a time.
    fn values(&mut self, set: &ValueSet<'a>, values: &[Value], are_listed: bool, wide: &'a Value) {
        let mut lost = Vec::new();
        for value in values.iter().filter(|value| TypeSet::of(value).within(set.types)) {
            let is_in = set
                .parts
                .iter()
                .all(|part| self.narrow_in.accepts(part.written, value) != Some(false));
            match self.wide_in.accepts(wide, value).filter(|_| is_in) {
                Some(false) => lost.push(value.clone()),
                None if is_in => {
                    self.undecided(format!("it cannot be decided whether `{value}` is accepted"));
                }
                _ => {}
            }
        }
        if lost.is_empty() {
            return;
        }
        let types =
            ValueSet::new([wide]).flatten(self.wide_in).map_or(TypeSet::NONE, |set| set.types);
        if are_listed || set.types.within(types) {
            self.mismatch(Mismatch::Values(lost));
        } else {
            self.mismatch(Mismatch::Types { narrow: set.types, wide: types });
        }
    }

    /// Compares keyword by keyword. All values of the set must be of one kind. The caller has already handled lists of values and choices.
    fn keywords(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject) {
        if let Some(reference) = wide.get("$ref") {
            match reference.as_str().and_then(|reference| self.wide_in.resolve(reference)) {
                Some(meaning) => self.within(set.clone(), meaning),
                None => self.undecided(format!("{reference} refers to no definition")),
            }
        }
        let branches = |keyword| wide.get(keyword).and_then(Value::as_array);
        for schema in branches("allOf").into_iter().flatten() {
            self.within(set.clone(), schema);
        }
        for (keyword, only_one) in [("anyOf", false), ("oneOf", true)] {
            if let Some(branches) = branches(keyword) {
                self.alternatives(set, branches, only_one);
            }
        }
        if let Some(said) = wide.get("type") {
            match TypeSet::parse(said) {
                Some(types) if set.types.within(types) => {}
                Some(types) => {
                    // After a mismatch of types, the other keywords do not matter.
                    self.mismatch(Mismatch::Types { narrow: set.types, wide: types });
                    return;
                }
                None => self.undecided(format!("{said} is not a type")),
            }
        }
        let listed = wide.get("enum").and_then(Value::as_array).cloned();
        if let Some(values) = listed.or_else(|| Some(vec![wide.get("const")?.clone()])) {
            self.mismatch(Mismatch::Listed { narrow: set.types, wide: values });
            return;
        }
        match set.types {
            TypeSet::STRING => self.strings(set, wide),
            TypeSet::ARRAY => self.arrays(set, wide),
            TypeSet::OBJECT => self.objects(set, wide),
            _ => self.numbers(set, wide),
        }
        self.unknown_keywords(set, wide);
    }

    /// Checks that at least one branch accepts the whole set. If `only_one` is set, no other branch may accept a value of the set.
    fn alternatives(&mut self, set: &ValueSet<'a>, branches: &'a [Value], only_one: bool) {
        let mut twice = false;
        for (at, branch) in branches.iter().enumerate() {
            if !self.finds_no_mismatch(|inclusion| inclusion.within(set.clone(), branch)) {
                continue;
            }
            let others = branches.iter().enumerate().filter(|branch| branch.0 != at);
            if !only_one || others.map(|branch| branch.1).all(|other| self.is_disjoint(set, other))
            {
                return;
            }
            twice = true;
        }
        if twice {
            self.undecided("more than one alternative of its `oneOf` may match");
            return;
        }
        let near: Vec<_> =
            branches.iter().filter(|branch| !self.is_disjoint(set, branch)).collect();
        if let [one] = near.as_slice() {
            self.within(set.clone(), one);
            return;
        }
        if let Some(tag) = alternative_tag(set, self.narrow_in) {
            let is_same = |branch: &&'a Value| {
                alternative_tag(&ValueSet::new([*branch]), self.wide_in).as_ref() == Some(&tag)
            };
            match branches.iter().find(is_same) {
                Some(same) => self.within(set.clone(), same),
                None => self.mismatch(Mismatch::Alternative(tag)),
            }
            return;
        }
        let of = |branch| {
            ValueSet::new([branch]).flatten(self.wide_in).map_or(TypeSet::NONE, |set| set.types)
        };
        let types = branches.iter().map(of).fold(TypeSet::NONE, TypeSet::or);
        if set.types.within(types) {
            self.undecided("no single alternative accepts all of it");
        } else {
            self.mismatch(Mismatch::Types { narrow: set.types, wide: types });
        }
    }

    fn is_disjoint(&self, set: &ValueSet<'a>, other: &'a Value) -> bool {
        let other = ValueSet::new([other]);
        are_disjoint((set, self.narrow_in), (&other, self.wide_in), DISJOINT_DEPTH)
    }

    /// Compares the keywords that have no comparison of their own. Such a keyword is compatible only with an equal one. A `not` is also
    /// compatible if it excludes no value of the set.
    fn unknown_keywords(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject) {
        for (keyword, said) in wide {
            if is_annotation(keyword) || KNOWN.contains(&keyword.as_str()) {
                continue;
            }
            let is_said =
                set.keyword_values(keyword).any(|value| have_equal_meaning(keyword, value, said))
                    && self.has_equal_meaning(said);
            let rules_out = || {
                let other = ValueSet::new([said]);
                keyword == "not"
                    && are_disjoint((set, self.narrow_in), (&other, self.wide_in), DISJOINT_DEPTH)
            };
            if !is_said && !rules_out() {
                self.undecided(format!("it has `{keyword}`"));
            }
        }
    }
}

/// Keywords that are compared by their meaning.
static KNOWN: [&str; 30] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "definitions",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "type",
    "uniqueItems",
];

fn have_the_same_definitions(a: SchemaDocument<'_>, b: SchemaDocument<'_>) -> bool {
    a.definitions().into_iter().zip(b.definitions()).all(|both| match both {
        (Some(a), Some(b)) => have_equal_meaning("$defs", a, b),
        (a, b) => a == b,
    })
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(has_reference),
        Value::Array(list) => list.iter().any(has_reference),
        _ => false,
    }
}
