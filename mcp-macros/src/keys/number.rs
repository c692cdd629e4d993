//! Values that are quantities: durations, sizes, positions in lists, priorities, and ranges of numbers or lengths. Regular expressions are
//! here too.

use super::expression::expression;
use super::grammar::{Value, assigned, parenthesized, usage};
use super::text::literal;
use crate::errors::Errors;
use crate::syntax::between;
use proc_macro2::{TokenStream, TokenTree};
use std::fmt;
use syn::parse::ParseStream;
use syn::{Expr, ExprLit, ExprUnary, Ident, Lit, LitFloat, LitInt, LitStr, Token, UnOp};

/// Value of a key that takes a duration, as in `timeout = "30s"`. Stored in milliseconds.
#[derive(Clone)]
pub(crate) struct Duration(pub(crate) u64);

impl Value for Duration {
    const USAGE: &'static str = " = \"30s\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        let text = literal::<Self>(key, input)?;
        match millis(&text.value()) {
            Some(0) => {
                Err(syn::Error::new(text.span(), format!("`{key}` must be longer than zero")))
            }
            Some(millis) => Ok(Self(millis)),
            None => Err(syn::Error::new(
                text.span(),
                "expected a whole number and a unit: \"500ms\", \"30s\", \"5m\" or \"1h\"",
            )),
        }
    }
}

fn millis(text: &str) -> Option<u64> {
    scaled(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)])
}

/// Value of the key `size`, as in `size = 1024` or `size = "1MB"`. Stored in bytes.
#[derive(Clone)]
pub(crate) struct Size(pub(crate) u64);

impl Value for Size {
    const USAGE: &'static str = " = \"1MB\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| {
            let span = input.span();
            let lit = if input.peek(Lit) { input.parse::<Lit>().ok() } else { None };
            let bytes = lit.as_ref().and_then(bytes_of);
            bytes.map(Self).ok_or_else(|| syn::Error::new(span, SIZE))
        })
    }
}

const SIZE: &str = "expected a number of bytes, or a whole number and a unit: \"512KB\", \"1MB\", \"16MiB\" or \"1GB\"";

/// Value of the key `max_result`, as in `max_result = "1MB"`. Stored in bytes. A literal is checked by the macro. Any other expression is
/// copied into the generated code.
#[derive(Clone)]
pub(crate) enum SizeExpr {
    Bytes(u64),
    Expr(Box<Expr>),
}

impl Value for SizeExpr {
    const USAGE: &'static str = " = \"1MB\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        match assigned::<Self, _>(key, input, expression)? {
            Expr::Lit(ExprLit { lit, .. }) => {
                bytes_of(&lit).map(Self::Bytes).ok_or_else(|| syn::Error::new(lit.span(), SIZE))
            }
            expr => Ok(Self::Expr(Box::new(expr))),
        }
    }
}

fn bytes_of(lit: &Lit) -> Option<u64> {
    match lit {
        Lit::Int(int) => int.base10_parse().ok(),
        Lit::Str(text) => bytes(&text.value()),
        _ => None,
    }
}

fn bytes(text: &str) -> Option<u64> {
    let decimal = [("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    let binary = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    scaled(text, &decimal).or_else(|| scaled(text, &binary))
}

/// Parses a whole number, at most one space, and one of the units. Returns the number times the factor of its unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Value of the key `order`, as in `order = -1`.
#[derive(Clone)]
pub(crate) struct Order(pub(crate) i32);

impl Value for Order {
    const USAGE: &'static str = " = -1";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| {
            let wrong = syn::Error::new(
                input.span(),
                format!("`{key}` is a whole number: write `{key} = -1`"),
            );
            let minus = if input.parse::<Option<Token![-]>>()?.is_some() { "-" } else { "" };
            let int: LitInt = input.parse().map_err(|_| wrong.clone())?;
            format!("{minus}{}", int.base10_digits()).parse().map(Self).map_err(|_| wrong)
        })
    }
}

