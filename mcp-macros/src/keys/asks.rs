//! Client capabilities that an item needs.

use super::suggest::suggest;
use super::{Value, parenthesized, usage};
use crate::errors::Errors;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, Token};

/// `asks(elicitation, sampling, roots)`: valid names of client capabilities.
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
                    return Err(syn::Error::new(name.span(), unknown(&word)));
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

fn unknown(word: &str) -> String {
    let hint = match suggest(word, &CAPABILITIES) {
        Some(found) => format!("; did you mean `{found}`?"),
        None => ".".to_owned(),
    };
    format!(
        "`{word}` is nothing a server asks of a client{hint} Write `elicitation`, `sampling` or `roots`"
    )
}
