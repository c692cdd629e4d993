//! Changes of configuration files that keep everything else in them.

use similar::{Algorithm, DiffTag, TextDiff, capture_diff_slices};

use crate::{
    client_app::{ClientApp, FileForm},
    entry::{EditError, ServerEntry},
    json_file, toml_file, yaml_file,
};

impl ClientApp {
    /// Adds a server to the text of a configuration file, or replaces the entry of this name. Everything else in the text stays as it is. An
    /// empty text becomes a file with this server alone.
    ///
    /// # Errors
    /// Fails if the client cannot reach a server in this way, if the text is not valid, or if its list of servers is something else.
    pub fn add(self, entry: &ServerEntry, text: &str) -> Result<String, EditError> {
        let form = entry.form(self).ok_or(EditError::NoHttp(self))?;
        let (list, name) = (self.list(), &self.key(&entry.name));
        let added = with_plain_form(text, |text| {
            let added = match self.form() {
                FileForm::Json => {
                    let added = json_file::add(text, list, name, form)?;
                    let questions = entry.questions(self, &added);
                    let added = json_file::add_questions(added, &questions)?;
                    json_file::remove_questions(text, added)
                }
                FileForm::Toml => toml_file::add(text, list, name, form),
                FileForm::Yaml => yaml_file::add(text, list, name, form),
            };
            added.map(Some)
        })?;
        Ok(added.unwrap_or_default())
    }

    /// Returns the names of the servers in the text of a configuration file, in its order. Returns an empty list if the text is not valid.
    pub fn servers(self, text: &str) -> Vec<String> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let names = match self.form() {
            FileForm::Json => json_file::servers(text, self.list()),
            FileForm::Toml => toml_file::servers(text, self.list()),
            FileForm::Yaml => yaml_file::servers(text, self.list()),
        };
        names.unwrap_or_default()
    }

    /// Returns the value of an environment variable of a server in the text of a configuration file. `None` if the server has no such
    /// variable, or if the text is not valid.
    pub(crate) fn value(self, server: &str, variable: &str, text: &str) -> Option<String> {
        let (list, name) = (self.list(), &self.key(server));
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        match self.form() {
            FileForm::Json => json_file::value(text, list, name, variable),
            FileForm::Toml => toml_file::value_of(text, list, name, variable),
            FileForm::Yaml => yaml_file::value(text, list, name, variable),
        }
    }

    /// Removes the server with this name from the text of a configuration file. Returns `None` if the text has no such server.
    ///
    /// # Errors
    /// Fails if the text is not valid, or if its list of servers is something else.
    pub fn remove(self, name: &str, text: &str) -> Result<Option<String>, EditError> {
        let name = &self.key(name);
        with_plain_form(text, |text| match self.form() {
            FileForm::Json => {
                let removed = json_file::remove(text, self.list(), name)?;
                removed.map(|new| json_file::remove_questions(text, new)).transpose()
            }
            FileForm::Toml => toml_file::remove(text, self.list(), name),
            FileForm::Yaml => yaml_file::remove(text, self.list(), name),
        })
    }
}

/// Returns the changed lines, each with three lines around it, in the unified form of `diff -u`. Returns an empty text if nothing has changed.
pub fn difference(path: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).header(path, path).to_string()
}

/// Mark at the beginning of a file, which some editors on Windows write.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Changes a text without its byte order mark and with the line ends of Unix. Every line that stays keeps its own end, and new lines
/// get the end that most lines of the text have.
fn with_plain_form<E>(
    text: &str,
    change: impl FnOnce(&str) -> Result<Option<String>, E>,
) -> Result<Option<String>, E> {
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (&text[..BYTE_ORDER_MARK.len_utf8()], rest),
        None => ("", text),
    };
    let changed = match text.contains("\r\n") {
        true => change(&text.replace("\r\n", "\n"))?.map(|new| with_line_ends_of(text, &new)),
        false => change(text)?,
    };
    Ok(changed.map(|new| format!("{mark}{new}")))
}

/// Returns `new` with the line ends of `old`.
fn with_line_ends_of(old: &str, new: &str) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let plain = old.replace("\r\n", "\n");
    let plain: Vec<&str> = plain.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let is_windows = |line: &&&str| line.ends_with("\r\n");
    let end =
        if lines.iter().filter(is_windows).count() * 2 >= lines.len() { "\r\n" } else { "\n" };
    let mut text = String::new();
    for change in capture_diff_slices(Algorithm::Myers, &plain, &new) {
        let (tag, kept, written) = change.as_tag_tuple();
        match tag {
            DiffTag::Equal => text.extend(lines[kept].iter().copied()),
            _ => text.extend(new[written].iter().map(|line| line.replace('\n', end))),
        }
    }
    text
}
