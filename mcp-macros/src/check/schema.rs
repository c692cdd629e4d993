//! Rules for `#[derive(Schema)]`: the items that it can be on, and the keys of `#[mcp]`.

use crate::errors::Errors;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Attribute, Fields, Item, LitStr, Path};

/// Reports unions and mistakes in `#[mcp]`. Anything else that the derive does not understand is left to schemars, which ignores `#[mcp]`.
pub(crate) fn check(item: &Item, errors: &Errors) {
    match item {
        Item::Struct(it) => {
            own(&it.attrs, errors);
            inside(&it.fields, errors);
        }
        Item::Enum(it) => {
            own(&it.attrs, errors);
            for variant in &it.variants {
                misplaced(&variant.attrs, errors);
                inside(&variant.fields, errors);
            }
        }
        Item::Union(it) => {
            let message = "#[derive(Schema)] belongs on a `struct` or an `enum`: write one of them";
            errors.at(it.union_token.span(), message);
        }
        _ => {}
    }
}

fn ours(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|it| it.path().is_ident("mcp"))
}

fn own(attrs: &[Attribute], errors: &Errors) {
    for attr in ours(attrs) {
        errors.keep(attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                let read = |value: ParseStream<'_>| value.parse::<LitStr>()?.parse::<Path>();
                return meta.value().and_then(read).map(drop).map_err(|_| {
                    let message = "`crate` is the path of `mcp_runtime` as text: `crate = \"…\"`";
                    syn::Error::new(meta.path.span(), message)
                });
            }
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            Err(meta.error(format!(
                "unknown key `{name}` of #[mcp]: remove it; what a schema says stands in attributes of serde and schemars. Keys: crate"
            )))
        }));
    }
}

fn inside(fields: &Fields, errors: &Errors) {
    fields.iter().for_each(|it| misplaced(&it.attrs, errors));
}

fn misplaced(attrs: &[Attribute], errors: &Errors) {
    for attr in ours(attrs) {
        let message = "#[mcp] belongs on the type, not on what is in it: remove it; what a schema says here stands in attributes of serde and schemars";
        errors.at(attr.path().span(), message);
    }
}
