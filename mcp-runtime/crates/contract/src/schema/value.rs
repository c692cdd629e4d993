//! JSON values under the rules of JSON Schema: types, numbers and equality.

use std::{cmp::Ordering, fmt};

use serde_json::Value;

/// Set of JSON types. `number` consists of two types here, integers and fractions, so that `integer` can be a subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TypeSet(u8);

static NAMES: [(&str, u8); 7] = [
    ("null", TypeSet::NULL.0),
    ("boolean", TypeSet::BOOLEAN.0),
    ("number", TypeSet::NUMBER.0),
    ("integer", TypeSet::INTEGER.0),
    ("string", TypeSet::STRING.0),
    ("array", TypeSet::ARRAY.0),
    ("object", TypeSet::OBJECT.0),
];

impl TypeSet {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const INTEGER: Self = Self(1 << 2);
    /// Numbers that are not whole.
    const FRACTION: Self = Self(1 << 3);
    pub(super) const NUMBER: Self = Self(Self::INTEGER.0 | Self::FRACTION.0);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    pub(super) const ALL: Self = Self(0x7f);

    /// Returns the types that `type` names, or `None` if it names a type that JSON does not have.
    pub(super) fn parse(keyword: &Value) -> Option<Self> {
        match keyword {
            Value::String(name) => Self::named(name),
            Value::Array(names) => names
                .iter()
                .map(|name| name.as_str().and_then(Self::named))
                .try_fold(Self::NONE, |all, types| Some(all.or(types?))),
            _ => None,
        }
    }

    fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|named| named.0 == name).map(|named| Self(named.1))
    }

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            // `1.0` is an integer (JSON Schema Core, 4.2.3).
            Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() != 0.0) => {
                Self::FRACTION
            }
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Divides the types into groups, each with the types that the same keywords apply to. Integers and fractions are one group.
    pub(super) fn groups(self) -> impl Iterator<Item = Self> {
        let groups =
            [Self::NULL, Self::BOOLEAN, Self::NUMBER, Self::STRING, Self::ARRAY, Self::OBJECT];
        groups.into_iter().map(move |group| group.and(self)).filter(|group| !group.is_empty())
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("any value");
        }
        let mut left = *self;
        let mut first = true;
        for (name, bits) in NAMES {
            if Self(bits).within(left) {
                left = Self(left.0 & !bits);
                f.write_str(if first { "" } else { " or " })?;
                f.write_str(name)?;
                first = false;
            }
        }
        Ok(())
    }
}

/// JSON number. Large integers are compared with all of their digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum JsonNumber {
    Whole(i128),
    /// A whole number of which only the first digits are known, because it was written with a fraction or an exponent, or has more
    /// digits than any integer type.
    Rounded(f64),
    Fraction(f64),
}

/// Limit below which an `f64` holds every whole number exactly: 2^53.
const FIRST_ROUNDED: f64 = 9_007_199_254_740_992.0;

/// Limit below which a floating-point number is converted to an `i128` for comparisons. Larger numbers may not fit.
const LARGEST: f64 = 1e38;

impl JsonNumber {
    pub(super) fn of(value: &Value) -> Option<Self> {
        let number = value.as_number()?;
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match whole {
            Some(whole) => Some(Self::Whole(whole)),
            None => number.as_f64().map(Self::float),
        }
    }

    fn float(number: f64) -> Self {
        if number.fract() != 0.0 {
            Self::Fraction(number)
        } else if number.abs() < FIRST_ROUNDED {
            Self::Whole(number as i128)
        } else {
            Self::Rounded(number)
        }
    }

    pub(super) fn whole(count: usize) -> Self {
        Self::Whole(count as i128)
    }

    /// Returns the integer by which the number is compared, if there is one.
    fn as_whole(self) -> Option<i128> {
        match self {
            Self::Whole(number) => Some(number),
            Self::Rounded(number) if number.abs() < LARGEST => Some(number as i128),
            Self::Rounded(_) | Self::Fraction(_) => None,
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Rounded(number) | Self::Fraction(number) => number,
        }
    }

    pub(super) fn cmp(self, other: Self) -> Ordering {
        match (self.as_whole(), other.as_whole()) {
            (Some(a), Some(b)) => a.cmp(&b),
            // Comparing as `f64` is exact enough: only whole numbers from 2^53 on are rounded, and every fraction is below them.
            _ => self.as_float().total_cmp(&other.as_float()),
        }
    }

    /// Converts this lower bound to an equivalent bound for whole numbers. Returns the bound, and whether it is exclusive.
    pub(super) fn up(self, is_exclusive: bool) -> (Self, bool) {
        match (self, self.as_whole()) {
            (Self::Fraction(number), _) => (Self::float(number.ceil()), false),
            (_, Some(number)) if is_exclusive => (Self::Whole(number.saturating_add(1)), false),
            _ => (self, is_exclusive),
        }
    }

