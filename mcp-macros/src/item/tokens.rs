//! Functions that rewrite the user's tokens without syn, which would lose some of them.

use super::function::Kind;
use crate::syntax::{path_of, regroup};
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// Returns the function without our attributes, and without attributes on parameters that rustc would reject, such as doc comments.
///
/// The function need not parse. If its attributes stayed, the user would see an error for each of them.
pub(crate) fn without_helpers(function: TokenStream) -> TokenStream {
    let function =
        without_attributes(function, |path| Kind::of_path(path).is_some() || is_ours(path));
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    if let Some((at, params)) = params(&tokens) {
        tokens[at] = stripped(params, is_param_helper).into();
    }
    tokens.into_iter().collect()
}

/// Returns the group of parameters and its index among the tokens. The function need not parse.
pub(super) fn params(tokens: &[TokenTree]) -> Option<(usize, Group)> {
    let mut found_fn = false;
    let mut angles = 0_i32;
    let mut arrow = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) if ident == "fn" => found_fn = true,
            TokenTree::Punct(punct) => {
                match punct.as_char() {
                    '<' => angles += 1,
                    '>' if !arrow => angles -= 1,
                    _ => {}
                }
                arrow = punct.as_char() == '-' && punct.spacing() == Spacing::Joint;
            }
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Parenthesis && found_fn && angles <= 0 =>
            {
                return Some((at, group.clone()));
            }
            _ => {}
        }
    }
    None
}

/// Returns the function without `cfg_attr`, which could add one of our attributes again.
pub(crate) fn without_conditional(function: TokenStream) -> TokenStream {
    without_attributes(function, |path| matches!(path, [word] if word == "cfg_attr"))
}

/// Returns the struct or enum without the attributes of this name on its fields or variants.
pub(crate) fn without_field_helpers(item: TokenStream, name: &str) -> TokenStream {
    let fields = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            let is_ours = |path: &[String]| matches!(path, [word] if word == name);
            stripped(group, is_ours).into()
        }
        token => token,
    };
    item.into_iter().map(fields).collect()
}

/// Returns the struct or enum without the attributes that only our attributes and the derives know, at any depth.
pub(super) fn without_derive_helpers(item: TokenStream) -> TokenStream {
    const WORDS: [&str; 5] = ["arg", "config", "mcp", "schemars", "serde"];
    let is_helper = |path: &[String]| matches!(path, [word] if WORDS.contains(&&**word));
    let inside = |token| match token {
        TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket => {
            let inner = without_derive_helpers(group.stream());
            TokenTree::from(regroup(&group, inner))
        }
        token => token,
    };
    without_attributes(item, is_helper).into_iter().map(inside).collect()
}

fn is_param_helper(path: &[String]) -> bool {
    let [word] = path else { return false };
    is_ours(path) || ["doc", "serde", "schemars", "cfg_attr"].contains(&word.as_str())
}

fn is_ours(path: &[String]) -> bool {
    matches!(path, [word] if word == "arg" || word == "complete")
}

/// Returns the group without the attributes that `drop` selects. A group without such attributes is returned unchanged, because a new group
/// would lose the spans of its delimiters.
fn stripped(group: Group, drop: impl Fn(&[String]) -> bool) -> Group {
    let count = |tokens: TokenStream| tokens.into_iter().count();
    let kept = without_attributes(group.stream(), drop);
    if count(kept.clone()) == count(group.stream()) { group } else { regroup(&group, kept) }
}

/// Removes each attribute for whose path `drop` returns `true`. Leaves the content of other groups unchanged.
fn without_attributes(tokens: TokenStream, drop: impl Fn(&[String]) -> bool) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        if let (TokenTree::Group(group), Some(TokenTree::Punct(punct))) = (&token, kept.last())
            && group.delimiter() == Delimiter::Bracket
            && punct.as_char() == '#'
            && drop(&path_of(&group.stream()))
        {
            kept.pop();
            continue;
        }
        kept.push(token);
    }
    kept.into_iter().collect()
}

/// Returns the user's tokens in a form that is valid in generated code: lifetimes become `'_`, `Self` becomes the type.
pub(crate) fn outside(tokens: TokenStream, owner: Option<&TokenStream>) -> TokenStream {
    let mut bound = Vec::new();
    collect_bound(&tokens, &mut bound);
    rewrite(tokens, owner, &bound)
}

fn rewrite(tokens: TokenStream, owner: Option<&TokenStream>, bound: &[String]) -> TokenStream {
    let mut new = TokenStream::new();
    let mut quote: Option<Punct> = None;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if quote.is_some() => {
                let name = ident.to_string();
                let kept = name == "static" || name == "_" || bound.contains(&name);
                let ident = if kept { ident } else { Ident::new("_", ident.span()) };
                new.extend([TokenTree::Ident(ident)]);
            }
            TokenTree::Ident(ident) if ident == "Self" && owner.is_some() => {
                let owner = relocated(owner.cloned().unwrap_or_default(), ident.span());
                let is_path = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                // rust-analyzer completes no name behind `<Type>::`.
                let is_angled = is_path && !is_plain(&owner);
                new.extend(if is_angled { angled(owner, ident.span()) } else { owner });
            }
            TokenTree::Group(group) => {
                let inner = rewrite(group.stream(), owner, bound);
                new.extend([TokenTree::Group(regroup(&group, inner))]);
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                quote = Some(punct.clone());
                new.extend([TokenTree::Punct(punct)]);
                continue;
            }
            token => new.extend([token]),
        }
        quote = None;
    }
    new
}

/// Whether the type is a path without arguments, which `::` can follow as it is.
fn is_plain(ty: &TokenStream) -> bool {
    ty.clone()
        .into_iter()
        .all(|token| matches!(token, TokenTree::Ident(_)) || is_punct(&token, ':'))
}

/// Returns `<Type>`, the form in which `::` can follow any type.
fn angled(ty: TokenStream, span: Span) -> TokenStream {
    let punct = |char| {
        let mut punct = Punct::new(char, Spacing::Alone);
        punct.set_span(span);
        TokenStream::from(TokenTree::Punct(punct))
    };
    [punct('<'), ty, punct('>')].into_iter().collect()
}

/// Collects the lifetimes that `for<'a>` introduces inside the tokens.
fn collect_bound(tokens: &TokenStream, bound: &mut Vec<String>) {
    let mut binding = false;
    let mut after_for = false;
    let mut quoted = false;
    for token in tokens.clone() {
        let (is_for, is_quote) =
            (matches!(&token, TokenTree::Ident(ident) if ident == "for"), is_punct(&token, '\''));
        match &token {
            TokenTree::Ident(ident) if binding && quoted => bound.push(ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '<' && after_for => binding = true,
            TokenTree::Punct(punct) if punct.as_char() == '>' => binding = false,
            TokenTree::Group(group) => collect_bound(&group.stream(), bound),
            _ => {}
        }
        after_for = is_for;
        quoted = is_quote;
    }
}

pub(super) fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// Returns the same tokens with spans that make errors point at `place`.
fn relocated(tokens: TokenStream, place: Span) -> TokenStream {
    let moved = |token| {
        let mut token = match token {
            TokenTree::Group(group) => regroup(&group, relocated(group.stream(), place)).into(),
            token => token,
        };
        token.set_span(token.span().located_at(place));
        token
    };
    tokens.into_iter().map(moved).collect()
}
