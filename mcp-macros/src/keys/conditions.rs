//! Conditions on the calls of an item: rate and concurrency, scopes and policies of callers, capabilities of the client.

use super::expression::{expression, is_closure};
use super::grammar::{Given, Value, assigned, keys, parenthesized, read, read_first, usage};
use super::suggest::suggest;
use super::tables::RATE;
use super::text::literal;
use crate::errors::Errors;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, Ident, LitInt, LitStr, Token};

/// Value of the key `rate`, as in `rate = "10/s"` or `rate("10/s", burst = 20)`.
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
        let text = if input.peek(Token![=]) {
            literal::<Self>(key, input)?
        } else {
            parenthesized::<Self, _>(key, input, |input| {
                let text = read_first(input)?.ok_or_else(|| usage::<Self>(key))?;
                read(&mut keys, input, &RATE, errors);
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
            "a rate of 0 would allow no calls: write {:?}, or remove `rate`",
            said.replacen('0', "1", 1)
        )),
        Some((None, _)) => {
            wrong(format!("this rate is too high: write at most {}, or remove `rate`", u32::MAX))
        }
        Some((Some(count), "s")) => Ok((count, Unit::Second)),
        Some((Some(count), "m")) => Ok((count, Unit::Minute)),
        Some((Some(count), "h")) => Ok((count, Unit::Hour)),
        Some((Some(count), unit)) => wrong(match meant(unit) {
            Some(meant) => format!("`{unit}` is not a unit of a rate: write \"{count}/{meant}\""),
            None => format!(
                "`{unit}` is not a unit of a rate: write \"{count}/s\", \"{count}/m\" or \"{count}/h\""
            ),
        }),
        None => {
            let number = said.trim();
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let count = if is_number { number } else { "10" };
            wrong(format!(
                "a rate is a whole number of calls per unit of time: write \"{count}/s\", \"{count}/m\" or \"{count}/h\""
            ))
        }
    }
}

/// Splits a rate into its number and its unit. The number is `None` if it does not fit into a `u32`.
fn parts(text: &str) -> Option<(Option<u32>, &str)> {
    let (count, unit) = text.split_once('/')?;
    let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
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

/// Value of the keys `concurrency` and `burst`, as in `concurrency = 4`: a whole number, 1 or more.
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
                        "`{key} = 0` would allow no calls: write `{key} = 1`, or remove `{key}`"
                    );
                    Err(syn::Error::new(int.span(), message))
                }
                Ok(count) => Ok(Self(count)),
                Err(_) => Err(wrong),
            }
        })
    }
}

/// Value of the key `scopes`, as in `scopes("files:read", "files:write")`: a caller needs all of these scopes.
#[derive(Clone)]
pub(crate) struct Scopes(pub(crate) Vec<LitStr>);

impl Value for Scopes {
    const USAGE: &'static str = "(\"files:write\")";

    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let mut scopes: Vec<LitStr> = Vec::new();
            while !input.is_empty() {
                let scope: LitStr = input.parse().map_err(|_| usage::<Self>(key))?;
                let text = scope.value();
                if scopes.iter().any(|scope| scope.value() == text) {
                    errors.at(scope.span(), "this scope is listed twice: keep one");
                } else if let Some(problem) = problem(&text) {
                    errors.at(scope.span(), problem);
                }
                scopes.push(scope);
                if !input.is_empty() {
                    input.parse::<Token![,]>().map_err(|_| usage::<Self>(key))?;
                }
            }
            Ok(Self(scopes))
        })
    }
}

