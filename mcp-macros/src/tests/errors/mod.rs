//! Tests of all errors: their messages, the tokens that they point at, and the user's item, which the macro must emit despite the errors.

mod forms;
mod items;
mod keys;
mod params;

use super::expand;
use proc_macro2::{Span, TokenStream, TokenTree};

/// Collects the message of each error and the tokens that it points at, in the order of the reports.
fn errors(tokens: TokenStream, found: &mut Vec<(String, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match (token, tokens.get(index + 2)) {
            (TokenTree::Ident(word), Some(TokenTree::Group(group))) if word == "compile_error" => {
                // `::core::compile_error!{…}`: the first `:` has the span of the first wrong token, and the braces have the span of the
                // last.
                let start = tokens[index - 5].span();
                let message = group.stream().to_string();
                let message: syn::LitStr = syn::parse_str(&message).unwrap();
                found.push((guilty(start, group.span()), message.value()));
            }
            (TokenTree::Group(group), _) => errors(group.stream(), found),
            _ => {}
        }
    }
}

fn guilty(start: Span, end: Span) -> String {
    let (first, last) =
        (start.source_text().unwrap_or_default(), end.source_text().unwrap_or_default());
    if start.byte_range() == end.byte_range() { first } else { format!("{first} … {last}") }
}

/// Checks that the source gives the expected errors and no others. Each entry is `(tokens that the error points at, part of the message)`.
#[track_caller]
fn check(source: &str, expected: &[(&str, &str)]) {
    let expanded = expand(source);
    let mut found = Vec::new();
    errors(expanded.clone(), &mut found);
    let matches = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|((at, text), (guilty, part))| at == guilty && text.contains(part));
    assert!(matches, "{source}\nexpected {expected:#?}\nfound {found:#?}");
    let text = expanded.to_string();
    // Besides the errors, the expansion of a form may contain a stand-in impl in a constant, but no schema. The expansion of any other item
    // contains no generated code, except for the mark of a completion.
    let generated = if source.contains("#[form") {
        ["__SCHEMA", "__mcp :: choices"]
    } else {
        ["const _", "__mcp"]
    };
    for noise in ["# [arg", "# [complete", "# [tool", "# [prompt"].into_iter().chain(generated) {
        assert!(!text.contains(noise), "`{noise}` makes more errors: {text}");
    }
}
