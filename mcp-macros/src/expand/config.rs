//! `#[config]`: registers the struct, and generates the function that hands its fields to the runtime.

use super::snippets::{at, cfgs, code_for_editor, constant, doc, here, setter};
use crate::docs::Doc;
use crate::editor::in_editor;
use crate::item::config::{Config, Setting, is_ours};
use crate::keys::Given;
use crate::keys::arg::DefaultValue;
use crate::keys::text::Flag;
use crate::syntax::written;
use proc_macro2::{Delimiter, Group, Ident, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Expr, ExprLit, Lit};

/// Returns the struct without our attributes on its fields.
pub(crate) fn item(mut item: DeriveInput) -> TokenStream {
    if let Data::Struct(data) = &mut item.data {
        data.fields.iter_mut().for_each(|field| field.attrs.retain(|attr| !is_ours(attr)));
    }
    item.into_token_stream()
}

/// Generates the impl and the registration in one unnamed constant, so that their names cannot conflict with names of the user.
pub(crate) fn config(root: &TokenStream, config: &Config<'_>) -> TokenStream {
    if in_editor() {
        return unfinished(root, config).unwrap_or_default();
    }
    let ident = config.ident;
    let reads = config.fields.iter().map(read);
    let members = config.fields.iter().map(|setting| {
        let (ident, local, cfgs) = (setting.ident, local(setting), cfgs(setting.attrs));
        quote_spanned!(here()=> #cfgs #ident: #local?)
    });
    let name = ident.unraw().to_string();
    let about = config.doc.as_ref().map_or_else(|| quote_spanned!(here()=> ""), first_line);
    let prefix = match &config.keys.env {
        Some(prefix) => {
            let prefix = &prefix.value.0;
            quote_spanned!(here()=> ::core::option::Option::Some(#prefix))
        }
        None => quote_spanned!(here()=> ::core::option::Option::None),
    };
    let body = quote_spanned! {here()=>
        impl __mcp::Configuration for #ident {
            fn read(__from: &mut __mcp::ConfigReader<'_>) -> ::core::option::Option<Self> {
                use __mcp::settings::*;
                #(#reads)*
                ::core::option::Option::Some(Self { #(#members),* })
            }
        }
        __mcp::register_config!(__mcp::ConfigDef::new::<#ident>(
            __mcp::Origin::new(
                ::core::env!("CARGO_PKG_NAME"),
                ::core::module_path!(),
                ::core::file!(),
                ::core::line!(),
                #name
            ),
            #about,
            #prefix
        ));
    };
    constant(&cfgs(config.attrs), root, &body)
}

/// Generates the impl of `Debug` that takes the place of a derived impl, and shows `<secret>` in place of a secret.
pub(crate) fn debug(config: &Config<'_>) -> TokenStream {
    let (ident, cfgs_of_all) = (config.ident, cfgs(config.attrs));
    let (generics, types, bounds) = config.generics.split_for_impl();
    let name = ident.unraw().to_string();
    let fields = config.fields.iter().map(|setting| {
        let (ident, cfgs) = (setting.ident, cfgs(setting.attrs));
        let name = ident.unraw().to_string();
        let value = match setting.is_secret() {
            true => quote_spanned!(here()=> &::core::format_args!("<secret>")),
            // rustc underlines all from the first token of an expression to the last, so these two have the places of those of the type.
            false => {
                let mut field =
                    Group::new(Delimiter::Parenthesis, quote_spanned!(here()=> self.#ident));
                if let Some(last) = setting.ty.to_token_stream().into_iter().last() {
                    field.set_span(at(last.span()));
                }
                quote_spanned!(at(setting.ty.span())=> &#field)
            }
        };
        quote_spanned!(here()=> #cfgs __shown.field(#name, #value);)
    });
    quote_spanned! {here()=>
        #cfgs_of_all
        impl #generics ::core::fmt::Debug for #ident #types #bounds {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut __shown = __f.debug_struct(#name);
                #(#fields)*
                __shown.finish()
            }
        }
    }
}

/// Generates a stand-in impl beside the errors of a struct, so that code which uses it causes no further errors.
pub(crate) fn unfinished(root: &TokenStream, config: &Config<'_>) -> Option<TokenStream> {
    if !config.generics.params.is_empty() {
        return None;
    }
    let ident = config.ident;
    let body = quote_spanned! {here()=>
        impl __mcp::Configuration for #ident {
            fn read(_: &mut __mcp::ConfigReader<'_>) -> ::core::option::Option<Self> {
                ::core::option::Option::None
            }
        }
    };
    let mut code = constant(&cfgs(config.attrs), root, &body);
    if in_editor() {
        code.extend(keys_for_editor(root, config));
    }
    Some(code)
}

/// Generates the keys and expressions of the attributes.
fn keys_for_editor(root: &TokenStream, config: &Config<'_>) -> TokenStream {
    let fields = config.fields.iter().map(|setting| {
        let (ty, (keys, default)) = (setting.ty, keys(setting));
        let cfgs = cfgs(setting.attrs);
        let keys = (!keys.is_empty())
            .then(|| quote_spanned!(here()=> #cfgs __mcp::ConfigField::new("", "", 0) #keys;));
        let default = setting.keys.default.as_ref().map(|_| {
            quote_spanned!(here()=> #cfgs let _: ::core::option::Option<fn() -> #ty> = #default;)
        });
        quote_spanned!(here()=> #keys #default)
    });
    code_for_editor(&cfgs(config.attrs), root, &fields.collect())
}

fn local(setting: &Setting<'_>) -> Ident {
    format_ident!("__{}", setting.ident.unraw(), span = here())
}

/// Generates the statement that hands a field to the reader. Its span is that of the type, so that an error about an unsuitable type
/// points there. rustc underlines the whole type only if the type is a generic argument of the method with the bound.
fn read(setting: &Setting<'_>) -> TokenStream {
    let (ty, local, cfgs) = (setting.ty, local(setting), cfgs(setting.attrs));
    let span = at(ty.span());
    let name = setting.ident.unraw().to_string();
    let (option, _) = setting.option();
    let line = quote_spanned!(setting.ident.span()=> ::core::line!());
    let about = setting.doc.as_ref().map(|doc| {
        let about = first_line(doc);
        quote_spanned!(here()=> .about(#about))
    });
    let (keys, default) = keys(setting);
    quote_spanned! {span=>
        #cfgs
        let #local = __mcp::ConfigProbe::<#ty>::new().parser().read::<#ty>(
            __from,
            __mcp::ConfigField::new(#name, #option, #line) #about #keys,
            #default
        );
    }
}

/// Generates the setters for the keys of the field, and its default.
fn keys(setting: &Setting<'_>) -> (TokenStream, TokenStream) {
    let keys = &setting.keys;
    let variable = keys.env.as_ref().map(|env| {
        let (name, variable) = (setter("variable", env.span()), &env.value.0);
        quote_spanned!(here()=> .#name(#variable))
    });
    let switch = |name: &str, flag: &Option<Given<Flag>>| {
        flag.as_ref().filter(|flag| flag.value.0).map(|flag| {
            let name = setter(name, flag.span());
            quote_spanned!(here()=> .#name())
        })
    };
    let secret = switch("secret", &keys.secret);
    let (file, directory) = (switch("file", &keys.file), switch("directory", &keys.directory));
    let (shown, default) = default(setting);
    (quote_spanned!(here()=> #variable #shown #secret #file #directory), default)
}

/// Generates the setter for the text of the default, and the function that makes it.
fn default(setting: &Setting<'_>) -> (Option<TokenStream>, TokenStream) {
    let Some(given) = &setting.keys.default else {
        return (None, quote_spanned!(here()=> ::core::option::Option::None));
    };
    let DefaultValue(value) = &given.value;
    let (shown, made) = match value {
        None => {
            let ty = setting.ty;
            (None, quote_spanned!(at(ty.span())=> __mcp::from_default::<#ty>()))
        }
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
            (Some(text.value()), quote_spanned!(at(text.span())=> __mcp::from_text(#text)))
        }
        Some(expr) => (literal(expr), expr.to_token_stream()),
    };
    let name = setter("default", given.span());
    let shown = shown.map(|shown| quote_spanned!(here()=> .#name(#shown)));
    (shown, quote_spanned!(here()=> ::core::option::Option::Some(|| #made)))
}

/// Returns the text of a literal, such as `-5`. The help does not show other expressions, because users of the server would not understand a
/// path such as `Unit::Celsius`.
fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(_) => Some(written(expr)),
        // Between tokens, `written` would leave a space.
        Expr::Unary(unary) => Some(written(&unary.op) + &literal(&unary.expr)?),
        _ => None,
    }
}

/// Generates the first line of a doc comment. A text of another file is not shown, because the macro cannot read it.
fn first_line(text: &Doc<'_>) -> TokenStream {
    match text {
        Doc::Text(text) => {
            let line = text.lines().next().unwrap_or_default();
            quote_spanned!(here()=> #line)
        }
        Doc::Parts(_) => doc(text),
    }
}
