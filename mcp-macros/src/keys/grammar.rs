//! Grammar of the attributes: `key`, `key = value` and `key(values)`, separated by commas.
//!
//! All attributes share one parser. The macro [`keys!`] declares a struct with a field for each key, and the type of the field defines the
//! syntax of the key. A [`Table`] lists the keys that one attribute accepts.

use super::suggest::suggest;
use super::tables::{ALL, Table};
use crate::errors::{Errors, position};
use crate::syntax::{between, written};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::Token;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, LitStr};

/// A key as the user wrote it, with its value. Errors about the key point at its identifier.
#[derive(Clone)]
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

impl<T> Given<T> {
    pub(crate) fn span(&self) -> Span {
        self.key.span()
    }
}

/// Parser for the value of a key.
pub(crate) trait Value: Sized {
    /// Text after the key in an example, such as ` = "30s"`.
    const USAGE: &'static str;

    /// Reads the value after the key.
    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self>;

    /// Returns the value for tokens that `read` rejects, if an editor can complete the tokens.
    fn unfinished(_: TokenStream) -> Option<Self> {
        None
    }
}

/// Field that stores the value of a key: an `Option` for a single value, a `Vec` for a key that can be repeated.
pub(crate) trait Slot {
    fn fill(&mut self, key: Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<()>;
}

impl<T: Value> Slot for Option<Given<T>> {
    fn fill(&mut self, key: Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<()> {
        if self.is_some() {
            return Err(syn::Error::new(key.span(), format!("`{key}` is given twice: keep one")));
        }
        let start = input.cursor();
        let read = T::read(&key, input, errors);
        let (value, result) = match read {
            Ok(value) => (Some(value), Ok(())),
            Err(error) => {
                skip_to_comma(input);
                let tokens = between(start, input.cursor());
                let error = at_key(error, &key, &tokens);
                (T::unfinished(tokens), Err(error))
            }
        };
        *self = value.map(|value| Given { key, value });
        result
    }
}

impl<T: Value> Slot for Vec<Given<T>> {
    fn fill(&mut self, key: Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<()> {
        let value = T::read(&key, input, errors)?;
        self.push(Given { key, value });
        Ok(())
    }
}

/// Struct of keys, declared with [`keys!`].
pub(crate) trait Keys: Default {
    /// All keys of the struct. A [`Table`] lists some of them.
    #[cfg(test)]
    const NAMES: &'static [&'static str];

