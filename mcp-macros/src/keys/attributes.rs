//! The keys of each attribute, with the types of their values.

use super::arg::{Completer, DefaultValue, Example, Format, HeaderName};
use super::conditions::{Asks, Count, Policy, Rate, Scopes};
use super::grammar::{Given, keys, read, usage};
use super::nested::{Cache, Icon, Metadata, Task};
use super::number::{Duration, Len, Order, Pattern, Priority, Range, Size, SizeExpr};
use super::tables::{CONFIG_FIELD, Table};
use super::text::{Audience, CratePath, Expression, Flag, NonBlank, SchemaForm, Text, With};
use crate::editor::offer;
use crate::errors::Errors;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, Meta};

keys! {
    /// The keys of `#[tool]`, `#[resource]`, `#[prompt]`, `#[completion]`, `#[handlers]`, `#[data]`, `#[form]`, and of `items!`.
    struct ItemKeys {
        name: Option<Given<NonBlank>>,
        title: Option<Given<Text>>,
        description: Option<Given<Text>>,
        icon: Vec<Given<Icon>>,
        read_only: Option<Given<Flag>>,
        destructive: Option<Given<Flag>>,
        idempotent: Option<Given<Flag>>,
        open_world: Option<Given<Flag>>,
        mime_type: Option<Given<NonBlank>>,
        size: Option<Given<Size>>,
        blocking: Option<Given<Flag>>,
        timeout: Option<Given<Duration>>,
        rate: Option<Given<Rate>>,
        concurrency: Option<Given<Count>>,
        scopes: Option<Given<Scopes>>,
        auth: Option<Given<Policy>>,
        asks: Option<Given<Asks>>,
        single_use: Option<Given<Flag>>,
        task: Option<Given<Task>>,
        order: Option<Given<Order>>,
        group: Option<Given<NonBlank>>,
        cache: Option<Given<Cache>>,
        subscribe: Option<Given<Flag>>,
        audience: Option<Given<Audience>>,
        priority: Option<Given<Priority>>,
        meta: Option<Given<Metadata>>,
        strict: Option<Given<Flag>>,
        lenient: Option<Given<Flag>>,
        schema: Option<Given<SchemaForm>>,
        input_schema: Option<Given<Expression>>,
        output_schema: Option<Given<Expression>>,
        enum_names: Option<Given<Flag>>,
        crate_path = "crate": Option<Given<CratePath>>,
    }
}

keys! {
    /// The keys of `#[arg(…)]` on a parameter, or on a field or variant of a form.
    struct ArgKeys {
        name: Option<Given<NonBlank>>,
        title: Option<Given<Text>>,
        description: Option<Given<Text>>,
        default: Option<Given<DefaultValue>>,
        range: Option<Given<Range>>,
        len: Option<Given<Len>>,
        format: Option<Given<Format>>,
        pattern: Option<Given<Pattern>>,
        example: Option<Given<Example>>,
        header: Option<Given<HeaderName>>,
        complete: Option<Given<Completer>>,
    }
}

keys! {
    /// The keys of `server!(…)`.
    struct ServerKeys {
        with: Option<Given<With>>,
        group: Option<Given<Text>>,
        instructions: Option<Given<Text>>,
        title: Option<Given<Text>>,
        name: Option<Given<Text>>,
        version: Option<Given<Text>>,
        icon: Vec<Given<Icon>>,
        website: Option<Given<Text>>,
        max_result: Option<Given<SizeExpr>>,
        crate_path = "crate": Option<Given<CratePath>>,
    }
}

keys! {
    /// The keys of `#[config]` on a struct.
    struct ConfigKeys {
        env: Option<Given<NonBlank>>,
        crate_path = "crate": Option<Given<CratePath>>,
    }
}

keys! {
    /// The keys of `#[config(…)]` on a field.
    struct ConfigFieldKeys {
        name: Option<Given<NonBlank>>,
        env: Option<Given<NonBlank>>,
        default: Option<Given<DefaultValue>>,
        secret: Option<Given<Flag>>,
        file: Option<Given<Flag>>,
        directory: Option<Given<Flag>>,
    }
}

/// Reads `#[config(…)]` on a field.
pub(crate) fn read_config(keys: &mut ConfigFieldKeys, attr: &Attribute, errors: &Errors) {
    let Meta::List(list) = &attr.meta else {
        let message = "write `#[config(key = value)]`, such as `#[config(default = 1)]`, or remove the attribute";
        return errors.at(attr.path().span(), message);
    };
    let all = |input: ParseStream<'_>| {
        read(keys, input, &CONFIG_FIELD, errors);
        Ok(())
    };
    offer(list.tokens.clone(), CONFIG_FIELD.names, errors);
    errors.keep(all.parse2(list.tokens.clone()));
}

/// Reads `#[arg(…)]`. The error for an attribute without keys shows `example`.
pub(crate) fn read_arg(
    keys: &mut ArgKeys,
    attr: &Attribute,
    table: &Table,
    example: &str,
    errors: &Errors,
) {
    let Meta::List(list) = &attr.meta else {
        let message = format!("write `#[arg(key = value)]`, such as `#[arg({example})]`");
        return errors.at(attr.path().span(), message);
    };
    let all = |input: ParseStream<'_>| {
        read(keys, input, table, errors);
        Ok(())
    };
    offer(list.tokens.clone(), table.names, errors);
    errors.keep(all.parse2(list.tokens.clone()));
}

/// Reads `#[complete(…)]`, which is short for `#[arg(complete(…))]`.
pub(crate) fn read_complete(keys: &mut ArgKeys, attr: &Attribute, errors: &Errors) {
    let key =
        attr.path().get_ident().cloned().unwrap_or_else(|| Ident::new("complete", attr.span()));
    if keys.complete.is_some() {
        return errors.at(key.span(), "`complete` is given twice: keep one");
    }
    let completer = match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => {
            (|input: ParseStream<'_>| Completer::inside(&key, input)).parse2(list.tokens.clone())
        }
        _ => Err(usage::<Completer>(&key)),
    };
    if let Some(value) = errors.keep(completer) {
        keys.complete = Some(Given { key, value });
    }
}

#[cfg(test)]
mod tests {
    use super::super::conditions::RateKeys;
    use super::super::grammar::Keys;
    use super::super::nested::IconKeys;
    use super::super::tables::{
        ARG, CACHE, COMPLETION, CONFIG, DATA, FORM, FORM_FIELD, FORM_VARIANT, HANDLERS, ICON,
        ITEMS, PROMPT, RATE, RESOURCE, SERVER, TASK, TOOL,
    };
    use super::*;

    /// Checks that the struct of keys has a field for every key in a table. Otherwise the macro would panic in the user's build.
    #[test]
    fn every_table_names_keys_that_exist() {
        fn check<K: Keys>(tables: &[Table]) {
            for name in tables.iter().flat_map(|table| table.names) {
                assert!(K::NAMES.contains(name), "{name}");
            }
        }
        check::<ItemKeys>(&[TOOL, RESOURCE, PROMPT, COMPLETION, HANDLERS, DATA, FORM, ITEMS]);
        check::<ArgKeys>(&[ARG, FORM_FIELD, FORM_VARIANT]);
        check::<ServerKeys>(&[SERVER]);
        check::<ConfigKeys>(&[CONFIG]);
        check::<ConfigFieldKeys>(&[CONFIG_FIELD]);
        check::<IconKeys>(&[ICON]);
        check::<Cache>(&[CACHE]);
        check::<Task>(&[TASK]);
        check::<RateKeys>(&[RATE]);
    }
}
