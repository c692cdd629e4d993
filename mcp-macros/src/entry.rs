//! Bodies of the macro entry points. They take tokens of `proc_macro2`, so that tests can call them.

use crate::editor::{in_editor, offer};
use crate::errors::Errors;
use crate::item::config::{Config, take_debug};
use crate::item::data::{borrows, derives, take_bounds, without_bounds, without_doubled};
use crate::item::form::Form;
use crate::item::function::{Function, keyword, keyword_span};
use crate::item::half_typed::{self, HalfType};
use crate::item::impl_block::{self, ImplBlock, Marked};
use crate::item::schema::SchemaType;
use crate::item::tokens::{without_field_helpers, without_helpers};
use crate::item::{Item, Kind};
use crate::keys::attributes::{ConfigKeys, ItemKeys, ServerKeys};
use crate::keys::{self, Table, tables};
use crate::{check, expand};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Expr, ExprPath, Meta, Token, Type};

/// Expands `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]` on a function.
pub(crate) fn function(kind: Kind, attr: TokenStream, tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let function = match syn::parse2::<Function>(tokens.clone()) {
        Ok(function) => function,
        Err(error) => {
            if let Some(half) = half_typed::function(&tokens) {
                return with_errors(half, errors);
            }
            errors.push(wrong_item(kind, &tokens).unwrap_or(error));
            return with_errors(without_helpers(tokens), errors);
        }
    };
    offer(attr.clone(), kind.table().names, &errors);
    let item = Item::read(kind, attr, &function, None, &errors);
    check::check(&item, &errors);
    let mut all = without_helpers(tokens);
    match errors.finish() {
        Ok(()) if check::refused_by_rustc(&item) => {}
        Ok(()) => all.extend(expand::item::item(&item)),
        Err(errors) => {
            all.extend(expand::item::unfinished(&item));
            all.extend(errors);
        }
    }
    all
}

/// Advice for a function attribute such as `#[tool]` that was written on a type.
const TYPE: &str = "remove it here, and write `#[data]` if clients send or receive this type";

/// Returns an error that says where the attribute belongs, if the item is recognisably not a function.
fn wrong_item(kind: Kind, tokens: &TokenStream) -> Option<syn::Error> {
    let (word, span) = keyword(tokens)?;
    let owner = kind.owner();
    let message = match word {
        "impl" => {
            format!("{owner} belongs on the methods of this block, and `#[handlers]` on the block")
        }
        "trait" => {
            format!("{owner} belongs on a function with a body, not on a trait: remove it here")
        }
        "enum" => format!("{owner} belongs on a function, not on an `enum`: {TYPE}"),
        "struct" => format!("{owner} belongs on a function, not on a `struct`: {TYPE}"),
        word => format!("{owner} belongs on a function, not on a `{word}`: remove it here"),
    };
    Some(syn::Error::new(span, message))
}

/// Returns the errors and then the item. An item that does not parse would take the tokens behind it for its end.
fn with_errors(tokens: TokenStream, errors: Errors) -> TokenStream {
    let mut all = errors.finish().err().unwrap_or_default();
    all.extend(tokens);
    all
}

/// Returns a type that does not parse, behind the error and the impls, of which it would take tokens. `impls` generates impls for the type
/// without its fields, so that the code that uses the type causes no further errors.
fn half_typed(
    tokens: TokenStream,
    error: syn::Error,
    errors: Errors,
    impls: impl FnOnce(&DeriveInput, &Errors) -> TokenStream,
) -> TokenStream {
    let half = HalfType::read(tokens);
    if !half.is_reported {
        errors.push(error);
    }
    let impls = half.header.as_ref().map(|header| impls(header, &errors));
    let mut tokens = impls.unwrap_or_default();
    tokens.extend(half.tokens);
    with_errors(tokens, errors)
}

