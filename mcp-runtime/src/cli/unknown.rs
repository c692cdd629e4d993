//! Errors about names that are unknown. They name what the user may have meant.

use mcp_runtime_contract::suggest::nearest;
use serde_json::Value;

use super::{
    exit::CommandError,
    lists::{ServerLists, member},
};

/// Maximum number of names in an error, if a command shows them too.
const MOST_NAMES: usize = 10;

/// Returns the part of an error that has all names of a kind, such as "the tools are: add, sum". If there are many, the part refers to the
/// command that shows them.
pub(super) fn all_names<'a>(
    what: &str,
    names: impl Iterator<Item = &'a str>,
    shown_by: Option<&str>,
) -> String {
    let names: Vec<_> = names.collect();
    match (&*names, shown_by) {
        ([only], _) => format!("the only {what} is `{only}`"),
        (_, Some(command)) if names.len() > MOST_NAMES => {
            format!("`{command}` shows all {} {what}s", names.len())
        }
        _ => format!("the {what}s are: {}", names.join(", ")),
    }
}

/// Finds an item of the kind `what` by its name. `others` are the items of another kind, with the command for them.
///
/// # Errors
/// Fails if no item of this kind has the name. The error names the command for an item of the other kind, or a similar name.
pub(super) fn find<'a>(
    list: &'a [Value],
    name: &str,
    what: &str,
    (others, command): (&[Value], &str),
) -> Result<&'a Value, CommandError> {
    if let Some(found) = named(list, name) {
        return Ok(found);
    }
    let names = || list.iter().map(|item| member(item, "name"));
    let hint = match nearest(name, names()) {
        _ if named(others, name).is_some() => format!("; did you mean `{command} {name}`?"),
        Some(near) => format!("; did you mean `{near}`?"),
        None if list.is_empty() => ": this server has none".to_owned(),
        None => format!("; {}", all_names(what, names(), Some("list"))),
    };
    Err(CommandError::usage(format!("unknown {what} `{name}`{hint}")))
}

fn named<'a>(list: &'a [Value], name: &str) -> Option<&'a Value> {
    list.iter().find(|item| member(item, "name") == name)
}

/// Checks a URI before the server is asked for its resource.
///
/// # Errors
/// Fails if the server has no resources, or if the URI has a variable of a template in place of a value.
pub(super) fn check_uri(uri: &str, lists: &ServerLists) -> Result<(), CommandError> {
    if lists.resources.is_empty() && lists.templates.is_empty() {
        let none =
            || CommandError::usage(format!("unknown resource `{uri}`: this server has none"));
        return Err(other_item(uri, lists).unwrap_or_else(none));
    }
    let mut open: Vec<String> = Vec::new();
    for variable in lists.templates.iter().flat_map(|item| variables(member(item, "uriTemplate"))) {
        let variable = format!("`{variable}`");
        if uri.contains(variable.trim_matches('`')) && !open.contains(&variable) {
            open.push(variable);
        }
    }
    let values = match open.len() {
        0 => return Ok(()),
        1 => "a value",
        _ => "values",
    };
    let open = open.join(" and ");
    Err(CommandError::usage(format!("`{uri}` is not a URI: put {values} in place of {open}")))
}

/// Returns the variables of a template, with their braces.
fn variables(template: &str) -> impl Iterator<Item = &str> {
    let parts = template.split_inclusive('}').filter(|part| part.ends_with('}'));
    parts.filter_map(|part| part.find('{').map(|at| &part[at..]))
}

/// Adds to the error of a resource that the server does not have what the user may have meant. Other errors stay as they are.
pub(super) fn explain_missing(error: CommandError, uri: &str, lists: &ServerLists) -> CommandError {
    if !error.text.starts_with("there is no resource `") {
        return error;
    }
    if let Some(error) = other_item(uri, lists) {
        return error;
    }
    let fixed = lists.resources.iter().map(|item| member(item, "uri").to_owned());
    let filled = lists.templates.iter().filter_map(|item| filled(member(item, "uriTemplate"), uri));
    // The function of a template that fits may have found nothing.
    let uris: Vec<String> = fixed.chain(filled).filter(|other| other != uri).collect();
    let text = error.text;
    CommandError::failure(match nearest(uri, uris.iter().map(String::as_str)) {
        Some(near) => format!("{text}; did you mean `{near}`?"),
        None => format!("{text}\n`list` shows all resources and templates"),
    })
}

/// Returns the error for the name of an item in place of a URI.
fn other_item(name: &str, lists: &ServerLists) -> Option<CommandError> {
    let meant = if let Some(resource) = named(&lists.resources, name) {
        format!("`{}`", member(resource, "uri"))
    } else if let Some(template) = named(&lists.templates, name) {
        format!("a URI of the template `{}`", member(template, "uriTemplate"))
    } else if named(&lists.prompts, name).is_some() {
        format!("`get {name}`")
    } else if named(&lists.tools, name).is_some() {
        format!("`call {name}`")
    } else {
        return None;
    };
    Some(CommandError::usage(format!("unknown resource `{name}`; did you mean {meant}?")))
}

/// Returns a template with the segments of a URI in place of those that have a variable. `None` if the other segments are too different.
/// If the URI has fewer segments, the template stays as it is.
fn filled(template: &str, uri: &str) -> Option<String> {
    let count = template.split('/').count();
    let given: Vec<&str> = uri.splitn(count, '/').collect();
    if given.len() < count {
        return Some(template.to_owned());
    }
    // The values are the same in both URIs, so they would hide that the fixed segments are different.
    let (mut filled, mut fixed, mut fixed_given) = (Vec::new(), Vec::new(), Vec::new());
    for (own, given) in template.split('/').zip(given) {
        if own.contains(['{', '}']) {
            filled.push(given);
        } else {
            filled.push(own);
            fixed.push(own);
            fixed_given.push(given);
        }
    }
    let fixed = fixed.join("/");
    nearest(&fixed_given.join("/"), [&*fixed].into_iter())?;
    Some(filled.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_names_are_listed_and_many_are_counted() {
        let names = ["one", "two"];
        let all =
            |count, command| all_names("tool", names.into_iter().cycle().take(count), command);
        assert_eq!(all(1, Some("list")), "the only tool is `one`");
        assert_eq!(all(2, Some("list")), "the tools are: one, two");
        assert!(all(MOST_NAMES, Some("list")).starts_with("the tools are: one, two, one"));
        assert_eq!(all(MOST_NAMES + 1, Some("list")), "`list` shows all 11 tools");
        assert!(all(MOST_NAMES + 1, None).starts_with("the tools are: one, "));
    }

    #[test]
    fn a_template_gets_the_values_of_a_uri() {
        let check = |template, uri, expected: &str| {
            assert_eq!(filled(template, uri).as_deref(), Some(expected));
        };
        check("users://{id}/profile", "users://7/profil", "users://7/profile");
        check("files://{+path}", "file://a/b", "files://a/b");
        check("users://{id}/profile", "users://7", "users://{id}/profile");
        // Long values do not make different templates similar.
        assert_eq!(filled("users://{id}/posts", "users://a-very-long-value/profile"), None);
        assert_eq!(filled("diary://photos/{name}", "diary://2026/may/1"), None);
        let found: Vec<_> = variables("users://{id}/{+path}{?page,size}/x").collect();
        assert_eq!(found, ["{id}", "{+path}", "{?page,size}"]);
    }
}