    /// Converts this upper bound to an equivalent bound for whole numbers. Returns the bound, and whether it is exclusive.
    pub(super) fn down(self, is_exclusive: bool) -> (Self, bool) {
        match (self, self.as_whole()) {
            (Self::Fraction(number), _) => (Self::float(number.floor()), false),
            (_, Some(number)) if is_exclusive => (Self::Whole(number.saturating_sub(1)), false),
            _ => (self, is_exclusive),
        }
    }

    /// Whether the number is a multiple of `unit`. Returns `None` if the result would depend on rounding.
    pub(super) fn is_multiple_of(self, unit: Self) -> Option<bool> {
        match (self, unit) {
            (Self::Whole(number), Self::Whole(unit)) if unit > 0 => Some(number % unit == 0),
            (Self::Rounded(_), Self::Whole(1)) => Some(true),
            (Self::Fraction(_), Self::Whole(1)) => Some(false),
            _ => None,
        }
    }
}

/// Whether two values are equal for JSON Schema, as `1` and `1.0` are.
pub(super) fn are_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => match (JsonNumber::of(a), JsonNumber::of(b)) {
            (Some(a), Some(b)) => a.cmp(b).is_eq(),
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, value)| b.get(name).is_some_and(|other| are_equal(value, other)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Numbers of every size, as JSON writes them: with all digits, or as the nearest floating-point number.
    fn numbers() -> impl Strategy<Value = Value> {
        let large = (0..309i32, any::<bool>()).prop_map(|(exponent, is_negative)| {
            let number = 10f64.powi(exponent);
            json!(if is_negative { -number } else { number })
        });
        let near_rounding = (0..8u64).prop_map(|above| json!(9_007_199_254_740_990 + above));
        prop_oneof![
            any::<i64>().prop_map(|number| json!(number)),
            any::<u64>().prop_map(|number| json!(number)),
            any::<f64>()
                .prop_filter("JSON has no other", |number| number.is_finite())
                .prop_map(|number| json!(number)),
            (-20i64..20).prop_map(|number| json!(number as f64 / 4.0)),
            near_rounding.clone(),
            near_rounding.prop_map(|number| json!(number.as_f64())),
            large,
        ]
    }

    fn is_whole(number: &Value) -> bool {
        number.as_f64().is_some_and(|number| number.fract() == 0.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Whole numbers are multiples of one, and other numbers are not.
        #[test]
        fn exactly_the_whole_numbers_are_multiples_of_one(number in numbers()) {
            let found = JsonNumber::of(&number).and_then(|number| number.is_multiple_of(JsonNumber::Whole(1)));
            prop_assert_eq!(found, Some(is_whole(&number)), "{}", number);
        }

        /// For a number with all of its digits, the remainder decides. For other numbers, the result is unknown.
        #[test]
        fn a_multiple_is_known_only_of_numbers_with_all_digits(number in numbers(), unit in 2..1000i64) {
            let found = JsonNumber::of(&number).and_then(|number| number.is_multiple_of(JsonNumber::Whole(unit.into())));
            let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
            if let Some(exact) = exact {
                prop_assert_eq!(found, Some(exact % i128::from(unit) == 0));
            } else if number.as_f64().is_some_and(|number| number.abs() >= FIRST_ROUNDED) {
                prop_assert_eq!(found, None, "{}", number);
            }
        }

        #[test]
        fn numbers_have_a_total_order(a in numbers(), b in numbers(), c in numbers()) {
            let of = |value: &Value| JsonNumber::of(value).expect("a number");
            let (a, b, c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(a.cmp(b), b.cmp(a).reverse());
            prop_assert_eq!(a.cmp(a), Ordering::Equal);
            if a.cmp(b).is_le() && b.cmp(c).is_le() {
                prop_assert!(a.cmp(c).is_le(), "{a:?} {b:?} {c:?}");
            }
        }

        /// A bound that was converted for whole numbers allows the same whole numbers as before.
        #[test]
        fn a_bound_of_whole_numbers_allows_the_same(bound in numbers(), number in numbers(), is_exclusive in any::<bool>()) {
            prop_assume!(is_whole(&number));
            let of = |value: &Value| JsonNumber::of(value).expect("a number");
            let (bound, number) = (of(&bound), of(&number));
            let allows = |(bound, is_exclusive): (JsonNumber, bool), wrong: Ordering| {
                let ordering = number.cmp(bound);
                ordering != wrong && !(is_exclusive && ordering.is_eq())
            };
            let (lower, upper) = (Ordering::Less, Ordering::Greater);
            prop_assert_eq!(allows(bound.up(is_exclusive), lower), allows((bound, is_exclusive), lower));
            prop_assert_eq!(allows(bound.down(is_exclusive), upper), allows((bound, is_exclusive), upper));
        }
    }
}