/// Expands `#[handlers]` on an impl block.
pub(crate) fn handlers(attr: TokenStream, tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let keys = read_keys::<ItemKeys>(attr, &tables::HANDLERS, &errors);
    if !matches!(keyword(&tokens), Some(("impl", _))) {
        let message = if matches!(keyword(&tokens), Some(("trait", _))) {
            "#[handlers] belongs on an impl block, and a trait has no state to call its methods with: remove it and the attributes of the methods here, and write `#[handlers] impl Type { #[tool] fn …(&self) { … } }`"
        } else {
            "#[handlers] belongs on an impl block: `#[handlers] impl Type { #[tool] fn …(&self) { … } }`"
        };
        errors.at(keyword_span(&tokens), message);
        // Removes the attributes on the methods, which would only cause follow-up errors.
        return with_errors(impl_block::without_marks(tokens), errors);
    }
    let block = match ImplBlock::read(tokens.clone()) {
        Ok(block) => block,
        Err(error) => {
            errors.push(error);
            return with_errors(tokens, errors);
        }
    };
    check::handlers(&block, &errors);
    let items: Vec<Item<'_>> = block
        .marked()
        .filter_map(|marked| method(marked, &block.self_ty, &keys, &errors))
        .collect();
    check::shared(&keys, &block, &items, &errors);
    check::completions(&items, &errors);
    check::duplicates(&items, &errors);
    let mut all = block.plain();
    match errors.finish() {
        Ok(()) => {
            let items = items.iter().filter(|item| !check::refused_by_rustc(item));
            all.extend(items.map(expand::item::item));
        }
        Err(errors) => {
            all.extend(items.iter().filter_map(expand::item::unfinished));
            all.extend(errors);
        }
    }
    all
}

fn method<'a>(
    marked: &'a Marked,
    owner: &'a Type,
    shared: &ItemKeys,
    errors: &Errors,
) -> Option<Item<'a>> {
    let function = match &marked.function {
        Ok(function) => function,
        Err(_) if half_typed::function(&marked.tokens).is_some() => return None,
        Err(error) => {
            errors.push(wrong_item(marked.kind, &marked.tokens).unwrap_or_else(|| error.clone()));
            return None;
        }
    };
    let attr = match &marked.attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => {
            offer(list.tokens.clone(), marked.kind.table().names, errors);
            list.tokens.clone()
        }
        Meta::NameValue(pair) => {
            let owner = marked.kind.owner().trim_end_matches(']');
            errors.at(pair.eq_token.span(), format!("write `{owner}(key = value)]`"));
            TokenStream::new()
        }
    };
    let mut item = Item::read(marked.kind, attr, function, Some(owner), errors);
    item.attribute = Some(marked.attr.path());
    item.inherit(shared);
    check::check(&item, errors);
    Some(item)
}

/// `server!(…)`. Wrong keys are left out of the expression, so that method calls on the builder still compile.
pub(crate) fn server(tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let keys = read_keys::<ServerKeys>(tokens, &tables::SERVER, &errors);
    in_expression(errors, expand::server::server(&keys))
}

/// Expands `items![…]`.
pub(crate) fn items(tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let mut keys = ItemKeys::default();
    let read = |input: ParseStream<'_>| {
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            keys::read_one(&mut keys, input, &tables::ITEMS, &errors)?;
            input.parse::<Option<Token![,]>>()?;
        }
        Punctuated::<Expr, Token![,]>::parse_terminated_with(input, keys::expression)
    };
    let found = errors.keep(read.parse2(tokens)).unwrap_or_default();
    let paths: Vec<ExprPath> =
        found.into_iter().filter_map(|expr| errors.keep(path(expr))).collect();
    let root = expand::root(keys.crate_path.as_ref());
    in_expression(errors, expand::server::items(&root, &paths))
}

fn path(expr: Expr) -> syn::Result<ExprPath> {
    match expr {
        Expr::Path(path) => Ok(path),
        Expr::Call(call) => Err(syn::Error::new(
            call.paren_token.span.join(),
            "name the function without calling it",
        )),
        expr => Err(syn::Error::new_spanned(
            expr,
            "expected the path of a function: `items![add, notes::search]`",
        )),
    }
}

