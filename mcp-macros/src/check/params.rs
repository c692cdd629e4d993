//! Rules for the parameters of a function: their attributes, their literal values, and the variables of a URI.

use crate::errors::Errors;
use crate::item::{Item, Kind, Param, Place, Role};
use crate::keys::arg::{Completer, DefaultValue};
use crate::keys::attributes::ArgKeys;
use crate::keys::number::{Bound, Len};
use crate::keys::suggest;
use crate::syntax::{find, is_borrowed_argument, strip_groups};
use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Token, Type};

pub(super) fn check(item: &Item<'_>, errors: &Errors) {
    let mut names = HashSet::new();
    let mut headers = HashSet::new();
    // If a parameter has `cfg`, two parameters of the same name may exclude each other, so equal names are not reported.
    let are_certain = !configured(item, errors);
    for param in &item.params {
        if !names.insert(param.name()) && are_certain {
            let span =
                param.keys.name.as_ref().map_or_else(|| param.span(), |name| name.value.0.span());
            let name = param.name();
            errors.at(span, format!("another parameter is already called `{name}`: give one of them another name, as in `#[arg(name = \"…\")]`"));
        }
        if let Some(header) = &param.keys.header {
            let name = &header.value.0;
            if !headers.insert(name.value().to_ascii_lowercase()) && are_certain {
                let message = format!(
                    "another parameter already has the header `{}`, and header names are case-insensitive: give one of them another header",
                    name.value()
                );
                errors.at(name.span(), message);
            }
        }
        if let Place::Receiver(receiver) = param.place {
            if let Some(span) = helper(param) {
                errors.at(
                    span,
                    format!(
                        "`{}` is the server's state, not an argument",
                        receiver.self_token.to_token_stream()
                    ),
                );
            }
            continue;
        }
        keys(item, param, errors);
        values(&param.keys, errors);
        spread(item, param, errors);
    }
}

/// Rejects `cfg` and `cfg_attr`, because generated code names every parameter, even one that `cfg` removes. Returns whether a parameter has
/// one of these attributes. Reports only the first, because its fix, one function for each configuration, fixes the others too.
fn configured(item: &Item<'_>, errors: &Errors) -> bool {
    let attrs = item.params.iter().flat_map(|param| param.attrs);
    let conditional =
        |attr: &&Attribute| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr");
    let Some(attr) = attrs.into_iter().find(conditional) else { return false };
    let fix = match &attr.meta {
        Meta::List(list) if attr.path().is_ident("cfg") => {
            let condition = &list.tokens;
            format!("one with `#[cfg({condition})]` and one with `#[cfg(not({condition}))]`")
        }
        _ => "each with its `#[cfg]`".to_owned(),
    };
    let message = format!("parameters cannot depend on `cfg`: write two functions, {fix}");
    errors.at(attr.path().span(), message);
    true
}

/// Returns the span of the first attribute that configures an argument.
fn helper(param: &Param<'_>) -> Option<Span> {
    let ours =
        |ident: &Ident| ["arg", "complete", "serde", "schemars"].iter().any(|word| ident == word);
    param
        .attrs
        .iter()
        .filter_map(|attr| attr.path().get_ident())
        .find(|ident| ours(ident))
        .map(Ident::span)
}

fn keys(item: &Item<'_>, param: &Param<'_>, errors: &Errors) {
    let keys = &param.keys;
    match (&keys.complete, item.kind) {
        (Some(complete), Kind::Tool) => errors.at(
            complete.span(),
            "no protocol revision has completion for tools: show the model a value with `#[arg(example = \"…\")]`, or list all values in an enum",
        ),
        (Some(complete), Kind::Completion) => {
            errors.at(complete.span(), "a completion function has no completions itself: remove `complete`");
        }
        _ => {}
    }
    if let Some(header) = &keys.header
        && item.kind != Kind::Tool
    {
        errors.at(header.span(), "`header` is for the parameters of tools: remove it");
    }
    let only_name = [
        keys.title.as_ref().map(|title| &title.key),
        keys.description.as_ref().map(|description| &description.key),
        keys.default.as_ref().map(|default| &default.key),
        keys.range.as_ref().map(|range| &range.key),
        keys.len.as_ref().map(|len| &len.key),
        keys.pattern.as_ref().map(|pattern| &pattern.key),
        keys.example.as_ref().map(|example| &example.key),
    ];
    if item.kind == Kind::Completion {
        for key in only_name.into_iter().flatten() {
            let message = format!(
                "`{key}` has no effect here, because clients never see these parameters and only `name` is used: remove it"
            );
            errors.at(key.span(), message);
        }
    }
    if item.kind == Kind::Resource
        && item.role(param) == Role::Server
        && item.template.is_some()
        && let Some(span) = helper(param)
    {
        let name = param.name();
        errors.at(span, format!("`{name}` is not a variable of the URI, so clients do not send it: add `{{{name}}}` to the URI, or remove this attribute"));
    }
}

