//! Expressions in the values of keys. syn parses all of them only with its feature `full`, which costs each user of the macros time to
//! compile. Without it, closures, blocks, arrays, `if` and some operators stay tokens, and rustc parses them in the generated code.

use crate::syntax::between;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Expr, Token};

/// Parses an expression. An expression that syn does not know becomes an `Expr::Verbatim`, which ends at the next comma that is not part of
/// the expression.
pub(crate) fn expression(input: ParseStream<'_>) -> syn::Result<Expr> {
    let ahead = input.fork();
    let read = ahead.parse::<Expr>();
    if read.is_ok() && !(ahead.peek(Token![?]) || ahead.peek(Token![.]) || ahead.peek(Token![..])) {
        input.advance_to(&ahead);
        return read;
    }
    let ahead = input.fork();
    let tokens = up_to_comma(&ahead)?;
    match read {
        Err(error) if !has_unknown_syntax(&tokens) => Err(error),
        _ => {
            input.advance_to(&ahead);
            Ok(Expr::Verbatim(tokens))
        }
    }
}

/// Whether the expression is a closure, such as `|caller, access| …`.
pub(crate) fn is_closure(expr: &Expr) -> bool {
    let Expr::Verbatim(tokens) = expr else { return matches!(expr, Expr::Closure(_)) };
    let mut tokens = tokens.clone().into_iter().skip_while(|token| {
        matches!(token, TokenTree::Ident(word) if ["move", "async", "static"].iter().any(|qualifier| word == qualifier))
    });
    matches!(tokens.next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '|')
}

/// Whether the tokens contain syntax that syn parses only with its feature `full`.
fn has_unknown_syntax(tokens: &TokenStream) -> bool {
    const WORDS: [&str; 16] = [
        "async", "await", "break", "const", "continue", "for", "if", "let", "loop", "match",
        "move", "return", "static", "unsafe", "while", "_",
    ];
    let mut after_dot = false;
    tokens.clone().into_iter().any(|token| {
        let is_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        let is_range = after_dot && is_dot;
        after_dot = is_dot;
        is_range
            || match token {
                TokenTree::Ident(word) => WORDS.iter().any(|unknown| word == unknown),
                TokenTree::Punct(punct) => matches!(punct.as_char(), '?' | '|' | '\''),
                TokenTree::Group(group) => {
                    matches!(group.delimiter(), Delimiter::Brace | Delimiter::Bracket)
                        || has_unknown_syntax(&group.stream())
                }
                TokenTree::Literal(_) => false,
            }
    })
}

/// Reads the tokens up to a comma that is neither between the parameters of a closure nor between generic arguments.
fn up_to_comma(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let start = input.cursor();
    // Whether the last token ends an operand, so that `|` and `<` after it are operators.
    let mut is_operand = false;
    let mut in_parameters = false;
    let mut or = false;
    let mut in_type = false;
    let mut angles = 0_u32;
    let mut last = ' ';
    while !input.is_empty() {
        if input.peek(Token![,]) && !in_parameters && angles == 0 {
            break;
        }
        let token: TokenTree = input.parse()?;
        let char = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match char {
            '|' if in_parameters => in_parameters = false,
            // After an operand, `||` is one operator.
            '|' if is_operand => or = input.peek(Token![|]),
            '|' if or => or = false,
            '|' => in_parameters = true,
            '<' if !is_operand || in_type || angles > 0 => angles += 1,
            '>' if last == '-' => in_type = true,
            '>' if last != '=' => angles = angles.saturating_sub(1),
            _ => {}
        }
        is_operand = match &token {
            TokenTree::Ident(word) => {
                in_type |= word == "as";
                !["as", "move", "async", "static", "return", "break", "else", "in"]
                    .iter()
                    .any(|prefix| word == prefix)
            }
            TokenTree::Group(group) => {
                in_type &= group.delimiter() != Delimiter::Brace;
                true
            }
            TokenTree::Literal(_) => true,
            // The end of generic arguments, and `?`, belong to the operand before them.
            TokenTree::Punct(_) => char == '?' || char == '>' && last != '-' && last != '=',
        };
        in_type &= !matches!(char, '+' | '*' | '/' | '=' | '|' | '?' | '.');
        last = char;
    }
    Ok(between(start, input.cursor()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse::Parser as _;

    /// Checks that `code`, followed by `, next`, ends at the comma before `next`.
    #[track_caller]
    fn check(code: &str) {
        let read = |input: ParseStream<'_>| {
            let tokens = up_to_comma(input)?;
            input.parse::<TokenStream>().map(|rest| (tokens, rest))
        };
        let (tokens, rest) = read.parse_str(&format!("{code}, next")).unwrap();
        let expected: TokenStream = code.parse().unwrap();
        assert_eq!((tokens.to_string(), rest.to_string()), (expected.to_string(), ", next".into()));
    }

    #[test]
    fn an_expression_ends_at_a_comma_outside_of_it() {
        check("1");
        check("a < b");
        check("a | b");
        check("a > b || c >= d");
        check("|| |a, b| a");
        check("[1, 2]");
        check("|caller, access| caller.may(access)");
        check("move |a, b| -> Map<String, u8> { f(a, b) }");
        check("|| Map::<String, u8>::new()?");
        check("|a| |b, c| a + b + c");
        check("|a: Map<u8, u8>, b| a.len() | b");
        check("Map::<String, Vec<u8>>::new().len()..");
        check("<Map<u8, u8> as Default>::default()?");
        check("x as Map<u8, u8>");
        check("if a < b { 1 } else { 2 }");
        check("match a { 1 => 2, _ => 3 }");
        check("async { f(|x| x, 2).await }");
        check("1..=5");
    }

    #[test]
    fn only_syntax_of_the_feature_full_is_left_to_rustc() {
        for code in [
            "a?",
            "f(a..b)",
            "[1]",
            "{ 1 }",
            "|x| x",
            "f(if a { 1 } else { 2 })",
            "a.await",
            "&'a x",
        ] {
            assert!(has_unknown_syntax(&code.parse().unwrap()), "{code}");
        }
        for code in ["1 +", "f(1 2)", "a + b", "f(-1.5)", "A::B", "a.b()", "vec!(1)"] {
            assert!(!has_unknown_syntax(&code.parse().unwrap()), "{code}");
        }
    }
}
