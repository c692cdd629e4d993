//! Small functions on tokens and types that any part of the macros uses.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;
use syn::buffer::Cursor;

/// Returns a group of other tokens with the same delimiters and the same span.
pub(crate) fn regroup(group: &Group, stream: TokenStream) -> Group {
    let mut new = Group::new(group.delimiter(), stream);
    new.set_span(group.span());
    new
}

/// Returns the path at the start of an attribute.
pub(crate) fn path_of(attribute: &TokenStream) -> Vec<String> {
    let mut path = Vec::new();
    for token in attribute.clone() {
        match token {
            TokenTree::Ident(ident) => path.push(ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            _ => break,
        }
    }
    path
}

/// Returns the span of the first token, at any depth, for which `wanted` returns `true`.
pub(crate) fn find(tokens: &TokenStream, wanted: &impl Fn(&TokenTree) -> bool) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| match &token {
        token if wanted(token) => Some(token.span()),
        TokenTree::Group(group) => find(&group.stream(), wanted),
        _ => None,
    })
}

/// Returns the tokens between two positions of a parser.
pub(crate) fn between(mut start: Cursor<'_>, end: Cursor<'_>) -> TokenStream {
    let next = || {
        let (token, next) = start.token_tree().filter(|_| start != end)?;
        start = next;
        Some(token)
    };
    std::iter::from_fn(next).collect()
}

/// Formats tokens for messages in the usual style. syn does not keep the spaces between tokens.
pub(crate) fn written(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (loose, tight) in
        [(" < ", "<"), (" >", ">"), (" :: ", "::"), (":: ", "::"), ("& ", "&"), (" ,", ",")]
    {
        text = text.replace(loose, tight);
    }
    text
}

/// Whether the type is `str` or `[T]`. An argument may be a reference to such a type: the call owns the value, and the function borrows it.
pub(crate) fn is_borrowed_argument(ty: &Type) -> bool {
    match strip_groups(ty) {
        Type::Slice(_) => true,
        Type::Path(path) => path.qself.is_none() && path.path.is_ident("str"),
        _ => false,
    }
}

/// Returns the type without parentheses and without the invisible groups around a `macro_rules` fragment.
pub(crate) fn strip_groups(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => strip_groups(&group.elem),
        Type::Paren(paren) => strip_groups(&paren.elem),
        ty => ty,
    }
}

/// Returns the span of the first reference in a type.
pub(crate) fn first_reference(ty: &Type) -> Option<Span> {
    let is_reference =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '&');
    find(&ty.to_token_stream(), &is_reference)
}
