//! Compares lists and tuples.

use serde_json::Value;

use super::{
    gap::{Gap, Step},
    inclusion::Inclusion,
    set::Set,
};
use crate::schema::Map;

/// Length of the longest tuple that is compared element by element.
const LONGEST_TUPLE: usize = 64;

fn places(schema: &Map) -> &[Value] {
    schema.get("prefixItems").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the schema of the element at `index`. Past the end of all tuples, it is the schema of every later element.
fn place(schema: &Map, index: usize) -> Option<&Value> {
    places(schema).get(index).or_else(|| schema.get("items"))
}

impl<'a> Inclusion<'a> {
    pub(super) fn elements(&mut self, set: &Set<'a>, wide: &'a Map) {
        let longest = set.parts.iter().map(|it| places(it.schema).len()).max().unwrap_or(0);
        let tuple = longest.max(places(wide).len());
        // An element that cannot exist needs no place on the wider side.
        let ended = set
            .parts
            .iter()
            .filter(|it| it.schema.get("items") == Some(&Value::Bool(false)))
            .map(|it| places(it.schema).len() as u64);
        let most = set.said("maxItems").filter_map(Value::as_u64).chain(ended).min();
        let may_reach = |index: usize| most.is_none_or(|most| (index as u64) < most);
        self.counted(set, wide, "minItems", None);
        self.counted(set, wide, "maxItems", most.and_then(|it| usize::try_from(it).ok()));
        if tuple > LONGEST_TUPLE {
            self.undecided("a tuple is too long to be compared");
            return;
        }
        for index in 0..=tuple {
            let Some(schema) = place(wide, index).filter(|_| may_reach(index)) else { continue };
            let all = set.parts.iter().filter_map(|it| place(it.schema, index));
            let elements = Set::new(all);
            let step =
                if tuple == 0 || index == tuple { Step::Element } else { Step::Place(index) };
            if schema == &Value::Bool(false) {
                self.gap(Gap::Keyword {
                    keyword: "maxItems".to_owned(),
                    narrow: most.map(Value::from),
                    wide: index.into(),
                });
                return;
            }
            self.at(step, |it| it.within(elements, schema));
        }
        if wide.get("uniqueItems") == Some(&Value::Bool(true))
            && !set.said("uniqueItems").any(|it| it == &Value::Bool(true))
            && may_reach(1)
        {
            self.keyword(set, "uniqueItems", &Value::Bool(true));
        }
    }
}
