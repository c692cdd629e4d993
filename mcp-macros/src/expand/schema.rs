//! Schemas of a tool as constants, which the compiler makes from the types of its parameters and its result.

use super::call::{output, result_span};
use super::param::Field;
use super::{at, here};
use crate::item::{Item, Kind};
use crate::keys::text::SchemaForm;
use proc_macro2::TokenStream;
use quote::quote_spanned;

/// Returns the form of schemas that the compiler has to make, or `None` if it makes none.
fn form(item: &Item<'_>) -> Option<SchemaForm> {
    let form = item.keys.schema.as_ref().map_or(SchemaForm::Compatible, |it| it.value);
    (item.kind == Kind::Tool && form != SchemaForm::Full).then_some(form)
}

fn has_input(item: &Item<'_>) -> bool {
    item.keys.input_schema.is_none()
}

/// Generates the constants before the definition: the schemas of a tool, or checks of the parameters of a prompt or resource.
pub(super) fn constants(item: &Item<'_>, fields: &[Field<'_>]) -> Option<TokenStream> {
    if matches!(item.kind, Kind::Prompt | Kind::Resource) {
        let judged = fields.iter().filter_map(Field::judged_text);
        return Some(judged.collect());
    }
    let form = form(item)?;
    let is_demanded = form == SchemaForm::Static;
    let input = has_input(item).then(|| {
        let properties = fields.iter().filter_map(|it| it.property(is_demanded));
        quote_spanned! {here()=>
            static __INPUT: __mcp::InputSchema =
                __mcp::InputSchema::new(&[#(#properties),*]);
            static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
        }
    });
    let ty = output(item);
    let span = at(result_span(item));
    let demanded =
        is_demanded.then(|| quote_spanned!(span=> .demanded(__mcp::Probe::<#ty>::HAS_OUTPUT)));
    let known = quote_spanned!(span=> __mcp::Probe::<#ty>::OUTPUT #demanded);
    Some(quote_spanned! {here()=>
        #input
        static __OUTPUT: __mcp::ConstantOutput = #known;
        static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    })
}

/// Generates the setters that pass the constants to the definition.
pub(super) fn setters(item: &Item<'_>) -> Option<TokenStream> {
    form(item)?;
    let input = has_input(item).then(|| quote_spanned!(here()=> .input(&__INPUT, &__INPUT_TEXT)));
    Some(quote_spanned!(here()=> #input .output(&__OUTPUT_TEXT, __OUTPUT.is_object())))
}
