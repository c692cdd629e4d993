//! Ranges of numeric arguments: `#[arg(range(1..=10))]`.

use std::cmp::Ordering;
use std::fmt;
use std::num::ParseFloatError;

use mcp_runtime_wire::Integer;
use serde_json::{Number, Value, json};

use super::{Map, SchemaKind, definitions::conjoin};

/// Bounds of a number. Each bound is inclusive or exclusive, and an integer or a float. Generated code builds ranges in constants.
///
/// ```
/// # use mcp_runtime::__private::Range;
/// const RANGE: Range = Range::new().min_int(1).below_int(10);
/// assert_eq!(RANGE.to_string(), "at least 1 and less than 10");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    least: Option<RangeBound>,
    most: Option<RangeBound>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct RangeBound {
    limit: RangeLimit,
    exclusive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum RangeLimit {
    Int(i128),
    Float(f64),
    /// A float with its JSON text, because const code cannot format floats.
    Written(f64, &'static str),
}

/// Bound in a schema that is built in a constant. The bound is inclusive, as in the client-compatible form.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Edge {
    None,
    Int(i128),
    Json(&'static str),
    /// A bound that can be written only at run time.
    Unwritable,
}

impl Edge {
    pub(crate) const fn at(limit: Option<i128>) -> Self {
        match limit {
            Some(limit) => Self::Int(limit),
            None => Self::None,
        }
    }

    pub(crate) const fn greater(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(if a > b { a } else { b }),
            (edge, Self::None) | (Self::None, edge) => edge,
            _ => Self::Unwritable,
        }
    }

    pub(crate) const fn smaller(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(if a < b { a } else { b }),
            (edge, Self::None) | (Self::None, edge) => edge,
            _ => Self::Unwritable,
        }
    }

    pub(crate) const fn is_unwritable(self) -> bool {
        matches!(self, Self::Unwritable)
    }
}

impl Range {
    /// Creates a range without bounds.
    #[must_use]
    pub const fn new() -> Self {
        Self { least: None, most: None }
    }

    /// Sets the inclusive lower bound: `limit..`.
    #[must_use]
    pub const fn min_int(mut self, limit: i128) -> Self {
        self.least = Some(RangeBound { limit: RangeLimit::Int(limit), exclusive: false });
        self
    }

    /// Sets the inclusive upper bound: `..=limit`.
    #[must_use]
    pub const fn max_int(mut self, limit: i128) -> Self {
        self.most = Some(RangeBound { limit: RangeLimit::Int(limit), exclusive: false });
        self
    }

    /// Sets the exclusive upper bound: `..limit`.
    #[must_use]
    pub const fn below_int(mut self, limit: i128) -> Self {
        self.most = Some(RangeBound { limit: RangeLimit::Int(limit), exclusive: true });
        self
    }

    /// Sets the inclusive lower bound: `limit..`.
    #[must_use]
    pub const fn min_float(mut self, limit: f64) -> Self {
        self.least = Some(RangeBound { limit: RangeLimit::Float(limit), exclusive: false });
        self
    }

    /// Sets the inclusive upper bound: `..=limit`.
    #[must_use]
    pub const fn max_float(mut self, limit: f64) -> Self {
        self.most = Some(RangeBound { limit: RangeLimit::Float(limit), exclusive: false });
        self
    }

    /// Sets the exclusive lower bound: more than `limit`.
    #[must_use]
    pub const fn above_float(mut self, limit: f64) -> Self {
        self.least = Some(RangeBound { limit: RangeLimit::Float(limit), exclusive: true });
        self
    }

    /// Sets the exclusive upper bound: `..limit`.
    #[must_use]
    pub const fn below_float(mut self, limit: f64) -> Self {
        self.most = Some(RangeBound { limit: RangeLimit::Float(limit), exclusive: true });
        self
    }

    /// Sets the inclusive lower bound, with `json` as its text, because const code cannot format floats.
    #[must_use]
    pub const fn min_json(mut self, limit: f64, json: &'static str) -> Self {
        self.least = Some(RangeBound { limit: RangeLimit::Written(limit, json), exclusive: false });
        self
    }

    /// Sets the inclusive upper bound, with `json` as its text.
    #[must_use]
    pub const fn max_json(mut self, limit: f64, json: &'static str) -> Self {
        self.most = Some(RangeBound { limit: RangeLimit::Written(limit, json), exclusive: false });
        self
    }

    /// Sets the exclusive upper bound, with `json` as its text.
    #[must_use]
    pub const fn below_json(mut self, limit: f64, json: &'static str) -> Self {
        self.most = Some(RangeBound { limit: RangeLimit::Written(limit, json), exclusive: true });
        self
    }

