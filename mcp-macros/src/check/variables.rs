//! The variables of a URI and the parameters that take them.

use crate::errors::Errors;
use crate::item::{Item, Param, Place};
use crate::keys::suggest::suggest;

pub(super) fn check(item: &Item<'_>, errors: &Errors) {
    let Some(template) = &item.template else { return };
    let names: Vec<String> = item
        .params
        .iter()
        .filter(|it| matches!(it.place, Place::Typed(..)))
        .map(Param::name)
        .collect();
    let free: Vec<&str> =
        names.iter().map(String::as_str).filter(|it| template.variable(it).is_none()).collect();
    for variable in template.variables().filter(|it| !names.contains(&it.name)) {
        let name = &variable.name;
        let hint = match suggest(name, &free).or_else(|| of_same_word(name, &free)) {
            Some(found) => format!(
                "did you mean the parameter `{found}`? Write `{{{found}}}`, or `#[arg(name = \"{name}\")] {found}`"
            ),
            None => format!("add one: `{}`", example(name)),
        };
        errors.at(
            template.uri.span(),
            format!("the variable `{{{name}}}` has no parameter of its name; {hint}"),
        );
    }
}

/// Returns the only parameter whose name contains the variable's name as a word, or the other way round: `user_id` for `id`.
fn of_same_word<'a>(name: &str, free: &[&'a str]) -> Option<&'a str> {
    let has = |name: &str, word: &str| name.split('_').any(|it| it == word);
    let mut found = free.iter().filter(|it| has(it, name) || has(name, it));
    found.next().filter(|_| found.next().is_none()).copied()
}

/// Returns a declaration of a parameter for the variable.
fn example(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() {
        format!("{name}: String")
    } else {
        let ident: String = name.chars().map(|it| if it == '.' { '_' } else { it }).collect();
        format!("#[arg(name = \"{name}\")] {ident}: String")
    }
}
