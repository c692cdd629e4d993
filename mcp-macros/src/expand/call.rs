//! Generates the function that reads the arguments and calls the user's function.

use super::param::Field;
use super::{at, here, target};
use crate::item::tokens::outside;
use crate::item::{Item, Kind, Mode};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned as _;

pub(super) fn call(item: &Item<'_>, fields: &[Field<'_>]) -> TokenStream {
    let handles = fields.iter().map(|it| {
        let (name, handle) = (it.handle_name(), it.handle());
        quote_spanned!(here()=> let #name = #handle;)
    });
    let reads = fields.iter().map(Field::read);
    let accept = accept(fields);
    let run = run(item, fields);
    quote_spanned! {here()=>
        fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
            #(#handles)*
            #(#reads)*
            #accept
            #run
        }
    }
}

/// Generates the check of the arguments. All of them have been read before it, so that the error can name every wrong one.
fn accept(fields: &[Field<'_>]) -> TokenStream {
    if fields.is_empty() {
        return quote_spanned!(here()=> if !__call.accept() { return __call.refuse(); });
    }
    let values: Vec<_> = fields.iter().map(Field::value_name).collect();
    quote_spanned! {here()=>
        let (true, #(::core::option::Option::Some(mut #values)),*) = (__call.accept(), #(#values),*) else {
            return __call.refuse();
        };
    }
}

/// Generates the call of the user's function. It is located at the function's name, so that an error about a future that is not `Send`
/// points there.
fn run(item: &Item<'_>, fields: &[Field<'_>]) -> TokenStream {
    let target = target::called(item);
    let span = at(item.function.sig.ident.span());
    let mode = item.mode();
    let needs_context = !fields.is_empty() || item.kind == Kind::Resource;
    let parameter =
        if needs_context { quote_spanned!(span=> __cx) } else { quote_spanned!(span=> _) };
    let context = match mode {
        Mode::Async => quote_spanned!(span=> &__cx),
        Mode::InPlace | Mode::Blocking => quote_spanned!(span=> __cx),
    };
    let args = fields.iter().map(|it| it.pass(&context));
    let called = quote_spanned!(span=> #target(#(#args),*));
    match mode {
        Mode::Async => {
            let reply = reply(item, &quote_spanned!(span=> #called.await), &context);
            quote_spanned!(span=> __call.future(move |#parameter| async move { #reply }))
        }
        Mode::InPlace => {
            let reply = reply(item, &called, &context);
            quote_spanned!(span=> __call.ready(move |#parameter| #reply))
        }
        Mode::Blocking => {
            let reply = reply(item, &called, &context);
            quote_spanned!(span=> __call.blocking(move |#parameter| #reply))
        }
    }
}

/// Generates the conversion of the result to a reply. A `match` keeps borrowed arguments alive until the reply is made, a `let` would not.
/// The type of the result is repeated, so that an error about a type that is no reply points at it.
fn reply(item: &Item<'_>, called: &TokenStream, context: &TokenStream) -> TokenStream {
    let (span, ty) = (at(result_span(item)), output(item));
    let made = match item.kind {
        Kind::Tool => quote_spanned!(span=> __mcp::tool_reply::<#ty>(__reply)),
        Kind::Resource => quote_spanned!(span=> __mcp::resource_reply::<#ty>(#context, __reply)),
        Kind::Prompt => quote_spanned!(span=> __mcp::prompt_reply::<#ty>(__reply)),
        Kind::Completion => quote_spanned!(span=> __mcp::completion_reply::<#ty>(__reply)),
    };
    quote_spanned!(span=> match #called { __reply => #made })
}

/// Returns the place for errors about the result: its type, or the function's name if there is none.
pub(super) fn result_span(item: &Item<'_>) -> Span {
    match &item.function.sig.output {
        ReturnType::Default => item.function.sig.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    }
}

/// Returns the type of the result in a form that is valid outside of the function.
pub(super) fn output(item: &Item<'_>) -> TokenStream {
    let owner = item.owner.map(quote::ToTokens::to_token_stream);
    match &item.function.sig.output {
        ReturnType::Default => quote_spanned!(at(item.function.sig.ident.span())=> ()),
        ReturnType::Type(_, ty) => outside(ty.to_token_stream(), owner.as_ref()),
    }
}
