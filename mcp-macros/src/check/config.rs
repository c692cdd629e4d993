//! Rules for structs with `#[config]`.

use crate::errors::Errors;
use crate::item::config::{Config, Setting};
use crate::keys::arg::DefaultValue;
use crate::syntax::first_reference;
use std::collections::HashSet;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit};

/// Reports the mistakes that the syntax of the struct reveals. The compiler checks the types of the fields later, in the generated code.
pub(crate) fn config(config: &Config<'_>, errors: &Errors) {
    if let Some(parameter) = config.generics.params.first() {
        errors.at(
            parameter.span(),
            "the server makes the value of a `#[config]`, so the struct can have neither lifetimes nor type parameters: remove them, and write concrete types, such as `String`",
        );
    }
    if let Some(span) = config.unnamed {
        errors.at(
            span,
            "#[config] needs named fields, because their names are the options: write `struct Config { root: String }`",
        );
    } else if config.fields.is_empty() {
        errors.at(
            config.ident.span(),
            "a `#[config]` without fields declares no option: write a field, such as `root: String`",
        );
    }
    if let Some(prefix) = &config.keys.env {
        variable(&prefix.value.0, errors);
    }
    let mut options = HashSet::new();
    for setting in &config.fields {
        field(setting, errors);
        // A struct with generic parameters already has an error, so its references are not reported.
        if config.generics.params.is_empty()
            && let Some(span) = first_reference(setting.ty)
        {
            errors.at(
                span,
                "a field of a `#[config]` owns its value: write `String` instead of `&str`",
            );
        }
        let (option, span) = setting.option();
        // Fields that `cfg` selects may exclude each other, so they are left to the server.
        let is_conditional = setting.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
        if !is_conditional && !options.insert(option.clone()) {
            errors.at(
                span,
                format!(
                    "two fields have the option `--{option}`: write another, as in `name = \"…\"`"
                ),
            );
        }
    }
}

fn field(setting: &Setting<'_>, errors: &Errors) {
    let keys = &setting.keys;
    if let Some(name) = &keys.name {
        let text = name.value.0.value();
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !text.bytes().all(allowed) || text.starts_with('-') {
            let plain: String = text
                .to_lowercase()
                .chars()
                .map(|char| if char.is_ascii() && allowed(char as u8) { char } else { '-' })
                .collect();
            let message = format!(
                "an option is lower-case letters, digits and `-`, without the dashes in front: write {:?}",
                plain.trim_start_matches('-')
            );
            errors.at(name.value.0.span(), message);
        }
    }
    if let Some(env) = &keys.env {
        variable(&env.value.0, errors);
    }
    if let (Some(file), Some(directory)) = (&keys.file, &keys.directory)
        && file.value.0
        && directory.value.0
    {
        let message = "a path leads to a file or to a directory: remove `file` or `directory`";
        errors.at(directory.span(), message);
    }
    if let Some(default) = &keys.default {
        if setting.is_secret() {
            errors.at(
                default.span(),
                "a secret has no default, because the program would contain it: remove `default`, and write `Option<String>` if it can be absent",
            );
        }
        let DefaultValue(value) = &default.value;
        if let Some(Expr::Lit(ExprLit { lit: Lit::Bool(bool), .. })) = value
            && !bool.value
            && is_bool(setting)
        {
            errors.at(default.span(), "a `bool` is `false` by default: remove `default`");
        }
    }
}

fn is_bool(setting: &Setting<'_>) -> bool {
    matches!(setting.ty, syn::Type::Path(path) if path.path.is_ident("bool"))
}

/// Reports the name of a variable that shells cannot set.
fn variable(name: &syn::LitStr, errors: &Errors) {
    let text = name.value();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !text.bytes().all(allowed) || text.starts_with(|first: char| first.is_ascii_digit()) {
        let plain: String = text
            .to_uppercase()
            .chars()
            .map(|char| if char.is_ascii() && allowed(char as u8) { char } else { '_' })
            .collect();
        errors.at(
            name.span(),
            format!(
                "an environment variable is letters, digits and `_`: write {:?}",
                plain.trim_start_matches(|first: char| first.is_ascii_digit())
            ),
        );
    }
}