/// Checks a parameter with attributes of serde or schemars. Generated code declares a struct with a field for this parameter, so apart from
/// `&str` and `&[T]`, types that borrow are rejected.
fn spread(item: &Item<'_>, param: &Param<'_>, errors: &Errors) {
    let (Some(attr), Place::Typed(_, ty)) = (param.spread.first(), param.place) else { return };
    let word = attr.path().to_token_stream();
    if item.kind != Kind::Tool {
        if item.kind != Kind::Resource {
            errors.at(
                attr.path().span(),
                format!("`{word}` attributes are for the parameters of tools, but this parameter is plain text: write `#[arg(name = \"…\", default = …)]`"),
            );
        }
        return;
    }
    param.spread.iter().for_each(|attr| misspelt(attr, errors));
    if let Some(default) = &param.keys.default {
        errors.at(default.span(), "this parameter is read by serde: write `#[serde(default)]`");
    }
    let owned = match strip_groups(ty) {
        Type::Reference(reference)
            if reference.mutability.is_none() && is_borrowed_argument(&reference.elem) =>
        {
            &reference.elem
        }
        ty => ty,
    };
    let borrows = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), '&' | '\''));
    if let Some(span) = find(&owned.to_token_stream(), &borrows) {
        errors.at(span, format!("a parameter with `{word}` attributes owns its value: write `String`, `Vec<T>` or `T`"));
    }
}

/// Suggests a correction for a misspelt attribute of serde, because the error of serde suggests none.
fn misspelt(attr: &Attribute, errors: &Errors) {
    const KEYS: [&str; 9] = [
        "rename",
        "alias",
        "default",
        "flatten",
        "skip",
        "skip_deserializing",
        "deserialize_with",
        "with",
        "bound",
    ];
    if !attr.path().is_ident("serde") {
        return;
    }
    let keys = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    for key in keys.iter().flatten().filter_map(|key| key.path().get_ident()) {
        let word = key.to_string();
        // serde also has the keys `borrow` and `getter`, and more keys that contain `serializ`. These are valid, but are never suggested.
        let known = KEYS.contains(&word.as_str()) || ["borrow", "getter"].contains(&word.as_str());
        if !known
            && !word.contains("serializ")
            && let Some(found) = suggest(&word, &KEYS)
        {
            let message = format!("unknown serde attribute `{word}`; did you mean `{found}`?");
            errors.at(key.span(), message);
        }
    }
}

/// Returns whether a parameter has the unsized type `str` or `[T]`. rustc itself reports such a parameter and suggests a fix. Generated
/// code would only repeat the error, so none is generated.
pub(crate) fn refused_by_rustc(item: &Item<'_>) -> bool {
    item.params
        .iter()
        .any(|param| matches!(param.place, Place::Typed(_, ty) if is_borrowed_argument(ty)))
}

