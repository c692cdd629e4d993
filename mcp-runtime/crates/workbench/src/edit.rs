//! Changes of configuration files that keep everything else in them.

use similar::TextDiff;

use crate::{
    client_app::{ClientApp, FileForm},
    entry::{EditError, ServerEntry},
    json_file,
    text_form::with_plain_form,
    toml_file, yaml_file,
};

impl ClientApp {
    /// Adds a server to the text of a configuration file, or replaces the entry of this name. Everything else in the text stays as it is. An
    /// empty text becomes a file with this server alone.
    ///
    /// # Errors
    /// Fails if the client cannot reach a server in this way, if the text is not valid, or if its list of servers is something else.
    pub fn add(self, entry: &ServerEntry, text: &str) -> Result<String, EditError> {
        let members = entry.members(self).ok_or(EditError::NoHttp(self))?;
        let (list, name) = (self.list(), &self.key(&entry.name));
        let added = with_plain_form(text, |text| {
            let added = match self.form() {
                FileForm::Json => {
                    let text = json_file::add(text, list, name, members)?;
                    json_file::add_questions(text, &entry.questions(self))
                }
                FileForm::Toml => toml_file::add(text, list, name, members),
                FileForm::Yaml => yaml_file::add(text, list, name, members),
            };
            added.map(Some)
        })?;
        Ok(added.unwrap_or_default())
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
