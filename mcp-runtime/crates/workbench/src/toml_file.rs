//! Servers in a file of TOML.

use std::ops::Range;

use toml_edit::{
    Array, Document, DocumentMut, InlineTable, Item, Key, RawString, Table, TableLike, TomlError,
    value,
};

use crate::entry::{EditError, EntryForm, EntryVariable, Member, Members};

pub(crate) fn add(
    text: &str,
    list: &'static str,
    name: &str,
    form: EntryForm,
) -> Result<String, EditError> {
    let mut file = parse(text)?;
    let is_new = match file.get(list) {
        None => true,
        Some(Item::Table(servers)) => !servers.contains_key(name),
        Some(_) => false,
    };
    if is_new {
        return Ok(with_entry(text, list, name, form.members));
    }
    let servers = file.get_mut(list).and_then(Item::as_table_like_mut);
    let servers = servers.ok_or(EditError::NoList(list))?;
    if servers.get(name).and_then(Item::as_table_like).is_none() {
        servers.insert(name, Item::Table(Table::new()));
    }
    let entry = servers.get_mut(name).and_then(Item::as_table_like_mut);
    let entry = entry.ok_or(EditError::NoList(list))?;
    let mut comments = String::new();
    for key in form.outdated(|key| entry.contains_key(key)) {
        let above = entry.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str());
        comments += above.filter(|above| above.contains('#')).unwrap_or_default();
        entry.remove(key);
    }
    let first = form.members.first().map(|(key, _)| *key);
    for (key, member) in form.into_changes(|key| entry.contains_key(key)) {
        let old = entry.get_mut(key).and_then(Item::as_table_like_mut);
        let member = match (member, old) {
            (Member::Variables(variables), Some(old)) => {
                for EntryVariable { name, text, is_placeholder } in variables {
                    if !is_placeholder || !old.contains_key(&name) {
                        set(old, &name, value(text));
                    }
                }
                continue;
            }
            (member, _) => member,
        };
        set(entry, key, item(member));
    }
    // Comments above a key that has gone may be about the whole entry.
    if let Some(mut key) = first.and_then(|key| entry.key_mut(key)).filter(|_| !comments.is_empty())
    {
        let decor = key.leaf_decor_mut();
        comments += decor.prefix().and_then(RawString::as_str).unwrap_or_default();
        decor.set_prefix(comments);
    }
    Ok(file.to_string())
}

/// Sets a value. Comments above its key and at the end of its line stay.
fn set(table: &mut dyn TableLike, key: &str, mut new: Item) {
    let Some(old) = table.get_mut(key) else {
        table.insert(key, new);
        return;
    };
    if let (Some(old), Some(new)) = (old.as_value(), new.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    // `insert` would remove the comments of the key.
    *old = new;
}

/// Returns the text with a new entry at its end, so that all comments keep their place.
fn with_entry(text: &str, list: &str, name: &str, members: Members) -> String {
    let members = members.into_iter().map(|(key, member)| (key, item(member)));
    let mut servers = Table::new();
    // The list needs no header of its own, because each server has one.
    servers.set_implicit(true);
    servers.insert(name, Item::Table(members.collect()));
    let mut entry = DocumentMut::new();
    entry.insert(list, Item::Table(servers));
    match text {
        "" => entry.to_string(),
        text if text.ends_with('\n') => format!("{text}\n{entry}"),
        text => format!("{text}\n\n{entry}"),
    }
}

pub(crate) fn remove(
    text: &str,
    list: &'static str,
    name: &str,
) -> Result<Option<String>, EditError> {
    let file = Document::parse(text).map_err(invalid)?;
    let Some(servers) = file.get(list) else { return Ok(None) };
    if let Some(servers) = servers.as_table() {
        let entry = servers.get_key_value(name);
        return Ok(entry.map(|(key, entry)| without(text, parts(key, entry))));
    }
    // An inline table has no comments.
    let mut file = file.into_mut();
    let servers = file.get_mut(list).and_then(Item::as_table_like_mut);
    let servers = servers.ok_or(EditError::NoList(list))?;
    Ok(servers.remove(name).map(|_| file.to_string()))
}

/// Part of a text that belongs to an entry.
struct Part {
    range: Range<usize>,
    /// Whether it begins with the header of a table, as in `[mcp_servers.notes]`.
    has_header: bool,
}

/// Returns the parts of the text that make up an item. They contain neither the comments above it nor those below it.
fn parts(key: &Key, item: &Item) -> Vec<Part> {
    match item {
        Item::None => Vec::new(),
        Item::Value(value) => {
            let range = key.span().zip(value.span()).map(|(key, value)| key.start..value.end);
            range.map(|range| Part { range, has_header: false }).into_iter().collect()
        }
        Item::Table(table) => parts_of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().flat_map(parts_of_table).collect(),
    }
}

fn parts_of_table(table: &Table) -> Vec<Part> {
    let inner = table.iter().filter_map(|(name, item)| Some(parts(table.key(name)?, item)));
    let inner = inner.flatten();
    let header = table.span().filter(|_| !table.is_implicit() && !table.is_dotted());
    let Some(header) = header else { return inner.collect() };
    let (tables, values): (Vec<_>, Vec<_>) = inner.partition(|part| part.has_header);
    let end = values.iter().map(|part| part.range.end).max().unwrap_or(header.end);
    let own = Part { range: header.start..end, has_header: true };
    [own].into_iter().chain(tables).collect()
}

/// Returns the text without the lines of these parts. A part with a header also loses the blank line above it.
fn without(text: &str, mut parts: Vec<Part>) -> String {
    parts.sort_by_key(|part| part.range.start);
    let (mut kept, mut rest) = (String::new(), 0);
    for Part { range, has_header } in parts {
        let start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        kept += &text[rest..start];
        rest = text[range.end..].find('\n').map_or(text.len(), |end| range.end + end + 1);
        if has_header && (kept.ends_with("\n\n") || kept == "\n") {
            kept.pop();
        }
    }
    let rest = &text[rest..];
    // The next table does not need its blank line at the beginning of the file.
    let is_first = kept.is_empty();
    kept + rest.strip_prefix('\n').filter(|_| is_first).unwrap_or(rest)
}

/// Returns the names of the servers.
pub(crate) fn servers(text: &str, list: &str) -> Option<Vec<String>> {
    let file = parse(text).ok()?;
    let servers = file.get(list)?.as_table_like()?;
    Some(servers.iter().map(|(name, _)| name.to_owned()).collect())
}

/// Returns the value of a variable of a server.
pub(crate) fn value_of(text: &str, list: &str, name: &str, variable: &str) -> Option<String> {
    let file = parse(text).ok()?;
    let value = file.get(list)?.get(name)?.get("env")?.get(variable)?;
    value.as_str().map(str::to_owned)
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(invalid)
}

fn invalid(why: TomlError) -> EditError {
    EditError::Invalid(why.to_string())
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

#[cfg(test)]
mod tests;
