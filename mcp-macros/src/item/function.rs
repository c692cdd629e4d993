//! A function whose body stays tokens: half-typed code keeps its own errors and its completion.

use super::Kind;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Signature, Token, Visibility};

/// What is known of a function: all but its body.
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
            let message = "this function has no body that a client could call: remove the attribute, and write it at the method of a type, in an impl block with `#[server]`";
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
    /// Our attributes among those of the function.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (Kind, Span)> {
        self.attrs.iter().filter_map(|attr| {
            let path: Vec<String> =
                attr.path().segments.iter().map(|it| it.ident.to_string()).collect();
            let span = attr.path().segments.last()?.ident.span();
            Kind::of_path(&path).map(|kind| (kind, span))
        })
    }
}

/// The keyword that says what an item is, and where it stands; `None` for functions and for what is half-typed.
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
    // `const` and `unsafe` may stand before the keyword, `union` may be a name.
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

/// The keyword of any item, `fn` included, or else its first token: where to say that it is the wrong one.
pub(crate) fn keyword_span(tokens: &TokenStream) -> Span {
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(it) if it == "fn");
    let function = tokens.clone().into_iter().find(is_fn);
    let place = function.or_else(|| tokens.clone().into_iter().next()).map(|it| it.span());
    keyword(tokens).map(|(_, span)| span).or(place).unwrap_or_else(Span::call_site)
}
