//! Generates the code for the parameters of a function: their definitions, and for each of them a handle, whose methods read the value.

use super::mark::marked;
use super::snippets::{at, description, here, reexport, root_text, setter, text};
use crate::docs::Doc;
use crate::errors::position;
use crate::item::data::own_types;
use crate::item::tokens::outside;
use crate::item::{Item, Mode, Param, Place, Role};
use crate::keys::Given;
use crate::keys::arg::{Completer, DefaultValue};
use crate::keys::attributes::ArgKeys;
use crate::keys::number::{Bound, Len, Range};
use crate::keys::text::{json_float, json_literal};
use crate::syntax::{first_reference, is_borrowed_argument, strip_groups};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::{Expr, ExprLit, Lit, Type};

/// Parameter with its index, which is part of its names in generated code.
pub(super) struct Field<'a> {
    item: &'a Item<'a>,
    param: &'a Param<'a>,
    index: usize,
}

/// Returns all parameters of an item, including the receiver.
pub(super) fn fields<'a>(item: &'a Item<'a>) -> Vec<Field<'a>> {
    item.params.iter().enumerate().map(|(index, param)| Field { item, param, index }).collect()
}

impl Field<'_> {
    /// Returns the span for generated tokens of this parameter. Errors in these tokens point at the parameter's type.
    fn span(&self) -> Span {
        at(self.param.span())
    }

    pub(super) fn handle_name(&self) -> Ident {
        format_ident!("__p{}", self.index, span = self.span())
    }

    pub(super) fn value_name(&self) -> Ident {
        format_ident!("__v{}", self.index, span = self.span())
    }

    fn is_spread(&self) -> bool {
        !self.param.spread.is_empty()
    }

    /// Returns the type in a form that is valid outside of the function.
    fn outside(&self, ty: &Type) -> TokenStream {
        let owner = self.item.owner.map(quote::ToTokens::to_token_stream);
        outside(ty.to_token_stream(), owner.as_ref())
    }

    /// Generates the handle: a zero-sized value whose methods read the parameter.
    pub(super) fn handle(&self) -> TokenStream {
        let span = self.span();
        let Place::Typed(ident, ty) = self.param.place else {
            let (owner, span) = (self.item.owner, self.receiver_span());
            return quote_spanned!(span=> __mcp::Probe::<#owner>::NEW.receiver());
        };
        if self.is_spread() {
            let (holder, field) = (self.holder(), located(ident, span));
            return quote_spanned! {span=>
                (&&__mcp::Probe::<#holder>::NEW).field_param(|__it| __it.#field)
            };
        }
        let probe = match self.item.role(self.param) {
            Role::Tool => quote_spanned!(span=> tool_param),
            Role::Text => quote_spanned!(span=> text_param),
            Role::Server => quote_spanned!(span=> server_param),
            Role::Completion => quote_spanned!(span=> completion_param),
        };
        let ty = self.outside(ty);
        quote_spanned!(span=> (&&&&__mcp::Probe::<#ty>::NEW).#probe())
    }

    /// Generates the handle with checks of the parameter's type. With incremental compilation, rustc reports an error twice if two pieces
    /// of code cause it, so `read` repeats only the checks that its own code requires.
    fn checked_handle(&self) -> TokenStream {
        let (span, handle) = (self.span(), self.handle());
        if matches!(self.param.place, Place::Receiver(_)) {
            return quote_spanned!(self.receiver_span()=> #handle.check_shared());
        }
        let Some(ty) = self.judged_type() else { return handle };
        let in_place = (self.item.mode() == Mode::InPlace)
            .then(|| quote_spanned!(span=> .check_in_place::<#ty>()));
        let from_client = self.judged_source();
        quote_spanned!(span=> #handle.check::<#ty>().check_owned::<#ty>() #in_place #from_client)
    }

    /// Generates the check that a parameter with `#[arg]` or `#[complete]` is an argument.
    fn judged_source(&self) -> Option<TokenStream> {
        let (span, ty) = (self.span(), self.judged_type()?);
        self.speaks().then(|| quote_spanned!(span=> .check_from_client::<#ty>()))
    }

    /// Returns the type to check. Returns `None` for a parameter with attributes of serde, because it is a field of a generated struct, and
    /// the derives of the struct check its type.
    fn judged_type(&self) -> Option<TokenStream> {
        match self.param.place {
            Place::Typed(_, ty) if !self.is_spread() => Some(self.outside(ty)),
            _ => None,
        }
    }

    /// Returns the span for errors about the state. They point at the type of the impl block.
    fn receiver_span(&self) -> Span {
        at(self.item.owner.map_or_else(|| self.span(), syn::spanned::Spanned::span))
    }

    /// Whether the parameter has an attribute that only an argument can have.
    fn speaks(&self) -> bool {
        self.param
            .attrs
            .iter()
            .map(syn::Attribute::path)
            .any(|path| path.is_ident("arg") || path.is_ident("complete"))
    }

    fn arg(&self) -> TokenStream {
        let index = Literal::usize_unsuffixed(self.index);
        quote_spanned!(self.span()=> &__ARGS[#index])
    }

    /// Generates the statement that adds the parameter to the item's schema.
    pub(super) fn add(&self) -> TokenStream {
        let (span, handle, arg) = (self.span(), self.checked_handle(), self.arg());
        match self.default() {
            Some(default) => quote_spanned!(span=> __to.add_default(#handle, #arg, #default);),
            None => quote_spanned!(span=> __to.add(#handle, #arg);),
        }
    }

    /// Generates the property of the constant schema for the parameter. The receiver has none.
    pub(super) fn property(&self, is_demanded: bool) -> Option<TokenStream> {
        let Place::Typed(_, ty) = self.param.place else { return None };
        let keys = &self.param.keys;
        // A constraint that does not fit the type fails here.
        let constraint = (keys.range.as_ref().map(Given::span))
            .or_else(|| keys.len.as_ref().map(Given::span))
            .or_else(|| keys.pattern.as_ref().map(Given::span));
        let (span, arg) = (constraint.map_or_else(|| self.span(), at), self.arg());
        let ty = if self.is_spread() {
            let holder = self.holder();
            quote_spanned!(span=> __mcp::Args<#holder>)
        } else {
            self.outside(ty)
        };
        let demanded = is_demanded.then(|| quote_spanned!(span=> .demanded()));
        Some(quote_spanned! {span=>
            __mcp::Property::new(#arg, __mcp::Probe::<#ty>::IS_SERVER, __mcp::Probe::<#ty>::PARAM)
                #demanded
        })
    }

    /// Generates the check that the parameter's type can be read from text. The receiver needs none.
    pub(super) fn judged_text(&self) -> Option<TokenStream> {
        let Place::Typed(_, ty) = self.param.place else { return None };
        let (span, arg, ty) = (self.span(), self.arg(), self.outside(ty));
        Some(quote_spanned! {span=>
            const _: () = __mcp::judge_text(
                #arg,
                __mcp::Probe::<#ty>::IS_SERVER || __mcp::Probe::<#ty>::IS_PARSED,
                __mcp::Probe::<#ty>::PARAM
            );
        })
    }

    /// Generates the checks that no type of the parameter is a form with bounds, which the server would not check in an argument. Types of
    /// std are left out.
    pub(super) fn judged_forms(&self) -> TokenStream {
        let Place::Typed(_, ty) = self.param.place else { return TokenStream::new() };
        let (span, arg) = (self.span(), self.arg());
        let judged = own_types(ty).into_iter().map(|ty| {
            let ty = self.outside(&ty);
            quote_spanned! {span=>
                const _: () = __mcp::judge_form(#arg, __mcp::Probe::<#ty>::BOUND);
            }
        });
        judged.collect()
    }

    pub(super) fn read(&self) -> TokenStream {
        let (span, handle, value, arg) =
            (self.span(), self.handle_name(), self.value_name(), self.arg());
        let owned = self.judged_type().map(|ty| quote_spanned!(span=> .check_owned::<#ty>()));
        match self.default() {
            Some(default) => {
                // Repeats the check that the parameter is an argument. Otherwise, if the server provides its value, rustc would also report
                // that it cannot infer the type of the default.
                let judged = self.judged_source();
                quote_spanned! {span=>
                    let #value = #handle #owned #judged.read_or(&mut __call, #arg, #default);
                }
            }
            None => {
                quote_spanned!(span=> let #value = #handle #owned.read(&mut __call, #arg);)
            }
        }
    }

    /// Generates the argument for the call of the user's function.
    pub(super) fn pass(&self, context: &TokenStream) -> TokenStream {
        let span = self.span();
        let (handle, value) = (self.handle_name(), self.value_name());
        let borrow = match self.param.place {
            Place::Typed(_, ty) if self.is_spread() && borrowed(ty).is_some() => {
                quote_spanned!(span=> &)
            }
            _ => TokenStream::new(),
        };
        quote_spanned!(span=> #borrow #handle.pass(#context, &mut #value)?)
    }

    fn default(&self) -> Option<TokenStream> {
        let owner = self.item.owner.map(quote::ToTokens::to_token_stream);
        let span = self.span();
        let DefaultValue(expr) = &self.param.keys.default.as_ref()?.value;
        Some(match expr {
            None => quote_spanned!(span=> || __mcp::from_default()),
            Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
                let made = at(text.span());
                quote_spanned!(made=> || __mcp::from_text(#text))
            }
            Some(expr) => {
                let expr = outside(expr.to_token_stream(), owner.as_ref());
                quote_spanned!(span=> || #expr)
            }
        })
    }

    /// Generates the default for the schema: a literal, the last segment of a path, or a note that the default is `Default::default()` or
    /// another expression.
    fn literal(&self) -> Option<TokenStream> {
        let DefaultValue(expr) = &self.param.keys.default.as_ref()?.value;
        Some(match expr {
            None => quote_spanned!(here()=> __mcp::Literal::Empty),
            Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
                quote_spanned!(here()=> __mcp::Literal::Text(#text))
            }
            Some(Expr::Path(path)) if path.path.segments.len() > 1 => {
                let variant =
                    path.path.segments.last().map(|segment| segment.ident.unraw().to_string());
                quote_spanned!(here()=> __mcp::Literal::Variant(#variant))
            }
            Some(expr) => match json_literal.parse2(expr.to_token_stream()) {
                Ok(text) if text == "true" || text == "false" || text.parse::<i128>().is_ok() => {
                    quote_spanned!(here()=> __mcp::Literal::Json(#text))
                }
                Ok(text) if !text.contains('e') => {
                    let float: f64 = text.parse().unwrap_or(f64::NAN);
                    #[expect(clippy::cast_possible_truncation, reason = "that is the question")]
                    let single = f64::from(float as f32) == float;
                    quote_spanned!(here()=> __mcp::Literal::Float { json: #text, single: #single })
                }
                _ => quote_spanned!(here()=> __mcp::Literal::Expression),
            },
        })
    }

    fn holder(&self) -> Ident {
        format_ident!("__Field{}", self.index, span = here())
    }

    /// For a parameter with attributes of serde or schemars, generates the struct that serde deserializes.
    pub(super) fn spread(&self, root: &TokenStream) -> Option<TokenStream> {
        let Place::Typed(ident, ty) = self.param.place else { return None };
        if !self.is_spread() {
            return None;
        }
        let owner = self.item.owner.map(quote::ToTokens::to_token_stream);
        let owned = match borrowed(ty) {
            Some(Type::Slice(slice)) => {
                let elem = &slice.elem;
                quote_spanned!(here()=> ::std::vec::Vec<#elem>)
            }
            Some(_) => quote_spanned!(here()=> ::std::string::String),
            None => ty.to_token_stream(),
        };
        let (holder, field, owned) =
            (self.holder(), located(ident, self.span()), outside(owned, owner.as_ref()));
        let (serde, schemars) = (reexport(root, "serde"), reexport(root, "schemars"));
        let root = root_text(root);
        let docs = self.param.attrs.iter().filter(|attr| attr.path().is_ident("doc"));
        let attrs = &self.param.spread;
        Some(quote_spanned! {here()=>
            #[derive(__mcp::serde::Deserialize, __mcp::schemars::JsonSchema, __mcp::Schema)]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            #[mcp(crate = #root)]
            struct #holder {
                #(#docs)*
                #(#attrs)*
                #field: #owned,
            }
        })
    }

    /// Generates the `ArgDef`, with everything that is known without the type.
    pub(super) fn definition(&self) -> TokenStream {
        let name = self.param.name();
        let owner = self.item.owner.map(quote::ToTokens::to_token_stream);
        let keys = &self.param.keys;
        let setters = setters(keys, self.param.doc.as_ref());
        let complete =
            keys.complete.as_ref().map(|complete| completer(&complete.value, owner.as_ref()));
        let default = self.literal().map(|literal| quote_spanned!(here()=> .default(#literal)));
        let line = line(self.param.span());
        quote_spanned!(here()=> __mcp::ArgDef::new(#name) #setters #default #complete #line)
    }

    /// Generates the keys and expressions of the attributes, or nothing if there are none.
    pub(super) fn in_editor(&self) -> Option<TokenStream> {
        let keys = &self.param.keys;
        let owner = self.item.owner.map(quote::ToTokens::to_token_stream);
        let user = |tokens: TokenStream| outside(tokens, owner.as_ref());
        let path = keys.complete.as_ref().and_then(|complete| match &complete.value {
            Completer::Function(path) => Some(user(path.to_token_stream())),
            Completer::Values(_) => None,
        });
        let path = path.map(|path| quote_spanned!(here()=> let _ = #path;));
        let made = keys.default.as_ref().and_then(|default| match &default.value.0 {
            None | Some(Expr::Lit(ExprLit { lit: Lit::Str(_), .. })) => None,
            Some(expr) => Some(user(expr.to_token_stream())),
        });
        let made = made.map(|expr| match self.param.place {
            // With the type, the editor completes names that have this type first. A borrowed type is not that of the default.
            Place::Typed(_, ty) if first_reference(ty).is_none() => {
                let ty = self.outside(ty);
                quote_spanned!(here()=> let _ = || -> #ty { #expr };)
            }
            _ => quote_spanned!(here()=> let _ = || #expr;),
        });
        let complete = keys.complete.as_ref().map(|complete| {
            let name = setter("complete", complete.span());
            quote_spanned!(here()=> .#name(__mcp::Completer::Values(&[])))
        });
        let default = keys.default.as_ref().map(|default| {
            let name = setter("default", default.span());
            quote_spanned!(here()=> .#name(__mcp::Literal::Empty))
        });
        let setters = setters(keys, None);
        let keys = quote_spanned!(here()=> #setters #complete #default);
        (!keys.is_empty())
            .then(|| quote_spanned!(here()=> __mcp::ArgDef::new("") #keys; #path #made))
    }
}

/// Generates the line of the parameter in the user's file, if the compiler knows it.
fn line(span: Span) -> Option<TokenStream> {
    let (line, _) = position(span);
    (line > 0).then(|| {
        let line = Literal::usize_unsuffixed(line);
        quote_spanned!(here()=> .line(#line))
    })
}

/// Returns `str` for `&str`, and `[T]` for `&[T]`. An argument of such a type borrows from a value that the call owns.
fn borrowed(ty: &Type) -> Option<&Type> {
    match strip_groups(ty) {
        Type::Reference(reference) if is_borrowed_argument(&reference.elem) => {
            Some(strip_groups(&reference.elem))
        }
        _ => None,
    }
}

fn located(ident: &Ident, span: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}

/// Generates the setters for the keys that need no type, and for the documentation in place of the key `description`.
fn setters(keys: &ArgKeys, doc: Option<&Doc<'_>>) -> TokenStream {
    let title = keys.title.as_ref().map(|given| {
        let (name, title) = (setter("title", given.span()), text(&given.value));
        quote_spanned!(here()=> .#name(#title))
    });
    let described = description(keys.description.as_ref(), doc);
    let range = keys.range.as_ref().map(range);
    let len = keys.len.as_ref().map(len);
    let pattern = keys.pattern.as_ref().map(|pattern| {
        let (name, text) = (setter("pattern", pattern.span()), &pattern.value.0);
        quote_spanned! {here()=>
            .#name(#text, {
                static __REGEX: __mcp::CompiledPattern = __mcp::CompiledPattern::new();
                &__REGEX
            })
        }
    });
    let example = keys.example.as_ref().map(|example| {
        let (name, json) = (setter("example", example.span()), &example.value.json);
        quote_spanned!(here()=> .#name(#json))
    });
    let header = keys.header.as_ref().map(|header| {
        let (setter, name) = (setter("header", header.span()), &header.value.0);
        quote_spanned!(here()=> .#setter(#name))
    });
    quote_spanned!(here()=> #title #described #range #len #pattern #example #header)
}

fn range(given: &Given<Range>) -> TokenStream {
    let (name, range) = (setter("range", given.span()), &given.value);
    let start = range.start.map(|start| bound("min", start));
    let end = range.end.map(|end| bound(if range.inclusive { "max" } else { "below" }, end));
    quote_spanned!(here()=> .#name(__mcp::Range::new() #start #end))
}

/// Generates the setter call for a bound. A float gets its JSON text as a second argument, because float formatting is not available in
/// const code. The text is omitted if it needs an exponent.
fn bound(side: &str, bound: Bound) -> TokenStream {
    let setter = |kind: &str| format_ident!("{side}_{kind}", span = here());
    match bound {
        Bound::Int(int) => {
            let (setter, int) = (setter("int"), Literal::i128_unsuffixed(int));
            quote_spanned!(here()=> .#setter(#int))
        }
        Bound::Float(float) => {
            let (text, float) = (json_float(float), Literal::f64_unsuffixed(float));
            if text.contains('e') {
                let setter = setter("float");
                quote_spanned!(here()=> .#setter(#float))
            } else {
                let setter = setter("json");
                quote_spanned!(here()=> .#setter(#float, #text))
            }
        }
    }
}

fn len(given: &Given<Len>) -> TokenStream {
    let (name, len) = (setter("len", given.span()), &given.value);
    let count = |length: Option<usize>| {
        length.map_or_else(
            || quote_spanned!(here()=> ::core::option::Option::None),
            |length| {
                let count = Literal::usize_unsuffixed(length);
                quote_spanned!(here()=> ::core::option::Option::Some(#count))
            },
        )
    };
    let (min, max) = (count(len.min), count(len.max));
    quote_spanned!(here()=> .#name(#min, #max))
}

fn completer(completer: &Completer, owner: Option<&TokenStream>) -> TokenStream {
    match completer {
        Completer::Values(values) => {
            quote_spanned!(here()=> .complete(__mcp::Completer::Values(&[#(#values),*])))
        }
        Completer::Function(path) => {
            let identity = marked(path, owner);
            quote_spanned!(here()=> .complete(__mcp::Completer::Function(|| #identity)))
        }
    }
}
