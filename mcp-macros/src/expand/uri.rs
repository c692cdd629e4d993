//! URI templates as tables, which the runtime matches URIs with.

use super::here;
use crate::uri::{Segment, Template, VariableKind};
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

/// Generates the table of segments, which is empty for a URI without variables.
pub(super) fn segments(template: &Template) -> TokenStream {
    if template.variables().next().is_none() {
        return quote_spanned!(here()=> &[]);
    }
    let segments = template.segments.iter().map(|segment| match segment {
        Segment::Literal(text) => quote_spanned!(here()=> __mcp::Segment::Literal(#text)),
        Segment::Variable(variable) => {
            let (name, explode, kind) = (&variable.name, variable.explode, kind(variable.kind));
            quote_spanned! {here()=>
                __mcp::Segment::Variable { name: #name, kind: __mcp::VariableKind::#kind, explode: #explode }
            }
        }
    });
    quote_spanned!(here()=> &[#(#segments),*])
}

fn kind(kind: VariableKind) -> Ident {
    let name = match kind {
        VariableKind::Simple => "Simple",
        VariableKind::Reserved => "Reserved",
        VariableKind::Label => "Label",
        VariableKind::Path => "Path",
        VariableKind::Query => "Query",
        VariableKind::QueryMore => "QueryMore",
    };
    Ident::new(name, here())
}