/// Value of the key `priority`, as in `priority = 0.8`. A number from 0 to 1.
#[derive(Clone)]
pub(crate) struct Priority(pub(crate) f64);

impl Value for Priority {
    const USAGE: &'static str = " = 0.8";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        assigned::<Self, _>(key, input, |input| {
            let wrong = syn::Error::new(
                input.span(),
                format!("`{key}` is a number from 0 (least) to 1 (most)"),
            );
            let number: Option<f64> = if input.peek(LitFloat) {
                input.parse::<LitFloat>()?.base10_parse().ok()
            } else if input.peek(LitInt) {
                input.parse::<LitInt>()?.base10_parse().ok()
            } else {
                None
            };
            number.filter(|number| (0.0..=1.0).contains(number)).map(Self).ok_or(wrong)
        })
    }
}

/// Regular expression that the runtime can compile, because the macro has compiled it with the same library.
#[derive(Clone)]
pub(crate) struct Pattern(pub(crate) LitStr);

impl Pattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        regex_lite::Regex::new(&self.0.value()).is_ok_and(|regex| regex.is_match(text))
    }
}

impl Value for Pattern {
    const USAGE: &'static str = " = \"^[a-z]+$\"";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        let text = literal::<Self>(key, input)?;
        match regex_lite::Regex::new(&text.value()) {
            Ok(_) => Ok(Self(text)),
            Err(error) => {
                Err(syn::Error::new(text.span(), format!("not a regular expression: {error}")))
            }
        }
    }
}

/// Start or end of a range.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    Int(i128),
    Float(f64),
}

impl Bound {
    /// Reads a number literal with its sign.
    pub(crate) fn read(expr: &Expr) -> syn::Result<Self> {
        bound(expr)
    }

    /// Whether the range from `self` to `end` is empty.
    fn leaves_nothing(self, end: Self, inclusive: bool) -> bool {
        let order = match (self, end) {
            (Self::Int(start), Self::Int(end)) => Some(start.cmp(&end)),
            _ => self.float().partial_cmp(&end.float()),
        };
        order.is_none_or(|order| if inclusive { order.is_gt() } else { order.is_ge() })
    }

    #[expect(clippy::cast_precision_loss, reason = "only compared")]
    pub(crate) fn float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }
}

/// Value of the key `range`, as in `range(1..=10)`. As in Rust, `a..b` excludes `b`.
#[derive(Clone)]
pub(crate) struct Range {
    pub(crate) start: Option<Bound>,
    pub(crate) end: Option<Bound>,
    pub(crate) inclusive: bool,
}

impl Range {
    pub(crate) fn contains(&self, number: Bound) -> bool {
        let is_below = self.start.is_some_and(|start| start.leaves_nothing(number, true));
        let is_above = self.end.is_some_and(|end| number.leaves_nothing(end, self.inclusive));
        !is_below && !is_above
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => int.fmt(f),
            // Uses `Debug`, which writes `1.0`. `Display` writes `1`, which Rust would read as an integer.
            Self::Float(float) => write!(f, "{float:?}"),
        }
    }
}

/// Writes the range as the user wrote it.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |bound: Option<Bound>| bound.map(|value| value.to_string()).unwrap_or_default();
        let dots = if self.inclusive { "..=" } else { ".." };
        write!(f, "{}{dots}{}", bound(self.start), bound(self.end))
    }
}

impl Value for Range {
    const USAGE: &'static str = "(1..=10)";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let span = input.span();
            let message = format!("expected a range, as in `{key}(1..=10)`");
            let range = written(input).map_err(|_| syn::Error::new(span, message))?;
            let start = range.start.as_ref().map(bound).transpose()?;
            let end = range.end.as_ref().map(bound).transpose()?;
            let inclusive = range.inclusive;
            match (start, end) {
                (Some(start), Some(end)) if start.leaves_nothing(end, inclusive) => {
                    let message = "no number is in this range: write the smaller number first, and `..=` to include the end";
                    Err(syn::Error::new_spanned(&range.tokens, message))
                }
                (None, None) => Err(usage::<Self>(key)),
                _ => Ok(Self { start, end, inclusive }),
            }
        })
    }
}

