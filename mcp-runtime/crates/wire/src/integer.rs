//! Parses whole JSON numbers. Their notation does not matter: `100`, `100.0` and `1e2` are the same integer.

/// Value of a whole JSON number. The notation does not matter: `100`, `100.0` and `1e2` are the same integer (JSON Schema Core, 4.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// Value whose magnitude fits `u128`.
    Within {
        /// Whether the number has a minus sign.
        is_negative: bool,
        /// The number without its sign.
        magnitude: u128,
    },
    /// Value whose magnitude exceeds `u128`.
    Beyond {
        /// Whether the number has a minus sign.
        is_negative: bool,
    },
}

impl Integer {
    /// Parses a JSON number. Returns `None` for a number with a fractional part, and for a text that is not a number.
    pub fn parse(number: &str) -> Option<Self> {
        let (is_negative, unsigned) = match number.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, number),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if whole.is_empty() || !digits().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let exponent = Self::exponent(exponent)?;
        let Some(last) = digits().rev().position(|digit| digit != b'0') else {
            return Some(Self::Within { is_negative, magnitude: 0 });
        };
        // Trailing zeros are counted as part of the exponent.
        let len = whole.len() + fraction.len() - last;
        let exponent = exponent.saturating_sub(length(fraction)).saturating_add(last as i64);
        if exponent < 0 {
            return None;
        }
        let ten_to = |exponent: i64| 10u128.checked_pow(u32::try_from(exponent).ok()?);
        let magnitude = digits().take(len).try_fold(0u128, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u128::from(digit - b'0'))
        });
        let magnitude = magnitude.and_then(|mantissa| mantissa.checked_mul(ten_to(exponent)?));
        Some(match magnitude {
            Some(magnitude) => Self::Within { is_negative, magnitude },
            None => Self::Beyond { is_negative },
        })
    }

    /// Parses an exponent. An exponent that is too large for `i64` becomes the largest `i64`.
    fn exponent(text: &str) -> Option<i64> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let magnitude = digits.parse().unwrap_or(i64::MAX);
        Some(if text.starts_with('-') { -magnitude } else { magnitude })
    }

    /// Whether the number has a minus sign.
    #[inline]
    pub fn is_negative(self) -> bool {
        match self {
            Self::Within { is_negative, .. } | Self::Beyond { is_negative } => is_negative,
        }
    }

    /// Returns the value if it fits `i128`.
    #[inline]
    pub fn as_i128(self) -> Option<i128> {
        match self {
            Self::Within { is_negative: false, magnitude } => i128::try_from(magnitude).ok(),
            Self::Within { is_negative: true, magnitude } => 0i128.checked_sub_unsigned(magnitude),
            Self::Beyond { .. } => None,
        }
    }

    /// Returns the value if it fits `u128`.
    #[inline]
    pub fn as_u128(self) -> Option<u128> {
        match self {
            Self::Within { is_negative, magnitude } if !is_negative || magnitude == 0 => {
                Some(magnitude)
            }
            _ => None,
        }
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Integer;

    #[track_caller]
    fn check(number: &str, expected: Option<i128>) {
        let found = Integer::parse(number);
        assert_eq!(found.map(Integer::as_i128), expected.map(Some), "{number}");
    }

    #[test]
    fn a_whole_number_is_an_integer_however_it_is_written() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("0.0", 0),
            ("0e999999999999999999999", 0),
            ("1", 1),
            ("1.0", 1),
            ("-1.000", -1),
            ("1e2", 100),
            ("1E+2", 100),
            ("100e-2", 1),
            ("1.50e1", 15),
            ("0.15e2", 15),
            ("9007199254740993.0", 9_007_199_254_740_993),
            ("170141183460469231731687303715884105727", i128::MAX),
            ("-170141183460469231731687303715884105728", i128::MIN),
        ] {
            check(text, Some(value));
        }
    }

    #[test]
    fn a_fraction_is_no_integer() {
        for text in ["1.5", "-0.1", "1e-1", "15e-2", "1e-99999999999999999999"] {
            check(text, None);
        }
        for text in ["", "-", "nan", "inf", ".5", "1e", "1e+", "0x1", "1 ", "+1"] {
            check(text, None);
        }
    }

    #[test]
    fn a_number_beyond_every_type_keeps_its_sign() {
        for text in ["1e39", "1e999999999999999999999", "340282366920938463463374607431768211456"] {
            assert_eq!(
                Integer::parse(text),
                Some(Integer::Beyond { is_negative: false }),
                "{text}"
            );
        }
        assert_eq!(Integer::parse("-1e39"), Some(Integer::Beyond { is_negative: true }));
        let most = Integer::parse("340282366920938463463374607431768211455").expect("an integer");
        assert_eq!((most.as_u128(), most.as_i128()), (Some(u128::MAX), None));
    }
}
