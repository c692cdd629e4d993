//! Compares strings, numbers and counts.

use serde_json::{Value, json};

use super::{gap::Gap, inclusion::Inclusion, number::Number, set::Set, types::Types};
use crate::schema::Map;

/// Ranges of schemars' integer formats. In a published schema, the format is all that is known of the range.
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

fn width(format: &Value) -> Option<(Number, Number)> {
    let found = WIDTHS.iter().find(|it| format == it.0)?;
    Some((Number::Whole(found.1), Number::Whole(found.2)))
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Lower,
    Upper,
}

impl<'a> Inclusion<'a> {
    pub(super) fn texts(&mut self, set: &Set<'a>, wide: &'a Map) {
        self.counted(set, wide, "minLength", None);
        self.counted(set, wide, "maxLength", None);
        self.literally(set, wide, "pattern");
        self.literally(set, wide, "format");
    }

    pub(super) fn numbers(&mut self, set: &Set<'a>, wide: &'a Map) {
        let bounds = [
            ("minimum", End::Lower, false),
            ("exclusiveMinimum", End::Lower, true),
            ("maximum", End::Upper, false),
            ("exclusiveMaximum", End::Upper, true),
        ];
        for (keyword, end, is_exclusive) in bounds {
            let Some(said) = wide.get(keyword) else { continue };
            let holds = Number::of(said).is_some_and(|bound| {
                reaches(bound_of(set, end), (bound, is_exclusive), end, set.types)
            });
            if !holds {
                self.keyword(set, keyword, said);
            }
        }
        if let Some(said) = wide.get("format")
            && !set.said("format").any(|it| it == said)
        {
            let holds = match width(said) {
                Some((least, most)) => {
                    reaches(bound_of(set, End::Lower), (least, false), End::Lower, set.types)
                        && reaches(bound_of(set, End::Upper), (most, false), End::Upper, set.types)
                }
                None => said == "double" && set.said("format").any(|it| it == "float"),
            };
            if !holds {
                self.keyword(set, "format", said);
            }
        }
        if let Some(said) = wide.get("multipleOf") {
            let is_multiple = |it: &Value| {
                it == said
                    || Number::of(it)
                        .zip(Number::of(said))
                        .is_some_and(|(it, unit)| it.is_multiple_of(unit) == Some(true))
            };
            let all_are = *said == json!(1) && set.types == Types::INTEGER;
            if !all_are && !set.said("multipleOf").any(is_multiple) {
                self.keyword(set, "multipleOf", said);
            }
        }
    }

    /// Compares a length or a count. `known` is a bound of the narrower side that follows from other keywords.
    pub(super) fn counted(
        &mut self,
        set: &Set<'a>,
        wide: &'a Map,
        keyword: &str,
        known: Option<usize>,
    ) {
        let Some(said) = wide.get(keyword) else { return };
        let numbers = set.said(keyword).filter_map(Number::of);
        let mut all = numbers.chain(known.map(Number::whole));
        let holds = Number::of(said).is_some_and(|bound| {
            let at_least = |it: Number| it.cmp(bound).is_ge();
            let at_most = |it: Number| it.cmp(bound).is_le();
            if keyword.starts_with("min") {
                bound.cmp(Number::whole(0)).is_le() || all.any(at_least)
            } else {
                all.any(at_most)
            }
        });
        if !holds {
            self.keyword(set, keyword, said);
        }
    }

    /// Compares a keyword that is compatible only with an equal one.
    fn literally(&mut self, set: &Set<'a>, wide: &'a Map, keyword: &str) {
        if let Some(said) = wide.get(keyword)
            && !set.said(keyword).any(|it| it == said)
        {
            self.keyword(set, keyword, said);
        }
    }

    pub(super) fn keyword(&mut self, set: &Set<'a>, keyword: &str, wide: &Value) {
        let narrow = set.said(keyword).next().cloned();
        self.gap(Gap::Keyword { keyword: keyword.to_owned(), narrow, wide: wide.clone() });
    }
}

/// Returns the tightest bound of the set, and whether it is exclusive.
fn bound_of(set: &Set<'_>, end: End) -> Option<(Number, bool)> {
    let is_whole = set.types == Types::INTEGER;
    let (inclusive, exclusive) = match end {
        End::Lower => ("minimum", "exclusiveMinimum"),
        End::Upper => ("maximum", "exclusiveMaximum"),
    };
    let said = |keyword, is_exclusive| {
        set.said(keyword).filter_map(Number::of).map(move |it| (it, is_exclusive))
    };
    let widths = set
        .said("format")
        .filter_map(width)
        .map(|(least, most)| (if end == End::Lower { least } else { most }, false));
    let all = said(inclusive, false).chain(said(exclusive, true)).chain(widths);
    let whole = all.map(|(it, is_exclusive)| match (is_whole, end) {
        (true, End::Lower) => it.up(is_exclusive),
        (true, End::Upper) => it.down(is_exclusive),
        (false, _) => (it, is_exclusive),
    });
    whole.max_by(|a, b| {
        let ordering = a.0.cmp(b.0);
        (if end == End::Lower { ordering } else { ordering.reverse() }).then(a.1.cmp(&b.1))
    })
}

/// Whether a bound of the narrower side is within a bound of the wider side.
fn reaches(narrow: Option<(Number, bool)>, wide: (Number, bool), end: End, types: Types) -> bool {
    let Some((narrow, is_exclusive)) = narrow else { return false };
    // `> 0` and `>= 1` are the same for whole numbers.
    let (wide, wide_is_exclusive) = match (types == Types::INTEGER, end) {
        (true, End::Lower) => wide.0.up(wide.1),
        (true, End::Upper) => wide.0.down(wide.1),
        (false, _) => wide,
    };
    let ordering = narrow.cmp(wide);
    let ordering = if end == End::Lower { ordering } else { ordering.reverse() };
    ordering.is_gt() || ordering.is_eq() && (is_exclusive || !wide_is_exclusive)
}