    /// Returns the least and the greatest number, as they are written in the schema of an integer (`whole`) or of any number.
    pub(crate) const fn edges(&self, whole: bool) -> (Edge, Edge) {
        (edge(self.least, whole, 1), edge(self.most, whole, -1))
    }

    /// Writes the bounds into a schema. If the type has bounds of its own, the tighter ones stay.
    pub(super) fn apply(&self, schema: &mut Map, kind: SchemaKind) {
        let mut bounds = Map::new();
        let sides = [
            (self.least, "minimum", "exclusiveMinimum", 1),
            (self.most, "maximum", "exclusiveMaximum", -1),
        ];
        for (bound, inclusive, exclusive, step) in sides {
            match bound {
                // An exclusive integer bound is moved by one and becomes inclusive, because every dialect knows the inclusive form.
                Some(RangeBound { limit: RangeLimit::Int(limit), exclusive: true })
                    if kind == SchemaKind::Integer =>
                {
                    bounds.insert(
                        inclusive.into(),
                        RangeLimit::Int(limit.saturating_add(step)).json(),
                    );
                }
                Some(RangeBound { limit, exclusive: true }) => {
                    bounds.insert(exclusive.into(), limit.json());
                }
                Some(RangeBound { limit, exclusive: false }) => {
                    bounds.insert(inclusive.into(), limit.json());
                }
                None => {}
            }
        }
        *schema = conjoin(bounds, std::mem::take(schema));
    }

    /// Returns a phrase if the JSON number is outside of the range, and otherwise `None`.
    pub(super) fn check(&self, number: &str) -> Option<String> {
        let outside = |bound: RangeBound, wrong: Ordering| match bound.limit.compared_with(number) {
            Ok(Some(Ordering::Equal)) => bound.exclusive,
            Ok(Some(ordering)) => ordering == wrong,
            Ok(None) => true,
            Err(_) => false,
        };
        let wrong = self.least.is_some_and(|bound| outside(bound, Ordering::Less))
            || self.most.is_some_and(|bound| outside(bound, Ordering::Greater));
        wrong.then(|| format!("{} is not {}", shortened(number), self.sentence()))
    }

    fn sentence(&self) -> String {
        match (self.least, self.most) {
            (Some(least), Some(most)) if !least.exclusive && !most.exclusive => {
                format!("in {self}")
            }
            _ => self.to_string(),
        }
    }
}

const fn edge(bound: Option<RangeBound>, whole: bool, step: i128) -> Edge {
    match bound {
        None => Edge::None,
        Some(RangeBound { limit: RangeLimit::Int(limit), exclusive }) => {
            let limit = if exclusive && whole { limit.saturating_add(step) } else { limit };
            // Outside of this range, serde_json writes a float, which const code cannot format.
            if limit < i64::MIN as i128 || limit > u64::MAX as i128 {
                return Edge::Unwritable;
            }
            Edge::Int(limit)
        }
        Some(RangeBound { limit: RangeLimit::Written(_, json), .. }) if !whole => Edge::Json(json),
        Some(_) => Edge::Unwritable,
    }
}

impl RangeLimit {
    /// Compares `number` with this limit. Returns `None` for NaN, which an argument of a prompt can contain as the text `nan`.
    fn compared_with(self, number: &str) -> Result<Option<Ordering>, ParseFloatError> {
        let whole = || Integer::parse(number)?.as_i128();
        match (self, number.parse::<i128>().ok().or_else(whole)) {
            (Self::Int(limit), Some(number)) => Ok(Some(number.cmp(&limit))),
            (limit, _) => Ok(number.parse::<f64>()?.partial_cmp(&limit.as_f64())),
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Self::Int(limit) => limit as f64,
            Self::Float(limit) | Self::Written(limit, _) => limit,
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Int(limit) => {
                Number::from_i128(limit).map_or_else(|| json!(limit as f64), Value::Number)
            }
            Self::Float(limit) | Self::Written(limit, _) => json!(limit),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = |bound: RangeBound| if bound.exclusive { "more than" } else { "at least" };
        let most = |bound: RangeBound| if bound.exclusive { "less than" } else { "at most" };
        match (self.least, self.most) {
            (Some(a), Some(b)) if !a.exclusive && !b.exclusive => {
                write!(f, "{}..={}", a.limit, b.limit)
            }
            (Some(a), Some(b)) => write!(f, "{} {} and {} {}", least(a), a.limit, most(b), b.limit),
            (Some(a), None) => write!(f, "{} {}", least(a), a.limit),
            (None, Some(b)) => write!(f, "{} {}", most(b), b.limit),
            (None, None) => f.write_str("any number"),
        }
    }
}

impl fmt::Display for RangeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(limit) => limit.fmt(f),
            Self::Float(limit) | Self::Written(limit, _) => limit.fmt(f),
        }
    }
}

/// Truncates a long value for a message.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
