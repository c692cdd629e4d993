use std::cmp::Ordering;

use serde_json::Value;

/// A number of JSON, compared without losing the last digits of a large one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    /// A whole number of which only the first digits are known, because it was written with a fraction or an exponent, or has more
    /// digits than any integer type.
    Rounded(f64),
    Fraction(f64),
}

/// Limit below which each whole number is a floating-point number of its own.
const FIRST_ROUNDED: f64 = 9_007_199_254_740_992.0;

/// Limit below which the integer nearest to a floating-point number is known.
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

    /// Returns the integer that the number is compared as, if there is one.
    fn as_whole(self) -> Option<i128> {
        match self {
            Self::Whole(it) => Some(it),
            Self::Rounded(it) if it.abs() < LARGEST => Some(it as i128),
            Self::Rounded(_) | Self::Fraction(_) => None,
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Self::Whole(it) => it as f64,
            Self::Rounded(it) | Self::Fraction(it) => it,
        }
    }

    pub(super) fn cmp(self, other: Self) -> Ordering {
        match (self.as_whole(), other.as_whole()) {
            (Some(a), Some(b)) => a.cmp(&b),
            // Fractions are exact enough: digits are lost only in numbers that are far larger.
            _ => self.as_float().total_cmp(&other.as_float()),
        }
    }

    /// Returns this lower bound for whole numbers: the smallest number, and whether the bound excludes the number itself.
    pub(super) fn up(self, is_exclusive: bool) -> (Self, bool) {
        match (self, self.as_whole()) {
            (Self::Fraction(it), _) => (Self::float(it.ceil()), false),
            (_, Some(it)) if is_exclusive => (Self::Whole(it.saturating_add(1)), false),
            _ => (self, is_exclusive),
        }
    }

    /// Returns this upper bound for whole numbers: the largest number, and whether the bound excludes the number itself.
    pub(super) fn down(self, is_exclusive: bool) -> (Self, bool) {
        match (self, self.as_whole()) {
            (Self::Fraction(it), _) => (Self::float(it.floor()), false),
            (_, Some(it)) if is_exclusive => (Self::Whole(it.saturating_sub(1)), false),
            _ => (self, is_exclusive),
        }
    }

    /// Whether the number is a multiple of `unit`. `None` if rounding would decide.
    pub(super) fn is_multiple_of(self, unit: Self) -> Option<bool> {
        match (self, unit) {
            (Self::Whole(it), Self::Whole(unit)) if unit > 0 => Some(it % unit == 0),
            (Self::Rounded(_), Self::Whole(1)) => Some(true),
            (Self::Fraction(_), Self::Whole(1)) => Some(false),
            _ => None,
        }
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
        let near_rounding = (0..8u64).prop_map(|it| json!(9_007_199_254_740_990 + it));
        prop_oneof![
            any::<i64>().prop_map(|it| json!(it)),
            any::<u64>().prop_map(|it| json!(it)),
            any::<f64>()
                .prop_filter("JSON has no other", |it| it.is_finite())
                .prop_map(|it| json!(it)),
            (-20i64..20).prop_map(|it| json!(it as f64 / 4.0)),
            near_rounding.clone(),
            near_rounding.prop_map(|it| json!(it.as_f64())),
            large,
        ]
    }

    fn is_whole(number: &Value) -> bool {
        number.as_f64().is_some_and(|it| it.fract() == 0.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Whole numbers are multiples of one, and no others are.
        #[test]
        fn exactly_the_whole_numbers_are_multiples_of_one(number in numbers()) {
            let found = Number::of(&number).and_then(|it| it.is_multiple_of(Number::Whole(1)));
            prop_assert_eq!(found, Some(is_whole(&number)), "{}", number);
        }

        /// The remainder decides for a number with all of its digits. For other numbers the answer is unknown.
        #[test]
        fn a_multiple_is_known_only_of_numbers_with_all_digits(number in numbers(), unit in 2..1000i64) {
            let found = Number::of(&number).and_then(|it| it.is_multiple_of(Number::Whole(unit.into())));
            let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
            if let Some(exact) = exact {
                prop_assert_eq!(found, Some(exact % i128::from(unit) == 0));
            } else if number.as_f64().is_some_and(|it| it.abs() >= FIRST_ROUNDED) {
                prop_assert_eq!(found, None, "{}", number);
            }
        }

        #[test]
        fn numbers_have_a_total_order(a in numbers(), b in numbers(), c in numbers()) {
            let of = |it: &Value| Number::of(it).expect("a number");
            let (a, b, c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(a.cmp(b), b.cmp(a).reverse());
            prop_assert_eq!(a.cmp(a), Ordering::Equal);
            if a.cmp(b).is_le() && b.cmp(c).is_le() {
                prop_assert!(a.cmp(c).is_le(), "{a:?} {b:?} {c:?}");
            }
        }

        /// A bound that was moved to whole numbers allows the same whole numbers as before.
        #[test]
        fn a_bound_of_whole_numbers_allows_the_same(bound in numbers(), number in numbers(), is_exclusive in any::<bool>()) {
            prop_assume!(is_whole(&number));
            let of = |it: &Value| Number::of(it).expect("a number");
            let (bound, number) = (of(&bound), of(&number));
            let allows = |(bound, is_exclusive): (Number, bool), wrong: Ordering| {
                let ordering = number.cmp(bound);
                ordering != wrong && !(is_exclusive && ordering.is_eq())
            };
            let (lower, upper) = (Ordering::Less, Ordering::Greater);
            prop_assert_eq!(allows(bound.up(is_exclusive), lower), allows((bound, is_exclusive), lower));
            prop_assert_eq!(allows(bound.down(is_exclusive), upper), allows((bound, is_exclusive), upper));
        }
    }
}
