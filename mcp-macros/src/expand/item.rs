//! Generates the code that registers an item.

use super::call::call;
use super::definition::definition;
use super::mark::mark;
use super::param::{Field, fields};
use super::{here, root, schema, target};
use crate::item::{Item, Kind, Mode};
use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;

/// Generates everything but the mark in one constant, so that its names cannot conflict with other names.
pub(crate) fn item(item: &Item<'_>) -> TokenStream {
    let root = root(item.keys.crate_path.as_ref());
    let fields = fields(item);
    // The result of a tool is probed too.
    let probes = item.kind == Kind::Tool || !fields.is_empty();
    let probing = probes.then(|| quote_spanned!(here()=> use __mcp::param::*;));
    let args = args(&fields);
    let spreads = fields.iter().filter_map(|it| it.spread(&root));
    let params = params(item, &fields);
    let call = call(item, &fields);
    let definition = definition(item);
    let mark = mark(item);
    let schemas = schema::constants(item, &fields);
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

/// Generates the attributes that the code takes over from the function. A function that `cfg` removes must not be registered. A deprecated
/// function may be, which needs an `allow`: a crate that forbids this `allow` cannot register such a function.
pub(super) fn inherited(item: &Item<'_>) -> TokenStream {
    let attrs = &item.function.attrs;
    let cfgs = attrs.iter().filter(|it| it.path().is_ident("cfg"));
    let deprecated = attrs.iter().any(|it| it.path().is_ident("deprecated"));
    let allow = deprecated.then(|| quote_spanned!(here()=> #[allow(deprecated)]));
    quote_spanned!(here()=> #(#cfgs)* #allow)
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
