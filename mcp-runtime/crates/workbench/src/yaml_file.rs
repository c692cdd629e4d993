//! Servers in a file of YAML.

use std::{fmt::Write as _, str::FromStr as _};

use yaml_edit::{Document, Mapping, Scalar};

use crate::entry::{EditError, EntryForm, EntryVariable, Member, Members};

pub(crate) fn add(
    text: &str,
    list: &'static str,
    name: &str,
    form: EntryForm,
) -> Result<String, EditError> {
    let entry = parse(&block(&form.members))?;
    let entry = mapping(&entry, "")?;
    let own = parse(&format!("{}: {{}}\n", quoted(name)))?;
    mapping(&own, "")?.set(name, &entry);
    if has_no_content(text) {
        let file = parse(&format!("{list}: {{}}\n"))?;
        mapping(&file, "")?.set(list, mapping(&own, "")?);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{end}{file}"));
    }
    let file = parse(text)?;
    let root = mapping(&file, "")?;
    if is_missing(&root, list) {
        root.set(list, mapping(&own, "")?);
        return Ok(file.to_string());
    }
    let servers = root.get_mapping(list).ok_or(EditError::NoList(list))?;
    let Some(old) = servers.get_mapping(name) else {
        servers.set(name, &entry);
        return Ok(file.to_string());
    };
    for key in form.outdated(|key| old.get(key).is_some()) {
        old.remove(key);
    }
    for (key, member) in form.into_changes(|key| old.get(key).is_some()) {
        if let (Member::Variables(variables), Some(old), Some(new)) =
            (&member, old.get_mapping(key), entry.get_mapping(key))
        {
            for EntryVariable { name, is_placeholder, .. } in variables {
                let is_kept = *is_placeholder && old.get(name.as_str()).is_some();
                if let Some(text) = new.get(name.as_str()).filter(|_| !is_kept) {
                    old.set(name.as_str(), &text);
                }
            }
            continue;
        }
        if let Some(member) = entry.get(key) {
            old.set(key, &member);
        }
    }
    Ok(file.to_string())
}

pub(crate) fn remove(
    text: &str,
    list: &'static str,
    name: &str,
) -> Result<Option<String>, EditError> {
    if has_no_content(text) {
        return Ok(None);
    }
    let file = parse(text)?;
    let root = mapping(&file, "")?;
    if is_missing(&root, list) {
        return Ok(None);
    }
    let servers = root.get_mapping(list).ok_or(EditError::NoList(list))?;
    if servers.remove(name).is_none() {
        return Ok(None);
    }
    // The command that added the first server may have added the list too.
    if servers.is_empty() {
        root.remove(list);
    }
    let text = file.to_string();
    // A file of comments gets no empty mapping.
    let comments =
        text.strip_suffix("{}\n").filter(|rest| !rest.is_empty() && has_no_content(rest));
    Ok(Some(comments.map_or_else(|| text.clone(), str::to_owned)))
}

/// Returns the names of the servers.
pub(crate) fn servers(text: &str, list: &str) -> Option<Vec<String>> {
    let servers = parse(text).ok()?.as_mapping()?.get_mapping(list)?;
    Some(servers.keys().filter_map(|key| Some(key.as_scalar()?.as_string())).collect())
}

/// Returns the value of a variable of a server.
pub(crate) fn value(text: &str, list: &str, name: &str, variable: &str) -> Option<String> {
    let file = parse(text).ok()?;
    let entry = file.as_mapping()?.get_mapping(list)?.get_mapping(name)?;
    let value = entry.get_mapping("envs")?.get(variable)?;
    value.as_scalar().map(Scalar::as_string)
}

/// Whether a text has neither keys nor values, but at most comments and the beginning of a document.
fn has_no_content(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.all(|line| line.starts_with('#') || line == "---")
}

/// Whether a key is missing or has no value.
fn is_missing(root: &Mapping, key: &str) -> bool {
    root.get(key).is_none_or(|value| {
        value.as_scalar().is_some_and(|scalar| ["", "~", "null"].contains(&&*scalar.as_string()))
    })
}

fn parse(text: &str) -> Result<Document, EditError> {
    Document::from_str(text).map_err(|why| EditError::Invalid(why.to_string()))
}

fn mapping(file: &Document, key: &'static str) -> Result<Mapping, EditError> {
    file.as_mapping().ok_or(EditError::NoList(key))
}

/// Returns the members as a block of YAML.
fn block(members: &Members) -> String {
    let mut text = String::new();
    for (key, member) in members {
        let member = match member {
            Member::Text(text) => quoted(text),
            Member::Texts(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", texts.join(", "))
            }
            Member::Number(number) => number.to_string(),
            Member::Flag(is_set) => is_set.to_string(),
            Member::Variables(variables) => {
                let pairs = variables.iter().map(|variable| {
                    format!("{}: {}", quoted(&variable.name), quoted(&variable.text))
                });
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
        };
        let _ = writeln!(text, "{key}: {member}");
    }
    text
}

/// Returns a text as a scalar. Texts that could mean something else stand in quotes.
fn quoted(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.chars().all(|next| next.is_ascii_alphanumeric() || "/._-".contains(next))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&&*text.to_ascii_lowercase());
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for next in text.chars() {
        match next {
            '"' | '\\' => quoted.extend(['\\', next]),
            next if next.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(next));
            }
            next => quoted.push(next),
        }
    }
    quoted + "\""
}
