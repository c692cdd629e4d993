//! Compares the keywords of two schemas that describe objects, lists and tuples.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    difference::{Mismatch, PathStep},
    inclusion::Inclusion,
    set::ValueSet,
};
use crate::{JsonObject, collect::collect_by_insert};

/// Length of the longest tuple that is compared element by element.
const LONGEST_TUPLE: usize = 64;

fn places(schema: &JsonObject) -> &[Value] {
    schema.get("prefixItems").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the schema of the element at `index`. For an index after the end of the tuple, this is the schema of all further elements.
fn place(schema: &JsonObject, index: usize) -> Option<&Value> {
    places(schema).get(index).or_else(|| schema.get("items"))
}

/// Members that objects of a set may have in addition to the declared ones.
enum OtherMembers<'a> {
    /// No other members. If `open` is false, the schema excludes them. If `open` is true, the schema does not mention other members, and
    /// the sender is assumed to send only declared ones.
    None { open: bool },
    /// Members of any name, each accepted by all of these schemas.
    Any(Vec<&'a Value>),
}

impl<'a> Inclusion<'a> {
    pub(super) fn arrays(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject) {
        let longest = set.parts.iter().map(|part| places(part.schema).len()).max().unwrap_or(0);
        let tuple = longest.max(places(wide).len());
        // Elements after the end of a closed tuple cannot exist, so they need not be compared with the wider side.
        let ended = set
            .parts
            .iter()
            .filter(|part| part.schema.get("items") == Some(&Value::Bool(false)))
            .map(|part| places(part.schema).len() as u64);
        let most = set.keyword_values("maxItems").filter_map(Value::as_u64).chain(ended).min();
        let may_reach = |index: usize| most.is_none_or(|most| (index as u64) < most);
        self.count(set, wide, "minItems", None);
        self.count(set, wide, "maxItems", most.and_then(|most| usize::try_from(most).ok()));
        if tuple > LONGEST_TUPLE {
            self.undecided("a tuple is too long to be compared");
            return;
        }
        for index in 0..=tuple {
            let Some(schema) = place(wide, index).filter(|_| may_reach(index)) else { continue };
            let all = set.parts.iter().filter_map(|part| place(part.schema, index));
            let elements = ValueSet::new(all);
            let step = if tuple == 0 || index == tuple {
                PathStep::Element
            } else {
                PathStep::Place(index)
            };
            if schema == &Value::Bool(false) {
                self.mismatch(Mismatch::Keyword {
                    keyword: "maxItems".to_owned(),
                    narrow: most.map(Value::from),
                    wide: index.into(),
                });
                return;
            }
            self.inside(step, |inclusion| inclusion.within(elements, schema));
        }
        if wide.get("uniqueItems") == Some(&Value::Bool(true))
            && !set.keyword_values("uniqueItems").any(|unique| unique == &Value::Bool(true))
            && may_reach(1)
        {
            self.keyword_mismatch(set, "uniqueItems", &Value::Bool(true));
        }
    }

    pub(super) fn objects(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject) {
        let wide_members = wide.get("properties").and_then(Value::as_object);
        let declares =
            |name: &str| wide_members.is_some_and(|properties| properties.contains_key(name));
        let properties = set.keyword_values("properties").filter_map(Value::as_object);
        let declared: BTreeSet<&'a str> = collect_by_insert(
            properties.flat_map(|properties| properties.keys().map(String::as_str)),
        );
        let others = others(set);
        if set.keyword_values("patternProperties").next().is_some() {
            self.pattern_properties(set, wide);
        }

        for name in &declared {
            let member = set.member(name);
            if ValueSet::new(member.iter().copied()).flatten(self.narrow_in).is_none() {
                continue;
            }
            self.inside(PathStep::Member((*name).to_owned()), |inclusion| {
                inclusion.member(member, name, wide)
            });
        }
        if let OtherMembers::Any(schemas) = &others {
            for (name, schema) in wide_members.into_iter().flatten() {
                if !declared.contains(name.as_str()) {
                    let member = ValueSet::new(schemas.iter().copied());
                    self.inside(PathStep::Member(name.clone()), |inclusion| {
                        inclusion.within(member, schema)
                    });
                }
            }
            match wide.get("additionalProperties") {
                None | Some(Value::Bool(true)) => {}
                Some(Value::Bool(false)) => self.mismatch(Mismatch::Others),
                Some(schema) => {
                    let member = ValueSet::new(schemas.iter().copied());
                    self.inside(PathStep::Others, |inclusion| inclusion.within(member, schema));
                }
            }
            if let Some(said) = wide.get("patternProperties")
                && !(set.keyword_values("patternProperties").any(|other| other == said)
                    && self.has_equal_meaning(said))
            {
                self.undecided("it has `patternProperties`");
            }
        }
        // Senders are assumed to send only declared members. A newly closed object is reported anyway: calls may fail if a server that
        // accepted undeclared members rejects them now.
        if matches!(others, OtherMembers::None { open: true })
            && wide.get("additionalProperties") == Some(&Value::Bool(false))
        {
            self.mismatch(Mismatch::Closed);
        }
        for name in wide.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = name.as_str().filter(|name| !set.requires(name)) else { continue };
            let may_be =
                declared.contains(name) || matches!(others, OtherMembers::Any(_)) && declares(name);
            let mismatch = if may_be { Mismatch::Required } else { Mismatch::NewRequired };
            self.inside(PathStep::Member(name.to_owned()), |inclusion| {
                inclusion.mismatch(mismatch)
            });
        }
        let required = declared.iter().filter(|name| set.requires(name)).count();
        self.count(set, wide, "minProperties", Some(required));
        let most = matches!(others, OtherMembers::None { .. }).then_some(declared.len());
        self.count(set, wide, "maxProperties", most);
        if let Some(names) = wide.get("propertyNames") {
            let fit =
                |name: &&'a str| self.wide_in.accepts(names, &Value::from(*name)) == Some(true);
            let all_fit = matches!(others, OtherMembers::None { .. }) && declared.iter().all(fit);
            let is_said = set.keyword_values("propertyNames").any(|other| other == names);
            if !(all_fit || is_said && self.has_equal_meaning(names)) {
                self.undecided("it has `propertyNames`");
            }
        }
    }

    /// Compares a member that the narrower side declares.
    fn member(&mut self, member: Vec<&'a Value>, name: &str, wide: &'a JsonObject) {
        let set = ValueSet::new(member.iter().copied());
        let mut is_matched = false;
        if let Some(schema) = wide.get("properties").and_then(|properties| properties.get(name)) {
            is_matched = true;
            self.within(set.clone(), schema);
        }
        let patterns = wide.get("patternProperties").and_then(Value::as_object);
        for (pattern, schema) in patterns.into_iter().flatten() {
            match regex_lite::Regex::new(pattern) {
                Ok(regex) if regex.is_match(name) => {
                    is_matched = true;
                    self.within(set.clone(), schema);
                }
                Ok(_) => {}
                Err(_) => self.undecided(format!("the pattern `{pattern}` cannot be read")),
            }
        }
        if is_matched {
            return;
        }
        let schema = || member.first().map_or(Value::Bool(true), |schema| (*schema).clone());
        match wide.get("additionalProperties") {
            Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => {
                self.mismatch(Mismatch::Undeclared { closed: true, schema: schema() });
            }
            Some(others) => self.within(set, others),
            None if says_nothing_of_members(wide) => {}
            None => self.mismatch(Mismatch::Undeclared { closed: false, schema: schema() }),
        }
    }

    /// Compares members that are declared by a pattern. A pattern is compatible only with an equal pattern.
    fn pattern_properties(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject) {
        let said = wide.get("patternProperties");
        let same = said.is_some_and(|said| {
            set.keyword_values("patternProperties").all(|other| other == said)
                && self.has_equal_meaning(said)
        });
        // Equal patterns are not enough: a member that matches a pattern on one side may be declared by its name on the other side.
        let names = |map: &'a JsonObject| {
            let members = map.get("properties").and_then(Value::as_object);
            members.into_iter().flat_map(|properties| properties.keys()).collect::<Vec<_>>()
        };
        let known = names(wide).into_iter().all(|name| !set.member(name).is_empty());
        if !(says_nothing_of_members(wide) || same && known) {
            self.undecided("its `patternProperties` differ");
        }
    }
}

/// Whether the schema does not restrict members, as `{"type": "object"}` does not.
fn says_nothing_of_members(schema: &JsonObject) -> bool {
    ["properties", "patternProperties", "additionalProperties"]
        .iter()
        .all(|name| !schema.contains_key(*name))
}

fn others<'a>(set: &ValueSet<'a>) -> OtherMembers<'a> {
    let said: Vec<_> = set.keyword_values("additionalProperties").collect();
    if said.contains(&&Value::Bool(false)) {
        return OtherMembers::None { open: false };
    }
    if said.is_empty() && !set.parts.iter().all(|part| says_nothing_of_members(part.schema)) {
        return OtherMembers::None { open: true };
    }
    OtherMembers::Any(said.into_iter().filter(|schema| schema.is_object()).collect())
}
