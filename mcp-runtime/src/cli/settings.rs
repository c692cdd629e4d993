//! Values of fields with `#[config]` for an entry in the configuration of a client.

use std::path::Path;

use super::exit::CommandError;
use crate::{
    builder::Builder,
    config::{ConfigFieldView, OwnOptions, is_chosen, is_option},
};

/// Values that an entry in the configuration of a client passes to the server: those that were given to this process, and placeholders
/// for those that are missing.
pub(super) struct EntryOptions {
    pub(super) args: Vec<String>,
    pub(super) variables: Vec<EntryVariable>,
}

/// Environment variable in the entry of a client.
pub(super) struct EntryVariable {
    pub(super) name: String,
    pub(super) option: &'static str,
    /// Description for the user, who may be asked for the value.
    pub(super) about: String,
    pub(super) is_secret: bool,
    /// Value, or `None` if a value is required and missing.
    pub(super) text: Option<String>,
}

impl EntryOptions {
    /// Collects the values of the command line and of the environment. A secret becomes a variable in either case.
    ///
    /// # Errors
    /// Fails if a value is given that the server could not read at its start, and for a comma in a secret of a list.
    pub(super) fn of(builder: &Builder) -> Result<Self, CommandError> {
        let config = builder.needed_config();
        let (mut args, mut variables) = (Vec::new(), Vec::new());
        let given = builder.given.as_ref();
        let fields = config.fields();
        config.check_given().map_err(CommandError::failure)?;
        for view in fields {
            let field = &view.field;
            let of_option = given.and_then(|given| given.get(field.option));
            let text = match of_option {
                Some(texts) if !field.is_secret => {
                    args.extend(texts.iter().flat_map(|text| view.words(text)));
                    continue;
                }
                Some(texts) => {
                    // The server would read the variable as several values.
                    if view.is_list() && texts.iter().any(|text| text.contains(',')) {
                        return Err(CommandError::usage(format!(
                            "a value of `--{}` has a comma, which the variable `{}` cannot contain: a secret is passed on as a variable",
                            field.option, view.variable
                        )));
                    }
                    Some(view.all_absolute(&texts.join(",")))
                }
                None => variable(&view.variable).map(|text| view.all_absolute(&text)),
            };
            if text.is_none() && !view.is_needed() {
                // A client starts the server in a folder of its own.
                if field.is_path && field.default.is_some_and(|path| Path::new(path).is_relative())
                {
                    args.extend(view.words(field.default.unwrap_or_default()));
                }
                continue;
            }
            let about = if field.about.is_empty() { field.option } else { field.about };
            let about = match &field.choices[..] {
                [] => about.to_owned(),
                choices => format!("{}: {}", about.trim_end_matches('.'), choices.join(", ")),
            };
            variables.push(EntryVariable {
                name: view.variable.clone(),
                option: field.option,
                about,
                is_secret: field.is_secret,
                text,
            });
        }
        Ok(Self { args, variables })
    }
}

/// Returns the problem with an option of the author among the words after `--`. These words go unchanged to the command line of another server,
/// where secrets would be visible. Words after a second `--` belong to the author's program, unless the words begin with `record`.
pub(super) fn misplaced(own: &dyn OwnOptions, words: &[String], command: &str) -> Option<String> {
    let is_record = words.first().is_some_and(|word| word == "record");
    let of_server = words.split(|word| word == "--").take(if is_record { 2 } else { 1 });
    of_server.flatten().find_map(|word| own.misplaced(word.split('=').next()?, command))
}

/// Returns the value of a variable. `None` if the variable is empty or contains a placeholder. Text that is not Unicode was reported before.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| is_chosen(text, name))
}

impl ConfigFieldView {
    /// Returns the words of the command line that give this value.
    fn words(&self, text: &str) -> Vec<String> {
        let option = self.field.option;
        match (self.is_flag(), text) {
            (true, "true") => vec![format!("--{option}")],
            (true, _) => vec![format!("--{option}={text}")],
            (false, _) => match self.absolute(text) {
                // The server would read a separate word with this text as an option.
                value if is_option(&value) => vec![format!("--{option}={value}")],
                value => vec![format!("--{option}"), value],
            },
        }
    }

    /// Returns the text of a variable with absolute paths. A list has several, with commas between them.
    fn all_absolute(&self, text: &str) -> String {
        match self.is_list() {
            true => {
                let all = text.split(',').map(|text| self.absolute(text.trim()));
                all.collect::<Vec<_>>().join(",")
            }
            false => self.absolute(text),
        }
    }

    /// Returns a path as an absolute path, because a client starts the server in a folder of its own. Other texts stay as they are.
    fn absolute(&self, text: &str) -> String {
        if self.field.is_path { absolute(text) } else { text.to_owned() }
    }
}

/// Returns the absolute form of a path. A path that has none stays as it is.
pub(super) fn absolute(path: &str) -> String {
    let absolute = std::path::absolute(path).ok();
    let absolute = absolute.and_then(|path| path.into_os_string().into_string().ok());
    absolute.unwrap_or_else(|| path.to_owned())
}
