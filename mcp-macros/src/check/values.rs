//! Literal values of an argument (defaults, examples, proposals), checked against the bounds of the same argument.

use crate::errors::Errors;
use crate::keys::arg::{Completer, Default};
use crate::keys::range::{Bound, Len};
use crate::keys::tables::ArgKeys;
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, LitStr};

pub(super) fn check(keys: &ArgKeys, errors: &Errors) {
    if let Some(default) = &keys.default
        && let Default(Some(value)) = &default.value
    {
        let problems = match value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => of_text(keys, &text.value()),
            value => Bound::read(value).map(|it| of_number(keys, it)).unwrap_or_default(),
        };
        report(&problems, "default", value, errors);
    }
    if let Some(example) = &keys.example {
        let json = &example.value.json;
        // The JSON of an example is valid Rust as well.
        let problems = match (syn::parse_str::<LitStr>(json), number(json)) {
            (Ok(text), _) => of_text(keys, &text.value()),
            (_, Some(number)) => of_number(keys, number),
            _ => Vec::new(),
        };
        report(&problems, "example", &example.value.tokens, errors);
    }
    if let Some(complete) = &keys.complete
        && let Completer::Values(values) = &complete.value
    {
        for value in values {
            let text = value.value();
            let mut problems = of_text(keys, &text);
            // Arguments of prompts are text, even if their type is a number.
            problems.extend(number(&text).into_iter().flat_map(|it| of_number(keys, it)));
            report(&problems, "proposal", value, errors);
        }
    }
}

fn report(problems: &[String], what: &str, value: &impl ToTokens, errors: &Errors) {
    for problem in problems {
        errors.push(syn::Error::new_spanned(value, format!("this {what} {problem}")));
    }
}

fn number(text: &str) -> Option<Bound> {
    Bound::read(&syn::parse_str::<Expr>(text).ok()?).ok()
}

fn of_number(keys: &ArgKeys, number: Bound) -> Vec<String> {
    let range = keys.range.as_ref().map(|it| &it.value).filter(|it| !it.contains(number));
    let problem = |it| format!("is not in `range({it})`: write one that is, or widen the range");
    range.map(problem).into_iter().collect()
}

fn of_text(keys: &ArgKeys, text: &str) -> Vec<String> {
    let counted = keys.len.as_ref().and_then(|it| miscounted(&it.value, text));
    let length = counted.map(|it| format!("has {it}: write one that fits, or change `len`"));
    let pattern = keys.pattern.as_ref().filter(|it| !it.value.matches(text)).map(|it| {
        let pattern = it.value.0.value();
        format!(
            "does not match its pattern `{pattern}`: write one that does, or change the pattern"
        )
    });
    length.into_iter().chain(pattern).collect()
}

/// Returns a text such as "3 characters, and `len` allows 2 at most", or `None` if the length fits.
fn miscounted(len: &Len, text: &str) -> Option<String> {
    let count = text.chars().count();
    let noun = if count == 1 { "character" } else { "characters" };
    let bound = match (len.min, len.max) {
        (Some(min), _) if count < min => format!("{min} at least"),
        (_, Some(max)) if count > max => format!("{max} at most"),
        _ => return None,
    };
    Some(format!("{count} {noun}, and `len` allows {bound}"))
}
