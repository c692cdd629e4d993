//! Functions whose body stays tokens, so that rustc and the editor still see half-typed code: its own errors, and its completions.

use super::Kind;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Signature, Token, Visibility};

/// A function without its body.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) sig: Signature,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            let message = "this function has no body that a client could call: remove the attribute, and write it at the method of a type, in an impl block with `#[handlers]`";
            return Err(input.error(message));
        }
        if !input.peek(syn::token::Brace) {
            return Err(input.error("expected the function's body"));
        }
        input.parse::<TokenTree>()?;
        Ok(Self { attrs, visibility, sig })
    }
}

impl Function {
    /// Returns our attributes on the function, each with its place.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (Kind, Span)> {
        self.attrs.iter().filter_map(|attr| {
            let path: Vec<String> =
                attr.path().segments.iter().map(|it| it.ident.to_string()).collect();
            let span = attr.path().segments.last()?.ident.span();
            Kind::of_path(&path).map(|kind| (kind, span))
        })
    }
}

/// Returns the keyword that tells the kind of an item, and its place. Returns `None` for functions and for tokens without such a keyword.
pub(crate) fn keyword(tokens: &TokenStream) -> Option<(&'static str, Span)> {
    const KEYWORDS: [&str; 12] = [
        "struct",
        "enum",
        "union",
        "trait",
        "impl",
        "mod",
        "static",
        "type",
        "use",
        "macro_rules",
        "const",
        "let",
    ];
    // `const` and `unsafe` may come before the keyword. `union` may be the name of a function, whose `fn` comes first.
    let mut constant = None;
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) if ident == "fn" => return None,
            TokenTree::Ident(ident) => match KEYWORDS.into_iter().find(|it| ident == it) {
                Some("const") => constant = Some(("const", ident.span())),
                Some(word) => return Some((word, ident.span())),
                None if constant.is_some() && ident != "unsafe" && ident != "async" => {
                    return constant;
                }
                None => {}
            },
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return constant,
            _ => {}
        }
    }
    constant
}

/// Returns the place for an error about an item of the wrong kind: its keyword, `fn` included, otherwise its first token.
pub(crate) fn keyword_span(tokens: &TokenStream) -> Span {
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(it) if it == "fn");
    let function = tokens.clone().into_iter().find(is_fn);
    let place = function.or_else(|| tokens.clone().into_iter().next()).map(|it| it.span());
    keyword(tokens).map(|(_, span)| span).or(place).unwrap_or_else(Span::call_site)
}
