//! Syntax of a function's signature. syn has this syntax only with its feature `full`, which costs each user of the macros time to compile.

use crate::syntax::{between, find, strip_groups};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream};
use syn::{Abi, Attribute, Generics, Lifetime, ReturnType, Token, Type};

/// A function from its qualifiers to its where clause.
pub(crate) struct Signature {
    pub(crate) constness: Option<Token![const]>,
    pub(crate) asyncness: Option<Token![async]>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) abi: Option<Abi>,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) inputs: Vec<Input>,
    /// The dots of C-variadic arguments.
    pub(crate) variadic: Option<Token![...]>,
    pub(crate) output: ReturnType,
    /// The whole signature.
    pub(crate) tokens: TokenStream,
}

/// A parameter, or the receiver.
pub(crate) enum Input {
    Receiver(Receiver),
    Typed(Box<TypedInput>),
}

pub(crate) struct Receiver {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) self_token: Token![self],
    /// Whether the receiver is `&self`, or `self: &Self`, its long form.
    pub(crate) is_shared: bool,
    pub(crate) is_mutable: bool,
}

pub(crate) struct TypedInput {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) binding: Binding,
    pub(crate) ty: Type,
}

/// Pattern of a parameter.
pub(crate) enum Binding {
    /// `name`, or `mut name`
    Name(Ident),
    /// `_`
    Wild(Span),
    /// Any other pattern.
    Pattern(TokenStream),
}

impl Parse for Signature {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let start = input.cursor();
        let constness = input.parse()?;
        let asyncness = input.parse()?;
        let unsafety = input.parse()?;
        let abi = input.parse()?;
        input.parse::<Token![fn]>()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let content;
        syn::parenthesized!(content in input);
        let (inputs, variadic) = inputs(&content)?;
        let output = input.parse()?;
        generics.where_clause = input.parse()?;
        let tokens = between(start, input.cursor());
        Ok(Self {
            constness,
            asyncness,
            unsafety,
            abi,
            ident,
            generics,
            inputs,
            variadic,
            output,
            tokens,
        })
    }
}

impl Signature {
    pub(crate) fn receiver(&self) -> Option<&Receiver> {
        match self.inputs.first()? {
            Input::Receiver(receiver) => Some(receiver),
            Input::Typed(_) => None,
        }
    }
}

fn inputs(input: ParseStream<'_>) -> syn::Result<(Vec<Input>, Option<Token![...]>)> {
    let mut inputs = Vec::new();
    while !input.is_empty() {
        let attrs = input.call(Attribute::parse_outer)?;
        let variadic = match input.parse()? {
            Some(dots) => Some(dots),
            None => one(attrs, input, &mut inputs)?,
        };
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        if variadic.is_some() {
            return Ok((inputs, variadic));
        }
    }
    Ok((inputs, None))
}

/// Parses a parameter after its attributes. If the tokens are `name: ...`, which is not a parameter, returns the dots.
fn one(
    attrs: Vec<Attribute>,
    input: ParseStream<'_>,
    inputs: &mut Vec<Input>,
) -> syn::Result<Option<Token![...]>> {
    let ahead = input.fork();
    if let Ok((is_reference, self_token)) = before_type(&ahead) {
        let receiver = receiver(attrs, is_reference, self_token, input)?;
        let message = match inputs.first() {
            None => {
                inputs.push(Input::Receiver(receiver));
                return Ok(None);
            }
            Some(Input::Receiver(_)) => "unexpected second method receiver",
            Some(Input::Typed(_)) => "unexpected method receiver",
        };
        return Err(syn::Error::new(self_token.span, message));
    }
    let binding = binding(input)?;
    input.parse::<Token![:]>()?;
    let variadic: Option<Token![...]> = input.parse()?;
    if variadic.is_none() {
        inputs.push(Input::Typed(Box::new(TypedInput { attrs, binding, ty: input.parse()? })));
    }
    Ok(variadic)
}

/// Parses `self` and the tokens before it, such as `&mut`. Returns whether there is a `&`.
fn before_type(input: ParseStream<'_>) -> syn::Result<(bool, Token![self])> {
    let is_reference = input.parse::<Option<Token![&]>>()?.is_some();
    if is_reference {
        input.parse::<Option<Lifetime>>()?;
    }
    input.parse::<Option<Token![mut]>>()?;
    let self_token = input.parse()?;
    // `self::CONSTANT` is a pattern.
    if input.peek(Token![::]) {
        Err(input.error("expected `:`"))
    } else {
        Ok((is_reference, self_token))
    }
}

fn receiver(
    attrs: Vec<Attribute>,
    is_reference: bool,
    self_token: Token![self],
    input: ParseStream<'_>,
) -> syn::Result<Receiver> {
    let start = input.cursor();
    before_type(input)?;
    let is_typed = !is_reference && input.parse::<Option<Token![:]>>()?.is_some();
    let ty: Option<Type> = if is_typed { Some(input.parse()?) } else { None };
    let is_mut = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "mut");
    let is_mutable = find(&between(start, input.cursor()), &is_mut).is_some();
    let is_shared = match &ty {
        None => is_reference && !is_mutable,
        Some(ty) => is_reference_to_self(ty),
    };
    Ok(Receiver { attrs, self_token, is_shared, is_mutable })
}

fn is_reference_to_self(ty: &Type) -> bool {
    let Type::Reference(reference) = strip_groups(ty) else { return false };
    let is_self =
        matches!(strip_groups(&reference.elem), Type::Path(path) if path.path.is_ident("Self"));
    reference.mutability.is_none() && is_self
}

/// Parses the pattern of a parameter, up to its colon.
fn binding(input: ParseStream<'_>) -> syn::Result<Binding> {
    let is_colon = |input: ParseStream<'_>| input.peek(Token![:]) && !input.peek(Token![::]);
    let ahead = input.fork();
    ahead.parse::<Option<Token![mut]>>()?;
    if let Ok(name) = ahead.parse::<Ident>()
        && is_colon(&ahead)
    {
        input.advance_to(&ahead);
        return Ok(Binding::Name(name));
    }
    let start = input.cursor();
    while !input.is_empty() && !input.peek(Token![,]) && !is_colon(input) {
        // The next parameter begins with its attributes, or its name comes behind a name.
        if input.peek(Token![#]) || input.peek(syn::Ident) && input.peek2(syn::Ident) {
            return Err(input.error("expected `:`"));
        }
        // Reads both colons of a path together, so that the second is not mistaken for the end of the pattern.
        if input.parse::<Option<Token![::]>>()?.is_none() {
            input.parse::<TokenTree>()?;
        }
    }
    let pattern = between(start, input.cursor());
    let mut tokens = pattern.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(word)), None) if word == "_" => Ok(Binding::Wild(word.span())),
        _ => Ok(Binding::Pattern(pattern)),
    }
}