/// Checks the literal values of an argument against its bounds: the default, the example and the proposed completions.
fn values(keys: &ArgKeys, errors: &Errors) {
    if let Some(default) = &keys.default
        && let DefaultValue(Some(value)) = &default.value
    {
        let problems = match value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => of_text(keys, &text.value()),
            value => Bound::read(value).map(|number| of_number(keys, number)).unwrap_or_default(),
        };
        report(&problems, "default", value, errors);
    }
    if let Some(example) = &keys.example {
        let json = &example.value.json;
        // The JSON text of an example is also a valid Rust literal, so syn can parse it.
        let problems = match (syn::parse_str::<LitStr>(json), number(json)) {
            (Ok(text), _) => of_text(keys, &text.value()),
            (_, Some(number)) => of_number(keys, number),
            _ => Vec::new(),
        };
        report(&problems, "example", &example.value.tokens, errors);
    }
    if let Some(complete) = &keys.complete
        && let Completer::Values(values) = &complete.value
    {
        for value in values {
            let text = value.value();
            let mut problems = of_text(keys, &text);
            // Clients send the arguments of prompts as text, even if their type is a number. A proposal that can be read as a number is
            // therefore also checked as a number.
            problems.extend(number(&text).into_iter().flat_map(|number| of_number(keys, number)));
            report(&problems, "proposal", value, errors);
        }
    }
}

fn report(problems: &[String], what: &str, value: &impl ToTokens, errors: &Errors) {
    for problem in problems {
        errors.push(syn::Error::new_spanned(value, format!("this {what} {problem}")));
    }
}

fn number(text: &str) -> Option<Bound> {
    Bound::read(&syn::parse_str::<Expr>(text).ok()?).ok()
}

fn of_number(keys: &ArgKeys, number: Bound) -> Vec<String> {
    let range =
        keys.range.as_ref().map(|range| &range.value).filter(|range| !range.contains(number));
    let problem =
        |range| format!("is not in `range({range})`: write one that is, or widen the range");
    range.map(problem).into_iter().collect()
}

fn of_text(keys: &ArgKeys, text: &str) -> Vec<String> {
    let counted = keys.len.as_ref().and_then(|len| miscounted(&len.value, text));
    let length =
        counted.map(|counted| format!("has {counted}: write one that fits, or change `len`"));
    let pattern =
        keys.pattern.as_ref().filter(|pattern| !pattern.value.matches(text)).map(|given| {
            let pattern = given.value.0.value();
            format!(
                "does not match its pattern `{pattern}`: write one that does, or change the pattern"
            )
        });
    length.into_iter().chain(pattern).collect()
}

/// Returns a text such as "3 characters, but `len` allows at most 2", or `None` if the length fits.
fn miscounted(len: &Len, text: &str) -> Option<String> {
    let count = text.chars().count();
    let noun = if count == 1 { "character" } else { "characters" };
    let bound = match (len.min, len.max) {
        (Some(min), _) if count < min => format!("at least {min}"),
        (_, Some(max)) if count > max => format!("at most {max}"),
        _ => return None,
    };
    Some(format!("{count} {noun}, but `len` allows {bound}"))
}

/// Checks the variables of a URI and the parameters that take them.
pub(super) fn variables(item: &Item<'_>, errors: &Errors) {
    let Some(template) = &item.template else { return };
    let names: Vec<String> = item
        .params
        .iter()
        .filter(|param| matches!(param.place, Place::Typed(..)))
        .map(Param::name)
        .collect();
    let free: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| template.variable(name).is_none()).collect();
    for variable in template.variables().filter(|variable| !names.contains(&variable.name)) {
        let name = &variable.name;
        let hint = match suggest(name, &free).or_else(|| of_same_word(name, &free)) {
            Some(found) => format!(
                "did you mean the parameter `{found}`? Write `{{{found}}}`, or `#[arg(name = \"{name}\")] {found}`"
            ),
            None => format!("add one: `{}`", example(name)),
        };
        errors.at(
            template.uri.span(),
            format!("the variable `{{{name}}}` has no parameter of the same name; {hint}"),
        );
    }
}

/// Returns the parameter whose name contains the variable's name as a word, or the reverse: for example, `user_id` for the variable `id`.
/// Returns `None` if several parameters match.
fn of_same_word<'a>(name: &str, free: &[&'a str]) -> Option<&'a str> {
    let has = |name: &str, word: &str| name.split('_').any(|part| part == word);
    let mut found = free.iter().filter(|param| has(param, name) || has(name, param));
    found.next().filter(|_| found.next().is_none()).copied()
}

/// Returns an example declaration of a parameter that takes the variable.
fn example(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() {
        format!("{name}: String")
    } else {
        let ident: String = name.chars().map(|char| if char == '.' { '_' } else { char }).collect();
        format!("#[arg(name = \"{name}\")] {ident}: String")
    }
}