/// Syntax of a range.
struct WrittenRange {
    start: Option<Expr>,
    end: Option<Expr>,
    inclusive: bool,
    tokens: TokenStream,
}

fn written(input: ParseStream<'_>) -> syn::Result<WrittenRange> {
    let begin = input.cursor();
    while !input.is_empty() && !input.peek(Token![..]) {
        input.parse::<TokenTree>()?;
    }
    let start = between(begin, input.cursor());
    let start = if start.is_empty() { None } else { Some(syn::parse2(start)?) };
    let inclusive = input.parse::<Option<Token![..=]>>()?.is_some();
    if !inclusive {
        input.parse::<Token![..]>()?;
    }
    let end = if input.is_empty() { None } else { Some(input.parse()?) };
    Ok(WrittenRange { start, end, inclusive, tokens: between(begin, input.cursor()) })
}

/// Returns the expression without the invisible groups around a `macro_rules` fragment.
fn plain(expr: &Expr) -> &Expr {
    if let Expr::Group(group) = expr { plain(&group.expr) } else { expr }
}

/// Reads a number literal with its sign.
fn bound(expr: &Expr) -> syn::Result<Bound> {
    let message = "the bounds of a range must be number literals, because the schema shows them: write the number itself";
    let wrong = || syn::Error::new_spanned(expr, message);
    let (minus, lit) = match plain(expr) {
        Expr::Lit(ExprLit { lit, .. }) => ("", lit),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match plain(expr) {
            Expr::Lit(ExprLit { lit, .. }) => ("-", lit),
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    match lit {
        Lit::Int(int) => {
            format!("{minus}{}", int.base10_digits()).parse().map(Bound::Int).map_err(|_| wrong())
        }
        Lit::Float(float) => {
            let text = format!("{minus}{}", float.base10_digits());
            text.parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(Bound::Float)
                .ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// Value of the key `len`, as in `len(..=200)`: smallest and greatest length, both included.
#[derive(Clone)]
pub(crate) struct Len {
    pub(crate) min: Option<usize>,
    pub(crate) max: Option<usize>,
}

impl Value for Len {
    const USAGE: &'static str = "(..=200)";

    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self> {
        let range = Range::read(key, input, errors)?;
        let count = |bound| match bound {
            Bound::Int(int) => usize::try_from(int).ok(),
            Bound::Float(_) => None,
        };
        let wrong = || syn::Error::new(key.span(), "a length is a whole number, 0 or more");
        let min = range.start.map(|start| count(start).ok_or_else(wrong)).transpose()?;
        let max = range.end.map(|end| count(end).ok_or_else(wrong)).transpose()?;
        let max = match max {
            Some(end) if !range.inclusive => Some(end.checked_sub(1).ok_or_else(wrong)?),
            max => max,
        };
        Ok(Self { min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, millis};

    #[test]
    fn durations_have_a_unit() {
        let check = |text, expected| assert_eq!(millis(text), expected, "{text}");
        check("500ms", Some(500));
        check("30s", Some(30_000));
        check("5 m", Some(300_000));
        check("1h", Some(3_600_000));
        check("30", None);
        check("s", None);
        check("1.5s", None);
        check("-1s", None);
        check("1d", None);
        check("99999999999999999h", None);
    }

    #[test]
    fn sizes_are_decimal_or_binary() {
        let check = |text, expected| assert_eq!(bytes(text), expected, "{text}");
        check("10B", Some(10));
        check("1KB", Some(1_000));
        check("1MB", Some(1_000_000));
        check("16MiB", Some(16 << 20));
        check("2 GiB", Some(2 << 30));
        check("1mb", None);
        check("MB", None);
        check("1TB", None);
    }
}