/// Returns the expression in a block, with the errors before it. The block has the type of the expression, so that the code that uses it
/// causes no further errors.
fn in_expression(errors: Errors, expression: TokenStream) -> TokenStream {
    match errors.finish() {
        Ok(()) => expression,
        Err(errors) => expand::beside(&errors, &expression),
    }
}

/// Expands `#[data]` on a struct or an enum.
pub(crate) fn data(attr: TokenStream, tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let keys = read_keys::<ItemKeys>(attr, &tables::DATA, &errors);
    let derives = derives(tables::DATA.owner, &tokens, &errors);
    let root = expand::root(keys.crate_path.as_ref());
    let tokens = without_doubled(tokens);
    let mut all = TokenStream::new();
    if derives.is_empty() {
        all.extend(tokens);
        return with_errors(all, errors);
    }
    let mut item = match syn::parse2::<DeriveInput>(tokens.clone()) {
        Ok(item) => item,
        Err(error) => {
            let impls = |item: &DeriveInput, _: &Errors| expand::data::unfinished(&root, item);
            return half_typed(tokens, error, errors, impls);
        }
    };
    all.extend(expand::data::data(&root, &derives));
    let misplaced = take_bounds(&mut item);
    check::data(&misplaced, &errors);
    let promises = expand::data::promised(&root, &mut item);
    let is_changed =
        !misplaced.is_empty() || promises.as_ref().is_some_and(|promises| !promises.is_empty());
    all.extend(if is_changed { item.into_token_stream() } else { tokens });
    all.extend(promises);
    with_errors(all, errors)
}

/// `#[derive(Schema)]`. For a type that the derive does not support, it generates no schema, and schemars generates one at run time.
pub(crate) fn schema(tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let mut item = errors.keep(syn::parse2::<DeriveInput>(tokens));
    if let Some(item) = &mut item {
        check::schema(item, &errors);
        without_bounds(item);
    }
    let shape = item.as_ref().and_then(SchemaType::read);
    let mut all = shape.map(|shape| expand::schema::schema(&shape)).unwrap_or_default();
    all.extend(item.filter(borrows).map(|item| expand::schema::borrows(&item)));
    with_errors(all, errors)
}

/// `#[derive(Serialize)]`, `#[derive(Deserialize)]`, `#[derive(JsonSchema)]` of the prelude.
pub(crate) fn prelude_derive(name: &'static str, tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let item = syn::parse2::<DeriveInput>(tokens);
    errors.at(Span::call_site(), prelude_message(name, item.as_ref().ok()));
    let stand_in = item.ok().map(|item| expand::data::stand_in(&expand::root(None), name, &item));
    with_errors(stand_in.unwrap_or_default(), errors)
}

/// Returns the error message for a derive of the prelude. It recommends the attribute that derives the trait, and explains how to derive
/// the trait alone.
fn prelude_message(name: &str, item: Option<&DeriveInput>) -> String {
    let attrs = item.into_iter().flat_map(|item| &item.attrs);
    let words = attrs.filter_map(|attr| Some(attr.path().segments.last()?.ident.to_string()));
    if let Some(word) = words.into_iter().find(|word| word == "data" || word == "form") {
        return format!("#[{word}] already derives `{name}`: remove it here");
    }
    let (module, command) = match name {
        "JsonSchema" => ("schemars", "cargo add schemars"),
        _ => ("serde", "cargo add serde --features derive"),
    };
    format!(
        "the prelude has the trait `{name}` but no derive macro for it: remove the derive here and write `#[data]` above the type, which derives `Serialize`, `Deserialize` and `JsonSchema`; for this derive alone, run `{command}` and write `use {module}::{name};`"
    )
}

