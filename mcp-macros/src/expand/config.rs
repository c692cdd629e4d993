//! `#[config]`: registers the struct, and generates the function that hands its fields to the runtime.

use super::snippets::{at, doc, here};
use crate::docs::Doc;
use crate::item::config::{Config, Setting, is_ours};
use crate::keys::Given;
use crate::keys::arg::DefaultValue;
use crate::keys::text::Flag;
use crate::syntax::written;
use proc_macro2::{Ident, TokenStream};
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
    constant(root, config, &body)
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
            true => quote_spanned!(here()=> ::core::format_args!("<secret>")),
            false => quote_spanned!(at(setting.ty.span())=> self.#ident),
        };
        quote_spanned!(here()=> #cfgs __shown.field(#name, &#value);)
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
    Some(constant(root, config, &body))
}

fn constant(root: &TokenStream, config: &Config<'_>, body: &TokenStream) -> TokenStream {
    let cfgs = cfgs(config.attrs);
    quote_spanned! {here()=>
        #cfgs
        const _: () = {
            use #root::__private as __mcp;
            #body
        };
    }
}

fn cfgs(attrs: &[syn::Attribute]) -> TokenStream {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect()
}

fn local(setting: &Setting<'_>) -> Ident {
    format_ident!("__{}", setting.ident.unraw(), span = here())
}

/// Generates the statement that hands a field to the reader. Its span is that of the type, so that an error about an unsuitable type
/// points there.
fn read(setting: &Setting<'_>) -> TokenStream {
    let (ty, local, cfgs) = (setting.ty, local(setting), cfgs(setting.attrs));
    let span = at(ty.span());
    let keys = &setting.keys;
    let name = setting.ident.unraw().to_string();
    let (option, _) = setting.option();
    let line = quote_spanned!(setting.ident.span()=> ::core::line!());
    let about = setting.doc.as_ref().map(|doc| {
        let about = first_line(doc);
        quote_spanned!(here()=> .about(#about))
    });
    let variable = keys.env.as_ref().map(|env| {
        let variable = &env.value.0;
        quote_spanned!(here()=> .variable(#variable))
    });
    let secret = setting.is_secret().then(|| quote_spanned!(here()=> .secret()));
    let is_set = |flag: &Option<Given<Flag>>| flag.as_ref().is_some_and(|flag| flag.value.0);
    let file = is_set(&keys.file).then(|| quote_spanned!(here()=> .file()));
    let directory = is_set(&keys.directory).then(|| quote_spanned!(here()=> .directory()));
    let (shown, default) = default(setting);
    quote_spanned! {span=>
        #cfgs
        let #local = __mcp::ConfigProbe::<#ty>::new().parser().read(
            __from,
            __mcp::ConfigField::new(#name, #option, #line) #about #variable #shown #secret #file #directory,
            #default
        );
    }
}

/// Generates the setter for the text of the default, and the function that makes it.
fn default(setting: &Setting<'_>) -> (Option<TokenStream>, TokenStream) {
    let Some(given) = &setting.keys.default else {
        return (None, quote_spanned!(here()=> ::core::option::Option::None));
    };
    let DefaultValue(value) = &given.value;
    let (shown, made) = match value {
        None => (None, quote_spanned!(at(setting.ty.span())=> __mcp::from_default())),
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
            (Some(text.value()), quote_spanned!(at(text.span())=> __mcp::from_text(#text)))
        }
        Some(expr) => (literal(expr), expr.to_token_stream()),
    };
    let shown = shown.map(|shown| quote_spanned!(here()=> .default(#shown)));
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
