use std::cmp::Ordering;

use serde_json::Value;

/// A number of JSON, compared without losing the last digits of a large one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Fraction(f64),
}

/// Up to here a floating-point number is converted exactly.
const LARGEST: f64 = 1e38;

impl Number {
    pub(super) fn of(value: &Value) -> Option<Self> {
        let number = value.as_number()?;
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match whole {
            Some(whole) => Some(Self::Whole(whole)),
            None => number.as_f64().map(Self::float),
        }
    }

    fn float(number: f64) -> Self {
        if number.fract() == 0.0 && number.abs() < LARGEST {
            Self::Whole(number as i128)
        } else {
            Self::Fraction(number)
        }
    }

    pub(super) fn whole(count: usize) -> Self {
        Self::Whole(count as i128)
    }

    fn as_float(self) -> f64 {
        match self {
            Self::Whole(it) => it as f64,
            Self::Fraction(it) => it,
        }
    }

    pub(super) fn cmp(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (a, b) => a.as_float().total_cmp(&b.as_float()),
        }
    }

    /// The smallest whole number that is not smaller; of two that are equal, the next one when `beyond`.
    pub(super) fn up(self, beyond: bool) -> Self {
        match self {
            Self::Whole(it) => Self::Whole(it.saturating_add(i128::from(beyond))),
            Self::Fraction(it) => Self::float(it.ceil()),
        }
    }

    /// The largest whole number that is not larger.
    pub(super) fn down(self, beyond: bool) -> Self {
        match self {
            Self::Whole(it) => Self::Whole(it.saturating_sub(i128::from(beyond))),
            Self::Fraction(it) => Self::float(it.floor()),
        }
    }

    /// Whether it is a multiple; `None` where rounding would decide.
    pub(super) fn is_multiple_of(self, unit: Self) -> Option<bool> {
        match (self, unit) {
            (Self::Whole(it), Self::Whole(unit)) if unit > 0 => Some(it % unit == 0),
            (Self::Fraction(_), Self::Whole(1)) => Some(false),
            _ => None,
        }
    }
}
