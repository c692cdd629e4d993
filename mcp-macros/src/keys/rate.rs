//! Limits on calls of an item: rate and concurrency.

use super::tables::RATE;
use super::{Given, Value, assigned, keys, parenthesized, usage};
use crate::errors::Errors;
use syn::parse::ParseStream;
use syn::{Ident, LitInt, LitStr};

/// `rate = "10/s"` or `rate("10/s", burst = 20)`.
#[derive(Clone)]
pub(crate) struct Rate {
    pub(crate) count: u32,
    pub(crate) unit: Unit,
    pub(crate) keys: RateKeys,
}

keys! {
    /// The keys of a rate after its text.
    struct RateKeys {
        burst: Option<Given<Count>>,
    }
}

/// Unit of time of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unit {
    Second,
    Minute,
    Hour,
}

impl Value for Rate {
    const USAGE: &'static str = " = \"10/s\"` or `rate(\"10/s\", burst = 20)";

    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self> {
        let mut keys = RateKeys::default();
        let text = if input.peek(syn::Token![=]) {
            super::text::literal::<Self>(key, input)?
        } else {
            parenthesized::<Self, _>(key, input, |input| {
                let text = super::read_first(input)?.ok_or_else(|| usage::<Self>(key))?;
                super::read(&mut keys, input, &RATE, errors);
                Ok(text)
            })?
        };
        let (count, unit) = often(&text)?;
        Ok(Self { count, unit, keys })
    }
}

fn often(text: &LitStr) -> syn::Result<(u32, Unit)> {
    let wrong = |message: String| Err(syn::Error::new(text.span(), message));
    let said = text.value();
    match parts(&said) {
        Some((Some(0), _)) => wrong(format!(
            "nothing could be called 0 times: write {:?}, or remove `rate`",
            said.replacen('0', "1", 1)
        )),
        Some((None, _)) => {
            wrong(format!("a rate this high is none: write at most {}, or remove `rate`", u32::MAX))
        }
        Some((Some(count), "s")) => Ok((count, Unit::Second)),
        Some((Some(count), "m")) => Ok((count, Unit::Minute)),
        Some((Some(count), "h")) => Ok((count, Unit::Hour)),
        Some((Some(count), unit)) => wrong(match meant(unit) {
            Some(meant) => format!("`{unit}` is no unit of a rate: write \"{count}/{meant}\""),
            None => format!(
                "`{unit}` is no unit of a rate: write \"{count}/s\", \"{count}/m\" or \"{count}/h\""
            ),
        }),
        None => {
            let number = said.trim();
            let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
            let count = if is_number { number } else { "10" };
            wrong(format!(
                "a rate is a whole number of calls and the time they are for: write \"{count}/s\", \"{count}/m\" or \"{count}/h\""
            ))
        }
    }
}

/// Splits a rate into its number and its unit. The number is `None` if it does not fit into a `u32`.
fn parts(text: &str) -> Option<(Option<u32>, &str)> {
    let (count, unit) = text.split_once('/')?;
    let is_number = !count.is_empty() && count.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| (count.parse().ok(), unit))
}

fn meant(unit: &str) -> Option<&'static str> {
    Some(match unit.trim().to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        _ => return None,
    })
}

/// `concurrency = 4`: a whole number, 1 or more.
#[derive(Clone)]
pub(crate) struct Count(pub(crate) u32);

impl Value for Count {
    const USAGE: &'static str = " = 4";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| {
            let message = format!("`{key}` is a whole number: write `{key}{}`", Self::USAGE);
            let wrong = syn::Error::new(input.span(), message);
            let int: LitInt = input.parse().map_err(|_| wrong.clone())?;
            match int.base10_parse() {
                Ok(0) => {
                    let message = format!(
                        "with `{key} = 0` nothing could be called: write `{key} = 1`, or remove `{key}`"
                    );
                    Err(syn::Error::new(int.span(), message))
                }
                Ok(count) => Ok(Self(count)),
                Err(_) => Err(wrong),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_time() {
        fn check(text: &str, expected: Result<(u32, Unit), &str>) {
            let read = often(&LitStr::new(text, proc_macro2::Span::call_site()));
            let read = read.map_err(|it| it.to_string());
            match (read, expected) {
                (Ok(read), expected) => assert_eq!(Ok(read), expected, "{text}"),
                (Err(said), Err(part)) => assert!(said.contains(part), "{text}: {said}"),
                (Err(said), Ok(_)) => panic!("{text}: {said}"),
            }
        }
        check("10/s", Ok((10, Unit::Second)));
        check("1/m", Ok((1, Unit::Minute)));
        check("100/h", Ok((100, Unit::Hour)));
        check("10", Err("write \"10/s\", \"10/m\" or \"10/h\""));
        check("10/sec", Err("`sec` is no unit of a rate: write \"10/s\""));
        check("5/Minute", Err("write \"5/m\""));
        check("5/ h", Err("write \"5/h\""));
        check("5/day", Err("write \"5/s\", \"5/m\" or \"5/h\""));
        check("0/s", Err("write \"1/s\""));
        check("-1/s", Err("a whole number of calls"));
        check("1.5/s", Err("a whole number of calls"));
        check("/s", Err("write \"10/s\""));
        check("", Err("write \"10/s\""));
        check("4294967296/s", Err("write at most 4294967295"));
    }
}
