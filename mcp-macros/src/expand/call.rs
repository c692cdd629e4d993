//! The function that reads the arguments and calls the user's.

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

/// Every argument has been read by now, so that a refusal can name all that are wrong.
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

/// Located at the function's name: there an error says that its future is not `Send`.
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

/// A `match`, not a `let`: what the arguments lend must live until the reply is made. The result's type is
/// repeated, because there an error says that it is no reply.
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

/// Where errors about the result point: its type, or the function's name where it has none.
pub(super) fn result_span(item: &Item<'_>) -> Span {
    match &item.function.sig.output {
        ReturnType::Default => item.function.sig.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    }
}

/// The result's type as it can be written outside of the function.
pub(super) fn output(item: &Item<'_>) -> TokenStream {
    let owner = item.owner.map(quote::ToTokens::to_token_stream);
    match &item.function.sig.output {
        ReturnType::Default => quote_spanned!(at(item.function.sig.ident.span())=> ()),
        ReturnType::Type(_, ty) => outside(ty.to_token_stream(), owner.as_ref()),
    }
}
