//! Values that are ranges of numbers or of lengths.

use super::{Value, parenthesized, usage};
use crate::errors::Errors;
use std::fmt;
use syn::parse::ParseStream;
use syn::{Expr, ExprLit, ExprRange, ExprUnary, Ident, Lit, RangeLimits, UnOp};

/// End of a range.
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

    /// Whether no number lies in the range from `self` to `end`.
    fn leaves_nothing(self, end: Self, inclusive: bool) -> bool {
        let order = match (self, end) {
            (Self::Int(start), Self::Int(end)) => Some(start.cmp(&end)),
            _ => self.float().partial_cmp(&end.float()),
        };
        order.is_none_or(|it| if inclusive { it.is_gt() } else { it.is_ge() })
    }

    #[expect(clippy::cast_precision_loss, reason = "only compared")]
    pub(crate) fn float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }
}

/// `range(1..=10)`; `a..b` excludes `b`.
#[derive(Clone)]
pub(crate) struct Range {
    pub(crate) start: Option<Bound>,
    pub(crate) end: Option<Bound>,
    pub(crate) inclusive: bool,
}

impl Range {
    pub(crate) fn contains(&self, number: Bound) -> bool {
        let is_below = self.start.is_some_and(|it| it.leaves_nothing(number, true));
        let is_above = self.end.is_some_and(|it| number.leaves_nothing(it, self.inclusive));
        !is_below && !is_above
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => int.fmt(f),
            // `Debug` keeps the point, by which Rust tells a float from an integer.
            Self::Float(float) => write!(f, "{float:?}"),
        }
    }
}

/// Writes the range as the user wrote it.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |it: Option<Bound>| it.map(|it| it.to_string()).unwrap_or_default();
        let dots = if self.inclusive { "..=" } else { ".." };
        write!(f, "{}{dots}{}", bound(self.start), bound(self.end))
    }
}

impl Value for Range {
    const USAGE: &'static str = "(1..=10)";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let range: ExprRange = parse(key, input)?;
            let start = range.start.as_deref().map(bound).transpose()?;
            let end = range.end.as_deref().map(bound).transpose()?;
            let inclusive = matches!(range.limits, RangeLimits::Closed(_));
            match (start, end) {
                (Some(start), Some(end)) if start.leaves_nothing(end, inclusive) => {
                    let message = "no number is in this range: write the smaller one first, and `..=` if the end is in it";
                    Err(syn::Error::new_spanned(&range, message))
                }
                (None, None) => Err(usage::<Self>(key)),
                _ => Ok(Self { start, end, inclusive }),
            }
        })
    }
}

fn parse(key: &Ident, input: ParseStream<'_>) -> syn::Result<ExprRange> {
    let span = input.span();
    match input.parse::<Expr>() {
        Ok(Expr::Range(range)) => Ok(range),
        _ => Err(syn::Error::new(span, format!("expected a range, as in `{key}(1..=10)`"))),
    }
}

/// Returns the expression without the invisible groups around a `macro_rules` fragment.
fn plain(expr: &Expr) -> &Expr {
    if let Expr::Group(group) = expr { plain(&group.expr) } else { expr }
}

/// Reads a number literal with its sign.
fn bound(expr: &Expr) -> syn::Result<Bound> {
    let message =
        "a range is written with numbers, because the schema shows them: write the number itself";
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
            text.parse().ok().filter(|it: &f64| it.is_finite()).map(Bound::Float).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// `len(..=200)`: smallest and greatest length, both included.
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
        let min = range.start.map(|it| count(it).ok_or_else(wrong)).transpose()?;
        let max = range.end.map(|it| count(it).ok_or_else(wrong)).transpose()?;
        let max = match max {
            Some(end) if !range.inclusive => Some(end.checked_sub(1).ok_or_else(wrong)?),
            max => max,
        };
        Ok(Self { min, max })
    }
}
