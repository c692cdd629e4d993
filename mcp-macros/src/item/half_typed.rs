//! Items that the user is still typing. rustc reports them, so the macros add no error, and emit what keeps the rest of the program free of
//! errors. A mistake is left to rustc only if no version of Rust can accept the tokens.

use super::function::keyword;
use super::tokens::{is_punct, params, without_derive_helpers, without_helpers};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;
use syn::DeriveInput;

/// Returns the function without our attributes if it is half-typed: it ends before its body, an attribute of the next function or parameter
/// comes in the middle, or a parameter has no complete type yet, as in `a`, `a:`, `a: Vec<` or `a: &`. rustc has already reported this
/// mistake, and finds it again in the returned tokens. Both errors have the same span, so rustc shows only one of them.
pub(crate) fn function(function: &TokenStream) -> Option<TokenStream> {
    // The type of a constant can be `fn()`, and rustc accepts the constant.
    if keyword(function).is_some() {
        return None;
    }
    let tokens: Vec<TokenTree> = function.clone().into_iter().collect();
    let is_cut = has_no_end(&tokens)
        || has_late_attribute(without_attributes(&tokens))
        || has_empty_attribute(&tokens)
        || has_no_signature(&tokens);
    let Some((at, written)) = params(&tokens) else {
        return is_cut.then(|| without_helpers(function.clone()));
    };
    let inner: Vec<TokenTree> = written.stream().into_iter().collect();
    // The result type may have no end, as in `-> Vec<String`.
    let is_cut = is_cut || has_empty_attribute(&inner) || angles(&tokens[at + 1..]) > 0;
    if !is_cut && !parts(&inner).into_iter().any(has_no_type) {
        return None;
    }
    let mut tokens: Vec<TokenTree> = without_helpers(function.clone()).into_iter().collect();
    if let Some((at, mut params)) = params(&tokens)
        && params.stream().into_iter().count() < inner.len()
    {
        // A rebuilt group has a single span. rustc usually reports the mistake at the end of the group, so the span of the closing
        // delimiter is used.
        params.set_span(written.span_close());
        tokens[at] = params.into();
    }
    Some(tokens.into_iter().collect())
}

/// A struct or an enum that does not parse.
pub(crate) struct HalfType {
    /// The tokens without attributes of ours and of the derives.
    pub(crate) tokens: TokenStream,
    /// The type without its fields or variants, if its name can be read.
    pub(crate) header: Option<DeriveInput>,
    /// Whether rustc certainly reports the mistake: the type has no end, a field has no complete type, or documentation has no variant
    /// below it.
    pub(crate) is_reported: bool,
}

