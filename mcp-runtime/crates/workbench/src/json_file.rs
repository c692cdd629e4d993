//! Servers in a file of JSON, with or without comments.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
};

use crate::entry::{EditError, EntryForm, EntryVariable, Member, Question, reference};

pub(crate) fn add(
    text: &str,
    list: &'static str,
    name: &str,
    form: EntryForm,
) -> Result<String, EditError> {
    let root = parse(if text.trim().is_empty() { "{\n}\n" } else { text })?;
    let file = root.object_value_or_create().ok_or(EditError::NoList(""))?;
    if let Some(empty) = null(&file, list) {
        empty.set_value(CstInputValue::Object(Vec::new()));
    }
    let servers = file.object_value_or_create(list).ok_or(EditError::NoList(list))?;
    let Some(old) = servers.object_value(name) else {
        let entry = form.members.into_iter().map(|(key, member)| (key.to_owned(), input(member)));
        let entry = CstInputValue::Object(entry.collect());
        match servers.get(name) {
            Some(old) => old.set_value(entry),
            None => drop(servers.append(name, entry)),
        }
        return Ok(root.to_string());
    };
    let outdated = form.outdated(|key| old.get(key).is_some());
    for old in outdated.into_iter().filter_map(|key| old.get(key)) {
        old.remove();
    }
    for (key, member) in form.into_changes(|key| old.get(key).is_some()) {
        let member = match (member, old.object_value(key)) {
            (Member::Variables(variables), Some(old)) => {
                for EntryVariable { name, text, is_placeholder } in variables {
                    match old.get(&name) {
                        Some(_) if is_placeholder => {}
                        Some(old) => old.set_value(CstInputValue::String(text)),
                        None => drop(old.append(&name, CstInputValue::String(text))),
                    }
                }
                continue;
            }
            (member, _) => member,
        };
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
    if root.value().is_none() {
        return Ok(None);
    }
    let file = root.object_value().ok_or(EditError::NoList(""))?;
    let Some(servers) = file.get(list).filter(|_| null(&file, list).is_none()) else {
        return Ok(None);
    };
    let servers = servers.object_value().ok_or(EditError::NoList(list))?;
    let Some(entry) = servers.get(name) else { return Ok(None) };
    entry.remove();
    remove_if_empty(file.get(list), &servers.children());
    Ok(Some(root.to_string()))
}

/// Returns the names of the servers.
pub(crate) fn servers(text: &str, list: &str) -> Option<Vec<String>> {
    let servers = parse(text).ok()?.object_value()?.object_value(list)?.properties();
    Some(servers.iter().filter_map(|server| server.name()?.decoded_value().ok()).collect())
}

/// Returns the value of a variable of a server.
pub(crate) fn value(text: &str, list: &str, name: &str, variable: &str) -> Option<String> {
    let entry = parse(text).ok()?.object_value()?.object_value(list)?.object_value(name)?;
    let value = entry.object_value("env")?.get(variable)?.value()?;
    value.as_string_lit()?.decoded_value().ok()
}

fn parse(text: &str) -> Result<CstRootNode, EditError> {
    let parsed = CstRootNode::parse(text, &ParseOptions::default());
    parsed.map_err(|why| EditError::Invalid(why.to_string()))
}

/// Returns the property if its value is `null`. Clients read such a property as a missing one.
fn null(file: &CstObject, key: &str) -> Option<CstObjectProp> {
    file.get(key)
        .filter(|property| property.value().is_some_and(|value| value.as_null_keyword().is_some()))
}

fn input(member: Member) -> CstInputValue {
    match member {
        Member::Text(text) => CstInputValue::String(text),
        Member::Texts(texts) => {
            CstInputValue::Array(texts.into_iter().map(CstInputValue::String).collect())
        }
        Member::Number(number) => CstInputValue::Number(number.to_string()),
        Member::Flag(is_set) => CstInputValue::Bool(is_set),
        Member::Variables(variables) => {
            let text =
                |variable: EntryVariable| (variable.name, CstInputValue::String(variable.text));
            CstInputValue::Object(variables.into_iter().map(text).collect())
        }
    }
}

/// Adds questions to the list `inputs` of a file, which does not have them yet.
pub(crate) fn add_questions(text: String, questions: &[Question<'_>]) -> Result<String, EditError> {
    if questions.is_empty() {
        return Ok(text);
    }
    let root = parse(&text)?;
    let file = root.object_value_or_create().ok_or(EditError::NoList(""))?;
    if let Some(empty) = null(&file, INPUTS) {
        empty.set_value(CstInputValue::Array(Vec::new()));
    }
    let inputs = file.array_value_or_create(INPUTS).ok_or(EditError::NoList(INPUTS))?;
    for question in questions {
        if inputs.elements().iter().any(|old| id_of(old).as_deref() == Some(question.id)) {
            continue;
        }
        let text = |key: &str, text: &str| (key.to_owned(), CstInputValue::String(text.to_owned()));
        let mut new = vec![
            text("type", "promptString"),
            text("id", question.id),
            text("description", question.description),
        ];
        if question.is_secret {
            new.push(("password".to_owned(), CstInputValue::Bool(true)));
        }
        inputs.append(CstInputValue::Object(new));
    }
    Ok(root.to_string())
}

/// Removes the questions that the old text uses, and the new text does not.
pub(crate) fn remove_questions(old: &str, new: String) -> Result<String, EditError> {
    let root = parse(&new)?;
    let Some(file) = root.object_value() else { return Ok(new) };
    let Some(inputs) = file.array_value(INPUTS) else { return Ok(new) };
    for question in inputs.elements() {
        let Some(id) = id_of(&question) else { continue };
        let used = reference(&id);
        if old.contains(&used) && !new.contains(&used) {
            question.remove();
            remove_if_empty(file.get(INPUTS), &inputs.children());
        }
    }
    Ok(root.to_string())
}

/// Removes a list that has become empty, because `install` may have added it with the first entry. A list with comments stays.
fn remove_if_empty(list: Option<CstObjectProp>, children: &[CstNode]) {
    let is_content =
        |child: &CstNode| child.is_comment() || !(child.is_trivia() || child.is_token());
    if let Some(list) = list.filter(|_| !children.iter().any(is_content)) {
        list.remove();
    }
}

/// Key of the list of questions.
const INPUTS: &str = "inputs";

fn id_of(question: &CstNode) -> Option<String> {
    let id = question.as_object()?.get("id")?.value()?;
    id.as_string_lit()?.decoded_value().ok()
}
