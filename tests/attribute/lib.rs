//! The attribute `#[support::test]`, which stands for `#[test]` in the suites that need programs of the machine.
//!
//! The test runner of rustc has to know before a test begins whether the test is ignored. The runner in `support::harness` learns it while
//! the test runs.

#![forbid(unsafe_code)]

use proc_macro::{TokenStream, TokenTree};

/// Registers a function without arguments as a test of `support::harness`.
///
/// An asynchronous function runs on a tokio runtime of the current thread. With `#[support::test(threads = 2)]` the runtime has that number
/// of worker threads. `#[ignore = "reason"]` means the same as it does beside `#[test]`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let mut tokens = function.into_iter().peekable();
    let mut attributes = Vec::new();
    while let Some(hash) = tokens.next_if(|token| token.to_string() == "#") {
        let body = tokens.next().expect("an attribute has a body");
        attributes.push([hash, body]);
    }
    let is_named = |name: &str, [_, body]: &[TokenTree; 2]| match body {
        TokenTree::Group(group) => {
            group.stream().into_iter().next().is_some_and(|first| first.to_string() == name)
        }
        _ => false,
    };
    let ignored = attributes.iter().find(|attribute| is_named("ignore", attribute));
    let reason = ignored.map(|[_, body]| reason(body));
    let conditions = attributes.iter().filter(|attribute| is_named("cfg", attribute));
    let conditions: TokenStream = conditions.flatten().cloned().collect();

    let rest: Vec<TokenTree> = tokens.collect();
    let words: Vec<String> = rest.iter().take(4).map(TokenTree::to_string).collect();
    let at = words.iter().position(|word| word == "fn").expect("a function without `pub`");
    let name = &words[at + 1];
    let threads = arguments.into_iter().last().map_or("0".to_owned(), |last| last.to_string());
    let body = if words[..at].iter().any(|word| word == "async") {
        format!("::support::harness::block_on({threads}, {name}())")
    } else {
        format!("{name}()")
    };
    let registration = format!(
        "::support::harness::inventory::submit! {{
            ::support::harness::Test {{
                module: ::core::module_path!(),
                name: {name:?},
                ignored: {reason:?},
                run: || {body},
            }}
        }}"
    );
    let registration: TokenStream = registration.parse().expect("the registration is Rust");

    let kept = attributes.iter().filter(|attribute| !is_named("ignore", attribute));
    let function: TokenStream = kept.flatten().cloned().chain(rest).collect();
    [function, conditions, registration].into_iter().collect()
}

/// Returns the reason of `[ignore = "reason"]`.
fn reason(attribute: &TokenTree) -> String {
    let text = attribute.to_string();
    text.split('"').nth(1).unwrap_or("runs with `--ignored`").to_owned()
}
