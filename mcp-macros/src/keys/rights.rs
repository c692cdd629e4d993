//! Access rights of an item: scopes and policies.

use super::{Value, parenthesized, usage};
use crate::errors::Errors;
use syn::parse::{Parse as _, ParseStream};
use syn::{Expr, Ident, LitStr, Token};

/// `scopes("files:read", "files:write")`: scopes that a caller needs, all of them.
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
                if scopes.iter().any(|it| it.value() == text) {
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

/// Returns why no token could grant this scope (RFC 6749, section 3.3), or `None` for a valid scope.
fn problem(scope: &str) -> Option<String> {
    let is_scope = |it: &str| {
        !it.is_empty() && it.bytes().all(|it| it.is_ascii_graphic() && !b"\"\\".contains(&it))
    };
    let words: Vec<&str> = scope.split_whitespace().collect();
    if scope == "offline_access" {
        return Some(
            "whether a client stays signed in is between it and the issuer: remove `offline_access`"
                .to_owned(),
        );
    }
    if is_scope(scope) {
        return None;
    }
    let fix = if words.is_empty() {
        ": write the name of one, or remove it".to_owned()
    } else if words.iter().all(|it| is_scope(it)) {
        let words: Vec<String> = words.iter().map(|it| format!("{it:?}")).collect();
        format!(": write {}", words.join(", "))
    } else {
        ", as authorization servers know them: write another".to_owned()
    };
    Some(format!("a scope is letters of ASCII without blanks, `\"` and `\\`{fix}"))
}

/// `auth(function)` or `auth(|caller, access| …)`.
#[derive(Clone)]
pub(crate) struct Policy(pub(crate) Expr);

impl Value for Policy {
    const USAGE: &'static str = "(|caller, access| …)`, or name a function: `auth(may_write)";

    fn read(key: &Ident, input: ParseStream<'_>, _: &Errors) -> syn::Result<Self> {
        parenthesized::<Self, _>(key, input, |input| {
            let start = input.span();
            match Expr::parse(input)? {
                it @ (Expr::Path(_) | Expr::Closure(_)) => Ok(Self(it)),
                Expr::Call(_) => {
                    Err(syn::Error::new(start, "name the function without calling it"))
                }
                Expr::Lit(_) => Err(syn::Error::new(
                    start,
                    "`auth` takes what decides: write `auth(|caller, access| …)`; what a token must grant is `scopes(\"…\")`",
                )),
                _ => Err(usage::<Self>(key)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check("", Some("the name of one"));
        check(" ", Some("the name of one"));
        check("a\"b", Some("write another"));
        check("a\\", Some("write another"));
        check("größe", Some("write another"));
        check("offline_access", Some("remove `offline_access`"));
    }
}
