//! Servers in a file of TOML.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TomlError, value};

use crate::entry::{EditError, EntryVariable, Member, Members, outdated};

pub(crate) fn add(
    text: &str,
    list: &'static str,
    name: &str,
    members: Members,
) -> Result<String, EditError> {
    let mut file = parse(text)?;
    let servers = file.entry(list).or_insert_with(|| {
        let mut servers = Table::new();
        // The list needs no header of its own, because each server has one.
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers.as_table_like_mut().ok_or(EditError::NoList(list))?;
    if servers.get(name).and_then(Item::as_table_like).is_none() {
        servers.insert(name, Item::Table(Table::new()));
    }
    let entry = servers.get_mut(name).and_then(Item::as_table_like_mut);
    let entry = entry.ok_or(EditError::NoList(list))?;
    for key in outdated(&members) {
        entry.remove(key);
    }
    for (key, member) in members {
        let old = entry.get_mut(key).and_then(Item::as_table_like_mut);
        let member = match (member, old) {
            (Member::Variables(variables), Some(old)) => {
                for EntryVariable { name, text, is_placeholder } in variables {
                    if !is_placeholder || !old.contains_key(&name) {
                        old.insert(&name, value(text));
                    }
                }
                continue;
            }
            (member, _) => member,
        };
        let mut new = item(member);
        // A comment at the end of the line stays.
        if let (Some(old), Some(new)) =
            (entry.get(key).and_then(Item::as_value), new.as_value_mut())
        {
            *new.decor_mut() = old.decor().clone();
        }
        entry.insert(key, new);
    }
    Ok(file.to_string())
}

pub(crate) fn remove(
    text: &str,
    list: &'static str,
    name: &str,
) -> Result<Option<String>, EditError> {
    let mut file = parse(text)?;
    let Some(servers) = file.get_mut(list) else { return Ok(None) };
    let servers = servers.as_table_like_mut().ok_or(EditError::NoList(list))?;
    Ok(servers.remove(name).map(|_| file.to_string()))
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|why: TomlError| EditError::Invalid(why.to_string()))
}

fn item(member: Member) -> Item {
    match member {
        Member::Text(text) => value(text),
        Member::Texts(texts) => value(texts.into_iter().collect::<Array>()),
        Member::Number(number) => value(i64::from(number)),
        Member::Flag(is_set) => value(is_set),
        Member::Variables(variables) => {
            let pairs = variables.into_iter().map(|variable| (variable.name, variable.text));
            value(pairs.collect::<InlineTable>())
        }
    }
}
