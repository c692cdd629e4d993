//! Compares objects.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    gap::{Gap, Step},
    inclusion::Inclusion,
    set::Set,
};
use crate::{collect::collect_by_insert, schema::Map};

/// Members of a set beside the declared ones.
enum Others<'a> {
    /// No other members: the schema excludes them, or does not mention them (`open`). In the second case, the sender is assumed to send
    /// only declared members.
    None { open: bool },
    /// Members of any name, each accepted by all of these schemas.
    Any(Vec<&'a Value>),
}

impl<'a> Inclusion<'a> {
    pub(super) fn members(&mut self, set: &Set<'a>, wide: &'a Map) {
        let wide_members = wide.get("properties").and_then(Value::as_object);
        let declares = |name: &str| wide_members.is_some_and(|it| it.contains_key(name));
        let properties = set.said("properties").filter_map(Value::as_object);
        let declared: BTreeSet<&'a str> =
            collect_by_insert(properties.flat_map(|it| it.keys().map(String::as_str)));
        let others = others(set);
        if set.said("patternProperties").next().is_some() {
            self.patterned(set, wide);
        }

        for name in &declared {
            let member = set.member(name);
            if Set::new(member.iter().copied()).flat(self.narrow_in).is_none() {
                continue;
            }
            self.at(Step::Member((*name).to_owned()), |it| it.member(member, name, wide));
        }
        if let Others::Any(schemas) = &others {
            for (name, schema) in wide_members.into_iter().flatten() {
                if !declared.contains(name.as_str()) {
                    let member = Set::new(schemas.iter().copied());
                    self.at(Step::Member(name.clone()), |it| it.within(member, schema));
                }
            }
            match wide.get("additionalProperties") {
                None | Some(Value::Bool(true)) => {}
                Some(Value::Bool(false)) => self.gap(Gap::Others),
                Some(schema) => {
                    let member = Set::new(schemas.iter().copied());
                    self.at(Step::Others, |it| it.within(member, schema));
                }
            }
            if let Some(said) = wide.get("patternProperties")
                && !(set.said("patternProperties").any(|it| it == said)
                    && self.means_the_same(said))
            {
                self.undecided("`patternProperties` is there");
            }
        }
        // Senders are assumed to send only declared members. Still, calls may fail if a server that accepted undeclared members rejects
        // them now.
        if matches!(others, Others::None { open: true })
            && wide.get("additionalProperties") == Some(&Value::Bool(false))
        {
            self.gap(Gap::Closed);
        }
        for name in wide.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = name.as_str().filter(|it| !set.requires(it)) else { continue };
            let may_be =
                declared.contains(name) || matches!(others, Others::Any(_)) && declares(name);
            let gap = if may_be { Gap::Required } else { Gap::NewRequired };
            self.at(Step::Member(name.to_owned()), |it| it.gap(gap));
        }
        let required = declared.iter().filter(|it| set.requires(it)).count();
        self.counted(set, wide, "minProperties", Some(required));
        let most = matches!(others, Others::None { .. }).then_some(declared.len());
        self.counted(set, wide, "maxProperties", most);
        if let Some(names) = wide.get("propertyNames") {
            let fit = |it: &&'a str| self.wide_in.accepts(names, &Value::from(*it)) == Some(true);
            let all_fit = matches!(others, Others::None { .. }) && declared.iter().all(fit);
            let is_said = set.said("propertyNames").any(|it| it == names);
            if !(all_fit || is_said && self.means_the_same(names)) {
                self.undecided("`propertyNames` is there");
            }
        }
    }

    /// Compares a member that the narrower side declares.
    fn member(&mut self, member: Vec<&'a Value>, name: &str, wide: &'a Map) {
        let set = Set::new(member.iter().copied());
        let mut is_matched = false;
        if let Some(schema) = wide.get("properties").and_then(|it| it.get(name)) {
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
        let schema = || member.first().map_or(Value::Bool(true), |it| (*it).clone());
        match wide.get("additionalProperties") {
            Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => {
                self.gap(Gap::Undeclared { closed: true, schema: schema() });
            }
            Some(others) => self.within(set, others),
            None if says_nothing_of_members(wide) => {}
            None => self.gap(Gap::Undeclared { closed: false, schema: schema() }),
        }
    }

    /// Compares members that are declared by a pattern. Such members are only compatible with the same pattern.
    fn patterned(&mut self, set: &Set<'a>, wide: &'a Map) {
        let said = wide.get("patternProperties");
        let same = said.is_some_and(|said| {
            set.said("patternProperties").all(|it| it == said) && self.means_the_same(said)
        });
        // A member that matches a pattern on one side may be declared by its name on the other side.
        let names = |map: &'a Map| {
            let members = map.get("properties").and_then(Value::as_object);
            members.into_iter().flat_map(|it| it.keys()).collect::<Vec<_>>()
        };
        let known = names(wide).into_iter().all(|it| !set.member(it).is_empty());
        if !(says_nothing_of_members(wide) || same && known) {
            self.undecided("its `patternProperties` differ");
        }
    }
}

/// Whether the schema accepts any object, as `{"type": "object"}` does.
fn says_nothing_of_members(schema: &Map) -> bool {
    ["properties", "patternProperties", "additionalProperties"]
        .iter()
        .all(|it| !schema.contains_key(*it))
}

fn others<'a>(set: &Set<'a>) -> Others<'a> {
    let said: Vec<_> = set.said("additionalProperties").collect();
    if said.contains(&&Value::Bool(false)) {
        return Others::None { open: false };
    }
    if said.is_empty() && !set.parts.iter().all(|it| says_nothing_of_members(it.schema)) {
        return Others::None { open: true };
    }
    Others::Any(said.into_iter().filter(|it| it.is_object()).collect())
}