/// Expands `#[form]` on a struct or an enum.
pub(crate) fn form(attr: TokenStream, tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let keys = read_keys::<ItemKeys>(attr, &tables::FORM, &errors);
    let root = expand::root(keys.crate_path.as_ref());
    let derives = derives(tables::FORM.owner, &tokens, &errors);
    let tokens = without_doubled(tokens);
    let is_type = matches!(keyword(&tokens), Some(("struct" | "enum", _)));
    let item = match syn::parse2::<DeriveInput>(tokens.clone()) {
        Ok(item) if is_type => Some(item),
        Err(error) if is_type => {
            let impls = |item: &DeriveInput, errors: &Errors| {
                let form = Form::read(item, keys, errors);
                let mut all = expand::data::unfinished(&root, item);
                all.extend(form.and_then(|form| expand::form::unfinished(&root, &form)));
                all
            };
            return half_typed(tokens, error, errors, impls);
        }
        _ => None,
    };
    let form = item.as_ref().and_then(|item| Form::read(item, keys, &errors));
    if let Some(form) = &form {
        check::form(form, &errors);
    }
    let mut all = TokenStream::new();
    if !derives.is_empty() {
        all.extend(expand::data::data(&root, &derives));
    }
    match (errors.finish(), form, &item) {
        (Ok(()), Some(form), Some(item)) => {
            all.extend(match item.data {
                // An editor completes a default only if the item has the same tokens with and without an error.
                Data::Struct(_) if !in_editor() => expand::form::item(item.clone(), &form),
                _ => without_field_helpers(tokens, "arg"),
            });
            all.extend(expand::form::form(&root, &form));
        }
        (Ok(()), ..) => all.extend(without_field_helpers(tokens, "arg")),
        (Err(errors), form, _) => {
            all.extend(without_field_helpers(tokens, "arg"));
            all.extend(form.and_then(|form| expand::form::unfinished(&root, &form)));
            all.extend(errors);
        }
    }
    all
}

/// Expands `#[config]` on a struct.
pub(crate) fn config(attr: TokenStream, tokens: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let keys = read_keys::<ConfigKeys>(attr, &tables::CONFIG, &errors);
    let root = expand::root(keys.crate_path.as_ref());
    if !matches!(keyword(&tokens), Some(("struct", _))) {
        errors.at(
            keyword_span(&tokens),
            "#[config] belongs on a `struct`, whose fields become options: write `struct Config { root: String }`",
        );
        return with_errors(without_field_helpers(tokens, "config"), errors);
    }
    let item = match syn::parse2::<DeriveInput>(tokens.clone()) {
        Ok(item) => item,
        Err(error) => {
            let impls = |item: &DeriveInput, errors: &Errors| {
                let config = Config::read(item, keys, errors);
                config
                    .and_then(|config| expand::config::unfinished(&root, &config))
                    .unwrap_or_default()
            };
            return half_typed(tokens, error, errors, impls);
        }
    };
    let config = Config::read(&item, keys, &errors);
    if let Some(config) = &config {
        check::config(config, &errors);
    }
    let mut output = item.clone();
    let debug =
        config.as_ref().filter(|config| config.has_secrets() && take_debug(&mut output.attrs));
    let debug = debug.map(expand::config::debug);
    let mut all = expand::config::item(output);
    all.extend(debug);
    match errors.finish() {
        Ok(()) => all.extend(config.map(|config| expand::config::config(&root, &config))),
        Err(errors) => {
            all.extend(config.and_then(|config| expand::config::unfinished(&root, &config)));
            all.extend(errors);
        }
    }
    all
}

fn read_keys<K: keys::Keys>(tokens: TokenStream, table: &Table, errors: &Errors) -> K {
    let mut keys = K::default();
    let read = |input: ParseStream<'_>| {
        keys::read(&mut keys, input, table, errors);
        Ok(())
    };
    offer(tokens.clone(), table.names, errors);
    errors.keep(read.parse2(tokens));
    keys
}
