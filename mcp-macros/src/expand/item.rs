//! Generates the code that registers an item, and the function in it that reads the arguments and calls the user's function.

use super::definition::{constants, definition, keys};
use super::mark::mark;
use super::param::{Field, fields};
use super::snippets::{at, code_for_editor, here, root};
use super::target::{self, inherited, output, result_span};
use crate::editor::in_editor;
use crate::item::{Item, Kind, Mode};
use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;

/// Generates the registration of an item. All code except the mark is in one constant, so that generated names cannot conflict with names
/// of the user.
pub(crate) fn item(item: &Item<'_>) -> TokenStream {
    if in_editor() {
        return for_editor(item);
    }
    let root = root(item.keys.crate_path.as_ref());
    let fields = fields(item);
    // The traits that probe types are imported only if they are used: for a parameter, or for the result of a tool or resource.
    let probes = matches!(item.kind, Kind::Tool | Kind::Resource) || !fields.is_empty();
    let probing = probes.then(|| quote_spanned!(here()=> use __mcp::param::*;));
    let args = args(&fields);
    let spreads = fields.iter().filter_map(|field| field.spread(&root));
    let params = params(item, &fields);
    let call = call(item, &fields);
    let definition = definition(item);
    let mark = mark(item);
    let schemas = constants(item, &fields);
    let body = quote_spanned! {here()=>
        use #root::__private as __mcp;
        #probing
        #args
        #(#spreads)*
        #params
        #call
        #schemas
        __mcp::register!(#definition);
    };
    let constant = target::constant(item, &root, &body);
    quote_spanned!(here()=> #mark #constant)
}

/// Generates the code beside the errors of an item.
pub(crate) fn unfinished(item: &Item<'_>) -> Option<TokenStream> {
    if in_editor() { Some(for_editor(item)) } else { mark(item) }
}

/// Generates the expressions and keys of an item, also of an item with mistakes. An attribute on a method is imported, because
/// `#[handlers]` has taken it out of the block.
fn for_editor(item: &Item<'_>) -> TokenStream {
    let keys = keys(item, None);
    let keys = (!keys.is_empty()).then(
        || quote_spanned!(here()=> ::core::option::Option::<__mcp::ItemDef>::None.unwrap() #keys;),
    );
    let arguments: TokenStream = fields(item).iter().filter_map(Field::in_editor).collect();
    let attribute = item.attribute.map(|path| quote_spanned!(here()=> use #path as _;));
    let root = root(item.keys.crate_path.as_ref());
    code_for_editor(&inherited(item), &root, &quote_spanned!(here()=> #attribute #keys #arguments))
}

fn args(fields: &[Field<'_>]) -> Option<TokenStream> {
    let count = Literal::usize_unsuffixed(fields.len());
    let definitions = fields.iter().map(Field::definition);
    (!fields.is_empty()).then(
        || quote_spanned!(here()=> static __ARGS: [__mcp::ArgDef; #count] = [#(#definitions),*];),
    )
}

fn params(item: &Item<'_>, fields: &[Field<'_>]) -> TokenStream {
    let in_place =
        (item.mode() == Mode::InPlace).then(|| quote_spanned!(here()=> __to.in_place();));
    let adds = fields.iter().map(Field::add);
    let used = in_place.is_some() || !fields.is_empty();
    let name = if used { quote_spanned!(here()=> __to) } else { quote_spanned!(here()=> _) };
    quote_spanned! {here()=>
        fn __params(#name: &mut __mcp::Params) {
            #in_place
            #(#adds)*
        }
    }
}

fn call(item: &Item<'_>, fields: &[Field<'_>]) -> TokenStream {
    let handles = fields.iter().map(|field| {
        let (name, handle) = (field.handle_name(), field.handle());
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

/// Generates the check of the arguments. All arguments are read before the check, so that the error can name every wrong argument.
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

/// Generates the call of the user's function. The call has the span of the function's name, so that an error about a future that is not
/// `Send` points at the name.
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
    let args = fields.iter().map(|field| field.pass(&context));
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

/// Generates the conversion of the result to a reply. Unlike a `let`, a `match` keeps borrowed arguments alive until the reply is made. The
/// generated code repeats the type of the result, so that an error about an unsuitable type points at the user's type.
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