impl HalfType {
    pub(crate) fn read(item: TokenStream) -> Self {
        let is_fields = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let all: Vec<TokenTree> = item.clone().into_iter().collect();
        let fields = all.iter().find(|token| is_fields(token));
        let is_half_typed = fields.is_some_and(|fields| {
            let TokenTree::Group(fields) = fields else { return false };
            let inner: Vec<TokenTree> = fields.stream().into_iter().collect();
            let is_struct = matches!(keyword(&item), Some(("struct", _)));
            has_empty_attribute(&inner)
                || parts(&inner)
                    .into_iter()
                    .any(|part| if is_struct { has_no_type(part) } else { part.is_empty() })
        });
        let is_reported = is_half_typed || has_no_end(&all);
        let tokens = without_derive_helpers(item);
        let header: TokenStream =
            tokens.clone().into_iter().take_while(|token| !is_fields(token)).collect();
        Self { tokens, header: syn::parse2(quote!(#header {})).ok(), is_reported }
    }
}

/// Returns the number of open angle brackets at the end.
fn angles(tokens: &[TokenTree]) -> i32 {
    let mut is_arrow = false;
    tokens.iter().map(|token| angle(token, &mut is_arrow)).sum()
}

/// Returns 1 for the begin and -1 for the end of angle brackets. `is_arrow` tells whether the token before may begin an arrow.
fn angle(token: &TokenTree, is_arrow: &mut bool) -> i32 {
    let is_end = is_punct(token, '>') && !*is_arrow;
    *is_arrow = is_punct(token, '-');
    i32::from(is_punct(token, '<')) - i32::from(is_end)
}

/// Splits parameters, fields or variants at their commas, and leaves out the attributes before each of them.
fn parts(inner: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut angles, mut is_arrow) = (0_i32, false);
    let parts = inner.split(|token| {
        angles += angle(token, &mut is_arrow);
        is_punct(token, ',') && angles <= 0
    });
    let mut parts: Vec<&[TokenTree]> = parts.collect();
    // A trailing comma leaves an empty part behind it.
    parts.pop_if(|part| part.is_empty());
    parts.into_iter().map(without_attributes).collect()
}

fn without_attributes(mut tokens: &[TokenTree]) -> &[TokenTree] {
    while let [hash, TokenTree::Group(_), rest @ ..] = tokens
        && is_punct(hash, '#')
    {
        tokens = rest;
    }
    tokens
}

/// Whether the item has neither a body nor a semicolon at its end.
fn has_no_end(tokens: &[TokenTree]) -> bool {
    match tokens.last() {
        Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::Brace,
        Some(token) => !is_punct(token, ';'),
        None => true,
    }
}

/// Whether the name of a function comes without parameters, or another token than those of a signature comes behind the parameters.
fn has_no_signature(tokens: &[TokenTree]) -> bool {
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "fn");
    let Some(start) = tokens.iter().position(is_fn) else { return false };
    let is_named = matches!(tokens.get(start + 1), Some(TokenTree::Ident(_)));
    let has_params = match tokens.get(start + 2) {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(token) => is_punct(token, '<'),
        None => false,
    };
    let is_ended = params(tokens).is_none_or(|(at, _)| match tokens.get(at + 1) {
        Some(TokenTree::Ident(word)) => word == "where",
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        // Behind `->`, these words begin the next item.
        Some(token) if is_punct(token, '-') => !matches!(
            tokens.get(at + 3),
            Some(TokenTree::Ident(word)) if ["async", "const", "pub", "type"].iter().any(|next| word == next)
        ),
        Some(token) => is_punct(token, ';'),
        None => false,
    });
    !(is_named && has_params && is_ended)
}

/// Whether an attribute has no path yet.
fn has_empty_attribute(tokens: &[TokenTree]) -> bool {
    let is_empty = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && group.stream().is_empty());
    tokens.windows(2).any(|pair| is_punct(&pair[0], '#') && is_empty(&pair[1]))
}

fn has_late_attribute(tokens: &[TokenTree]) -> bool {
    tokens.iter().any(|token| is_punct(token, '#'))
}

/// Whether the name of a parameter comes directly behind another name. Names in a pattern are separated, except from keywords.
fn has_two_names(part: &[TokenTree]) -> bool {
    // The lifetime of `&'a self` is a name, too.
    const KEYWORDS: [&str; 5] = ["crate", "mut", "pub", "ref", "self"];
    let is_name = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if !KEYWORDS.iter().any(|keyword| word == keyword));
    let names = part.iter().take_while(|token| !is_punct(token, ':'));
    names.map(is_name).collect::<Vec<_>>().windows(2).any(|pair| pair == [true, true])
}

fn has_no_type(part: &[TokenTree]) -> bool {
    let is_self =
        part.iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "self"));
    let is_typed = part.iter().any(|token| is_punct(token, ':'));
    let is_open = match part.last() {
        // A type can end with `>`, with `!` (the never type) or with `+`. syn reports a trailing `..`.
        Some(TokenTree::Punct(punct)) => !matches!(punct.as_char(), '>' | '!' | '+' | '.'),
        Some(_) => false,
        None => true,
    };
    is_open
        || !is_typed && !is_self
        || has_late_attribute(part)
        || has_two_names(part)
        || angles(part) > 0
}
