//! Options of the command line that fields of structs with `#[config]` declare.

use std::{collections::BTreeMap, ffi::OsString};

use lexopt::Parser;

use super::{
    plan::ConfigFieldView,
    reader::{GivenValues, alternatives, is_unchosen},
};

/// Section of `help`: a title, and lines of an option and its description.
pub(crate) type HelpSection = (String, Vec<(String, String)>);

/// Options that the author of the server has declared, and their values from the command line. Each error is a message about a wrong usage. The
/// default methods are those of a server without options.
pub(crate) trait OwnOptions {
    /// Returns the options with their dashes.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn knows(&self, _option: &str) -> bool {
        false
    }

    /// Stores a known option and its value. No error contains the value, because it may be secret.
    ///
    /// # Errors
    /// Fails if the value is missing or not UTF-8, or if the option is given twice and is no list.
    fn take(&mut self, _option: &str, _parser: &mut Parser) -> Result<(), String> {
        Ok(())
    }

    /// Stores the values of `--all-of OPTION VALUE…`, up to the next option. The manifest of a bundle starts the server with `--all-of`. A client
    /// inserts each of several values as a separate word, or leaves the placeholder if the user has chosen no value.
    ///
    /// # Errors
    /// Fails if there is no such option, if the option is no list, or if a value is not UTF-8.
    fn take_all(&mut self, _parser: &mut Parser) -> Result<(), String> {
        Err(unusable("there is no such option"))
    }

    /// Returns the problem with an option that follows the name of a command, if it is an option of the author. Such an option stands before
    /// the command. The name includes the dashes.
    fn misplaced(&self, _option: &str, _command: &str) -> Option<String> {
        None
    }

    /// Returns the sections of `help`. Each has the description of a struct as its title, and the struct's options. Adjacent structs with the
    /// same description share a section. No text contains the value of a secret.
    fn help(&self) -> Vec<HelpSection> {
        Vec::new()
    }

    fn into_given(self: Box<Self>) -> GivenValues {
        GivenValues::new()
    }
}

/// Options of a server without `#[config]`.
pub(super) struct NoOptions;

impl OwnOptions for NoOptions {}

/// Returns the value of an option: the text after `=`, or the next word. `usage` is the option with a placeholder, such as `--root ROOT`.
///
/// # Errors
/// Fails if there is no word, or if the next word is an option too. The error does not contain that word, because it may be a secret.
pub(crate) fn value_of_option(parser: &mut Parser, usage: &str) -> Result<OsString, String> {
    if let Some(value) = parser.optional_value() {
        return Ok(value);
    }
    let needs_value = |more: &str| needs_value(usage) + more;
    let mut words = parser.try_raw_args().ok_or_else(|| needs_value(""))?;
    match words.next_if(|word| !is_option(&word.to_string_lossy())) {
        Some(value) => Ok(value),
        None if words.peek().is_some_and(|word| word != "--") => {
            Err(needs_value("; a value that looks like an option follows `=`"))
        }
        None => Err(needs_value("")),
    }
}

/// Returns the problem with an option that has no value.
pub(crate) fn needs_value(usage: &str) -> String {
    let name = usage.split(' ').next().unwrap_or_default();
    format!("`{name}` needs a value, as in `{usage}`")
}

/// Whether a word after an option is the next option, and not the value. A negative number is a value.
pub(crate) fn is_option(word: &str) -> bool {
    word.starts_with("--") || matches!(word, "-h" | "-V")
}

fn unusable(why: &str) -> String {
    format!("`--all-of OPTION VALUE…`: {why}")
}

/// Options that the fields of structs with `#[config]` declare.
pub(super) struct FieldOptions {
    fields: Vec<ConfigFieldView>,
    given: GivenValues,
}

impl FieldOptions {
    pub(super) fn new(fields: Vec<ConfigFieldView>) -> Self {
        Self { fields, given: BTreeMap::new() }
    }

    fn find(&self, option: &str) -> Option<&ConfigFieldView> {
        self.fields.iter().find(|view| view.field.option == option)
    }
}

impl OwnOptions for FieldOptions {
    fn names(&self) -> Vec<String> {
        self.fields.iter().map(|view| format!("--{}", view.field.option)).collect()
    }

    fn into_given(self: Box<Self>) -> GivenValues {
        self.given
    }

    fn knows(&self, option: &str) -> bool {
        self.find(option).is_some()
    }

    fn take(&mut self, option: &str, parser: &mut Parser) -> Result<(), String> {
        let Some(view) = self.find(option) else { return Ok(()) };
        let value = match view.is_flag() {
            true => parser.optional_value().unwrap_or_else(|| "true".into()),
            false => value_of_option(parser, &view.field.usage())?,
        };
        // A shell passes an empty word for `"$NAME"` if the variable is not set.
        if view.field.is_path && value.is_empty() {
            return Err(needs_value(&view.field.usage()));
        }
        let value =
            value.into_string().map_err(|_| format!("the value of `--{option}` is not UTF-8"))?;
        let is_list = view.is_list();
        let values = self.given.entry(option.to_owned()).or_default();
        if !is_list && !values.is_empty() {
            return Err(format!("`--{option}` is given twice"));
        }
        values.push(value);
        Ok(())
    }

    fn take_all(&mut self, parser: &mut Parser) -> Result<(), String> {
        let mut words = parser.raw_args().map_err(|error| error.to_string())?;
        let option = words.next().and_then(|option| option.into_string().ok()).unwrap_or_default();
        let view = self.find(&option).ok_or_else(|| unusable("there is no such option"))?;
        if !view.is_list() {
            return Err(unusable(&format!("`--{option}` takes a single value")));
        }
        let mut values = Vec::new();
        while let Some(word) = words.next_if(|word| !word.to_string_lossy().starts_with("--")) {
            let value = word.into_string().map_err(|_| unusable("a value is not UTF-8"))?;
            if !is_unchosen(&value) {
                values.push(value);
            }
        }
        // If the user has chosen no value, the environment variable or the default applies.
        if !values.is_empty() {
            self.given.entry(option).or_default().append(&mut values);
        }
        Ok(())
    }

    fn misplaced(&self, option: &str, command: &str) -> Option<String> {
        let view = self.find(option.strip_prefix("--")?)?;
        let usage = view.field.usage();
        Some(format!("`{option}` goes before the command: `{usage} {command} …`"))
    }

    fn help(&self) -> Vec<HelpSection> {
        let mut sections: Vec<HelpSection> = Vec::new();
        for view in &self.fields {
            let title = match view.owner {
                "" => "Settings of this server:".to_owned(),
                about => format!("{}:", about.trim_end_matches('.')),
            };
            let line = (view.field.usage(), described(view));
            match sections.last_mut() {
                Some((last, lines)) if *last == title => lines.push(line),
                _ => sections.push((title, vec![line])),
            }
        }
        sections
    }
}

/// Returns the line of an option in the help.
fn described(view: &ConfigFieldView) -> String {
    let field = &view.field;
    let mut parts: Vec<String> = Vec::new();
    if !field.about.is_empty() {
        parts.push(field.about.trim_end_matches('.').to_owned());
    }
    if !field.choices.is_empty() {
        parts.push(alternatives(&field.choices));
    }
    if view.is_list() {
        parts.push("may be repeated".to_owned());
    }
    if field.is_required {
        parts.push("required".to_owned());
    }
    if let Some(default) = field.default {
        parts.push(format!("by default {default}"));
    }
    format!("{} [{}]", parts.join("; "), view.variable).trim_start().to_owned()
}