    fn fill(
        &mut self,
        name: &str,
        key: Ident,
        input: ParseStream<'_>,
        errors: &Errors,
    ) -> syn::Result<()>;
}

/// Declares a struct of keys. For a key that is a Rust keyword, the field has another name: `crate_path = "crate": …`.
macro_rules! keys {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    ($(#[$meta:meta])* struct $Keys:ident { $($field:ident $(= $name:literal)?: $slot:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Default)]
        pub(crate) struct $Keys { $(pub(crate) $field: $slot,)* }

        impl $crate::keys::grammar::Keys for $Keys {
            #[cfg(test)]
            const NAMES: &'static [&'static str] = &[$($crate::keys::grammar::keys!(@name $field $($name)?)),*];

            fn fill(
                &mut self,
                name: &str,
                key: ::syn::Ident,
                input: ::syn::parse::ParseStream<'_>,
                errors: &$crate::errors::Errors,
            ) -> ::syn::Result<()> {
                match name {
                    $($crate::keys::grammar::keys!(@name $field $($name)?) => {
                        $crate::keys::grammar::Slot::fill(&mut self.$field, key, input, errors)
                    })*
                    _ => unreachable!("a table names `{name}`, which {} lacks", stringify!($Keys)),
                }
            }
        }
    };
}
pub(crate) use keys;

/// Reads all keys of one attribute into `keys`. Reports each mistake, and continues with the next key.
pub(crate) fn read<K: Keys>(keys: &mut K, input: ParseStream<'_>, table: &Table, errors: &Errors) {
    while !input.is_empty() {
        if let Err(error) = read_one(keys, input, table, errors) {
            errors.push(error);
            skip_to_comma(input);
        }
        if input.parse::<Option<Token![,]>>().ok().flatten().is_none() && !input.is_empty() {
            errors.at(input.span(), "expected `,` between two keys");
            skip_to_comma(input);
            let _ = input.parse::<Token![,]>();
        }
    }
}

/// Reads the string literal with which some attributes start, and the comma after it.
pub(crate) fn read_first(input: ParseStream<'_>) -> syn::Result<Option<LitStr>> {
    if !input.peek(LitStr) {
        return Ok(None);
    }
    let first = input.parse()?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(Some(first))
}

/// Reads a single key, without the comma after it.
pub(crate) fn read_one<K: Keys>(
    keys: &mut K,
    input: ParseStream<'_>,
    table: &Table,
    errors: &Errors,
) -> syn::Result<()> {
    if !input.peek(Ident::peek_any) {
        let named = table.names.contains(&"name") && input.peek(LitStr);
        let hint = if named {
            let text: LitStr = input.fork().parse()?;
            let sentence = text.value().contains(' ') && table.names.contains(&"description");
            let key = if sentence { "description" } else { "name" };
            format!(", as in `{key} = {}`", text.token())
        } else {
            String::new()
        };
        return Err(input.error(format!(
            "expected a key of {}{hint}. Keys: {}",
            table.owner,
            table.names.join(", ")
        )));
    }
    let key = input.call(Ident::parse_any)?;
    let name = key.unraw().to_string();
    if !table.names.contains(&name.as_str()) {
        return Err(syn::Error::new(key.span(), unknown(&name, table)));
    }
    keys.fill(&name, key, input, errors)
}

/// Returns the error with the place of the key, if it is at the end of the attribute. syn gives such an error the place of the whole
/// attribute, which may be on another line. `tokens` come after the key.
fn at_key(error: syn::Error, key: &Ident, tokens: &TokenStream) -> syn::Error {
    let is_at_end = error.to_string().starts_with("unexpected end of input");
    if !is_at_end || position(error.span()) != position(Span::call_site()) {
        return error;
    }
    let value = written(tokens).replace(" ::", "::");
    syn::Error::new(key.span(), format!("the value is not complete: write `{key} {value}…`"))
}

fn unknown(name: &str, table: &Table) -> String {
    let owner = table.owner;
    if let Some((_, reason)) = table.refused.iter().find(|(refused, _)| *refused == name) {
        return format!("`{name}` is not a key of {}: {reason}", table.owner);
    }
    let elsewhere = ALL.iter().find(|other| other.names.contains(&name));
    // If the key belongs to another attribute, it is probably misplaced rather than misspelled, so no similar key is suggested: `task` on a
    // prompt does not mean `asks`. Inside parentheses such as `icon(…)`, however, a misspelling is more likely.
    let near =
        suggest(name, table.names).filter(|_| elsewhere.is_none() || !owner.starts_with("#["));
    let hint = if let Some(found) = near {
        format!("; did you mean `{found}`?")
    } else if let Some(other) = elsewhere {
        format!(": it is a key of {}; remove it here.", other.owner)
    } else {
        table.hint.map_or_else(|| ".".to_owned(), |hint| format!("; {hint}."))
    };
    format!("unknown key `{name}` of {owner}{hint} Keys: {}", table.names.join(", "))
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<TokenTree>();
    }
}

/// Reads `= value`. The error for anything else shows how the key is written.
pub(crate) fn assigned<V: Value, T>(
    key: &Ident,
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    if !input.peek(Token![=]) {
        return Err(usage::<V>(key));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(usage::<V>(key));
    }
    read(input)
}

/// Reads `(values)`. The error for anything else shows how the key is written.
pub(crate) fn parenthesized<V: Value, T>(
    key: &Ident,
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    if !input.peek(syn::token::Paren) {
        return Err(usage::<V>(key));
    }
    let content;
    syn::parenthesized!(content in input);
    if content.is_empty() {
        return Err(usage::<V>(key));
    }
    let value = read(&content);
    let complete = content.is_empty();
    // Consumes the remaining tokens. Otherwise syn would report them as a second error.
    content.parse::<TokenStream>()?;
    if value.is_ok() && !complete { Err(usage::<V>(key)) } else { value }
}

pub(crate) fn usage<V: Value>(key: &Ident) -> syn::Error {
    syn::Error::new(key.span(), format!("write `{key}{}`", V::USAGE))
}
