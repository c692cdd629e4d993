//! Functions with one of our attributes. Their bodies stay tokens, so that a macro accepts half-typed code: rustc then reports its own
//! errors in the body, and the editor can complete the code.

use super::signature::Signature;
use crate::keys::Table;
use crate::keys::tables;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Token, Visibility};

/// Kind of item that a function is registered as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Prompt,
    Completion,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Prompt, Self::Completion];

    /// Returns the name of the attribute.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Completion => "completion",
        }
    }

    pub(crate) fn table(self) -> &'static Table {
        match self {
            Self::Tool => &tables::TOOL,
            Self::Resource => &tables::RESOURCE,
            Self::Prompt => &tables::PROMPT,
            Self::Completion => &tables::COMPLETION,
        }
    }

    /// Returns the attribute as the user writes it.
    pub(crate) fn owner(self) -> &'static str {
        self.table().owner
    }

    /// Returns the kind for the path of an attribute: `tool`, or `mcp_runtime::tool`.
    pub(crate) fn of_path(path: &[String]) -> Option<Self> {
        let (last, before) = path.split_last()?;
        let ours = before.is_empty() || before.first().is_some_and(|first| first == "mcp_runtime");
        Self::ALL.into_iter().find(|kind| ours && kind.word() == last)
    }
}

/// A function. Its body stays unparsed.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) sig: Signature,
    pub(super) body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            let message = "this function has no body that a client could call: remove the attribute, and write it on a method of a type, in an impl block with `#[handlers]`";
            return Err(input.error(message));
        }
        if !input.peek(syn::token::Brace) {
            return Err(input.error("expected the function's body"));
        }
        let body: Group = input.parse()?;
        Ok(Self { attrs, visibility, sig, body: body.stream() })
    }
}

impl Function {
    /// Returns our attributes on the function, each with its span.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (Kind, Span)> {
        self.attrs.iter().filter_map(|attr| {
            let path: Vec<String> =
                attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
            let span = attr.path().segments.last()?.ident.span();
            Kind::of_path(&path).map(|kind| (kind, span))
        })
    }
}

/// Returns the keyword that determines the kind of an item, with its span. Returns `None` for functions, and for tokens without such a
/// keyword.
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
    // `const` and `unsafe` may come before the keyword. `union` may be the name of a function, but then `fn` comes before it.
    let mut constant = None;
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) if ident == "fn" => return None,
            TokenTree::Ident(ident) => {
                match KEYWORDS.into_iter().find(|keyword| ident == keyword) {
                    Some("const") => constant = Some(("const", ident.span())),
                    Some(word) => return Some((word, ident.span())),
                    None if constant.is_some() && ident != "unsafe" && ident != "async" => {
                        return constant;
                    }
                    None => {}
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return constant,
            _ => {}
        }
    }
    constant
}

/// Returns the span for an error about an item of the wrong kind. It is the span of the item's keyword, including `fn`, or else of its
/// first token.
pub(crate) fn keyword_span(tokens: &TokenStream) -> Span {
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "fn");
    let function = tokens.clone().into_iter().find(is_fn);
    let place = function.or_else(|| tokens.clone().into_iter().next()).map(|token| token.span());
    keyword(tokens).map(|(_, span)| span).or(place).unwrap_or_else(Span::call_site)
}