/// Returns the reason why a scope is invalid (RFC 6749, section 3.3), or `None` for a valid scope.
fn problem(scope: &str) -> Option<String> {
    let is_scope = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
    };
    let words: Vec<&str> = scope.split_whitespace().collect();
    if scope == "offline_access" {
        return Some(
            "whether a client stays signed in is decided between the client and the issuer: remove `offline_access`"
                .to_owned(),
        );
    }
    if is_scope(scope) {
        return None;
    }
    let fix = if words.is_empty() {
        ": write the name of a scope, or remove it".to_owned()
    } else if words.iter().all(|word| is_scope(word)) {
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        format!(": write {}", words.join(", "))
    } else {
        ": write another".to_owned()
    };
    Some(format!(
        "a scope consists of printable ASCII characters other than spaces, `\"` and `\\`{fix}"
    ))
}

/// Value of the key `auth`: `auth(function)` or `auth(|caller, access| …)`.
#[derive(Clone)]
pub(crate) struct Policy(pub(crate) Expr);

impl Value for Policy {
    const USAGE: &'static str = "(|caller, access| …)`, or name a function: `auth(may_write)";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let start = input.span();
            match expression(input)? {
                expr @ Expr::Path(_) => Ok(Self(expr)),
                expr if is_closure(&expr) => Ok(Self(expr)),
                Expr::Call(_) => {
                    Err(syn::Error::new(start, "name the function without calling it"))
                }
                Expr::Lit(_) => Err(syn::Error::new(
                    start,
                    "`auth` takes a function that decides: write `auth(|caller, access| …)`; for scopes that a token must grant, write `scopes(\"…\")`",
                )),
                _ => Err(usage::<Self>(key)),
            }
        })
    }
}

/// Value of the key `asks`, as in `asks(elicitation, sampling, roots)`. Each name is a client capability that exists, and occurs once.
#[derive(Clone)]
pub(crate) struct Asks(pub(crate) Vec<Ident>);

const CAPABILITIES: [&str; 3] = ["elicitation", "sampling", "roots"];

impl Value for Asks {
    const USAGE: &'static str = "(elicitation)`, with any of `elicitation`, `sampling` and `roots";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let mut names: Vec<Ident> = Vec::new();
            while !input.is_empty() {
                let name = input.call(Ident::parse_any).map_err(|_| usage::<Self>(key))?;
                let word = name.to_string();
                if !CAPABILITIES.contains(&word.as_str()) {
                    return Err(syn::Error::new(name.span(), unknown_capability(&word)));
                }
                if names.contains(&name) {
                    return Err(syn::Error::new(name.span(), format!("`{name}` is named twice")));
                }
                names.push(name);
                if !input.is_empty() {
                    input.parse::<Token![,]>().map_err(|_| usage::<Self>(key))?;
                }
            }
            Ok(Self(names))
        })
    }
}

fn unknown_capability(word: &str) -> String {
    let hint = match suggest(word, &CAPABILITIES) {
        Some(found) => format!("; did you mean `{found}`?"),
        None => ".".to_owned(),
    };
    format!(
        "a server cannot ask a client for `{word}`{hint} Write `elicitation`, `sampling` or `roots`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_time() {
        fn check(text: &str, expected: Result<(u32, Unit), &str>) {
            let read = often(&LitStr::new(text, proc_macro2::Span::call_site()));
            let read = read.map_err(|error| error.to_string());
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
        check("10/sec", Err("`sec` is not a unit of a rate: write \"10/s\""));
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

    #[test]
    fn a_scope_is_one_word_of_ascii() {
        let check = |scope: &str, expected: Option<&str>| {
            let problem = problem(scope);
            match (&problem, expected) {
                (Some(problem), Some(part)) => assert!(problem.contains(part), "{problem}"),
                (found, expected) => assert_eq!(found.as_deref(), expected, "{scope}"),
            }
        };
        check("files:write", None);
        check("https://a.example/files.read", None);
        check("a b", Some("write \"a\", \"b\""));
        check(" a ", Some("write \"a\""));
        check("", Some("the name of a scope"));
        check(" ", Some("the name of a scope"));
        check("a\"b", Some("write another"));
        check("a\\", Some("write another"));
        check("größe", Some("write another"));
        check("offline_access", Some("remove `offline_access`"));
    }
}
