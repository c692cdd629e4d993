//! Model of an impl block and its members. Members without our attributes stay as the user wrote them.

use super::function::{Function, Kind};
use super::half_typed;
use super::tokens::{without_conditional, without_helpers};
use crate::syntax::{between, path_of, regroup};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Generics, Token, Type, WhereClause};

pub(crate) struct ImplBlock {
    /// All tokens before the braces.
    header: TokenStream,
    braces: Group,
    pub(crate) keyword: Token![impl],
    pub(crate) generics: Generics,
    pub(crate) of_trait: Option<Token![for]>,
    pub(crate) self_ty: Type,
    members: Vec<BlockMember>,
}

enum BlockMember {
    Plain(TokenStream),
    Marked(Box<Marked>),
    /// A method with one of our attributes inside `cfg_attr`, and its tokens without the `cfg_attr`.
    Hidden(Hidden, TokenStream),
    /// A macro call, which is not expanded yet and may contain methods.
    Macro(TokenStream),
}

/// One of our attributes inside a `cfg_attr`, which rustc evaluates only after `#[handlers]` has read the block.
pub(crate) struct Hidden {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Condition of the `cfg_attr`.
    pub(crate) condition: TokenStream,
}

/// A member with one of our attributes.
pub(crate) struct Marked {
    pub(crate) kind: Kind,
    pub(crate) attr: Attribute,
    pub(crate) tokens: TokenStream,
    /// The function, or the reason why the member is not a function.
    pub(crate) function: syn::Result<Function>,
}

impl ImplBlock {
    pub(crate) fn read(tokens: TokenStream) -> syn::Result<Self> {
        let mut header: Vec<TokenTree> = tokens.into_iter().collect();
        let braces = match header.pop() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => group,
            other => {
                let span = other.map_or_else(proc_macro2::Span::call_site, |token| token.span());
                return Err(syn::Error::new(span, "expected an impl block: `impl Type { … }`"));
            }
        };
        let header: TokenStream = header.into_iter().collect();
        let BlockHeader { keyword, generics, of_trait, self_ty } = syn::parse2(header.clone())?;
        let members = members.parse2(braces.stream())?;
        Ok(Self { header, braces, keyword, generics, of_trait, self_ty, members })
    }

    /// Returns the members with one of our attributes.
    pub(crate) fn marked(&self) -> impl Iterator<Item = &Marked> {
        self.members.iter().filter_map(|member| match member {
            BlockMember::Marked(marked) => Some(&**marked),
            _ => None,
        })
    }

    /// Returns our attributes inside `cfg_attr`, which cannot be read.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = &Hidden> {
        self.members.iter().filter_map(|member| match member {
            BlockMember::Hidden(hidden, _) => Some(hidden),
            _ => None,
        })
    }

    /// Whether the block has macro calls, which may expand to more methods.
    pub(crate) fn has_macros(&self) -> bool {
        self.members.iter().any(|member| matches!(member, BlockMember::Macro(_)))
    }

    /// Returns the block as the user wrote it, without our attributes.
    pub(crate) fn plain(&self) -> TokenStream {
        let members = self.members.iter().map(BlockMember::plain);
        let braces = regroup(&self.braces, members.collect());
        let mut block = self.header.clone();
        block.extend([TokenTree::Group(braces)]);
        block
    }
}

impl BlockMember {
    fn plain(&self) -> TokenStream {
        match self {
            Self::Marked(marked) => {
                let tokens = &marked.tokens;
                half_typed::function(tokens).unwrap_or_else(|| without_helpers(tokens.clone()))
            }
            Self::Plain(tokens) | Self::Macro(tokens) | Self::Hidden(_, tokens) => tokens.clone(),
        }
    }
}

/// Returns an item that is not an impl block, such as a trait, without our attributes on its members.
pub(crate) fn without_marks(tokens: TokenStream) -> TokenStream {
    let unmarked = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            match members.parse2(group.stream()) {
                Ok(members) => {
                    regroup(&group, members.iter().map(BlockMember::plain).collect()).into()
                }
                Err(_) => group.into(),
            }
        }
        token => token,
    };
    tokens.into_iter().map(unmarked).collect()
}

struct BlockHeader {
    keyword: Token![impl],
    generics: Generics,
    of_trait: Option<Token![for]>,
    self_ty: Type,
}

impl Parse for BlockHeader {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Option<Token![unsafe]>>()?;
        let keyword = input.parse()?;
        let generics = input.parse()?;
        input.parse::<Option<Token![!]>>()?;
        let mut self_ty = input.parse()?;
        let of_trait: Option<Token![for]> = input.parse()?;
        if of_trait.is_some() {
            self_ty = input.parse()?;
        }
        input.parse::<Option<WhereClause>>()?;
        Ok(Self { keyword, generics, of_trait, self_ty })
    }
}

fn members(input: ParseStream<'_>) -> syn::Result<Vec<BlockMember>> {
    let mut members = Vec::new();
    while !input.is_empty() {
        members.push(member(input)?);
    }
    Ok(members)
}

fn member(input: ParseStream<'_>) -> syn::Result<BlockMember> {
    let start = input.cursor();
    let ahead = input.fork();
    let function = ahead.parse::<Function>();
    let attrs = input.fork().call(Attribute::parse_outer).unwrap_or_default();
    if function.is_ok() {
        input.advance_to(&ahead);
    } else {
        skip(input)?;
    }
    let hidden = attrs.iter().find_map(hidden);
    let marked = attrs.into_iter().find_map(|attr| {
        let path: Vec<String> =
            attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
        Kind::of_path(&path).map(|kind| (kind, attr))
    });
    let tokens = between(start, input.cursor());
    Ok(match marked {
        Some((kind, attr)) => {
            BlockMember::Marked(Box::new(Marked { kind, attr, tokens, function }))
        }
        None => match hidden {
            Some(hidden) => BlockMember::Hidden(hidden, without_conditional(tokens)),
            None if is_macro(&tokens) => BlockMember::Macro(tokens),
            None => BlockMember::Plain(tokens),
        },
    })
}

/// Reads `#[cfg_attr(condition, tool)]`. Returns `None` for any other attribute.
fn hidden(attr: &Attribute) -> Option<Hidden> {
    let list = attr.meta.require_list().ok().filter(|list| list.path.is_ident("cfg_attr"))?;
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let mut tokens = list.tokens.clone().into_iter();
    let condition = tokens.by_ref().take_while(|token| !is_comma(token)).collect();
    let kind = Kind::of_path(&path_of(&tokens.collect()))?;
    Some(Hidden { kind, span: attr.path().span(), condition })
}

/// Whether a member is `name!(…)`, perhaps with attributes.
fn is_macro(tokens: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.windows(2).any(
        |pair| matches!(pair, [TokenTree::Ident(_), TokenTree::Punct(punct)] if punct.as_char() == '!'),
    ) && !tokens.iter().any(|token| matches!(token, TokenTree::Ident(ident) if ident == "fn"))
}

/// Skips a member that is not a function: up to the end of its first braces, or to the `;` of a constant or a type.
fn skip(input: ParseStream<'_>) -> syn::Result<()> {
    let mut to_semicolon = false;
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        match token {
            TokenTree::Ident(ident) if ident == "const" || ident == "type" => to_semicolon = true,
            TokenTree::Ident(ident) if ident == "fn" => to_semicolon = false,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !to_semicolon => {
                return Ok(());
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}
