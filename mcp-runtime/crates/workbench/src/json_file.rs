//! Servers in a file of JSON, with or without comments.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstRootNode},
};

use crate::entry::{EditError, Member, Members, outdated};

pub(crate) fn add(
    text: &str,
    list: &'static str,
    name: &str,
    members: Members,
) -> Result<String, EditError> {
    let root = parse(if text.trim().is_empty() { "{\n}\n" } else { text })?;
    let file = root.object_value_or_create().ok_or(EditError::NoList(""))?;
    let servers = file.object_value_or_create(list).ok_or(EditError::NoList(list))?;
    let Some(old) = servers.object_value(name) else {
        let entry = members.into_iter().map(|(key, member)| (key.to_owned(), input(member)));
        let entry = CstInputValue::Object(entry.collect());
        match servers.get(name) {
            Some(old) => old.set_value(entry),
            None => drop(servers.append(name, entry)),
        }
        return Ok(root.to_string());
    };
    for old in outdated(&members).filter_map(|key| old.get(key)) {
        old.remove();
    }
    for (key, member) in members {
        match old.get(key) {
            Some(old) => old.set_value(input(member)),
            None => drop(old.append(key, input(member))),
        }
    }
    Ok(root.to_string())
}

pub(crate) fn remove(
    text: &str,
    list: &'static str,
    name: &str,
) -> Result<Option<String>, EditError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let root = parse(text)?;
    let file = root.object_value().ok_or(EditError::NoList(""))?;
    let Some(servers) = file.get(list) else { return Ok(None) };
    let servers = servers.object_value().ok_or(EditError::NoList(list))?;
    let Some(entry) = servers.get(name) else { return Ok(None) };
    entry.remove();
    Ok(Some(root.to_string()))
}

fn parse(text: &str) -> Result<CstRootNode, EditError> {
    let parsed = CstRootNode::parse(text, &ParseOptions::default());
    parsed.map_err(|why| EditError::Invalid(why.to_string()))
}

fn input(member: Member) -> CstInputValue {
    match member {
        Member::Text(text) => CstInputValue::String(text),
        Member::Texts(texts) => {
            CstInputValue::Array(texts.into_iter().map(CstInputValue::String).collect())
        }
        Member::Number(number) => CstInputValue::Number(number.to_string()),
        Member::Flag(is_set) => CstInputValue::Bool(is_set),
    }
}
