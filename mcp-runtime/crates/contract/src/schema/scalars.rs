//! Compares the keywords of two schemas that restrict strings and numbers, and the keywords that bound a length or a number of elements.

use serde_json::{Value, json};

use super::{
    difference::Mismatch,
    inclusion::Inclusion,
    set::ValueSet,
    value::{JsonNumber, TypeSet},
};
use crate::JsonObject;

/// Ranges of schemars' integer formats. A published schema may express the range only through the format.
static WIDTHS: [(&str, i128, i128); 8] = [
    ("int8", i8::MIN as i128, i8::MAX as i128),
    ("int16", i16::MIN as i128, i16::MAX as i128),
    ("int32", i32::MIN as i128, i32::MAX as i128),
    ("int64", i64::MIN as i128, i64::MAX as i128),
    ("uint8", 0, u8::MAX as i128),
    ("uint16", 0, u16::MAX as i128),
    ("uint32", 0, u32::MAX as i128),
    ("uint64", 0, u64::MAX as i128),
];

fn width(format: &Value) -> Option<(JsonNumber, JsonNumber)> {
    let found = WIDTHS.iter().find(|width| format == width.0)?;
    Some((JsonNumber::Whole(found.1), JsonNumber::Whole(found.2)))
}

#[derive(Clone, Copy, PartialEq)]
enum BoundEnd {
    Lower,
    Upper,
}

impl<'a> Inclusion<'a> {
    pub(super) fn strings(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject) {
        self.count(set, wide, "minLength", None);
        self.count(set, wide, "maxLength", None);
        self.equal_keyword(set, wide, "pattern");
        self.equal_keyword(set, wide, "format");
    }

    pub(super) fn numbers(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject) {
        let bounds = [
            ("minimum", BoundEnd::Lower, false),
            ("exclusiveMinimum", BoundEnd::Lower, true),
            ("maximum", BoundEnd::Upper, false),
            ("exclusiveMaximum", BoundEnd::Upper, true),
        ];
        for (keyword, end, is_exclusive) in bounds {
            let Some(said) = wide.get(keyword) else { continue };
            let holds = JsonNumber::of(said).is_some_and(|bound| {
                reaches(bound_of(set, end), (bound, is_exclusive), end, set.types)
            });
            if !holds {
                self.keyword_mismatch(set, keyword, said);
            }
        }
        if let Some(said) = wide.get("format")
            && !set.keyword_values("format").any(|value| value == said)
        {
            let holds = match width(said) {
                Some((least, most)) => {
                    reaches(
                        bound_of(set, BoundEnd::Lower),
                        (least, false),
                        BoundEnd::Lower,
                        set.types,
                    ) && reaches(
                        bound_of(set, BoundEnd::Upper),
                        (most, false),
                        BoundEnd::Upper,
                        set.types,
                    )
                }
                None => {
                    said == "double" && set.keyword_values("format").any(|value| value == "float")
                }
            };
            if !holds {
                self.keyword_mismatch(set, "format", said);
            }
        }
        if let Some(said) = wide.get("multipleOf") {
            let is_multiple = |value: &Value| {
                value == said
                    || JsonNumber::of(value)
                        .zip(JsonNumber::of(said))
                        .is_some_and(|(number, unit)| number.is_multiple_of(unit) == Some(true))
            };
            let all_are = *said == json!(1) && set.types == TypeSet::INTEGER;
            if !all_are && !set.keyword_values("multipleOf").any(is_multiple) {
                self.keyword_mismatch(set, "multipleOf", said);
            }
        }
    }

    /// Compares a length or a count. `known` is a bound of the narrower side that follows from other keywords.
    pub(super) fn count(
        &mut self,
        set: &ValueSet<'a>,
        wide: &'a JsonObject,
        keyword: &str,
        known: Option<usize>,
    ) {
        let Some(said) = wide.get(keyword) else { return };
        let numbers = set.keyword_values(keyword).filter_map(JsonNumber::of);
        let mut all = numbers.chain(known.map(JsonNumber::whole));
        let holds = JsonNumber::of(said).is_some_and(|bound| {
            let at_least = |number: JsonNumber| number.cmp(bound).is_ge();
            let at_most = |number: JsonNumber| number.cmp(bound).is_le();
            if keyword.starts_with("min") {
                bound.cmp(JsonNumber::whole(0)).is_le() || all.any(at_least)
            } else {
                all.any(at_most)
            }
        });
        if !holds {
            self.keyword_mismatch(set, keyword, said);
        }
    }

    /// Compares a keyword that is compatible only with an equal one.
    fn equal_keyword(&mut self, set: &ValueSet<'a>, wide: &'a JsonObject, keyword: &str) {
        if let Some(said) = wide.get(keyword)
            && !set.keyword_values(keyword).any(|value| value == said)
        {
            self.keyword_mismatch(set, keyword, said);
        }
    }

    pub(super) fn keyword_mismatch(&mut self, set: &ValueSet<'a>, keyword: &str, wide: &Value) {
        let narrow = set.keyword_values(keyword).next().cloned();
        self.mismatch(Mismatch::Keyword {
            keyword: keyword.to_owned(),
            narrow,
            wide: wide.clone(),
        });
    }
}

/// Returns the tightest bound of the set, and whether it is exclusive.
fn bound_of(set: &ValueSet<'_>, end: BoundEnd) -> Option<(JsonNumber, bool)> {
    let is_whole = set.types == TypeSet::INTEGER;
    let (inclusive, exclusive) = match end {
        BoundEnd::Lower => ("minimum", "exclusiveMinimum"),
        BoundEnd::Upper => ("maximum", "exclusiveMaximum"),
    };
    let said = |keyword, is_exclusive| {
        set.keyword_values(keyword)
            .filter_map(JsonNumber::of)
            .map(move |number| (number, is_exclusive))
    };
    let widths = set
        .keyword_values("format")
        .filter_map(width)
        .map(|(least, most)| (if end == BoundEnd::Lower { least } else { most }, false));
    let all = said(inclusive, false).chain(said(exclusive, true)).chain(widths);
    let whole = all.map(|(number, is_exclusive)| match (is_whole, end) {
        (true, BoundEnd::Lower) => number.up(is_exclusive),
        (true, BoundEnd::Upper) => number.down(is_exclusive),
        (false, _) => (number, is_exclusive),
    });
    whole.max_by(|a, b| {
        let ordering = a.0.cmp(b.0);
        (if end == BoundEnd::Lower { ordering } else { ordering.reverse() }).then(a.1.cmp(&b.1))
    })
}

/// Whether a bound of the narrower side is at least as tight as a bound of the wider side.
fn reaches(
    narrow: Option<(JsonNumber, bool)>,
    wide: (JsonNumber, bool),
    end: BoundEnd,
    types: TypeSet,
) -> bool {
    let Some((narrow, is_exclusive)) = narrow else { return false };
    // For whole numbers, `> 0` and `>= 1` mean the same, so the bound is converted to the inclusive form.
    let (wide, wide_is_exclusive) = match (types == TypeSet::INTEGER, end) {
        (true, BoundEnd::Lower) => wide.0.up(wide.1),
        (true, BoundEnd::Upper) => wide.0.down(wide.1),
        (false, _) => wide,
    };
    let ordering = narrow.cmp(wide);
    let ordering = if end == BoundEnd::Lower { ordering } else { ordering.reverse() };
    ordering.is_gt() || ordering.is_eq() && (is_exclusive || !wide_is_exclusive)
}
